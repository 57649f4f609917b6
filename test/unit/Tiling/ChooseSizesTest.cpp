// The sizes that kernels get, and the choice among them: a pure function of the source and the dimensions.
#include "tilec/Tiling/ChooseSizes.h"
#include "tilec/Diagnostics/DiagnosticEngine.h"
#include "tilec/Runner/HostExpression.h"
#include "tilec/Syntax/Parser.h"

#include <gtest/gtest.h>
#include <random>

using namespace tilec;

namespace {

/// A program whose kernels have the sizes that the compiler chooses for a machine.
class Sizes {
public:
  explicit Sizes(llvm::StringRef text, llvm::StringRef target = "sm_90a") : machine(*findMachine(target)) {
    FileID main = sources.addText(text, "kernel.tile");
    ast::Program parsed = parseProgram(main, context, engine, [](auto &&...) { return FileID(); });
    sema::Options options;
    options.chooseSizes = [&](const sema::Kernel &probe, llvm::ArrayRef<sema::AutoSize> sizes) {
      return chooseSizes(probe, sizes, machine);
    };
    program = analyze(parsed, engine, options);
  }

  std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const sema::Kernel &kernel : program->kernels)
      result.push_back(kernel.variant);
    return result;
  }

  int64_t evaluate(const sema::HostExpr &expr, const std::map<std::string, int64_t> &dimensions) const {
    runner::HostValues values;
    values.names["sm_count"] = machine.multiprocessors;
    for (const auto &[name, value] : dimensions)
      values.names[name] = value;
    return llvm::cantFail(runner::evaluate(expr, values));
  }

  int64_t cost(const sema::Kernel &kernel, const std::map<std::string, int64_t> &dimensions) const {
    return evaluate(kernel.chosen.cost, dimensions);
  }

  /// The variant of least cost with its cluster, where pairs along both ranges cover the tiles.
  std::string choiceOfPairs(const std::map<std::string, int64_t> &dimensions) const {
    std::string best = choice(dimensions);
    int64_t least = INT64_MAX;
    for (const sema::Kernel &kernel : program->kernels)
      least = std::min(least, cost(kernel, dimensions));
    for (const sema::Kernel &kernel : program->kernels)
      for (const sema::ClusterChoice &cluster : kernel.chosen.clusters)
        if (int64_t cost = evaluate(cluster.cost, dimensions); cost < least) {
          least = cost;
          best = kernel.variant + " " + std::to_string(cluster.blocks[0]) + "x" + std::to_string(cluster.blocks[1]);
        }
    return best;
  }

  /// The variant of least cost, the first of equals.
  std::string choice(const std::map<std::string, int64_t> &dimensions) const {
    const sema::Kernel *best = nullptr;
    for (const sema::Kernel &kernel : program->kernels)
      if (!best || cost(kernel, dimensions) < cost(*best, dimensions))
        best = &kernel;
    return best->variant;
  }

  SourceManager sources;
  ast::ASTContext context;
  DiagnosticEngine engine{sources};
  const Machine &machine;
  std::unique_ptr<sema::TypedProgram> program;
};

std::string gemm(llvm::StringRef bm = "auto", llvm::StringRef bn = "auto", llvm::StringRef bk = "auto",
                 llvm::StringRef element = "bf16") {
  std::string type = element.str(), sum = element == "i8" ? "i32" : "f32";
  return "kernel gemm<BM: index = " + bm.str() + ", BN: index = " + bn.str() + ", BK: index = " + bk.str() +
         ">(A: " + type + "[M, K], B: " + type + "[N, K], out C: " + sum + R"([M, N]) {
  parallel m in tiles(M, BM), n in tiles(N, BN) {
    var acc: )" +
         sum + R"([m, n] = 0
    for k in tiles(K, BK) { acc += dot[k](A[m, k], B[n, k]) }
    C[m, n] = acc
  }
})";
}

std::map<std::string, int64_t> shape(int64_t m, int64_t n, int64_t k) { return {{"M", m}, {"N", n}, {"K", k}}; }

