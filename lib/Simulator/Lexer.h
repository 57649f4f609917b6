// Tokens of PTX text (PTX ISA, "Syntax").
#ifndef TILEC_SIMULATOR_LEXER_H
#define TILEC_SIMULATOR_LEXER_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace tilec::simulator {

struct Token {
  enum Kind : uint8_t {
    End,
    Name,      // add, %r1, $L__BB0_1
    Dotted,    // .shared::cta, without the dot in `text`
    Integer,   // `bits`
    Float32,   // 0fXXXXXXXX
    Float64,   // 0dX..., 1.5
    String,    // without quotes
    Character, // one of ,;:{}[]()<>+-=@!|
    Unknown
  };
  Kind kind = End;
  llvm::StringRef text;
  uint64_t bits = 0;
  unsigned line = 0;

  bool is(char character) const { return kind == Character && text[0] == character; }
};

class Lexer {
public:
  explicit Lexer(llvm::StringRef text) : rest(text) {}
  Token next();

private:
  void skipSpace();
  void take(Token &token, size_t length);
  Token number();

  llvm::StringRef rest;
  unsigned line = 1;
};

} // namespace tilec::simulator

#endif // TILEC_SIMULATOR_LEXER_H
