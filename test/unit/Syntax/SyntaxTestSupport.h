// Helpers of the parser's tests: parse text, look at dumps and at diagnostics.
#ifndef TILEC_TEST_SYNTAXTESTSUPPORT_H
#define TILEC_TEST_SYNTAXTESTSUPPORT_H

#include "tilec/Diagnostics/Renderer.h"
#include "tilec/Syntax/ASTPrinter.h"
#include "tilec/Syntax/Parser.h"
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace tilec::test {

/// A parsed text with its diagnostics.
class Parsed {
public:
  explicit Parsed(llvm::StringRef text);

  /// Codes in source order.
  const std::vector<std::string> &codes() const { return reported; }
  /// "line:column code" of each diagnostic, joined by commas: "2:5 E0101, 3:1 E0112".
  std::string summary() const { return places; }
  /// All diagnostics as text.
  const std::string &text() const { return rendered; }
  std::string dump() const;
  const ast::SourceFile &file() const { return tree; }
  /// The text with all fix-its of the first diagnostic applied.
  const std::string &repaired() const { return firstRepair; }

private:
  SourceManager sources;
  DiagnosticEngine engine{sources};
  ast::ASTContext context;
  ast::SourceFile tree;
  std::vector<std::string> reported;
  std::string places;
  std::string rendered;
  std::string firstRepair;
};

/// The expression in `C[i] = expr` of a kernel, in the language's notation with all parentheses: "(a + (b * c))".
std::string grouped(llvm::StringRef expr);

/// The dump of the statements in the body of a kernel, without indentation of the kernel; diagnostics if there are any.
std::string dumpBody(llvm::StringRef statements);
/// The same of one expression.
std::string dumpExpr(llvm::StringRef expr);
/// Summary of the diagnostics of statements in a kernel; line 1 is the first statement's.
std::string errorsOfBody(llvm::StringRef statements);

} // namespace tilec::test

#endif // TILEC_TEST_SYNTAXTESTSUPPORT_H
