// After an error the parser finds the next statement and reports no consequences.
#include "SyntaxTestSupport.h"

using namespace tilec;
using namespace tilec::test;

TEST(Recovery, OneErrorAStatement) {
  EXPECT_EQ(errorsOfBody("\nlet a = * 2\nlet b = 3\nlet c = ) + 2\nlet d = 4\n"), "2:9 E0110, 4:9 E0110");
  EXPECT_EQ(errorsOfBody("\nlet = 3\nx = y z w\nlet b = [1]\n"), "2:5 E0101, 3:7 E0137, 4:9 E0110");
}

TEST(Recovery, InsideBrackets) {
  EXPECT_EQ(errorsOfBody("\nlet a = f(b c d) + g(e f)\n"), "2:13 E0113, 2:24 E0113");
  EXPECT_EQ(errorsOfBody("\nlet a = f(b\n c d,\n e) + *\nlet b = 1\n"), "2:12 E0113, 4:7 E0110");
}

TEST(Recovery, UnclosedParenthesisEndsWithTheLine) {
  EXPECT_EQ(errorsOfBody("\nlet a = f(b, (c\nlet d = 1\nlet e = *\n"), "2:16 E0113, 4:9 E0110");
  EXPECT_EQ(errorsOfBody("\nC[i = 3\nlet d = 1\n"), "2:8 E0113");
}

TEST(Recovery, HeadersKeepTheirBlocks) {
  EXPECT_EQ(errorsOfBody("\nfor i in * {\n  let x = *\n}\nlet y = *\n"), "2:10 E0110, 3:11 E0110, 5:9 E0110");
  EXPECT_EQ(errorsOfBody("\nif a b {\n  x = 1\n} else {\n  x = *\n}\n"), "2:6 E0101, 5:7 E0110");
  EXPECT_EQ(errorsOfBody("\nparallel m in tiles(M 3) {\n  x = 1\n}\n"), "2:23 E0101");
}

TEST(Recovery, BlocksOfBrokenStatementsAreSkipped) {
  EXPECT_EQ(errorsOfBody("\nswitch x {\n  a\n}\nlet y = *\n"), "2:8 E0137, 5:9 E0110");
  EXPECT_EQ(errorsOfBody("\nforeach i { x = 1 } else { y = 2 }\nlet y = *\n"), "2:9 E0137, 3:9 E0110");
}

TEST(Recovery, OneErrorADeclaration) {
  EXPECT_EQ(Parsed("kernel f(A f32) { x = * }\nfn g() f32 { 3 }\nconst A = *\nkernel h() { }\n").summary(),
            "1:12 E0101, 1:23 E0110, 2:8 E0101, 3:11 E0110");
}

TEST(Recovery, GoodDeclarationsSurvive) {
  Parsed parsed("const A = *\nconst B = 2\nkernel f( { }\nconst C = 3\n");
  EXPECT_NE(parsed.dump().find("const B\n  integer 2\n"), std::string::npos);
  EXPECT_NE(parsed.dump().find("const C\n  integer 3\n"), std::string::npos);
}

TEST(Recovery, StatementsAfterAnErrorSurvive) {
  Parsed parsed("kernel f() {\n  let a = f(b c)\n  let d = 4\n}\n");
  EXPECT_NE(parsed.dump().find("let d\n      integer 4\n"), std::string::npos);
}

TEST(Recovery, WordsOfOtherLanguages) {
  EXPECT_EQ(Parsed("fn f(x: f32) -> f32 {\n  return x\n}\n").summary(), "2:10 E0137");
  EXPECT_EQ(Parsed("def f(x)\n").summary(), "1:1 E0112");
}

TEST(Recovery, LexicalErrorsAreReportedOnce) {
  EXPECT_EQ(errorsOfBody("\nlet x = a $ b\nlet y = 0x\nlet z = *\n"), "2:11 E0102, 3:9 E0103, 4:9 E0110");
}
