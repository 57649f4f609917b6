// Rounding, encoding and decoding of number formats.
#include "Support.h"
#include <cmath>

using namespace tilec::interpreter;

namespace {

struct Formats : testing::Test {
  mlir::MLIRContext context;
  mlir::Type bf16 = mlir::BFloat16Type::get(&context), f16 = mlir::Float16Type::get(&context),
             f32 = mlir::Float32Type::get(&context), tf32 = mlir::FloatTF32Type::get(&context),
             e4m3 = mlir::Float8E4M3FNType::get(&context), e5m2 = mlir::Float8E5M2Type::get(&context);
};

TEST_F(Formats, roundsToNearestEven) {
  EXPECT_EQ(roundToFormat(1 + 0x1p-8, bf16), 1.0);
  EXPECT_EQ(roundToFormat(1 + 0x3p-8, bf16), 1 + 0x1p-6);
  EXPECT_EQ(roundToFormat(1 + 0x1p-8 + 0x1p-20, bf16), 1 + 0x1p-7);
  EXPECT_EQ(roundToFormat(1 + 0x1p-11, tf32), 1.0);
  EXPECT_EQ(roundToFormat(1 + 0x3p-11, tf32), 1 + 0x1p-9);
  EXPECT_EQ(roundToFormat(0x1p-25, f16), 0.0);
  EXPECT_EQ(roundToFormat(0x1.8p-25, f16), 0x1p-24);
}

TEST_F(Formats, overflowsOrSaturates) {
  EXPECT_EQ(roundToFormat(65519, f16), 65504);
  EXPECT_EQ(roundToFormat(65520, f16), INFINITY);
  EXPECT_EQ(roundToFormat(-1e5, e4m3), -448);
  EXPECT_EQ(roundToFormat(INFINITY, e4m3), 448);
  EXPECT_EQ(roundToFormat(INFINITY, e5m2), 57344);
  EXPECT_EQ(roundToFormat(1e39, f32), INFINITY);
  EXPECT_TRUE(std::isnan(roundToFormat(NAN, e4m3)));
}

TEST_F(Formats, everyCodeSurvives) {
  for (mlir::Type type : {e4m3, e5m2, f16, bf16})
    for (uint64_t code = 0; code < uint64_t(1) << type.getIntOrFloatBitWidth(); ++code) {
      double value = decodeFloat(code, type);
      if (std::isnan(value))
        EXPECT_TRUE(std::isnan(decodeFloat(encodeFloat(value, type), type)));
      else
        ASSERT_EQ(encodeFloat(value, type), code);
      if (std::isfinite(value))
        ASSERT_EQ(roundToFormat(value, type), value);
    }
}

TEST_F(Formats, integersWrap) {
  EXPECT_EQ(wrapInteger(200, 8), -56);
  EXPECT_EQ(wrapInteger(3, 1), 1);
  EXPECT_EQ(asUnsigned(-1, 8), 255u);
}

} // namespace
