// Tokens of PTX text.
#include "Lexer.h"

#include "llvm/ADT/StringExtras.h"
#include <cstring>

using namespace tilec::simulator;
using llvm::StringRef;

void Lexer::skipSpace() {
  while (!rest.empty()) {
    if (rest.starts_with("//")) {
      rest = rest.drop_front(std::min(rest.find('\n'), rest.size()));
    } else if (rest.starts_with("/*")) {
      size_t end = rest.find("*/", 2);
      StringRef comment = rest.take_front(end == StringRef::npos ? rest.size() : end + 2);
      line += comment.count('\n');
      rest = rest.drop_front(comment.size());
    } else if (llvm::isSpace(rest.front())) {
      line += rest.front() == '\n';
      rest = rest.drop_front();
    } else {
      return;
    }
  }
}

void Lexer::take(Token &token, size_t length) {
  token.text = rest.take_front(length);
  rest = rest.drop_front(length);
}

static bool isNameCharacter(char c) { return llvm::isAlnum(c) || c == '_' || c == '$'; }

static size_t nameLength(StringRef text) {
  size_t length = 0;
  while (length < text.size() && isNameCharacter(text[length]))
    ++length;
  return length;
}

// PTX ISA, "Integer Constants" and "Floating-Point Constants".
Token Lexer::number() {
  Token token;
  token.line = line;
  size_t length = nameLength(rest);
  bool decimalPoint = length + 1 < rest.size() && rest[length] == '.' && llvm::isDigit(rest[length + 1]);
  if (decimalPoint)
    length += 1 + nameLength(rest.drop_front(length + 1));
  StringRef whole = rest.take_front(length);
  bool isExponent = (decimalPoint || !whole.starts_with_insensitive("0x")) && whole.ends_with_insensitive("e") &&
                    length + 1 < rest.size() && (rest[length] == '-' || rest[length] == '+');
  if (isExponent)
    length += 1 + nameLength(rest.drop_front(length + 1));
  take(token, length);
  StringRef text = token.text;
  if (text.starts_with_insensitive("0f") || text.starts_with_insensitive("0d")) {
    bool single = text.starts_with_insensitive("0f");
    token.kind = single ? Token::Float32 : Token::Float64;
    if (text.size() != (single ? 10u : 18u) || text.drop_front(2).getAsInteger(16, token.bits))
      token.kind = Token::Unknown;
    return token;
  }
  if (decimalPoint || isExponent) {
    double value = 0;
    token.kind = text.getAsDouble(value) ? Token::Unknown : Token::Float64;
    std::memcpy(&token.bits, &value, sizeof(value));
    return token;
  }
  if (text.ends_with_insensitive("u"))
    text = text.drop_back();
  token.kind = text.getAsInteger(0, token.bits) ? Token::Unknown : Token::Integer;
  return token;
}

Token Lexer::next() {
  skipSpace();
  Token token;
  token.line = line;
  if (rest.empty())
    return token;
  char first = rest.front();
  if (llvm::isDigit(first))
    return number();
  if (first == '.') {
    size_t length = 1 + nameLength(rest.drop_front());
    while (rest.drop_front(length).starts_with("::"))
      length += 2 + nameLength(rest.drop_front(length + 2));
    take(token, length);
    token.kind = Token::Dotted;
    token.text = token.text.drop_front();
    return token;
  }
  if (first == '%' || isNameCharacter(first)) {
    take(token, 1 + nameLength(rest.drop_front()));
    token.kind = Token::Name;
    return token;
  }
  if (first == '"') {
    size_t end = rest.find('"', 1);
    if (end != StringRef::npos) {
      token.kind = Token::String;
      take(token, end + 1);
      token.text = token.text.drop_front().drop_back();
      return token;
    }
  }
  token.kind = StringRef(",;:{}[]()<>+-=@!|").contains(first) ? Token::Character : Token::Unknown;
  take(token, 1);
  return token;
}
