// Logarithms and powers.
#include "MathCoefficients.h"
#include "MathFunctions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tilec;

MathFunctions::Decomposed MathFunctions::decompose(Value x) {
  int mantissa = isDouble() ? 52 : 23;
  double leastNormal = isDouble() ? 0x1p-1022 : 0x1p-126, up = isDouble() ? 0x1p54 : 0x1p25;
  // sqrt(1/2) rounded up.
  int64_t root = isDouble() ? 0x3fe6a09e667f3bcd : 0x3f3504f4;
  Value subnormal = less(x, c(leastNormal));
  Value pattern = bits(select(subnormal, mul(x, c(up)), x));
  Value exponent =
      arith::ShRSIOp::create(builder, loc, arith::SubIOp::create(builder, loc, pattern, i(root)), i(mantissa));
  Value shifted = arith::ShLIOp::create(builder, loc, exponent, i(mantissa));
  Value one = fromBits(arith::SubIOp::create(builder, loc, pattern, shifted));
  exponent = arith::SubIOp::create(builder, loc, exponent, select(subnormal, i(isDouble() ? 54 : 25), i(0)));
  return {sub(one, c(1.0)), arith::SIToFPOp::create(builder, loc, type, exponent)};
}

// f32: log(1 + f) = f + f^2 P(f). f64: with s = f / (2 + f), log(1 + f) = 2 s + s^3 R(s^2) = f - s (f - s^2 R(s^2)).
Value MathFunctions::logarithm(Value x, bool binary) {
  auto [f, exponent] = decompose(x);
  Value result;
  if (isDouble()) {
    Value s = divide(f, add(f, c(2.0)));
    Value z = mul(s, s);
    Value log = fma(neg(s), fma(neg(z), polynomial(z, logRest64), f), f);
    if (binary)
      result = add(fma(log, c(log2eParts64[0]), mul(log, c(log2eParts64[1]))), exponent);
    else
      result = fma(exponent, c(ln2Parts64[0]), fma(exponent, c(ln2Parts64[1]), log));
  } else {
    Value rest = mul(mul(f, f), polynomial(f, log1pRest32));
    if (binary) {
      Value low = fma(rest, c(log2eParts32[0]), mul(f, c(log2eParts32[1])));
      result = add(fma(f, c(log2eParts32[0]), low), exponent);
    } else {
      result = fma(exponent, c(ln2Parts32[0]), add(f, rest));
    }
  }
  // Zeros, negative numbers, infinity and NaN.
  result = select(less(c(0.0), x), result, select(equal(x, c(0.0)), infinity(/*negative=*/true), nan()));
  return select(equal(x, infinity()), x, result);
}

// The logarithm of f64 above with the rounding errors of every step that matters carried along.
MathFunctions::Pair MathFunctions::log2Pair(Value x) {
  ArrayRef<double> e = isDouble() ? ArrayRef<double>(log2eParts64) : ArrayRef<double>(log2eParts32);
  ArrayRef<double> thirds = isDouble() ? ArrayRef<double>(twoThirdsParts64) : ArrayRef<double>(twoThirdsParts32);
  auto product = [&](Pair a, Pair b) -> Pair {
    Value high = mul(a.high, b.high);
    Value low = fma(a.high, b.high, neg(high));
    return {high, add(low, fma(a.high, b.low, mul(a.low, b.high)))};
  };
  // |a| >= |b|, or a = 0.
  auto sum = [&](Value a, Pair b) -> Pair {
    Value high = add(a, b.high);
    return {high, add(add(sub(a, high), b.high), b.low)};
  };
  auto [f, exponent] = decompose(x);
  Value divisor = add(f, c(2.0));
  Value divisorLow = sub(f, sub(divisor, c(2.0)));
  Value inverse = reciprocal(divisor);
  Value quotient = mul(f, inverse);
  Value remainder = fma(neg(quotient), divisorLow, fma(neg(quotient), divisor, f));
  Pair s = {quotient, mul(remainder, inverse)};
  Pair z = product(s, s);
  Value tail = mul(z.high, polynomial(z.high, isDouble() ? ArrayRef<double>(logTail64) : ArrayRef<double>(logTail32)));
  Pair series = sum(c(thirds[0]), {tail, c(thirds[1])});
  Pair log = product(s, sum(c(2.0), product(z, series)));
  return sum(exponent, product(log, {c(e[0]), c(e[1])}));
}

Value MathFunctions::pow(Value x, Value y) {
  Value magnitude = abs(x);
  Pair log = log2Pair(magnitude);
  // Beyond these exponents every base but 1 overflows or vanishes.
  double largestExponent = isDouble() ? 0x1p80 : 0x1p40;
  Value bounded = clamp(y, -largestExponent, largestExponent);
  Value high = mul(bounded, log.high);
  Value low = fma(bounded, log.low, fma(bounded, log.high, neg(high)));
  double range = isDouble() ? 1100.0 : 160.0;
  Value inRange = less(abs(high), c(range));
  low = select(inRange, low, c(0.0));
  high = clamp(high, -range, range);
  return powSpecialCases(x, y, exp2Pair({high, low}));
}

// `magnitude` is |x|^y for finite nonzero x. The cases are those of IEEE 754-2019, 9.2.1.
Value MathFunctions::powSpecialCases(Value x, Value y, Value magnitude) {
  Value zero = c(0.0), one = c(1.0), size = abs(x);
  Value isZero = equal(size, zero), isInfinite = equal(size, infinity());
  Value extreme = either(isZero, isInfinite);
  // inf^1 and 0^-1 are infinite, inf^-1 and 0^1 are 0.
  Value grows = arith::XOrIOp::create(builder, loc, less(y, zero), isInfinite);
  Value result = select(extreme, select(grows, infinity(), zero), magnitude);
  Value whole = equal(math::TruncOp::create(builder, loc, y), y);
  Value half = mul(y, c(0.5));
  Value odd = both(whole, complement(equal(math::TruncOp::create(builder, loc, half), half)));
  Value negative = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, bits(x), i(0));
  result = select(both(negative, odd), neg(result), result);
  Value undefined = both(less(x, zero), both(complement(extreme), complement(whole)));
  result = select(undefined, nan(), result);
  result = select(either(isNaN(x), isNaN(y)), add(x, y), result);
  Value isOne = either(equal(y, zero), equal(x, one));
  isOne = either(isOne, both(equal(x, c(-1.0)), equal(abs(y), infinity())));
  return select(isOne, one, result);
}
