// Comparison of results with references.
#include "tilec/Runner/Compare.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace tilec::runner;

namespace {

HostTensor tensor(const char *type, std::vector<double> values) {
  HostTensor result;
  result.type = llvm::cantFail(findElementType(type));
  result.shape = {static_cast<int64_t>(values.size())};
  result.bytes.resize(values.size() * result.type->bytes);
  for (size_t i = 0; i < values.size(); ++i)
    encodeElement(*result.type, values[i], &result.bytes[i * result.type->bytes]);
  return result;
}

TEST(Compare, FloatsWithinTheTolerance) {
  HostTensor want = tensor("bf16", {1, 2, 0, NAN, INFINITY}),
             close = tensor("bf16", {1.0078125, 2, 0.01, NAN, INFINITY});
  Comparison comparison = compareTensors(close, want, defaultTolerance(*want.type));
  EXPECT_EQ(comparison.wrong, 0);
  EXPECT_EQ(comparison.total, 5);
  EXPECT_NEAR(comparison.worstError, 0.01, 1e-3);
  Comparison exact = compareTensors(close, want, {0, 0});
  EXPECT_EQ(exact.wrong, 2);
  EXPECT_EQ(exact.at, 0);
}

TEST(Compare, SpecialValuesAreNotClose) {
  HostTensor want = tensor("f32", {1, 1, INFINITY}), got = tensor("f32", {1, NAN, 3e38});
  Comparison comparison = compareTensors(got, want, {1e9, 1e9});
  EXPECT_EQ(comparison.wrong, 2);
  EXPECT_EQ(comparison.at, 1);
}

TEST(Compare, IntegersAreExact) {
  HostTensor want = tensor("i32", {1, 2, 3}), got = tensor("i32", {1, 2, 4});
  Comparison comparison = compareTensors(got, want, defaultTolerance(*want.type));
  EXPECT_EQ(comparison.wrong, 1);
  EXPECT_EQ(comparison.got, 4);
  EXPECT_EQ(comparison.want, 3);
}

} // namespace
