// Statements: every production and its errors.
#include "SyntaxTestSupport.h"

using namespace tilec;
using namespace tilec::test;

TEST(Stmt, Parallel) {
  EXPECT_EQ(
      dumpBody("parallel b in 0..B, m in tiles(M, 64), n in tiles(lo..hi, auto) { }"),
      "parallel\n  bind b\n    range\n      integer 0\n      name B\n  bind m tiles\n    span\n      name M\n"
      "    size\n      integer 64\n  bind n tiles\n    range\n      name lo\n      name hi\n    size\n      auto\n"
      "  body\n");
}

TEST(Stmt, For) {
  EXPECT_EQ(dumpBody("for t in reverse tiles(i.range, 16) { x = 1 }"),
            "for\n  bind t reverse tiles\n    span\n      member range\n        name i\n    size\n      integer 16\n"
            "  body\n    assign x =\n      integer 1\n");
  EXPECT_EQ(dumpBody("for e in 0..s + 1 { }"),
            "for\n  bind e\n    range\n      integer 0\n      binary +\n        name s\n        integer 1\n  body\n");
}

TEST(Stmt, BindingErrors) {
  EXPECT_EQ(errorsOfBody("\nfor i in N { }\n"), "2:10 E0138");
  EXPECT_EQ(errorsOfBody("\nfor i 0..N { }\n"), "2:7 E0101");
  EXPECT_EQ(errorsOfBody("\nfor 3 in 0..N { }\n"), "2:5 E0101");
  EXPECT_EQ(errorsOfBody("\nfor i in tiles(N) { }\n"), "2:17 E0101");
  EXPECT_EQ(errorsOfBody("\nfor i in reverse 0..N { }\n"), "2:10 E0128");
  EXPECT_EQ(errorsOfBody("\nparallel i in reverse tiles(N, 3) { }\n"), "2:15 E0128");
  EXPECT_EQ(errorsOfBody("\nfor i in 0.. { }\n"), "2:14 E0110");
  EXPECT_EQ(errorsOfBody("\nfor i in 0..3\nx = 3\n"), "2:14 E0101");
  EXPECT_EQ(Parsed("kernel f() { for i in N { } }\n").repaired(), "kernel f() { for i in 0..N { } }\n");
}

TEST(Stmt, While) {
  EXPECT_EQ(dumpBody("while n > 0 { n = n / 2 }"),
            "while\n  binary >\n    name n\n    integer 0\n  body\n    assign n =\n      binary /\n        name n\n"
            "        integer 2\n");
  EXPECT_EQ(errorsOfBody("\nwhile n = 0 { n = 1 }\n"), "2:9 E0139");
  EXPECT_EQ(errorsOfBody("\nwhile { n = 1 }\n"), "2:7 E0110");
}

TEST(Stmt, If) {
  EXPECT_EQ(dumpBody("if a { x = 1 } else if b { x = 2 } else { x = 3 }"),
            "if\n  name a\n  then\n    assign x =\n      integer 1\n  else\n    if\n      name b\n      then\n"
            "        assign x =\n          integer 2\n      else\n        assign x =\n          integer 3\n");
  EXPECT_EQ(errorsOfBody("\nif a { 3 }\n"), "2:8 E0118");
  EXPECT_EQ(errorsOfBody("\nelse { x = 1 }\n"), "2:1 E0111");
  EXPECT_EQ(errorsOfBody("\nif a x = 1\n"), "2:6 E0101");
}

TEST(Stmt, Axis) {
  EXPECT_EQ(dumpBody("axis d = 0..D"), "axis d\n  range\n    integer 0\n    name D\n");
  EXPECT_EQ(dumpBody("axis u = t.range"), "axis u\n  span\n    member range\n      name t\n");
  EXPECT_EQ(errorsOfBody("\naxis d 0..D\n"), "2:8 E0101");
  EXPECT_EQ(errorsOfBody("\naxis = 0..D\n"), "2:6 E0101");
}

