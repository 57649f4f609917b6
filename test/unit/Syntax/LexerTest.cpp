// Tokens: every kind, and the errors of the lexer.
#include "tilec/Syntax/Lexer.h"
#include "SyntaxTestSupport.h"

using namespace tilec;
using namespace tilec::test;

namespace {
/// Tokens with the codes of the errors, owning their source.
struct Lexed {
  explicit Lexed(llvm::StringRef text) { tokens = tokenize(sources.addText(text, "t.tile"), engine); }

  std::string texts() const {
    std::string result;
    for (const Token &token : tokens)
      if (!token.is(TokenKind::EndOfFile))
        result += (result.empty() ? "" : " ") + token.text.str();
    return result;
  }
  unsigned numErrors() const { return engine.getNumErrors(); }
  const Token &operator[](size_t i) const { return tokens[i]; }

  SourceManager sources;
  DiagnosticEngine engine{sources};
  std::vector<Token> tokens;
};

TokenKind kindOf(llvm::StringRef text) {
  Lexed lexed(text);
  EXPECT_EQ(lexed.tokens.size(), 2u) << text.str();
  return lexed[0].kind;
}

std::string lexErrors(llvm::StringRef text) {
  Parsed parsed(("const X = " + text + "\n").str());
  return parsed.summary();
}
} // namespace

TEST(Lexer, EveryPunctuationAndKeyword) {
#define TILEC_PUNCTUATION(Kind, spelling)                                                                              \
  EXPECT_EQ(kindOf(spelling), TokenKind::Kind) << spelling;                                                            \
  EXPECT_EQ(getSpelling(TokenKind::Kind), spelling);
#define TILEC_KEYWORD(Kind, spelling)                                                                                  \
  TILEC_PUNCTUATION(Kind, spelling)                                                                                    \
  EXPECT_TRUE(Lexed(spelling)[0].isWord());
#include "tilec/Syntax/Tokens.def"
}

TEST(Lexer, EveryScalarType) {
#define TILEC_CHECK(kind, spelling)                                                                                    \
  EXPECT_EQ(kindOf(spelling), TokenKind::Scalar);                                                                      \
  EXPECT_EQ(Lexed(spelling)[0].scalar, ScalarKind::kind);                                                              \
  EXPECT_EQ(getSpelling(ScalarKind::kind), spelling);                                                                  \
  EXPECT_EQ(parseScalarKind(spelling), ScalarKind::kind);
  TILEC_SCALARS(TILEC_CHECK)
#undef TILEC_CHECK
  EXPECT_EQ(parseScalarKind("f33"), std::nullopt);
}

TEST(Lexer, ContextualWordsAreIdentifiers) {
  for (llvm::StringRef word : {"strides", "dynamic", "dim", "type", "arch", "tiles", "reverse", "max", "min", "inf",
                               "dot", "sum", "_", "_a1", "f31", "outer", "bf16x", "indexes"})
    EXPECT_EQ(kindOf(word), TokenKind::Identifier) << word.str();
}

TEST(Lexer, Numbers) {
  for (llvm::StringRef text : {"0", "7", "1_000", "0x1F", "0Xff_ff", "0b1010", "007", "18446744073709551615"})
    EXPECT_EQ(kindOf(text), TokenKind::Integer) << text.str();
  for (llvm::StringRef text : {"1.0", "1e5", "1e-5", "2.5E+3", "0.001"})
    EXPECT_EQ(kindOf(text), TokenKind::Real) << text.str();
}

TEST(Lexer, RangesAndMembersAreNotFloats) {
  EXPECT_EQ(Lexed("1..n").texts(), "1 .. n");
  EXPECT_EQ(Lexed("0..1").texts(), "0 .. 1");
  EXPECT_EQ(Lexed("1.5..2.5").texts(), "1.5 .. 2.5");
  EXPECT_EQ(Lexed("t.index").texts(), "t . index");
  EXPECT_EQ(Lexed("1.start").texts(), "1 . start");
  EXPECT_EQ(Lexed("1 ..2").texts(), "1 .. 2");
  for (llvm::StringRef text : {"1..n", "0..1", "1.5..2.5", "t.index"})
    EXPECT_EQ(Lexed(text).numErrors(), 0u) << text.str();
}

TEST(Lexer, LongestPunctuationWins) {
  EXPECT_EQ(Lexed("a<<=b").texts(), "a << = b");
  EXPECT_EQ(Lexed("a<=b>=c==d!=e").texts(), "a <= b >= c == d != e");
  EXPECT_EQ(Lexed("a&&b&c&=d").texts(), "a && b & c &= d");
  EXPECT_EQ(Lexed("k->r-1").texts(), "k -> r - 1");
  EXPECT_EQ(Lexed("max=x").texts(), "max = x");
}