TEST(ChooseSizes, WrittenSizesStay) {
  EXPECT_EQ(Sizes(gemm("128", "256", "64")).names(), std::vector<std::string>{"gemm"});
  for (const std::string &name : Sizes(gemm("128")).names())
    EXPECT_EQ(name.find("BM"), std::string::npos) << name;
  Sizes odd(gemm("48", "96"));
  ASSERT_EQ(odd.names(), std::vector<std::string>{"gemm"});
  EXPECT_EQ(odd.program->kernels[0].chosen.sizes, (std::vector<std::pair<std::string, int64_t>>{{"BK", 64}}));
}

TEST(ChooseSizes, DepthFollowsTheElements) {
  for (auto [element, depth] : {std::pair("bf16", 64), {"f16", 64}, {"i8", 128}, {"f8e4m3", 128}}) {
    Sizes sizes(gemm("auto", "auto", "auto", element));
    EXPECT_GT(sizes.program->kernels.size(), 2u);
    for (const sema::Kernel &kernel : sizes.program->kernels)
      EXPECT_TRUE(llvm::is_contained({depth, 2 * depth, 4 * depth}, kernel.chosen.sizes[2].second)) << element;
  }
}

// The least time measured at these shapes (docs/performance.md), or within 2 % of it.
TEST(ChooseSizes, MeasuredProducts) {
  Sizes sizes(gemm());
  const std::pair<std::array<int64_t, 3>, const char *> expected[] = {
      {{8192, 8192, 8192}, "BM128_BN192_BK64"},  {{4096, 4096, 4096}, "BM128_BN256_BK64"},
      {{2048, 2048, 2048}, "BM128_BN256_BK64"},  {{1024, 1024, 1024}, "BM128_BN64_BK64"},
      {{512, 512, 512}, "BM64_BN64_BK128"},      {{4096, 4096, 14336}, "BM128_BN256_BK64"},
      {{4096, 28672, 8192}, "BM256_BN160_BK64"}, {{8192, 1280, 8192}, "BM256_BN160_BK64"},
      {{512, 8192, 28672}, "BM128_BN256_BK64"},  {{128, 28672, 8192}, "BM128_BN224_BK128"},
      {{64, 8192, 8192}, "BM64_BN128_BK128"},    {{16, 8192, 8192}, "BM16_BN64_BK128"},
      {{1, 8192, 8192}, "BM8_BN64_BK256"},       {{32, 28672, 8192}, "BM32_BN128_BK128"},
      {{128, 8192, 8192}, "BM64_BN128_BK128"},   {{256, 4096, 4096}, "BM64_BN128_BK128"},
      {{192, 3000, 4096}, "BM64_BN128_BK128"},   {{1, 4096, 4096}, "BM8_BN64_BK256"},
      {{32, 8192, 28672}, "BM32_BN64_BK128"},    {{64, 28672, 8192}, "BM64_BN128_BK128"},
      {{1000, 3000, 2048}, "BM128_BN192_BK64"},  {{600, 3616, 4024}, "BM128_BN192_BK64"},
      {{2466, 128, 1616}, "BM64_BN64_BK128"},    {{7432, 432, 3104}, "BM128_BN256_BK64"},
      {{159, 352, 696}, "BM16_BN64_BK128"},      {{914, 1192, 7192}, "BM128_BN128_BK128"},
      {{8192, 10240, 8192}, "BM128_BN256_BK64"},
  };
  for (auto [dimensions, variant] : expected)
    EXPECT_EQ(sizes.choice(shape(dimensions[0], dimensions[1], dimensions[2])), std::string("gemm__") + variant);
}

/// Two accumulators of promoted sums; groups in turns beside results of 32 bits and beside a scale.
TEST(ChooseSizes, MeasuredProductsOfBytes) {
  auto scaled = [](llvm::StringRef accumulate) {
    return "kernel gemm<BM: index = auto, BN: index = auto, BK: index = 128>(A: f8e4m3[M, K], B: f8e4m3[N, K], s: f32, "
           "out C: bf16[M, N]) {\n  parallel m in tiles(M, BM), n in tiles(N, BN) {\n    var acc: f32[m, n] = 0\n"
           "    for k in tiles(K, BK) { acc += dot[k](A[m, k], B[n, k]" +
           accumulate.str() + ") }\n    C[m, n] = bf16(acc * s)\n  }\n}";
  };
  Sizes promoted(scaled("")), fast(scaled(", accumulate = fast")), integers(gemm("auto", "auto", "auto", "i8"));
  EXPECT_EQ(promoted.choice(shape(4096, 4096, 4096)), "gemm__BM128_BN256");
  EXPECT_EQ(promoted.choice(shape(8192, 8192, 8192)), "gemm__BM128_BN192");
  EXPECT_EQ(promoted.choice(shape(4096, 28672, 8192)), "gemm__BM128_BN192");
  EXPECT_EQ(fast.choice(shape(8192, 8192, 8192)), "gemm__BM128_BN192");
  EXPECT_EQ(integers.choice(shape(4096, 4096, 4096)), "gemm__BM128_BN128_BK128");
}