TEST(Stmt, Let) {
  EXPECT_EQ(dumpBody("let x = 1"), "let x\n  integer 1\n");
  EXPECT_EQ(dumpBody("let x: f32[m, n] = 1"), "let x: f32[m, n]\n  integer 1\n");
  EXPECT_EQ(dumpBody("let x: T[] = 1"), "let x: T[]\n  integer 1\n");
  EXPECT_EQ(dumpBody("let (a, b) = f(x)"), "let (a, b)\n  call\n    name f\n    name x\n");
  EXPECT_EQ(dumpBody("let s[i, q in 0..Q] = X[i]"),
            "let s\n  axis i\n  axis q\n    range\n      integer 0\n      name Q\n  index\n    name X\n    at\n"
            "      name i\n");
  EXPECT_EQ(errorsOfBody("\nlet x 3\n"), "2:7 E0101");
  EXPECT_EQ(errorsOfBody("\nlet if = 3\n"), "2:5 E0117");
  EXPECT_EQ(errorsOfBody("\nlet s[i, 3] = 3\n"), "2:10 E0140");
  EXPECT_EQ(errorsOfBody("\nlet s[i in Q] = 3\n"), "2:12 E0138");
  EXPECT_EQ(errorsOfBody("\nlet (a, b = 3\n"), "2:11 E0113");
}

TEST(Stmt, Var) {
  EXPECT_EQ(dumpBody("var acc: f32[m] = 0"), "var acc: f32[m]\n  integer 0\n");
  EXPECT_EQ(dumpBody("var n = 0"), "var n\n  integer 0\n");
  EXPECT_EQ(errorsOfBody("\nvar n\n"), "2:6 E0101");
  EXPECT_EQ(errorsOfBody("\nvar n: f32\n"), "2:11 E0101");
  EXPECT_EQ(errorsOfBody("\nvar n: f32[64] = 0\n"), "2:12 E0140");
}

TEST(Stmt, Temp) {
  EXPECT_EQ(dumpBody("temp W: f32[2, M]"), "temp W: f32\n  integer 2\n  name M\n");
  EXPECT_EQ(errorsOfBody("\nif a { temp W: f32[2] }\n"), "2:8 E0136");
  EXPECT_EQ(errorsOfBody("\ntemp W: f32\n"), "2:12 E0101");
  EXPECT_EQ(errorsOfBody("\ntemp W f32[2]\n"), "2:8 E0101");
}

TEST(Stmt, Assignments) {
  for (llvm::StringRef op : {"=", "+=", "-=", "*=", "/=", "&=", "|=", "^=", "max=", "min="})
    EXPECT_EQ(dumpBody(("x " + op + " 1").str()), ("assign x " + op + "\n  integer 1\n").str());
  EXPECT_EQ(dumpBody("C[i, 0] = 1"), "assign C =\n  at\n    name i\n    integer 0\n  integer 1\n");
  EXPECT_EQ(dumpBody("C[] = 1"), "assign C =\n  at\n  integer 1\n");
  EXPECT_EQ(dumpBody("atomic C[i] max= 1"), "assign atomic C max=\n  at\n    name i\n  integer 1\n");
  EXPECT_EQ(dumpBody("unique C[i] = 1"), "assign unique C =\n  at\n    name i\n  integer 1\n");
  EXPECT_EQ(dumpBody("x = max"), "assign x =\n  name max\n");
}

TEST(Stmt, AssignmentErrors) {
  EXPECT_EQ(errorsOfBody("\nx max = 1\n"), "2:3 E0137");
  EXPECT_EQ(errorsOfBody("\nf(x) = 1\n"), "2:1 E0121");
  EXPECT_EQ(errorsOfBody("\nx[i = 1] = 1\n"), "2:1 E0121");
  EXPECT_EQ(errorsOfBody("\nX[i else 0] = 1\n"), "2:1 E0121");
  EXPECT_EQ(errorsOfBody("\n(x) = 1\n"), "2:1 E0121");
  EXPECT_EQ(errorsOfBody("\natomic C[i] = 1\n"), "2:13 E0122");
  EXPECT_EQ(errorsOfBody("\natomic C[i] -= 1\n"), "2:13 E0122");
  EXPECT_EQ(errorsOfBody("\nunique C[i] += 1\n"), "2:13 E0123");
  EXPECT_EQ(errorsOfBody("\nunique x = 1\n"), "2:10 E0123");
  EXPECT_EQ(errorsOfBody("\natomic C[i]\n"), "2:12 E0101");
  EXPECT_EQ(errorsOfBody("\nx = y = 1\n"), "2:7 E0139");
}

