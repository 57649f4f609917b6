// Spellings of tokens, scalar types and operators.
#include "tilec/Syntax/AST.h"
#include "tilec/Syntax/Lexer.h"

using namespace tilec;

llvm::StringRef tilec::getSpelling(ScalarKind kind) {
  static constexpr llvm::StringLiteral spellings[] = {
#define TILEC_SCALAR_SPELLING(kind, spelling) spelling,
      TILEC_SCALARS(TILEC_SCALAR_SPELLING)
#undef TILEC_SCALAR_SPELLING
  };
  return spellings[static_cast<size_t>(kind)];
}

std::optional<ScalarKind> tilec::parseScalarKind(llvm::StringRef spelling) {
#define TILEC_SCALAR_PARSE(kind, text)                                                                                 \
  if (spelling == text)                                                                                                \
    return ScalarKind::kind;
  TILEC_SCALARS(TILEC_SCALAR_PARSE)
#undef TILEC_SCALAR_PARSE
  return std::nullopt;
}

llvm::StringRef tilec::getSpelling(TokenKind kind) {
  switch (kind) {
#define TILEC_TOKEN(Kind)                                                                                              \
  case TokenKind::Kind:                                                                                                \
    return "";
#define TILEC_PUNCTUATION(Kind, spelling)                                                                              \
  case TokenKind::Kind:                                                                                                \
    return spelling;
#define TILEC_KEYWORD(Kind, spelling) TILEC_PUNCTUATION(Kind, spelling)
#include "tilec/Syntax/Tokens.def"
  }
  llvm_unreachable("not a kind of token");
}

llvm::StringRef ast::getSpelling(UnaryOp op) {
  static constexpr llvm::StringLiteral spellings[] = {"-", "!", "~"};
  return spellings[static_cast<size_t>(op)];
}

llvm::StringRef ast::getSpelling(BinaryOp op) {
  static constexpr llvm::StringLiteral spellings[] = {"||", "&&", "==", "!=", "<", "<=", ">", ">=", "|",
                                                      "^",  "&",  "<<", ">>", "+", "-",  "*", "/",  "%"};
  return spellings[static_cast<size_t>(op)];
}

llvm::StringRef ast::getSpelling(AssignOp op) {
  static constexpr llvm::StringLiteral spellings[] = {"=", "+=", "-=", "*=", "/=", "&=", "|=", "^=", "max=", "min="};
  return spellings[static_cast<size_t>(op)];
}
