// f16 and bf16 arithmetic against llvm::APFloat.
#include "tilec/Simulator/HalfArithmetic.h"

#include "llvm/ADT/APFloat.h"
#include <gtest/gtest.h>
#include <random>

using namespace tilec::simulator;
using llvm::APFloat;

namespace {

constexpr FloatFormat formats[] = {FloatFormat::F16, FloatFormat::BF16};

APFloat value(FloatFormat format, uint16_t bits) {
  return APFloat(format == FloatFormat::F16 ? APFloat::IEEEhalf() : APFloat::BFloat(), llvm::APInt(16, bits));
}

uint16_t bitsOf(FloatFormat format, const APFloat &result) {
  return result.isNaN() ? 0x7fff : static_cast<uint16_t>(result.bitcastToAPInt().getZExtValue());
}

// Exponents near each other are as likely as any.
uint16_t near(std::mt19937 &random, uint16_t bits) {
  return random() & 1 ? random() : bits + (random() % 0x2000) - 0x1000;
}

TEST(HalfArithmetic, RoundsOnce) {
  constexpr auto even = llvm::RoundingMode::NearestTiesToEven;
  std::mt19937 random(5);
  for (FloatFormat format : formats)
    for (unsigned i = 0; i < 400000; ++i) {
      uint16_t a = random(), b = near(random, a), c = near(random, a);
      APFloat sum = value(format, a), difference = sum, product = sum, fused = sum;
      sum.add(value(format, b), even);
      difference.subtract(value(format, b), even);
      product.multiply(value(format, b), even);
      // An addend as large as the product, to lose bits on both sides.
      if (i & 1)
        c = bitsOf(format, product) ^ (random() & 0x83ff);
      fused.fusedMultiplyAdd(value(format, b), value(format, c), even);
      ASSERT_EQ(computeHalf(HalfOperation::Add, format, a, b), bitsOf(format, sum)) << a << " " << b;
      ASSERT_EQ(computeHalf(HalfOperation::Subtract, format, a, b), bitsOf(format, difference)) << a << " " << b;
      ASSERT_EQ(computeHalf(HalfOperation::Multiply, format, a, b), bitsOf(format, product)) << a << " " << b;
      ASSERT_EQ(computeHalf(HalfOperation::MultiplyAdd, format, a, b, c), bitsOf(format, fused))
          << a << " " << b << " " << c;
    }
}

TEST(HalfArithmetic, MinimumAndMaximum) {
  HalfModifiers propagate, xorSign;
  propagate.propagateNaN = true;
  xorSign.xorSign = true;
  for (FloatFormat format : formats) {
    uint16_t nan = 0x7fc1, one = static_cast<uint16_t>(fromDouble(format, 1)),
             two = static_cast<uint16_t>(fromDouble(format, 2));
    EXPECT_EQ(computeHalf(HalfOperation::Maximum, format, nan, one), one);
    EXPECT_EQ(computeHalf(HalfOperation::Maximum, format, one, nan), one);
    EXPECT_EQ(computeHalf(HalfOperation::Maximum, format, nan, nan), 0x7fff);
    EXPECT_EQ(computeHalf(HalfOperation::Maximum, format, nan, one, 0, propagate), 0x7fff);
    EXPECT_EQ(computeHalf(HalfOperation::Minimum, format, one, two, 0, propagate), one);
    EXPECT_EQ(computeHalf(HalfOperation::Maximum, format, one, two, 0, propagate), two);
    EXPECT_EQ(computeHalf(HalfOperation::Minimum, format, 0x8000, 0), 0x8000);
    EXPECT_EQ(computeHalf(HalfOperation::Minimum, format, 0, 0x8000), 0x8000);
    EXPECT_EQ(computeHalf(HalfOperation::Maximum, format, 0x8000, 0), 0);
    EXPECT_EQ(computeHalf(HalfOperation::Maximum, format, one | 0x8000, two, 0, xorSign), two | 0x8000);
  }
}

TEST(HalfArithmetic, Modifiers) {
  HalfModifiers flush, saturate, relu;
  flush.flush = saturate.saturate = relu.relu = true;
  EXPECT_EQ(computeHalf(HalfOperation::Add, FloatFormat::F16, 0x8001, 0x8000, 0, flush), 0x8000);
  EXPECT_EQ(computeHalf(HalfOperation::Multiply, FloatFormat::F16, 0x0400, 0x3800, 0, flush), 0); // 2^-14 / 2
  EXPECT_EQ(computeHalf(HalfOperation::Add, FloatFormat::F16, 0x3c00, 0x3c00, 0, saturate), 0x3c00);
  EXPECT_EQ(computeHalf(HalfOperation::Add, FloatFormat::F16, 0x7fff, 0x3c00, 0, saturate), 0);
  EXPECT_EQ(computeHalf(HalfOperation::MultiplyAdd, FloatFormat::BF16, 0x3f80, 0xbf80, 0x0000, relu), 0);
  EXPECT_EQ(computeHalf(HalfOperation::Negate, FloatFormat::BF16, 0x3f80), 0xbf80);
  EXPECT_EQ(computeHalf(HalfOperation::Absolute, FloatFormat::BF16, 0xbf80), 0x3f80);
  EXPECT_EQ(computeHalf(HalfOperation::Exp2, FloatFormat::F16, 0xbc00), 0x3800);
  EXPECT_EQ(computeHalf2(HalfOperation::Multiply, FloatFormat::BF16, 0x40003f80, 0x40004000), 0x40804000u);
}

} // namespace