TEST(Stmt, Calls) {
  EXPECT_EQ(dumpBody("assert(x < 3, \"x is large\")"),
            "assert\n  binary <\n    name x\n    integer 3\n  string \"x is large\"\n");
  EXPECT_EQ(dumpBody("print(\"{}\\n\", x)"), "print\n  string \"{}\\0A\"\n  name x\n");
  EXPECT_EQ(errorsOfBody("\nfoo(3)\n"), "2:1 E0118");
  EXPECT_EQ(errorsOfBody("\nassert(\"a\" + 1)\n"), "2:12 E0113");
}

TEST(Stmt, Annotations) {
  EXPECT_EQ(dumpBody("@warps(4) @cluster(2, 1) if arch >= 90\nparallel m in 0..M { }"),
            "annotation warps\n  integer 4\nannotation cluster if arch >= 90\n  integer 2\n  integer 1\nparallel\n"
            "  bind m\n    range\n      integer 0\n      name M\n  body\n");
  EXPECT_EQ(dumpBody("@specialize(consumers = 2)\n@persistent\nparallel m in 0..M { }").substr(0, 78),
            "annotation specialize\n  argument consumers\n    integer 2\nannotation persistent");
  EXPECT_EQ(dumpBody("@evict(first) let x = A[i]").substr(0, 30), "annotation evict\n  name first\n");
  for (llvm::StringRef relop : {"==", "!=", "<", "<=", ">", ">="})
    EXPECT_EQ(errorsOfBody(("\n@unroll(2) if arch " + relop + " 80\nfor i in 0..3 { }\n").str()), "");
}

TEST(Stmt, AnnotationErrors) {
  EXPECT_EQ(errorsOfBody("\n@stages(2)\nlet x = 1\n"), "2:1 E0125");
  EXPECT_EQ(errorsOfBody("\n@stages(2)\nx = 1\n"), "2:1 E0125");
  EXPECT_EQ(errorsOfBody("\n@warps(2)\nif a { x = 1 }\n"), "2:1 E0125");
  EXPECT_EQ(errorsOfBody("\n@warps(2)\nwhile a { x = 1 }\n"), "2:1 E0125");
  EXPECT_EQ(errorsOfBody("\n@warps(2)\naxis a = 0..3\n"), "2:1 E0125");
  EXPECT_EQ(errorsOfBody("\n@warps(2)\nvar a = 3\n"), "2:1 E0125");
  EXPECT_EQ(errorsOfBody("\n@warps(2)\ntemp a: f32[2]\n"), "2:1 E0125");
  EXPECT_EQ(errorsOfBody("\n@warps(2)\nassert(true)\n"), "2:1 E0125");
  EXPECT_EQ(errorsOfBody("\n@stage(2)\nfor i in 0..3 { }\n"), "2:2 E0124");
  EXPECT_EQ(errorsOfBody("\n@stages(2) if a\nfor i in 0..3 { }\n"), "2:15 E0101");
  EXPECT_EQ(errorsOfBody("\n@stages(2) if arch 90\nfor i in 0..3 { }\n"), "2:20 E0101");
  EXPECT_EQ(errorsOfBody("\n@stages(2) if arch >= x\nfor i in 0..3 { }\n"), "2:23 E0101");
  EXPECT_EQ(errorsOfBody("\n@stages(2)\n"), "4:1 E0111");
  EXPECT_EQ(Parsed("fn f() -> f32 {\n@stages(2)\n3 }\n").summary(), "2:1 E0125");
}

TEST(Stmt, DeepBlocks) {
  std::string blocks;
  for (unsigned i = 0; i < 10000; ++i)
    blocks += "if a {\n";
  EXPECT_EQ(Parsed("kernel f() {\n" + blocks).codes().front(), "E0135");
  std::string balanced = blocks + std::string(10000, '}');
  EXPECT_EQ(Parsed("kernel f() {\n" + balanced + "}\n").codes(), std::vector<std::string>{"E0135"});
}
