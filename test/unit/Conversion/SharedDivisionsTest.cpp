// Divisions by a shared divisor, on the host: equal to IEEE division bit by bit within their range, and within the
// stated bound where the quotient is narrowed.
#include "SharedDivisions.h"
#include "HostFunction.h"
#include "NarrowedQuotients.h"
#include "ScalarOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/APFloat.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <limits>
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

//===----------------------------------------------------------------------===//
// Narrowed quotients
//===----------------------------------------------------------------------===//

namespace {

using llvm::APFloat;

struct NarrowType {
  const char *name;
  const llvm::fltSemantics *semantics;
  Type (*get)(OpBuilder &);
  bool saturates;
};

const NarrowType narrowTypes[] = {
    {"f16", &APFloat::IEEEhalf(), [](OpBuilder &builder) -> Type { return builder.getF16Type(); }, false},
    {"bf16", &APFloat::BFloat(), [](OpBuilder &builder) -> Type { return builder.getBF16Type(); }, false},
    {"f8e4m3", &APFloat::Float8E4M3FN(), [](OpBuilder &builder) -> Type { return builder.getType<Float8E4M3FNType>(); },
     true},
    {"f8e5m2", &APFloat::Float8E5M2(), [](OpBuilder &builder) -> Type { return builder.getType<Float8E5M2Type>(); },
     true},
};

/// Numbers x, divisor, y: the results of x / divisor and y / divisor in 16 bits each, from `count` divisions.
HostFunction narrowedQuotients(const NarrowType &type, int count) {
  return HostFunction::fromRegisters(
      {"f32", "f32", "f32"}, "i64", [&](OpBuilder &builder, Location loc, ArrayRef<Value> x) {
        Type i64 = builder.getI64Type(), f32 = builder.getF32Type(), narrow = type.get(builder);
        Value result;
        for (int i = 0; i < count; ++i) {
          Value dividend = i == 0 ? x[0] : x[2];
          if (i > 1)
            dividend = arith::AddFOp::create(builder, loc, dividend,
                                             arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(i)));
          auto division = arith::DivFOp::create(builder, loc, dividend, x[1]);
          division->setAttr(narrowedQuotient, builder.getUnitAttr());
          Value bits = ScalarOps(builder, loc, *findMachine("sm_80")).cast(division, f32, narrow, false, false);
          if (isa<FloatType>(bits.getType()))
            bits = arith::BitcastOp::create(builder, loc, builder.getI16Type(), bits);
          bits = arith::ExtUIOp::create(builder, loc, i64, bits);
          int64_t place = i < 2 ? 16 * i : 32;
          bits = arith::ShLIOp::create(builder, loc, bits, arith::ConstantIntOp::create(builder, loc, place, 64));
          result = result ? arith::XOrIOp::create(builder, loc, result, bits).getResult() : bits;
        }
        return result;
      });
}

double roundTo(const NarrowType &type, double value) {
  if (std::isnan(value))
    return value;
  double largest = APFloat::getLargest(*type.semantics).convertToDouble();
  if (type.saturates)
    value = std::fmin(std::fmax(value, -largest), largest);
  APFloat rounded(value);
  bool inexact;
  rounded.convert(*type.semantics, APFloat::rmNearestTiesToEven, &inexact);
  return rounded.convertToDouble();
}

/// Rounding what lies within 1.5 units of f32 around the quotient gives what the bound in units of the narrow type
/// allows, its overflow included.
testing::AssertionResult isWithinBound(const NarrowType &type, float a, float b, uint64_t bits) {
  double exact = static_cast<double>(a) / b, low = exact, high = exact;
  APFloat result(*type.semantics, llvm::APInt(APFloat::getSizeInBits(*type.semantics), bits));
  double got = result.convertToDouble();
  if (std::isfinite(exact) && exact != 0 && std::isfinite(b)) {
    double unit = std::ldexp(1.0, std::max(std::ilogb(exact), -126) - 23);
    low -= 1.5 * unit;
    high += 1.5 * unit;
  }
  bool holds = std::isnan(exact) ? std::isnan(got)
                                 : got >= roundTo(type, low) && got <= roundTo(type, high) &&
                                       std::signbit(got) == (std::signbit(a) != std::signbit(b));
  if (holds)
    return testing::AssertionSuccess();
  return testing::AssertionFailure() << type.name << ": " << a << " / " << b << " = " << exact << ", but " << got;
}

