// Declarations: every production and its errors.
#include "SyntaxTestSupport.h"

using namespace tilec;
using namespace tilec::test;

namespace {
std::string dumpFile(llvm::StringRef text) {
  Parsed parsed(text);
  return parsed.codes().empty() ? parsed.dump() : parsed.text();
}
std::string errors(llvm::StringRef text) { return Parsed(text).summary(); }
} // namespace

TEST(Decl, EmptyFiles) {
  EXPECT_EQ(dumpFile(""), "");
  EXPECT_EQ(dumpFile("// nothing\n;\n"), "");
}

TEST(Decl, Import) {
  EXPECT_EQ(dumpFile("import \"a b.tile\"; import \"c.tile\"\n"), "import \"a b.tile\"\nimport \"c.tile\"\n");
  EXPECT_EQ(errors("import a\n"), "1:8 E0101");
  EXPECT_EQ(errors("import \"a\" \"b\"\n"), "1:12 E0137");
}

TEST(Decl, Const) {
  EXPECT_EQ(dumpFile("const A = 3\nconst B: f32 =\n  2.0\n"), "const A\n  integer 3\nconst B: f32\n  real 2.0\n");
  EXPECT_EQ(errors("const A\n"), "1:8 E0101");
  EXPECT_EQ(errors("const = 3\n"), "1:7 E0101");
  EXPECT_EQ(errors("const f32 = 3\n"), "1:7 E0117");
  EXPECT_EQ(errors("const A: 3 = 3\n"), "1:10 E0101");
}

TEST(Decl, Instantiate) {
  EXPECT_EQ(dumpFile("instantiate f<T = f16, N = 2 * (3 > 2), B = auto> as f_16\n"),
            "instantiate f as f_16\n  constant T\n    scalar f16\n  constant N\n    binary *\n      integer 2\n"
            "      binary >\n        integer 3\n        integer 2\n  constant B\n    auto\n");
  EXPECT_EQ(errors("instantiate f as g\n"), "1:15 E0101");
  EXPECT_EQ(errors("instantiate f<T = f16>\n"), "1:23 E0101");
  EXPECT_EQ(errors("instantiate f<T> as g\n"), "1:16 E0101");
  EXPECT_EQ(errors("instantiate f<N = 3 < 4> as g\n"), "1:21 E0116");
  EXPECT_EQ(errors("instantiate f<N = 3 << 4> as g\n"), "1:21 E0116");
}

TEST(Decl, Function) {
  EXPECT_EQ(dumpFile("fn f<T: type, N: index = 3>[k, j](x: T[k, j], y: f32) -> T[j] {\n  let s = x\n  s * y\n}\n"),
            "fn f[k, j] -> T[j]\n  constant T: type\n  constant N: index\n    integer 3\n  param x: T[k, j]\n"
            "  param y: f32\n  body\n    let s\n      name x\n    value\n      binary *\n        name s\n"
            "        name y\n");
  EXPECT_EQ(dumpFile("fn f() -> (f32, index) { (1, 2) }\n"),
            "fn f -> (f32, index)\n  body\n    value\n      tuple\n        integer 1\n        integer 2\n");
  EXPECT_EQ(errors("fn f(x: f32) { x }\n"), "1:14 E0101");
  EXPECT_EQ(errors("fn f x -> f32 { x }\n"), "1:6 E0101");
  EXPECT_EQ(errors("fn f(x) -> f32 { x }\n"), "1:7 E0101");
  EXPECT_EQ(errors("fn f(x: f32[3]) -> f32 { x }\n"), "1:13 E0140");
  EXPECT_EQ(errors("fn f(x: f32) -> f32 { }\n"), "1:23 E0119");
  EXPECT_EQ(errors("fn f(x: f32) -> f32\n"), "1:20 E0101");
}

TEST(Decl, FunctionValues) {
  EXPECT_EQ(dumpFile("fn f(x: f32) -> f32 {\n  if x > 0 { x } else { -x }\n}\n"),
            "fn f -> f32\n  param x: f32\n  body\n    value\n      if-value\n        binary >\n          name x\n"
            "          integer 0\n        then\n          value\n            name x\n        else\n          value\n"
            "            unary -\n              name x\n");
  EXPECT_EQ(errors("fn f(x: f32) -> f32 {\n  let y = x\n  -y\n}\n"), "");
  EXPECT_EQ(errors("fn f(x: f32) -> f32 {\n  let y = x\n  - y\n}\n"), "3:3 E0114");
  EXPECT_EQ(errors("fn f(x: f32) -> f32 {\n  x\n  x\n}\n"), "2:3 E0118");
  EXPECT_EQ(errors("fn f(x: f32) -> f32 {\n  if x > 0 { let y = 1 } else { 2 }\n}\n"), "2:33 E0118");
  EXPECT_EQ(errors("fn f(x: f32) -> f32 {\n  if x > 0 { 1 }\n}\n"), "2:3 E0120");
  EXPECT_EQ(errors("fn f(x: f32) -> f32 {\n  if x > 0 { 1 } else { let y = 2 }\n}\n"), "2:35 E0119");
  EXPECT_EQ(errors("fn f(x: f32) -> f32 {\n  if x > 0 { 1 } else if x < 0 { 2 } else { 3 } + 4\n}\n"), "");
}

