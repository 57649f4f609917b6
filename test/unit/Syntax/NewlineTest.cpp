// Where statements end.
#include "SyntaxTestSupport.h"

using namespace tilec;
using namespace tilec::test;

TEST(Newline, StatementsGoOn) {
  std::string want = "let x\n  binary +\n    name a\n    name b\n";
  EXPECT_EQ(dumpBody("let x = a + b"), want);
  EXPECT_EQ(dumpBody("let x = a +\n b"), want);
  EXPECT_EQ(dumpBody("let x =\n a + b"), want);
  EXPECT_EQ(dumpBody("let x\n = a + b"), want);
  EXPECT_EQ(dumpBody("let\n x = a + // comment\n\n b"), want);
  EXPECT_EQ(dumpBody("let x = (a\n + b)"), want);
  EXPECT_EQ(dumpBody("let x = ((a)\n + (b))"), want);
}

TEST(Newline, ListsGoOn) {
  EXPECT_EQ(errorsOfBody("let x = f(a,\n b\n , c)"), "");
  EXPECT_EQ(errorsOfBody("let x = X[i\n, j\nelse\n0]"), "");
  EXPECT_EQ(errorsOfBody("parallel m in tiles(M,\n 3),\n n in 0..3\n { }"), "");
  EXPECT_EQ(errorsOfBody("if a\n && b\n{ x = 1 }"), "");
  EXPECT_EQ(errorsOfBody("while a\n < b\n{ x = 1 }"), "");
}

TEST(Newline, TheInnermostBracketDecides) {
  EXPECT_EQ(errorsOfBody("let x = f(if a {\n let y = 1\n y\n} else { 2 })"), "");
  EXPECT_EQ(errorsOfBody("let x = (if a {\n b\n + c\n} else { 2 })"), "3:2 E0114");
}

TEST(Newline, ElseOnTheNextLine) {
  EXPECT_EQ(errorsOfBody("if a { x = 1 }\nelse if b { x = 2 }\n\nelse { x = 3 }"), "");
  EXPECT_EQ(errorsOfBody("let x = if a { 1 }\nelse { 2 }"), "");
}

TEST(Newline, Semicolons) {
  EXPECT_EQ(dumpBody("x = 1; y = 2;; z = 3;"),
            "assign x =\n  integer 1\nassign y =\n  integer 2\nassign z =\n  integer 3\n");
  EXPECT_EQ(errorsOfBody("\nx = 1 y = 2\n"), "2:7 E0137");
  EXPECT_EQ(errorsOfBody("if a { y += 1 }; x = 1"), "");
  EXPECT_EQ(errorsOfBody("\nif a { y += 1 } x = 1\n"), "2:17 E0137");
}

TEST(Newline, LeadingOperators) {
  for (llvm::StringRef op :
       {"+", "-", "*", "/", "%", "&", "|", "^", "&&", "||", "<<", ">>", "==", "!=", "<", "<=", ">", ">="})
    EXPECT_EQ(errorsOfBody(("\nlet x = a\n  " + op + " b\n").str()), "3:3 E0114") << op.str();
  EXPECT_EQ(errorsOfBody("\nlet x = a\n  -b\n"), "3:3 E0114");
  EXPECT_EQ(errorsOfBody("\n+ b\n"), "2:1 E0111");
  EXPECT_EQ(errorsOfBody("\nif a { x = 1 }\n* b\n"), "3:1 E0111");
}

TEST(Newline, LeadingOperatorFixIts) {
  EXPECT_EQ(Parsed("kernel f() {\n  x = a // one\n    + b\n}\n").repaired(),
            "kernel f() {\n  x = a + // one\n    b\n}\n");
  Parsed repaired(Parsed("kernel f() {\n  x = a\n    && b\n}\n").repaired());
  EXPECT_TRUE(repaired.codes().empty()) << repaired.text();
}

TEST(Newline, PostfixStaysOnTheLine) {
  EXPECT_EQ(errorsOfBody("\nlet x = a\n(b)\n"), "3:1 E0118");
  EXPECT_EQ(errorsOfBody("\nlet x = sum[k]\n(b)\n"), "3:1 E0118");
  EXPECT_EQ(errorsOfBody("\nlet x = (sum[k]\n(b))\n"), "2:10 E0133");
}