/// Where ranges of f32, of its reciprocals, of scaled numbers and of narrow types begin and end, with their neighbours.
std::vector<float> edges() {
  std::vector<float> result = {0, INFINITY, NAN, 3, 1.0f / 3};
  for (int exponent : {-149, -148, -134, -133, -128, -127, -126, -125, -86, -63, -62, -61, -25, -24, -17, -14, -10,
                       -9,   -6,   -1,   0,    1,    8,    16,   61,   62,  63,  64,  65,  104, 125, 126, 127}) {
    float power = std::ldexp(1.0f, exponent);
    result.insert(result.end(), {power, std::nextafter(power, 0.0f), std::nextafter(power, INFINITY), 1.5f * power});
  }
  for (const NarrowType &type : narrowTypes) {
    float largest = APFloat::getLargest(*type.semantics).convertToDouble();
    result.insert(result.end(), {largest, std::nextafter(largest, INFINITY), 1.03125f * largest});
  }
  result.push_back(std::numeric_limits<float>::max());
  for (size_t i = 0, size = result.size(); i < size; ++i)
    result.push_back(-result[i]);
  return result;
}

/// A dividend whose quotient is next to the middle between two neighbours of the narrow type.
float nextToTie(std::mt19937_64 &random, const NarrowType &type, float divisor) {
  unsigned precision = APFloat::semanticsPrecision(*type.semantics);
  double tie = std::ldexp(1.0 + static_cast<double>(random() % (1u << precision)) / (1u << precision), -(random() % 4));
  float dividend = static_cast<float>(tie * divisor);
  for (unsigned steps = random() % 3; steps > 0; --steps)
    dividend = std::nextafter(dividend, random() % 2 ? INFINITY : -INFINITY);
  return dividend;
}

void checkPair(const NarrowType &type, const HostFunction &quotients, float x, float divisor, float y) {
  uint64_t results = quotients(bits(x), bits(divisor), bits(y));
  ASSERT_TRUE(isWithinBound(type, x, divisor, results & 0xffff));
  ASSERT_TRUE(isWithinBound(type, y, divisor, results >> 16 & 0xffff));
}

} // namespace

// With two divisions the scale is always multiplied with; with sixteen a branch may leave it out.
class NarrowedQuotients : public testing::TestWithParam<int> {};

TEST_P(NarrowedQuotients, AreWithinTheBound) {
  for (const NarrowType &type : narrowTypes) {
    HostFunction quotients = narrowedQuotients(type, GetParam());
    std::mt19937_64 random(11);
    for (int i = 0; i < 300000; ++i) {
      float divisor = i % 2 ? operand(random) : number(random());
      ASSERT_NO_FATAL_FAILURE(checkPair(type, quotients, nextToTie(random, type, divisor), divisor, number(random())));
      ASSERT_NO_FATAL_FAILURE(checkPair(type, quotients, operand(random), divisor, operand(random) * divisor));
    }
  }
}

TEST_P(NarrowedQuotients, HaveTheSpecialValuesOfDivisions) {
  std::vector<float> numbers = edges();
  for (const NarrowType &type : narrowTypes) {
    HostFunction quotients = narrowedQuotients(type, GetParam());
    for (float a : numbers)
      for (float b : numbers)
        ASSERT_NO_FATAL_FAILURE(checkPair(type, quotients, a, b, -a));
  }
}

INSTANTIATE_TEST_SUITE_P(Counts, NarrowedQuotients, testing::Values(2, 16));
