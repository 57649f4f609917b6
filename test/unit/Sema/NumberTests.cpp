// Exact constants: parsing, folding, and conversions with one rounding.
#include "../../../lib/Sema/Number.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace tilec;
using namespace tilec::sema;

static double toDouble(const Number &number, ScalarKind kind) {
  llvm::APFloat value = number.toFloat(kind);
  bool losesInfo;
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return value.convertToDouble();
}

static Number integer(int64_t value) { return Number::integer(value); }

TEST(Number, RealsRoundOnceToNearestEven) {
  for (const char *text : {"0.1", "1.5", "3.4028235e38", "1e-45", "5e-324", "1.7976931348623157e308",
                           "123456789.123456789", "0.3333333333333333333", "2.2250738585072011e-308"}) {
    EXPECT_EQ(toDouble(*Number::parseReal(text), ScalarKind::F64), std::strtod(text, nullptr)) << text;
    EXPECT_EQ(toDouble(*Number::parseReal(text), ScalarKind::F32), static_cast<double>(std::strtof(text, nullptr)))
        << text;
  }
  // Halfway between two f32 values, and just above: double rounding through f64 would get the second wrong.
  EXPECT_EQ(toDouble(*Number::parseReal("16777217.0"), ScalarKind::F32), 16777216.0);
  EXPECT_EQ(toDouble(*Number::parseReal("16777217.0000000000000001"), ScalarKind::F32), 16777218.0);
}

TEST(Number, NarrowFloats) {
  EXPECT_EQ(toDouble(*Number::parseReal("259.0"), ScalarKind::BF16), 260.0);
  EXPECT_EQ(toDouble(*Number::parseReal("65519.0"), ScalarKind::F16), 65504.0);
  EXPECT_TRUE(std::isinf(toDouble(*Number::parseReal("65520.0"), ScalarKind::F16)));
  EXPECT_EQ(toDouble(*Number::parseReal("1e9"), ScalarKind::F8E4M3), 448.0);
  EXPECT_EQ(toDouble(Number::infinity(true), ScalarKind::F8E5M2), -57344.0);
  EXPECT_TRUE(std::isnan(toDouble(Number::nan(), ScalarKind::F8E4M3)));
  EXPECT_EQ(toDouble(*Number::parseReal("0.001953125"), ScalarKind::F8E4M3), 0.001953125);
}

TEST(Number, IntegersFloor) {
  auto fold = [](BinaryOp op, int64_t a, int64_t b) { return *Number::fold(op, integer(a), integer(b))->asInt64(); };
  EXPECT_EQ(fold(BinaryOp::Divide, -1, 4), -1);
  EXPECT_EQ(fold(BinaryOp::Remainder, -1, 4), 3);
  EXPECT_EQ(fold(BinaryOp::Remainder, 1, -4), -3);
  EXPECT_EQ(fold(BinaryOp::Divide, 7, 0), 0);
  EXPECT_EQ(fold(BinaryOp::Remainder, 7, 0), 0);
  EXPECT_EQ(fold(BinaryOp::ShiftRight, -5, 1), -3);
  EXPECT_EQ(fold(BinaryOp::Xor, -1, 5), -6);
  EXPECT_FALSE(Number::fold(BinaryOp::ShiftLeft, integer(1), integer(-1)));
}

TEST(Number, IntegersAreExactBeyond64Bits) {
  Number big = *Number::fold(BinaryOp::Multiply, Number::integer(uint64_t(18446744073709551615u)), integer(4));
  EXPECT_FALSE(big.fits(ScalarKind::U64));
  EXPECT_EQ(*Number::fold(BinaryOp::Divide, big, integer(8))->asInt64(), 9223372036854775807);
  EXPECT_TRUE(integer(-128).fits(ScalarKind::I8));
  EXPECT_FALSE(integer(128).fits(ScalarKind::I8));
  EXPECT_FALSE(integer(-1).fits(ScalarKind::U32));
  EXPECT_EQ(integer(300).toInteger(ScalarKind::I8).getSExtValue(), 44);
  EXPECT_EQ(integer(-1).toInteger(ScalarKind::U32).getZExtValue(), 4294967295u);
}

TEST(Number, SpecialValues) {
  Number one = integer(1), zero = *Number::parseReal("0.0"), inf = Number::infinity(false);
  EXPECT_EQ(Number::fold(BinaryOp::Divide, *Number::parseReal("1.0"), zero)->kind(), Number::Kind::Infinity);
  EXPECT_EQ(Number::fold(BinaryOp::Multiply, zero, inf)->kind(), Number::Kind::NaN);
  EXPECT_TRUE(Number::compare(BinaryOp::Less, one, inf));
  EXPECT_FALSE(Number::compare(BinaryOp::Equal, Number::nan(), Number::nan()));
  EXPECT_TRUE(Number::compare(BinaryOp::NotEqual, Number::nan(), Number::nan()));
  EXPECT_TRUE(zero.negated().toFloat(ScalarKind::F32).isNegative());
  EXPECT_EQ(*Number::parseReal("2.5")->negated().truncated().asInt64(), -2);
}

TEST(Number, AbsurdExponentsAreRefused) {
  EXPECT_FALSE(Number::parseReal("1e99999"));
  EXPECT_TRUE(Number::parseReal("1e-400"));
}
