// Divisions by a shared divisor, on the host: equal to IEEE division bit by bit within their range.
#include "SharedDivisions.h"
#include "HostFunction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <random>

using namespace mlir;
using namespace tilec;
using namespace tilec::test;

static uint32_t bits(float value) {
  uint32_t result;
  std::memcpy(&result, &value, sizeof result);
  return result;
}

static float number(uint32_t bits) {
  float result;
  std::memcpy(&result, &bits, sizeof result);
  return result;
}

static HostFunction quotient() {
  return HostFunction::fromRegisters({"f32", "f32"}, "f32", [](OpBuilder &builder, Location loc, ArrayRef<Value> x) {
    Value one = arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(1));
    Value reciprocal = arith::DivFOp::create(builder, loc, one, x[1]);
    return divideByReciprocal(builder, loc, x[0], x[1], reciprocal);
  });
}

// Exponents from -60 to 60, any mantissa, and mantissas close to 1 and to 2, where the rounding of reciprocals is
// worst.
static float operand(std::mt19937_64 &random) {
  uint32_t mantissa = random() & 0x7fffff, exponent = 127 - 60 + random() % 120;
  if (random() % 4 == 0)
    mantissa = random() % 2 ? mantissa & 15 : 0x7fffff - (mantissa & 15);
  return number((random() % 2) << 31 | exponent << 23 | mantissa);
}

TEST(SharedDivisions, RoundsLikeDivision) {
  HostFunction divide = quotient();
  std::mt19937_64 random(7);
  for (int i = 0; i < 2000000; ++i) {
    float a = operand(random), b = operand(random);
    ASSERT_EQ(static_cast<uint32_t>(divide(bits(a), bits(b))), bits(a / b)) << a << " / " << b;
  }
}

TEST(SharedDivisions, NotANumberStaysOne) {
  HostFunction divide = quotient();
  EXPECT_TRUE(std::isnan(number(divide(bits(NAN), bits(3.0f)))));
  EXPECT_TRUE(std::isnan(number(divide(bits(3.0f), bits(NAN)))));
}
