// Splits a .tile file into tokens.
#ifndef TILEC_SYNTAX_LEXER_H
#define TILEC_SYNTAX_LEXER_H

#include "tilec/Diagnostics/DiagnosticEngine.h"
#include "tilec/Syntax/ScalarKind.h"
#include <vector>

namespace tilec {

enum class TokenKind : uint8_t {
#define TILEC_TOKEN(Kind) Kind,
#include "tilec/Syntax/Tokens.def"
};

/// The text of a punctuation or keyword token, "" for others.
llvm::StringRef getSpelling(TokenKind kind);

struct Token {
  TokenKind kind = TokenKind::EndOfFile;
  /// First on its line, comments not counted.
  bool startsLine = false;
  /// White space or a comment stands before it.
  bool hasSpaceBefore = false;
  /// For TokenKind::Scalar.
  ScalarKind scalar = ScalarKind::Bool;
  SourceRange range;
  /// As in the file; of a string with its quotes.
  llvm::StringRef text;

  bool is(TokenKind other) const { return kind == other; }
  bool isIdentifier(llvm::StringRef name) const { return kind == TokenKind::Identifier && text == name; }
  /// An identifier or any keyword: what may follow `.` or name an argument.
  bool isWord() const;
};

/// All tokens of the file, the last an EndOfFile. Malformed ones are reported and become Error tokens, or what they
/// were meant to be.
std::vector<Token> tokenize(FileID file, DiagnosticEngine &engine);

/// The characters that a well-formed string token stands for.
std::string unescapeString(llvm::StringRef token);

} // namespace tilec

#endif // TILEC_SYNTAX_LEXER_H
