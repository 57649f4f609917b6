// Dispatch over the kinds of nodes. A visitor derives from ExprVisitor<Derived, Result> (or StmtVisitor, DeclVisitor)
// and has a member visitNameExpr(NameExpr *), ... for every class; a missing one fails to compile.
#ifndef TILEC_SYNTAX_ASTVISITOR_H
#define TILEC_SYNTAX_ASTVISITOR_H

#include "tilec/Syntax/AST.h"
#include "llvm/Support/ErrorHandling.h"

namespace tilec::ast {

template <typename Derived, typename Result = void> struct ExprVisitor {
  Result visit(Expr *expr) {
    switch (expr->kind) {
#define TILEC_EXPR(Class)                                                                                              \
  case ExprKind::Class:                                                                                                \
    return static_cast<Derived *>(this)->visit##Class(llvm::cast<Class>(expr));
#include "tilec/Syntax/ASTNodes.def"
    }
    llvm_unreachable("not a kind of expression");
  }
};

template <typename Derived, typename Result = void> struct StmtVisitor {
  Result visit(Stmt *stmt) {
    switch (stmt->kind) {
#define TILEC_STMT(Class)                                                                                              \
  case StmtKind::Class:                                                                                                \
    return static_cast<Derived *>(this)->visit##Class(llvm::cast<Class>(stmt));
#include "tilec/Syntax/ASTNodes.def"
    }
    llvm_unreachable("not a kind of statement");
  }
};

template <typename Derived, typename Result = void> struct DeclVisitor {
  Result visit(Decl *decl) {
    switch (decl->kind) {
#define TILEC_DECL(Class)                                                                                              \
  case DeclKind::Class:                                                                                                \
    return static_cast<Derived *>(this)->visit##Class(llvm::cast<Class>(decl));
#include "tilec/Syntax/ASTNodes.def"
    }
    llvm_unreachable("not a kind of declaration");
  }
};

} // namespace tilec::ast

#endif // TILEC_SYNTAX_ASTVISITOR_H
