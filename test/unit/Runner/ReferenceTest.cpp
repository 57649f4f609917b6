// References: values, bounds of errors, what they may hold; the work of kernels.
#include "tilec/Runner/Reference.h"
#include "tilec/Runner/Work.h"
#include "llvm/Support/FileSystem.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace tilec::runner;

namespace {

constexpr const char *program = R"(
fn twice(x: f32) -> f32 { let y = x + x
  y }
kernel rows(X: f32[M, N], I: i32[N], out Y: f32[M, N], out S: f32[M], out K: i32[N], out P: index[M]) where N <= 64 {
  parallel m in 0..M { axis n = 0..N
    Y[m, n] = X[m, n]
    S[m] = sum[n](X[m, n]) }
  parallel n in tiles(N, 32) { K[n] = I[n] }
  parallel m in 0..M { P[m] = 0 }
}
kernel product<B: index = 32>(A: bf16[M, N], B2: bf16[L, N], out C: f32[M, L]) {
  parallel m in tiles(M, B), l in tiles(L, 64) {
    var acc: f32[m, l] = 0
    for n in tiles(0..min(N, m.end), 16) { acc += dot[n](A[m, n], B2[l, n]) }
    C[m, l] = acc * 2
  }
}
)";

HostTensor tensorOf(const char *type, std::vector<int64_t> shape, llvm::ArrayRef<double> values) {
  HostTensor tensor = {llvm::cantFail(findElementType(type)), std::move(shape), {}};
  tensor.bytes.resize(values.size() * tensor.type->bytes);
  for (size_t i = 0; i < values.size(); ++i)
    encodeElement(*tensor.type, values[i], &tensor.bytes[i * tensor.type->bytes]);
  return tensor;
}

class ReferenceTest : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createTemporaryFile("reference", "tile", path));
    std::error_code code;
    llvm::raw_fd_ostream(path, code) << program;
    ASSERT_FALSE(code);
    add("X", tensorOf("f32", {2, 3}, {1, -2, 3, 4, 5, -INFINITY}));
    add("I", tensorOf("i32", {3}, {7, -7, 2147483647}));
    for (const char *name : {"Y", "S", "K", "P"})
      outputs(name);
  }
  void TearDown() override { llvm::sys::fs::remove(path); }

  void add(const char *name, HostTensor contents) {
    TensorBinding binding;
    binding.name = name;
    binding.type = contents.type;
    binding.shape = contents.shape;
    binding.contents = std::move(contents);
    arguments.tensors.push_back(std::move(binding));
  }
  void outputs(llvm::StringRef name) {
    TensorBinding binding;
    binding.name = name.str();
    binding.access = TensorBinding::Out;
    binding.type = llvm::cantFail(findElementType(name == "K" ? "i32" : name == "P" ? "index" : "f32"));
    binding.shape = name == "Y" ? std::vector<int64_t>{2, 3} : std::vector<int64_t>{name == "K" ? 3 : 2};
    arguments.tensors.push_back(std::move(binding));
  }

  llvm::Expected<std::unique_ptr<Reference>> parse(llvm::StringRef text) {
    ReferenceSource source{{path.str().str(), "rows", {}, {}}, {"Y", "S"}};
    diagnostics.clear();
    llvm::raw_string_ostream os(diagnostics);
    return Reference::parse(text, "--check", source, os);
  }
  std::vector<ReferenceElement> elements(llvm::StringRef text, const ReferenceBudget &budget = {}) {
    auto reference = parse(text);
    if (!reference) {
      ADD_FAILURE() << llvm::toString(reference.takeError()) << diagnostics;
      return {};
    }
    auto results = (*reference)->evaluate(arguments, budget);
    if (!results) {
      ADD_FAILURE() << llvm::toString(results.takeError());
      return {};
    }
    sampled = results->front().sampled;
    return results->front().elements;
  }
  std::vector<double> reals(llvm::StringRef text) {
    std::vector<double> values;
    for (const ReferenceElement &element : elements(text))
      values.push_back(element.real);
    return values;
  }
  std::vector<int64_t> integers(llvm::StringRef text) {
    std::vector<int64_t> values;
    for (const ReferenceElement &element : elements(text))
      values.push_back(element.integer);
    return values;
  }
  std::string mistake(llvm::StringRef text) {
    auto reference = parse(text);
    return reference ? "" : llvm::toString(reference.takeError()) + diagnostics;
  }

  llvm::SmallString<128> path;
  Arguments arguments;
  std::string diagnostics;
  bool sampled = false;
};