/// Short functions run under the products of another group; in full, as beside a residual, they do not.
TEST(ChooseSizes, MeasuredEpilogues) {
  auto linear = [](llvm::StringRef more, llvm::StringRef result) {
    return "kernel linear<BM: index = auto, BN: index = auto, BK: index = 64>(A: bf16[M, K], W: bf16[N, K], bias: "
           "bf16[N], R: bf16[M, N], out C: bf16[M, N]) {\n  parallel m in tiles(M, BM), n in tiles(N, BN) {\n"
           "    var acc: f32[m, n] = 0\n    for k in tiles(K, BK) { acc += dot[k](A[m, k], W[n, k]) }\n"
           "    let y = acc + bias[n]\n    C[m, n] = bf16(" +
           result.str() + more.str() + ")\n  }\n}";
  };
  Sizes silu(linear("", "y * sigmoid(y)")), residual(linear(" + R[m, n]", "0.5 * y * (1 + erf(y * 0.7071))"));
  EXPECT_EQ(silu.choice(shape(4096, 4096, 4096)), "linear__BM128_BN128");
  EXPECT_EQ(silu.choice(shape(8192, 8192, 8192)), "linear__BM128_BN192");
  EXPECT_EQ(residual.choice(shape(8192, 8192, 8192)), "linear__BM128_BN256");
}

/// Rows that straddle lines of the second-level cache, where many multiprocessors load them (docs/performance.md).
TEST(ChooseSizes, MeasuredClusters) {
  Sizes sizes(gemm());
  EXPECT_EQ(sizes.choiceOfPairs(shape(4096, 4096, 4104)), "gemm__BM128_BN256_BK64 2x1");
  EXPECT_EQ(sizes.choiceOfPairs(shape(8192, 8192, 8200)), "gemm__BM128_BN256_BK64 2x1");
  EXPECT_EQ(sizes.choiceOfPairs(shape(4096, 4096, 4096)), "gemm__BM128_BN256_BK64");
  EXPECT_EQ(sizes.choiceOfPairs(shape(8192, 8192, 8192)), "gemm__BM128_BN192_BK64");
  EXPECT_EQ(sizes.choiceOfPairs(shape(7432, 432, 3104)), "gemm__BM128_BN256_BK64");
  EXPECT_EQ(sizes.choiceOfPairs(shape(1000, 5000, 5000)), "gemm__BM256_BN160_BK64");
}

TEST(ChooseSizes, OneSetServesUnalignedTensors) {
  Sizes sizes(gemm());
  EXPECT_EQ(llvm::count_if(sizes.program->kernels, [](const sema::Kernel &kernel) { return kernel.chosen.general; }),
            1);
}

TEST(ChooseSizes, EmptyAndHugeDimensions) {
  Sizes sizes(gemm());
  for (int64_t size : {int64_t(0), int64_t(1), (int64_t(1) << 31) - 1})
    for (const sema::Kernel &kernel : sizes.program->kernels) {
      EXPECT_GE(sizes.cost(kernel, shape(size, 1, 1)), 0);
      EXPECT_GE(sizes.cost(kernel, shape(1, size, 1)), 0);
      EXPECT_GE(sizes.cost(kernel, shape(1, 1, size)), 0);
    }
}

