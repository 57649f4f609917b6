// The lexer.
#include "tilec/Syntax/Lexer.h"
#include "ForeignWords.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/ConvertUTF.h"

using namespace tilec;

bool Token::isWord() const {
  return kind == TokenKind::Identifier || kind == TokenKind::Scalar || kind >= TokenKind::Import;
}

namespace {
bool startsWord(char c) { return llvm::isAlpha(c) || c == '_'; }
bool continuesWord(char c) { return llvm::isAlnum(c) || c == '_'; }

class Lexer {
public:
  Lexer(FileID file, DiagnosticEngine &engine) : engine(engine), file(file), text(engine.getSources().getText(file)) {}

  std::vector<Token> run();

private:
  /// The character `ahead` of the present one, NUL past the end.
  char peek(size_t ahead = 0) const { return position + ahead < text.size() ? text[position + ahead] : '\0'; }
  bool atEnd() const { return position >= text.size(); }
  SourceLoc locAt(size_t offset) const { return engine.getSources().getLoc(file, offset); }
  SourceRange rangeFrom(size_t begin) const { return SourceRange(locAt(begin), locAt(position)); }
  void skipDigits(bool (*isDigit)(char));

  void skipSpace();
  void skipBlockComment();
  TokenKind lex();
  TokenKind lexWord();
  TokenKind lexNumber();
  TokenKind lexRadixNumber(unsigned radix);
  TokenKind lexDecimalNumber();
  TokenKind finishNumber(size_t begin, TokenKind kind);
  TokenKind lexString();
  TokenKind lexPunctuation();
  TokenKind lexUnknown();

  DiagnosticEngine &engine;
  FileID file;
  llvm::StringRef text;
  size_t position = 0;
  bool sawNewline = true;
  bool sawSpace = false;
  ScalarKind scalar = ScalarKind::Bool;
};
} // namespace

std::vector<Token> Lexer::run() {
  std::vector<Token> tokens;
  if (text.starts_with("\xEF\xBB\xBF")) // byte order mark
    position = 3;
  do {
    sawNewline = tokens.empty();
    sawSpace = false;
    skipSpace();
    size_t begin = position;
    Token token;
    token.startsLine = sawNewline;
    token.hasSpaceBefore = sawSpace || sawNewline;
    token.kind = lex();
    token.scalar = scalar;
    token.text = text.slice(begin, position);
    token.range = rangeFrom(begin);
    tokens.push_back(token);
  } while (tokens.back().kind != TokenKind::EndOfFile);
  return tokens;
}

void Lexer::skipSpace() {
  for (;; sawSpace = true) {
    char c = peek();
    if (c == '\n' || c == '\r') {
      sawNewline = true;
      ++position;
    } else if (c == ' ' || c == '\t' || c == '\f' || c == '\v') {
      ++position;
    } else if (c == '/' && peek(1) == '/') {
      position = std::min(text.find_first_of("\r\n", position), text.size());
    } else if (c == '/' && peek(1) == '*') {
      skipBlockComment();
    } else {
      return;
    }
  }
}

void Lexer::skipBlockComment() {
  size_t begin = position;
  size_t end = text.find("*/", position + 2);
  if (end == llvm::StringRef::npos) {
    engine.report(SourceRange(locAt(begin), locAt(begin + 2)), diag::err_unterminated_comment);
    position = text.size();
    return;
  }
  position = end + 2;
  sawNewline |= text.slice(begin, position).find_first_of("\r\n") != llvm::StringRef::npos;
}

TokenKind Lexer::lex() {
  if (atEnd())
    return TokenKind::EndOfFile;
  char c = peek();
  if (startsWord(c))
    return lexWord();
  if (llvm::isDigit(c) || (c == '.' && llvm::isDigit(peek(1))))
    return lexNumber();
  if (c == '"')
    return lexString();
  return lexPunctuation();
}

TokenKind Lexer::lexWord() {
  size_t begin = position;
  while (continuesWord(peek()))
    ++position;
  llvm::StringRef word = text.slice(begin, position);
  if (std::optional<ScalarKind> kind = parseScalarKind(word)) {
    scalar = *kind;
    return TokenKind::Scalar;
  }
  return llvm::StringSwitch<TokenKind>(word)
#define TILEC_KEYWORD(Kind, spelling) .Case(spelling, TokenKind::Kind)
#include "tilec/Syntax/Tokens.def"
      .Default(TokenKind::Identifier);
}

static bool isBinaryDigit(char c) { return c == '0' || c == '1'; }
static bool isDecimalDigit(char c) { return llvm::isDigit(c); }
static bool isHexDigit(char c) { return llvm::isHexDigit(c); }

/// Digits with single `_` between them.
void Lexer::skipDigits(bool (*isDigit)(char)) {
  while (isDigit(peek()) || (peek() == '_' && isDigit(peek(1))))
    ++position;
}

TokenKind Lexer::lexNumber() {
  char marker = peek() == '0' ? llvm::toLower(peek(1)) : '\0';
  if (marker == 'x' || marker == 'b')
    return lexRadixNumber(marker == 'x' ? 16 : 2);
  return lexDecimalNumber();
}

TokenKind Lexer::lexRadixNumber(unsigned radix) {
  size_t begin = position;
  position += 2;
  size_t digits = position;
  skipDigits(radix == 16 ? isHexDigit : isBinaryDigit);
  if (position != digits)
    return finishNumber(begin, TokenKind::Integer);
  while (continuesWord(peek()))
    ++position;
  engine.report(rangeFrom(begin), diag::err_invalid_number)
      << text.slice(begin, position) << (radix == 16 ? "`0x` needs hexadecimal digits" : "`0b` needs binary digits");
  return TokenKind::Error;
}

