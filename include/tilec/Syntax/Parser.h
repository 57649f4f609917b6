// Parses .tile files into syntax trees. Syntax errors are reported and repaired as far as possible, so that one run
// reports all of them.
#ifndef TILEC_SYNTAX_PARSER_H
#define TILEC_SYNTAX_PARSER_H

#include "tilec/Diagnostics/DiagnosticEngine.h"
#include "tilec/Syntax/AST.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tilec {

/// No expression is higher than this, and no block deeper; the parser reports what is.
constexpr unsigned maxNestingDepth = 256;

/// Parses one file; its imports stay ImportDecls. If errors were reported, the tree may hold ErrorExprs and lacks the
/// declarations that could not be repaired.
ast::SourceFile parseFile(FileID file, ast::ASTContext &context, DiagnosticEngine &engine);

/// Parses the value of `-D NAME=VALUE`: all of the text of `file` must be one constant's value (a scalar type, `auto`,
/// or an expression). Null after an error.
ast::Expr *parseConstValue(FileID file, ast::ASTContext &context, DiagnosticEngine &engine);

/// Parses statements: all of the text of `file`, separated by newlines or `;`. After an error, which is reported, null.
ast::Block *parseStatements(FileID file, ast::ASTContext &context, DiagnosticEngine &engine);

/// Finds and loads an imported file: gives it to the source manager with the position of the import and returns its
/// id, the id that an earlier import of the same file got, or an invalid id after filling `error` with the reason.
using ImportLoader =
    llvm::function_ref<FileID(llvm::StringRef path, FileID importer, SourceLoc importLoc, std::string &error)>;

/// Parses a main file and, once each, the files it imports; reports missing files and cycles.
ast::Program parseProgram(FileID mainFile, ast::ASTContext &context, DiagnosticEngine &engine, ImportLoader loader);

} // namespace tilec

#endif // TILEC_SYNTAX_PARSER_H
