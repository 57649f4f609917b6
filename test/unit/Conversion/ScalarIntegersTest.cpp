// Divisions, shifts and comparisons of rule 12 on the host: all pairs of 8-bit numbers, random and extreme wider ones;
// element-wise operations on 8-bit floats.
#include "HostFunction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "tilec/Dialect/Tile/TileDialect.h"
#include "gtest/gtest.h"

#include <random>
#include <type_traits>

using namespace mlir;
using namespace tilec;
using namespace tilec::test;

namespace {

__extension__ typedef __int128 Wide;

Wide floorDivide(Wide a, Wide b) {
  Wide quotient = a / b;
  return quotient * b != a && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

/// The exact quotient or remainder by rule 12, before it wraps.
Wide expected(Wide a, Wide b, bool truncating, bool remainder) {
  if (b == 0)
    return 0;
  Wide quotient = truncating ? a / b : floorDivide(a, b);
  return remainder ? a - quotient * b : quotient;
}

template <typename T> std::vector<T> operands() {
  std::vector<T> result;
  if (sizeof(T) == 1) {
    for (int i = 0; i < 256; ++i)
      result.push_back(static_cast<T>(i));
    return result;
  }
  std::mt19937_64 random(sizeof(T));
  for (int i = 0; i < 150; ++i)
    result.push_back(static_cast<T>(random() >> random() % 64));
  for (int i = -8; i <= 8; ++i) {
    result.push_back(static_cast<T>(i));
    result.push_back(static_cast<T>(std::numeric_limits<T>::max() + static_cast<std::make_unsigned_t<T>>(i)));
  }
  return result;
}

template <typename T> void expectDivisions(const TypeName &type) {
  bool isUnsigned = std::is_unsigned_v<T>;
  for (bool truncating : {false, true})
    for (bool remainder : {false, true}) {
      HostFunction divide = HostFunction::ofOperation(
          {type, type}, type, [&](OpBuilder &builder, Location loc, ArrayRef<Value> x, Type result) -> Operation * {
            if (remainder)
              return tile::RemOp::create(builder, loc, result, x[0], x[1], isUnsigned, truncating);
            return tile::DivOp::create(builder, loc, result, x[0], x[1], isUnsigned, truncating);
          });
      std::vector<T> values = operands<T>();
      for (T a : values)
        for (T b : values)
          ASSERT_EQ(fromBits<T>(divide(toBits(a), toBits(b))), static_cast<T>(expected(a, b, truncating, remainder)))
              << type << ": " << +a << " by " << +b << " truncating " << truncating << " remainder " << remainder;
    }
}

TEST(ScalarIntegers, Divisions) {
  expectDivisions<int8_t>("i8");
  expectDivisions<uint8_t>("i8");
  expectDivisions<int16_t>("i16");
  expectDivisions<uint16_t>("i16");
  expectDivisions<int32_t>("i32");
  expectDivisions<uint32_t>("i32");
  expectDivisions<int64_t>("i64");
  expectDivisions<uint64_t>("i64");
  expectDivisions<int64_t>("index");
}

/// Constant divisors take short cuts.
TEST(ScalarIntegers, DivisionsByConstants) {
  for (int64_t divisor : {0, 1, -1, 2, -2, 3, -3, 7, 64, -64, 127, -128})
    for (bool remainder : {false, true}) {
      HostFunction divide = HostFunction::ofOperation(
          {"i8"}, "i8",
          [&](OpBuilder &builder, Location loc, ArrayRef<Value> x, Type result) -> Operation * {
            if (remainder)
              return tile::RemOp::create(builder, loc, result, x[0], x[0], false, false);
            return tile::DivOp::create(builder, loc, result, x[0], x[0], false, false);
          },
          {divisor});
      for (int a = -128; a < 128; ++a)
        ASSERT_EQ(fromBits<int8_t>(divide(toBits(static_cast<int8_t>(a)))),
                  static_cast<int8_t>(expected(a, divisor, false, remainder)))
            << a << " by " << divisor;
    }
}

/// Operations that keep the type of f8, on all pairs of codes.
TEST(ScalarIntegers, EightBitFloats) {
  for (const TypeName &type : {"f8E4M3FN", "f8E5M2"}) {
    HostFunction widen = HostFunction::cast(type, "f32");
    HostFunction maximum = HostFunction::ofOperation(
        {type, type}, type, [](OpBuilder &builder, Location loc, ArrayRef<Value> x, Type) -> Operation * {
          return arith::MaximumFOp::create(builder, loc, x[0], x[1]);
        });
    HostFunction less = HostFunction::ofOperation(
        {type, type}, "i1", [](OpBuilder &builder, Location loc, ArrayRef<Value> x, Type) -> Operation * {
          return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT, x[0], x[1]);
        });
    HostFunction magnitude = HostFunction::ofOperation(
        {type}, type, [](OpBuilder &builder, Location loc, ArrayRef<Value> x, Type) -> Operation * {
          return math::AbsFOp::create(builder, loc, x[0]);
        });
    auto value = [&](uint64_t code) { return fromBits<float>(widen(code)); };
    for (uint64_t a = 0; a < 256; ++a) {
      float size = std::fabs(value(a)), got = value(magnitude(a));
      ASSERT_TRUE(got == size || (std::isnan(got) && std::isnan(size))) << type << " " << a;
      for (uint64_t b = 0; b < 256; ++b) {
        float x = value(a), y = value(b), chosen = value(maximum(a, b));
        ASSERT_EQ(less(a, b) != 0, x < y) << type << " " << a << " " << b;
        if (std::isnan(x) || std::isnan(y))
          ASSERT_TRUE(std::isnan(chosen)) << type << " " << a << " " << b;
        else
          ASSERT_EQ(chosen, std::max(x, y)) << type << " " << a << " " << b;
      }
    }
  }
}

} // namespace