using Reals = std::vector<double>;
using Integers = std::vector<int64_t>;

TEST_F(ReferenceTest, Floats) {
  EXPECT_EQ(reals("Y[m, n] = twice(X[m, n]) + 1"), (Reals{3, -3, 7, 9, 11, -INFINITY}));
  EXPECT_EQ(reals("S[m] = max[n](X[m, n])"), (Reals{3, 5}));
  EXPECT_EQ(reals("S[m] = min[n where n > 0](X[m, n])"), (Reals{-2, -INFINITY}));
  EXPECT_EQ(reals("S[m] = mean[n where n < 2](X[m, n])"), (Reals{-0.5, 4.5}));
  EXPECT_EQ(reals("S[m] = sum[n where n > 5](X[m, n])"), (Reals{0, 0}));
  EXPECT_EQ(reals("S[m] = prod[n where n < 2](X[m, n])"), (Reals{-2, 20}));
  EXPECT_EQ(reals("Y[m, n] = X[m, n - 1 else 9]"), (Reals{9, 1, -2, 9, 4, 5}));
  EXPECT_EQ(reals("Y[m, n] = select(n == 1, X[m, n], 0)"), (Reals{0, -2, 0, 0, 5, 0}));
  EXPECT_EQ(reals("Y[m, n] = exp(X[m, n] - X[m, n])")[0], 1);
  EXPECT_TRUE(std::isnan(reals("Y[m, n] = X[m, n] - X[m, n]")[5]));
}

TEST_F(ReferenceTest, CastsRound) {
  EXPECT_EQ(reals("S[m] = bf16(1.00390625 + X[m, 0] * 0)"), (Reals{1, 1}));
  EXPECT_EQ(reals("S[m] = f64(f8e4m3(X[m, 0] * 1000))"), (Reals{448, 448}));
  EXPECT_EQ(reals("S[m] = f64(i8(X[m, 0] * 1000))"), (Reals{127, 127}));
}

TEST_F(ReferenceTest, Integers) {
  EXPECT_EQ(integers("K[n] = I[n] + 1"), (Integers{8, -6, -2147483648}));
  EXPECT_EQ(integers("K[n] = I[n] / 2"), (Integers{3, -4, 1073741823}));
  EXPECT_EQ(integers("K[n] = I[n] % 4"), (Integers{3, 1, 3}));
  EXPECT_EQ(integers("K[n] = div_trunc(I[n], 2)"), (Integers{3, -3, 1073741823}));
  EXPECT_EQ(integers("K[n] = I[n] >> 1"), (Integers{3, -4, 1073741823}));
  EXPECT_EQ(integers("K[n] = I[n] / 0"), (Integers{0, 0, 0}));
  EXPECT_EQ(integers("K[n] = i32(popcount(I[n]))"), (Integers{3, 30, 31}));
  EXPECT_EQ(integers("P[m] = argmax[n](X[m, n])"), (Integers{2, 1}));
}

TEST_F(ReferenceTest, AlongAnAxis) {
  EXPECT_EQ(reals("Y[m, n] = cumsum[n](select(n == 2, 1.0, X[m, n]))"), (Reals{1, -1, 0, 4, 9, 10}));
  EXPECT_EQ(reals("Y[m, n] = sort[n](X[m, n])"), (Reals{-2, 1, 3, -INFINITY, 4, 5}));
  EXPECT_EQ(integers("P[m] = sum[n](select(n == 0, i64(argsort[n](X[m, n])), 0))"), (Integers{1, 2}));
  Reals weights = reals("Y[m, n] = softmax[n](X[m, n])");
  EXPECT_NEAR(weights[0] + weights[1] + weights[2], 1, 1e-15);
  EXPECT_EQ(weights[5], 0);
}