TokenKind Lexer::lexDecimalNumber() {
  size_t begin = position;
  TokenKind kind = TokenKind::Integer;
  skipDigits(isDecimalDigit);
  if (peek() == '.' && llvm::isDigit(peek(1))) {
    kind = TokenKind::Real;
    if (position == begin)
      engine.report(locAt(begin), diag::err_float_needs_digits) << FixIt::insertion(locAt(begin), "0");
    ++position;
    skipDigits(isDecimalDigit);
  } else if (peek() == '.' && peek(1) != '.' && !startsWord(peek(1))) {
    kind = TokenKind::Real;
    ++position;
    engine.report(rangeFrom(begin), diag::err_float_needs_digits) << FixIt::insertion(locAt(position), "0");
  }
  size_t sign = peek(1) == '+' || peek(1) == '-' ? 1 : 0;
  if (llvm::toLower(peek()) == 'e' && llvm::isDigit(peek(1 + sign))) {
    kind = TokenKind::Real;
    position += 1 + sign;
    skipDigits(isDecimalDigit);
  }
  return finishNumber(begin, kind);
}

/// Rejects letters, `_` and digits of a larger radix that run on from a number.
TokenKind Lexer::finishNumber(size_t begin, TokenKind kind) {
  llvm::StringRef number = text.slice(begin, position);
  if (continuesWord(peek())) {
    while (continuesWord(peek()))
      ++position;
    llvm::StringRef all = text.slice(begin, position);
    engine.report(rangeFrom(begin), diag::err_invalid_number)
        << all << ("`" + all.drop_front(number.size()) + "` cannot follow the digits").str();
    return TokenKind::Error;
  }
  if (kind == TokenKind::Real && number.contains('_')) {
    engine.report(rangeFrom(begin), diag::err_invalid_number) << number << "only integers may have `_` between digits";
    return TokenKind::Error;
  }
  return kind;
}

TokenKind Lexer::lexString() {
  size_t begin = position++;
  bool isValid = true;
  while (peek() != '"') {
    if (atEnd() || peek() == '\n' || peek() == '\r') {
      engine.report(SourceRange(locAt(begin), locAt(begin + 1)), diag::err_unterminated_string);
      return TokenKind::Error;
    }
    if (peek() != '\\') {
      ++position;
      continue;
    }
    if (!llvm::is_contained("\\\"nt", peek(1)) || peek(1) == '\0') {
      engine.report(SourceRange(locAt(position), locAt(position + 1)), diag::err_unknown_escape)
          << text.substr(position, llvm::isPrint(peek(1)) ? 2 : 1);
      isValid = false;
    }
    position += llvm::isPrint(peek(1)) ? 2 : 1;
  }
  ++position;
  return isValid ? TokenKind::String : TokenKind::Error;
}

TokenKind Lexer::lexPunctuation() {
  // The longest punctuation that matches; all have one or two characters.
  TokenKind best = TokenKind::Error;
  size_t bestSize = 0;
  llvm::StringRef rest = text.drop_front(position);
#define TILEC_PUNCTUATION(Kind, spelling)                                                                              \
  if (rest.starts_with(spelling) && llvm::StringLiteral(spelling).size() > bestSize) {                                 \
    best = TokenKind::Kind;                                                                                            \
    bestSize = llvm::StringLiteral(spelling).size();                                                                   \
  }
#include "tilec/Syntax/Tokens.def"
  if (bestSize == 0)
    return lexUnknown();
  position += bestSize;
  return best;
}

/// Takes a run of characters that start no token, so that one is reported and not each.
TokenKind Lexer::lexUnknown() {
  size_t begin = position;
  auto getLength = [&](size_t at) -> size_t {
    size_t length = llvm::getNumBytesForUTF8(static_cast<llvm::UTF8>(text[at]));
    const auto *data = reinterpret_cast<const llvm::UTF8 *>(text.data() + at);
    return at + length <= text.size() && llvm::isLegalUTF8Sequence(data, data + length) ? length : 0;
  };
  size_t length = getLength(begin);
  unsigned char byte = static_cast<unsigned char>(text[begin]);
  std::string shown = length == 0 || byte < 0x20 || byte == 0x7F ? "byte 0x" + llvm::utohexstr(byte, false, 2)
                                                                 : ("`" + text.substr(begin, length) + "`").str();
  position += std::max<size_t>(length, 1);
  DiagnosticBuilder diagnostic = engine.report(rangeFrom(begin), diag::err_unexpected_character) << shown;
  if (llvm::StringRef advice = adviseOn(text.substr(begin, 1)); !advice.empty())
    diagnostic.note(rangeFrom(begin), diag::note_advice) << advice;
  while (!atEnd() && static_cast<unsigned char>(peek()) >= 0x80)
    ++position;
  return TokenKind::Error;
}

std::vector<Token> tilec::tokenize(FileID file, DiagnosticEngine &engine) { return Lexer(file, engine).run(); }

std::string tilec::unescapeString(llvm::StringRef token) {
  std::string result;
  llvm::StringRef body = token.drop_front().drop_back();
  for (size_t i = 0; i < body.size(); ++i) {
    char c = body[i];
    if (c == '\\' && i + 1 < body.size()) {
      c = body[++i];
      c = c == 'n' ? '\n' : c == 't' ? '\t' : c;
    }
    result += c;
  }
  return result;
}