// More work never costs less.
TEST(ChooseSizes, CostsAreMonotonic) {
  Sizes sizes(gemm());
  std::mt19937 random(1);
  for (unsigned i = 0; i < 500; ++i) {
    auto draw = [&] { return std::uniform_int_distribution<int64_t>(1, 1 << (4 + random() % 10))(random); };
    int64_t m = draw(), n = draw(), k = draw();
    for (const sema::Kernel &kernel : sizes.program->kernels) {
      int64_t cost = sizes.cost(kernel, shape(m, n, k));
      EXPECT_LE(cost, sizes.cost(kernel, shape(m + 64, n, k)));
      EXPECT_LE(cost, sizes.cost(kernel, shape(m, n + 64, k)));
      EXPECT_LE(cost, sizes.cost(kernel, shape(m, n, k + 64)));
    }
  }
}

TEST(ChooseSizes, AttentionByHeadSize) {
  auto attention = [](int64_t head) {
    std::string d = std::to_string(head);
    return "kernel attention<BQ: index = auto, BT: index = auto>(Q: bf16[H, S, " + d + "], K: bf16[H, T, " + d +
           "], V: bf16[H, T, " + d + "], out O: bf16[H, S, " + d + R"(]) {
  parallel h in 0..H, q in tiles(S, BQ) {
    axis d = 0..)" +
           d + R"(
    var acc: f32[q, d] = 0
    for t in tiles(0..T, BT) {
      let p = exp2(dot[d](Q[h, q, d], K[h, t, d]))
      acc += dot[t](bf16(p), V[h, t, d])
    }
    O[h, q, d] = bf16(acc)
  }
})";
  };
  for (int64_t head : {64, 96, 128, 256}) {
    Sizes sizes(attention(head));
    ASSERT_TRUE(sizes.program);
    EXPECT_EQ(sizes.program->kernels[0].chosen.sizes.size(), 2u) << head;
  }
}

// Registers and shared memory hold what is chosen beside written sizes.
TEST(ChooseSizes, FreeSizesFitBesideWrittenOnes) {
  for (int64_t rows : {192, 320, 512}) {
    Sizes sizes(gemm(std::to_string(rows)));
    EXPECT_FALSE(sizes.program->kernels.front().chosen.sizes.empty()) << rows;
    for (const sema::Kernel &kernel : sizes.program->kernels)
      EXPECT_LE(rows * kernel.chosen.sizes[0].second, 128 * 256) << kernel.variant;
  }
  for (int64_t depth : {320, 512}) {
    Sizes sizes(gemm("auto", "auto", std::to_string(depth)));
    for (const sema::Kernel &kernel : sizes.program->kernels) {
      int64_t lines = kernel.chosen.sizes[0].second + kernel.chosen.sizes[1].second;
      EXPECT_LE(lines * depth * 2, sizes.machine.sharedPerBlock) << kernel.variant;
    }
  }
}

// The host cannot know how long the loop is: one set without a cost, not trial sizes.
TEST(ChooseSizes, LengthsThatTensorsDecide) {
  std::string text = gemm();
  text.replace(text.find("B: bf16"), 1, "lengths: i32[M], B");
  text.replace(text.find("tiles(K, BK)"), 12, "tiles(0..min(index(lengths[m.start]), index(lengths[0])), BK)");
  Sizes sizes(text, "sm_80");
  ASSERT_EQ(sizes.names(), std::vector<std::string>{"gemm"});
  EXPECT_EQ(sizes.program->kernels[0].chosen.sizes,
            (std::vector<std::pair<std::string, int64_t>>{{"BM", 128}, {"BN", 128}, {"BK", 32}}));
  EXPECT_EQ(sizes.program->kernels[0].chosen.cost, sema::HostExpr(nullptr));
}

// The model does not know the kernel: trial sizes.
TEST(ChooseSizes, OtherKernels) {
  Sizes sizes("kernel copy(X: f32[M], out Y: f32[M]) { parallel m in tiles(M, auto) { Y[m] = X[m] } }");
  EXPECT_EQ(sizes.names(), std::vector<std::string>{"copy"});
}

// A size that decides about the interface: the launcher cannot choose.
TEST(ChooseSizes, InterfaceDependsOnSize) {
  std::string text = gemm();
  text.replace(text.find("A: bf16[M, K]"), 13, "A: bf16[BM * 64, K]");
  for (const std::string &name : Sizes(text).names())
    EXPECT_NE(name.find("BM128"), std::string::npos) << name;
}

} // namespace