TEST_F(ReferenceTest, LetsAndPositions) {
  EXPECT_EQ(reals("let d[m, n] = X[m, n] * 10; Y[m, n] = d[m, 2 - n] + d[1, 0]"),
            (Reals{70, 20, 50, -INFINITY, 90, 80}));
  EXPECT_EQ(reals("Y[m, n] = X[m, n][n = 2 - n]"), (Reals{3, -2, 1, -INFINITY, 5, 4}));
}

TEST_F(ReferenceTest, BoundsFollowTheSums) {
  ReferenceElement sum = elements("S[m] = sum[n](X[m, n])")[0];
  EXPECT_EQ(sum.real, 2);
  EXPECT_DOUBLE_EQ(sum.bound, 4 * std::sqrt(3.0) * 0x1p-23 * 6);
  ReferenceElement product = elements("Y[m, n] = X[m, n] * X[m, n]")[2];
  EXPECT_DOUBLE_EQ(product.bound, 9 * 0x1p-23);
  // What may round either way.
  EXPECT_EQ(elements("K[n] = i32(f32(I[n]) / 7)")[0].bound, 1);
  EXPECT_EQ(elements("K[n] = i32(f32(I[n]) / 4)")[0].bound, 0);
}

TEST_F(ReferenceTest, SamplesWhereThereIsMuch) {
  ReferenceBudget budget;
  budget.work = 1;
  budget.leastElements = 2;
  std::vector<ReferenceElement> some = elements("Y[m, n] = sum[j](X[m, j] * f32(n + 1))", budget);
  EXPECT_TRUE(sampled);
  ASSERT_EQ(some.size(), 2u);
  EXPECT_EQ(some[0].at, 0);
  EXPECT_EQ(some[1].at, 5);
  budget.leastElements = 1000;
  EXPECT_EQ(elements("Y[m, n] = sum[j](X[m, j] * f32(n + 1))", budget).size(), 6u);
}

TEST_F(ReferenceTest, Mistakes) {
  EXPECT_NE(mistake("Y[m, n] = Z[m]").find("unknown name `Z`"), std::string::npos);
  EXPECT_NE(mistake("Y[m] = X[m, 0]").find("--check:1:1"), std::string::npos);
  EXPECT_NE(mistake("let z[m] = X[m, 0]").find("stores nothing"), std::string::npos);
  EXPECT_NE(mistake("var z = 3").find("OUT[i, j]"), std::string::npos);
  EXPECT_NE(mistake("").find("no statement"), std::string::npos);
  EXPECT_NE(mistake("Y[m, n] = topk[n](X[m, n])"), "");
  EXPECT_NE(mistake("kernel"), "");
}

TEST_F(ReferenceTest, WorkOfAKernel) {
  Arguments sizes;
  auto tensor = [&](const char *name, const char *type, std::vector<int64_t> shape, TensorBinding::Access access) {
    TensorBinding binding;
    binding.name = name;
    binding.type = llvm::cantFail(findElementType(type));
    binding.shape = std::move(shape);
    binding.access = access;
    sizes.tensors.push_back(std::move(binding));
  };
  tensor("A", "bf16", {70, 50}, TensorBinding::In);
  tensor("B2", "bf16", {100, 50}, TensorBinding::In);
  tensor("C", "f32", {70, 100}, TensorBinding::InOut);
  llvm::Expected<Work> work = countWork({path.str().str(), "product", {"B=32"}, {}}, sizes);
  ASSERT_TRUE(bool(work)) << llvm::toString(work.takeError());
  // Tiles of 32, 32 and 6 rows, of which the first sees 32 positions of n.
  EXPECT_EQ(work->products, 2.0 * 100 * (32 * 32 + 38 * 50));
  EXPECT_EQ(work->productType, "bf16");
  EXPECT_EQ(work->others, 7000);
  EXPECT_EQ(bytesMoved(sizes), 2 * (70 * 50 + 100 * 50) + 2 * 4 * 7000);
}

} // namespace
