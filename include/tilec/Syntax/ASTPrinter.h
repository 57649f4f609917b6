// Prints syntax trees: one node a line, children indented by two spaces. The form is stable; `--emit=ast` shows it.
#ifndef TILEC_SYNTAX_ASTPRINTER_H
#define TILEC_SYNTAX_ASTPRINTER_H

#include "tilec/Syntax/AST.h"
#include "llvm/Support/raw_ostream.h"

namespace tilec::ast {

void print(const SourceFile &file, llvm::raw_ostream &os);
void print(const Decl *decl, llvm::raw_ostream &os);
void print(const Stmt *stmt, llvm::raw_ostream &os);
void print(const Expr *expr, llvm::raw_ostream &os);

/// The expression on one line in the language's own notation, with the parentheses it needs: for messages.
std::string toSource(const Expr *expr);

} // namespace tilec::ast

#endif // TILEC_SYNTAX_ASTPRINTER_H
