// The typed tree: types, inserted conversions, folding, pruning, inlining, variants and instantiation.
#include "SemaTestSupport.h"
#include "gtest/gtest.h"

using namespace tilec;
using namespace tilec::test;

namespace {

/// The dump of statements in `parallel m in tiles(M, 16), n in tiles(N, 8)` of a kernel with tensors of several types.
std::string dumpBody(const std::string &body, const std::string &before = "") {
  Analysis analysis(before +
                    "\nkernel k<BM: index = 16, flag: bool = false>(A: f32[M, N], B: bf16[M, N], H: f16[M, N],"
                    " I: i32[M, N], W: i8[M, N], U: u8[M, N], L: i64[M], Q: u64[M], inout X: f32[M, N],"
                    " out C: f32[M, N], s: f32, c: i32, l: i64)\n{ parallel m in tiles(M, BM),"
                    " n in tiles(N, 8) {\n" +
                    body + "\n} }\n");
  std::string dump = analysis.dump("k");
  size_t start = dump.find("parallel ");
  return start == std::string::npos ? analysis.all() : dump.substr(start);
}

#define EXPECT_DUMP(body, text)                                                                                        \
  EXPECT_NE(dumpBody(body).find(text), std::string::npos) << (body) << "\n" << dumpBody(body)

} // namespace

TEST(SemaTypes, ArithmeticPromotes) {
  EXPECT_DUMP("let x = B[m, n] * B[m, n]", "let x: f32[m, n] = f32(B[m, n]) * f32(B[m, n])");
  EXPECT_DUMP("let x = U[m, n] - 8", "let x: i32[m, n] = i32(U[m, n]) - i32(8)");
  EXPECT_DUMP("let x = B[m, n] * 2", "let x: f32[m, n] = f32(B[m, n]) * f32(2)");
  EXPECT_DUMP("let x = c + l", "let x: i64 = i64(c) + l");
  EXPECT_DUMP("let x = c + m", "let x: index[m] = index(c) + m");
  EXPECT_DUMP("let x = W[m, n] * s", "let x: f32[m, n] = f32(W[m, n]) * s");
  EXPECT_DUMP("let x = -B[m, n]", "let x: f32[m, n] = -f32(B[m, n])");
  EXPECT_DUMP("let x = exp(B[m, n])", "let x: f32[m, n] = exp(f32(B[m, n]))");
}

TEST(SemaTypes, SelectComparisonsAndExtremaKeepTypes) {
  EXPECT_DUMP("let x = max(B[m, n], 0)", "let x: bf16[m, n] = max(B[m, n], bf16(0))");
  EXPECT_DUMP("let x = select(B[m, n] > 0, B[m, n], 0)", "select(B[m, n] > bf16(0), B[m, n], bf16(0))");
  EXPECT_DUMP("let x = U[m, n] < 256", "i32(U[m, n]) < i32(256)");
  EXPECT_DUMP("let x = abs(W[m, n])", "let x: i8[m, n] = abs(W[m, n])");
  EXPECT_DUMP("let x = select(c > 0, H[m, n], A[m, n])",
              "let x: f32[m, n] = select(c > i32(0), f32(H[m, n]), A[m, n])");
}

TEST(SemaTypes, ShiftsAndIndices) {
  EXPECT_DUMP("let x = l * c << 3", "let x: i64 = (l * i64(c)) << i64(3)");
  EXPECT_DUMP("let x = U[m, n] >> l", "i32(U[m, n]) >> i32(l)");
  EXPECT_DUMP("let x = A[c, l]", "let x: f32 = A[index(c), index(l)]");
  EXPECT_DUMP("let x = A[m + 4294967296 * (l % 2), n]", "A[m + index(i64(4294967296) * (l % i64(2))), n]");
}

