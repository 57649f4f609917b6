// Statements of the syntax tree.
#ifndef TILEC_SYNTAX_STMT_H
#define TILEC_SYNTAX_STMT_H

#include "tilec/Syntax/Expr.h"

namespace tilec::ast {

enum class StmtKind : uint8_t {
#define TILEC_STMT(Class) Class,
#include "tilec/Syntax/ASTNodes.def"
};

struct Stmt {
  const StmtKind kind;
  uint32_t id = 0;
  SourceRange range;
  /// Each names a legal target: the parser has checked the annotation's name against the kind of statement.
  llvm::MutableArrayRef<Annotation> annotations;

  Stmt(StmtKind kind, SourceRange range) : kind(kind), range(range) {}
};

/// Defines classof for the class of one kind.
#define TILEC_STMT_CLASS(Class)                                                                                        \
  static bool classof(const Stmt *stmt) { return stmt->kind == StmtKind::Class; }

/// `parallel bindings body`.
struct ParallelStmt : Stmt {
  llvm::MutableArrayRef<Binding> bindings;
  Block *body;

  ParallelStmt(SourceRange range, llvm::MutableArrayRef<Binding> bindings, Block *body)
      : Stmt(StmtKind::ParallelStmt, range), bindings(bindings), body(body) {}
  TILEC_STMT_CLASS(ParallelStmt)
};

/// `for bindings body`.
struct ForStmt : Stmt {
  llvm::MutableArrayRef<Binding> bindings;
  Block *body;

  ForStmt(SourceRange range, llvm::MutableArrayRef<Binding> bindings, Block *body)
      : Stmt(StmtKind::ForStmt, range), bindings(bindings), body(body) {}
  TILEC_STMT_CLASS(ForStmt)
};

struct WhileStmt : Stmt {
  Expr *condition;
  Block *body;

  WhileStmt(SourceRange range, Expr *condition, Block *body)
      : Stmt(StmtKind::WhileStmt, range), condition(condition), body(body) {}
  TILEC_STMT_CLASS(WhileStmt)
};

/// The else block is null where there is none; `else if` is an else block whose only statement is an IfStmt.
struct IfStmt : Stmt {
  Expr *condition;
  Block *thenBlock;
  Block *elseBlock;

  IfStmt(SourceRange range, Expr *condition, Block *thenBlock, Block *elseBlock)
      : Stmt(StmtKind::IfStmt, range), condition(condition), thenBlock(thenBlock), elseBlock(elseBlock) {}
  TILEC_STMT_CLASS(IfStmt)
};

/// `axis name = span`; span.whole is an axis's `.range`.
struct AxisStmt : Stmt {
  Identifier name;
  Span span;

  AxisStmt(SourceRange range, Identifier name, Span span) : Stmt(StmtKind::AxisStmt, range), name(name), span(span) {}
  TILEC_STMT_CLASS(AxisStmt)
};

/// An axis that an algorithm-level let binds: `i`, or `i in lo..hi`.
struct LetAxis {
  Identifier name;
  bool hasSpan = false;
  Span span;
};

enum class LetForm : uint8_t {
  Plain,     ///< `let x = e` and `let x: type = e`
  Algorithm, ///< `let x[i, j in 0..N] = e`
  Tuple,     ///< `let (a, b) = e`
};

struct LetStmt : Stmt {
  LetForm form;
  /// One name, or the names of a tuple.
  llvm::MutableArrayRef<Identifier> names;
  /// Null where the type is inferred; Plain only.
  TypeRef *declaredType = nullptr;
  /// Algorithm only.
  llvm::MutableArrayRef<LetAxis> axes;
  Expr *value;

  LetStmt(SourceRange range, LetForm form, llvm::MutableArrayRef<Identifier> names, TypeRef *declaredType,
          llvm::MutableArrayRef<LetAxis> axes, Expr *value)
      : Stmt(StmtKind::LetStmt, range), form(form), names(names), declaredType(declaredType), axes(axes), value(value) {
  }
  TILEC_STMT_CLASS(LetStmt)
};

struct VarStmt : Stmt {
  Identifier name;
  /// Null where the type is inferred.
  TypeRef *declaredType;
  Expr *value;

  VarStmt(SourceRange range, Identifier name, TypeRef *declaredType, Expr *value)
      : Stmt(StmtKind::VarStmt, range), name(name), declaredType(declaredType), value(value) {}
  TILEC_STMT_CLASS(VarStmt)
};

enum class AssignModifier : uint8_t { None, Atomic, Unique };

enum class AssignOp : uint8_t { Set, Add, Subtract, Multiply, Divide, And, Or, Xor, Max, Min };

/// The operator as written, such as "max=".
llvm::StringRef getSpelling(AssignOp op);

/// `[atomic | unique] target[indices] op value`.
struct AssignStmt : Stmt {
  AssignModifier modifier;
  Identifier target;
  /// Tells `C[] = 0` from `c = 0`.
  bool hasBrackets;
  llvm::MutableArrayRef<Expr *> indices;
  AssignOp op;
  SourceRange opRange;
  Expr *value;

  AssignStmt(SourceRange range, AssignModifier modifier, Identifier target, bool hasBrackets,
             llvm::MutableArrayRef<Expr *> indices, AssignOp op, SourceRange opRange, Expr *value)
      : Stmt(StmtKind::AssignStmt, range), modifier(modifier), target(target), hasBrackets(hasBrackets),
        indices(indices), op(op), opRange(opRange), value(value) {}
  /// The target with its subscript.
  SourceRange targetRange() const { return targetExprRange.isValid() ? targetExprRange : target.range; }
  SourceRange targetExprRange;
  TILEC_STMT_CLASS(AssignStmt)
};

/// `assert(c, "message")` or `print("format", x...)`.
struct CallStmt : Stmt {
  CallExpr *call;
  bool isAssert;

  CallStmt(SourceRange range, CallExpr *call, bool isAssert)
      : Stmt(StmtKind::CallStmt, range), call(call), isAssert(isAssert) {}
  TILEC_STMT_CLASS(CallStmt)
};

/// `temp name: element[shape]`, at the top level of a kernel only.
struct TempStmt : Stmt {
  Identifier name;
  ScalarRef element;
  llvm::MutableArrayRef<Expr *> shape;

  TempStmt(SourceRange range, Identifier name, ScalarRef element, llvm::MutableArrayRef<Expr *> shape)
      : Stmt(StmtKind::TempStmt, range), name(name), element(element), shape(shape) {}
  TILEC_STMT_CLASS(TempStmt)
};

#undef TILEC_STMT_CLASS

} // namespace tilec::ast

#endif // TILEC_SYNTAX_STMT_H