TEST(Lexer, LinesAndSpaces) {
  Lexed lexed("a b\n /* c\n */ d // e\n/* f */ g+h");
  ASSERT_EQ(lexed.texts(), "a b d g + h");
  EXPECT_TRUE(lexed[0].startsLine);
  EXPECT_FALSE(lexed[1].startsLine);
  EXPECT_TRUE(lexed[1].hasSpaceBefore);
  EXPECT_TRUE(lexed[2].startsLine);
  EXPECT_TRUE(lexed[3].startsLine);
  EXPECT_FALSE(lexed[4].hasSpaceBefore);
  EXPECT_FALSE(lexed[4].startsLine);
}

TEST(Lexer, CommentsMaySpanLines) {
  Lexed lexed("a /* x\n */ b /**/ c");
  EXPECT_TRUE(lexed[1].startsLine);
  EXPECT_FALSE(lexed[2].startsLine);
  EXPECT_EQ(lexed.numErrors(), 0u);
}

TEST(Lexer, LineEndings) {
  Lexed lexed("a\r\nb\rc");
  EXPECT_TRUE(lexed[1].startsLine);
  EXPECT_TRUE(lexed[2].startsLine);
}

TEST(Lexer, ByteOrderMark) {
  Lexed lexed("\xEF\xBB\xBF"
              "kernel");
  EXPECT_TRUE(lexed[0].is(TokenKind::Kernel));
  EXPECT_EQ(lexed.numErrors(), 0u);
}

TEST(Lexer, Strings) {
  Lexed lexed(R"("a\\b\"c\n\t")");
  ASSERT_TRUE(lexed[0].is(TokenKind::String));
  EXPECT_EQ(unescapeString(lexed[0].text), "a\\b\"c\n\t");
  EXPECT_EQ(unescapeString("\"\""), "");
}

TEST(Lexer, NumberErrors) {
  EXPECT_EQ(lexErrors("0x"), "1:11 E0103");
  EXPECT_EQ(lexErrors("0b2"), "1:11 E0103");
  EXPECT_EQ(lexErrors("0b12"), "1:11 E0103");
  EXPECT_EQ(lexErrors("0xfg"), "1:11 E0103");
  EXPECT_EQ(lexErrors("12abc"), "1:11 E0103");
  EXPECT_EQ(lexErrors("1.0f"), "1:11 E0103");
  EXPECT_EQ(lexErrors("1__0"), "1:11 E0103");
  EXPECT_EQ(lexErrors("1_"), "1:11 E0103");
  EXPECT_EQ(lexErrors("1_000.5"), "1:11 E0103");
  EXPECT_EQ(lexErrors(".5"), "1:11 E0104");
  EXPECT_EQ(lexErrors("5."), "1:11 E0104");
  EXPECT_EQ(lexErrors("18446744073709551616"), "1:11 E0105");
  EXPECT_EQ(lexErrors("0x1_0000_0000_0000_0000"), "1:11 E0105");
}

TEST(Lexer, FloatFixIts) {
  EXPECT_EQ(Parsed("const X = .5\n").repaired(), "const X = 0.5\n");
  EXPECT_EQ(Parsed("const X = 5.\n").repaired(), "const X = 5.0\n");
}

TEST(Lexer, StringErrors) {
  EXPECT_EQ(Parsed("import \"a\n").summary(), "1:8 E0106");
  EXPECT_EQ(Parsed("import \"a\\q\"\n").summary(), "1:10 E0107");
  EXPECT_EQ(Parsed("import \"a\\").summary(), "1:8 E0106, 1:10 E0107");
}

TEST(Lexer, OtherErrors) {
  EXPECT_EQ(Parsed("const A = 1 /* \n").summary(), "1:13 E0108");
  EXPECT_EQ(lexErrors("1 $"), "1:13 E0102");
  EXPECT_EQ(lexErrors("\xC3\xA9\xC3\xA9"), "1:11 E0102");
  EXPECT_NE(Parsed("const A = \x01\n").text().find("byte 0x01"), std::string::npos);
  EXPECT_NE(Parsed("const A = \xFF\n").text().find("byte 0xFF"), std::string::npos);
  EXPECT_EQ(lexErrors("'a'"), "1:11 E0102, 1:13 E0102");
}