TEST(SemaTypes, Reductions) {
  EXPECT_DUMP("let x = sum[n](B[m, n])", "let x: f32[m] = sum[n](f32(B[m, n]))");
  EXPECT_DUMP("let x = sum[n](A[m, n] == 0)", "let x: i32[m] = sum[n](i32(A[m, n] == f32(0)))");
  EXPECT_DUMP("let x = sum[n](U[m, n])", "let x: u32[m] = sum[n](u32(U[m, n]))");
  EXPECT_DUMP("let x = max[n where n > m](B[m, n])", "let x: bf16[m] = max[n](B[m, n] where n > m)");
  EXPECT_DUMP("let x = mean[m, n](A[m, n])", "let x: f32 = mean[m, n](A[m, n])");
  EXPECT_DUMP("let x: f32[m] = dot[n](B[m, n], B[m, n])", "dot[n](B[m, n], B[m, n])");
  EXPECT_DUMP("let x = dot[n](U[m, n], U[m, n])", "let x: u32[m] = dot[n](U[m, n], U[m, n])");
  EXPECT_DUMP("axis k = 0..8\naxis j = 0..8\nlet x: f32[m, j] = sum[k](B[m, k else 0] * B[j, k else 0])",
              "dot[k](B[m, k else bf16(0)], B[j, k else bf16(0)])");
}

TEST(SemaConstants, FoldExactly) {
  EXPECT_DUMP("let x = 1 / 3 * s", "let x: f32 = f32(0) * s");
  EXPECT_DUMP("let x = s * (1.0 / 3)", "s * f32(0.333333343)");
  EXPECT_DUMP("let x = (1 << 40) / (1 << 38)", "let x: i32 = i32(4)");
  EXPECT_DUMP("let x = i8(300)", "let x: i8 = i8(44)");
  EXPECT_DUMP("let x = BM * 2 + c", "let x: i32 = i32(32) + c");
  EXPECT_DUMP("let x = BM", "let x: index = 16");
  EXPECT_DUMP("let x = m.extent", "let x: index = 16");
  EXPECT_DUMP("let x = ceil_div(-7, 2)", "let x: i32 = i32(-3)");
  EXPECT_DUMP("let x = f32.lowest", "f32(-3.40282347E+38)");
  EXPECT_DUMP("let x = -inf * s", "f32(-Inf) * s");
}

TEST(SemaConstants, ConditionsPruneBeforeTyping) {
  EXPECT_DUMP("let x = if flag { unknown } else { 2.0 }", "let x: f32 = f32(2)");
  EXPECT_DUMP("if flag { unknown = 1 } else { C[m, n] = s }", "C[m, n] over [m, n] = s");
  EXPECT_DUMP("let x = if BM > 8 && !flag { c } else { unknown }", "let x: i32 = c");
  EXPECT_DUMP("let x = if c > 0 { let y = s\ny * 2 } else { 1 }",
              "if c > i32(0) { { let y: f32 = s; y * f32(2) } } else { f32(1) }");
}

TEST(SemaStatements, VariablesAreCarried) {
  std::string dump =
      dumpBody("var x: f32[m] = 0\nvar y = s\nfor i in 0..4 { if c > 0 { x += A[m, 0] } else { y = 1.0 } }");
  EXPECT_NE(dump.find("for i in 0..4 carries x, y {"), std::string::npos) << dump;
  EXPECT_NE(dump.find("if c > i32(0) carries x, y {"), std::string::npos) << dump;
  EXPECT_NE(dump.find("x = x + A[m, 0]"), std::string::npos) << dump;
  EXPECT_DUMP("X[m, n] += s", "X[m, n] over [m, n] = X[m, n] + s");
  EXPECT_DUMP("atomic X[m, n] max= s", "atomic X[m, n] over [m, n] max= s");
  EXPECT_DUMP("for i in reverse tiles(N, 4) { let x = i.index }", "for i in reverse tiles(0..N, 4)");
}