TEST(Decl, Kernel) {
  EXPECT_EQ(
      dumpFile("@maxregs(232) if arch >= 90\nkernel f<BM: index = auto, T: type = bf16, c: bool>(\n"
               "    A: T[M, K] strides dynamic, inout B: f32[], n: i32, lda: dim,\n"
               "    out C: f32[M] strides [lda, 1] if c)\n    where M in {1, 2}, K % 4 == 0 {\n  temp W: f32[M]\n}\n"),
      "annotation maxregs if arch >= 90\n  integer 232\nkernel f\n  constant BM: index\n    auto\n"
      "  constant T: type\n    scalar bf16\n  constant c: bool\n  param in A: T\n    shape\n      name M\n"
      "      name K\n    strides dynamic\n  param inout B: f32\n    shape\n  param in n: i32\n"
      "  param in lda: dim\n  param out C: f32\n    shape\n      name M\n    strides\n      name lda\n"
      "      integer 1\n    if\n      name c\n  where M in\n    integer 1\n    integer 2\n  where\n    binary ==\n"
      "      binary %\n        name K\n        integer 4\n      integer 0\n  body\n    temp W: f32\n"
      "      name M\n");
}

TEST(Decl, KernelErrors) {
  EXPECT_EQ(errors("kernel (A: f32) { }\n"), "1:8 E0101");
  EXPECT_EQ(errors("kernel f { }\n"), "1:10 E0101");
  EXPECT_EQ(errors("kernel f(A f32) { }\n"), "1:12 E0101");
  EXPECT_EQ(errors("kernel f(A: [M]) { }\n"), "1:13 E0101");
  EXPECT_EQ(errors("kernel f(A: f32[M] B: f32) { }\n"), "1:20 E0113");
  EXPECT_EQ(errors("kernel f(A: f32[M] strides 3) { }\n"), "1:28 E0101");
  EXPECT_EQ(errors("kernel f(A: f32[M) { }\n"), "1:18 E0113");
  EXPECT_EQ(errors("kernel f(A: f32) where { }\n"), "1:24 E0110");
  EXPECT_EQ(errors("kernel f(A: f32[M]) where M in 3 { }\n"), "1:32 E0101");
  EXPECT_EQ(errors("kernel f(A: f32[M]) where M = 3 { }\n"), "1:29 E0139");
  EXPECT_EQ(errors("kernel f<N = 3>() { }\n"), "1:12 E0101");
  EXPECT_EQ(errors("kernel f<N: index = 3 > 2>() { }\n"), "1:25 E0101");
  EXPECT_EQ(errors("kernel f()\n"), "1:11 E0101");
}

TEST(Decl, ContextualWordsAsNames) {
  EXPECT_EQ(errors("kernel names(strides: f32[M], dim: i32, out dynamic: f32[M], arch: dim, tiles: index) {\n"
                   "  parallel type in tiles(M, 16) {\n    let start = f32(type.start)\n    let reverse = tiles\n"
                   "    for i in reverse..3 { dynamic[type] = start }\n  }\n}\n"),
            "");
}

TEST(Decl, UnexpectedAtFileLevel) {
  EXPECT_EQ(errors("let x = 3\nlet y = 4\nconst Z = 3\n"), "1:1 E0112");
  EXPECT_EQ(errors("}\nconst Z = 3\n"), "1:1 E0112");
  EXPECT_EQ(errors("kernel f() { }\n}\nkernel g() { }\n"), "2:1 E0112");
  EXPECT_EQ(errors("@warps(4)\nconst A = 3\n"), "1:1 E0125");
  EXPECT_EQ(errors("@maxregs(4)\n"), "2:1 E0112");
  EXPECT_EQ(errors("kernel f() { } kernel g() { }\n"), "");
}

TEST(Decl, UnclosedBlocks) {
  EXPECT_EQ(errors("kernel f() {\n  for i in 0..3 {\nkernel g() { }\n"), "2:18 E0113");
  EXPECT_EQ(Parsed("kernel f() {\n").summary(), "1:13 E0113");
  EXPECT_NE(Parsed("kernel f() {\n").text().find("1:12: note: `{` is opened here"), std::string::npos);
}

TEST(Decl, Annotations) {
  EXPECT_EQ(errors("@warps(2)\nkernel f() { }\n"), "1:1 E0125");
  EXPECT_EQ(errors("@no_tma\nkernel f() { }\n"), "");
  EXPECT_EQ(errors("@maxreg(2)\nkernel f() { }\n"), "1:2 E0124");
  EXPECT_NE(Parsed("@maxreg(2)\nkernel f() { }\n").text().find("did you mean `@maxregs`?"), std::string::npos);
  EXPECT_NE(Parsed("@foo\nkernel f() { }\n").text().find("`@warps`, `@specialize`"), std::string::npos);
  EXPECT_EQ(errors("@\nkernel f() { }\n"), "1:2 E0101");
}

TEST(Decl, ConstValueOfTheCommandLine) {
  auto parse = [](llvm::StringRef text) -> std::string {
    SourceManager sources;
    DiagnosticEngine engine(sources);
    ast::ASTContext context;
    ast::Expr *value = parseConstValue(sources.addText(text, "-D"), context, engine);
    EXPECT_EQ(value == nullptr, engine.hasErrors());
    return value ? ast::toSource(value) : "";
  };
  EXPECT_EQ(parse("128"), "128");
  EXPECT_EQ(parse("bf16"), "bf16");
  EXPECT_EQ(parse("auto"), "auto");
  EXPECT_EQ(parse("true"), "true");
  EXPECT_EQ(parse("2 * (3 + 4)"), "2 * (3 + 4)");
  EXPECT_EQ(parse("-1"), "-1");
  EXPECT_EQ(parse(""), "");
  EXPECT_EQ(parse("1 2"), "");
  EXPECT_EQ(parse("$"), "");
}