TEST(SemaFunctions, InlineAndLift) {
  std::string twice = "fn twice<T: type>(x: T) -> T { x }";
  EXPECT_NE(dumpBody("let x = twice(B[m, n])", twice).find("let x: bf16[m, n] = { let x: bf16[m, n] = B[m, n]; x }"),
            std::string::npos)
      << dumpBody("let x = twice(B[m, n])", twice);
  std::string rms = "fn rms[k](x: f32[k]) -> f32[k] {\nlet r: f32 = rsqrt(mean[k](x * x))\nx * r }";
  std::string dump = dumpBody("C[m, n] = rms[n](A[m, n])", rms);
  EXPECT_NE(dump.find("let r: f32[m] = rsqrt(mean[n](x * x)); x * r"), std::string::npos) << dump;
  std::string pair = "fn both(x: f32) -> (f32, f32) {\nlet y = x + 1\n(y, y * 2) }";
  dump = dumpBody("let (p, q) = both(A[m, n])\nC[m, n] = p + q", pair);
  EXPECT_NE(dump.find("let q: f32[m, n] = y * f32(2)"), std::string::npos) << dump;
}

TEST(SemaKernels, VariantsAndInstances) {
  Analysis analysis("kernel k<T: type, BM: index = 8>(A: T[M, D], out C: T[M]) where D in {32, 64} {\n"
                    "parallel m in tiles(M, BM) { axis d = 0..D\nC[m] = T(sum[d](A[m, d])) } }\n"
                    "instantiate k<T = f32> as k_f32\ninstantiate k<T = f64, BM = 4> as k_f64\n",
                    {{"BM", "2"}});
  EXPECT_EQ(analysis.all(), "");
  ASSERT_TRUE(analysis.program);
  EXPECT_EQ(analysis.program->kernels.size(), 4u);
  EXPECT_NE(analysis.dump("k_f32__D64").find("tiles(0..M, 2)"), std::string::npos) << analysis.dump("k_f32__D64");
  EXPECT_NE(analysis.dump("k_f64__D32").find("tiles(0..M, 4)"), std::string::npos);
  EXPECT_NE(analysis.dump("k_f64__D32").find("axis d<32> = 0..32"), std::string::npos);
  EXPECT_NE(analysis.dump("k_f64__D32").find("when [\"eq\",\"D\",32]"), std::string::npos);
}

TEST(SemaKernels, ParametersInLaunchOrder) {
  Analysis analysis("kernel k<l: bool = false>(A: f32[M, K] strides [lda, 1], lda: dim, X: f32[K] strides dynamic,"
                    " out L: f32[Z] if l, out C: f32[M]) { parallel m in tiles(M, 8) { C[m] = 0 } }");
  EXPECT_EQ(analysis.dump("k").substr(0, analysis.dump("k").find("  parallel")),
            "kernel k variant k\n  in A: f32[M, K] strides [lda, 1]\n  dim lda: index min 0\n"
            "  in X: f32[K] strides dynamic\n  out C: f32[M] strides [1]\n  dim M: index min 0\n  dim K: index min 0\n")
      << analysis.all();
}

TEST(SemaKernels, ImportsShareNames) {
  llvm::StringMap<std::string> imports;
  imports["lib.tile"] = "const TWO: f32 = 2\nfn twice(x: f32) -> f32 { x * TWO }\n";
  Analysis analysis("import \"lib.tile\"\nkernel k(A: f32[M], out C: f32[M]) { parallel m in tiles(M, 8) {"
                    " C[m] = twice(A[m]) } }",
                    {}, imports);
  EXPECT_EQ(analysis.all(), "");
  EXPECT_NE(analysis.dump("k").find("x * f32(2)"), std::string::npos) << analysis.dump("k");
}

TEST(SemaKernels, AnnotationsOfOtherArchitecturesAreDropped) {
  Analysis analysis("kernel k(out C: f32[M]) {\n@warps(8) if arch >= 90\n@raster(4) if arch < 90\n"
                    "parallel m in tiles(M, 8) {\n@stages(3)\n@unroll(2)\nfor i in 0..4 { C[m] = 0 } } }");
  std::string dump = analysis.dump("k");
  EXPECT_NE(dump.find("@warps 8"), std::string::npos) << analysis.all();
  EXPECT_EQ(dump.find("@raster"), std::string::npos);
  EXPECT_NE(dump.find("@stages 3\n    @unroll 2\n"), std::string::npos) << dump;
}
