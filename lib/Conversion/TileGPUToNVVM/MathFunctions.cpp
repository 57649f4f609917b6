// The arithmetic of MathFunctions; exponentials, tanh, erf, rsqrt and the remainder.
#include "MathFunctions.h"
#include "MathCoefficients.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/ADT/TypeSwitch.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace tilec;

Value ConstantPool::get(OpBuilder &builder, TypedAttr value) {
  Operation *current = builder.getInsertionBlock()->getParentOp();
  while (!current->hasTrait<OpTrait::IsIsolatedFromAbove>())
    current = current->getParentOp();
  if (current != function) {
    values.clear();
    function = current;
  }
  Value &known = values[value];
  if (!known) {
    OpBuilder start = OpBuilder::atBlockBegin(&function->getRegion(0).front());
    known = arith::ConstantOp::create(start, function->getLoc(), value);
  }
  return known;
}

MathFunctions::MathFunctions(OpBuilder &builder, Location loc, FloatType type, ConstantPool &constants)
    : builder(builder), loc(loc), type(type), integers(builder.getIntegerType(type.getWidth())), constants(constants) {}

Value MathFunctions::emit(Operation *op, ArrayRef<Value> inputs) {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<math::ExpOp>([&](auto) { return exp(inputs[0]); })
      .Case<math::Exp2Op>([&](auto) { return exp2(inputs[0]); })
      .Case<math::LogOp>([&](auto) { return log(inputs[0]); })
      .Case<math::Log2Op>([&](auto) { return log2(inputs[0]); })
      .Case<math::TanhOp>([&](auto) { return tanh(inputs[0]); })
      .Case<math::ErfOp>([&](auto) { return erf(inputs[0]); })
      .Case<math::PowFOp>([&](auto) { return pow(inputs[0], inputs[1]); })
      .Case<math::SinOp>([&](auto) { return sin(inputs[0]); })
      .Case<math::CosOp>([&](auto) { return cos(inputs[0]); })
      .Case<math::RsqrtOp>([&](auto) { return rsqrt(inputs[0]); })
      .Case<arith::RemFOp>([&](auto) { return remainder(inputs[0], inputs[1]); })
      .Default([](Operation *) { return Value(); });
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Value MathFunctions::c(double value) { return constants.get(builder, builder.getFloatAttr(type, value)); }
Value MathFunctions::i(int64_t value) { return constants.get(builder, builder.getIntegerAttr(integers, value)); }
Value MathFunctions::i32(int64_t value) { return constants.get(builder, builder.getI32IntegerAttr(value)); }
Value MathFunctions::infinity(bool negative) {
  double value = std::numeric_limits<double>::infinity();
  return c(negative ? -value : value);
}
Value MathFunctions::nan() {
  APFloat value = APFloat::getQNaN(type.getFloatSemantics());
  return constants.get(builder, FloatAttr::get(type, value));
}
Value MathFunctions::add(Value a, Value b) { return arith::AddFOp::create(builder, loc, a, b); }
Value MathFunctions::sub(Value a, Value b) { return arith::SubFOp::create(builder, loc, a, b); }
Value MathFunctions::mul(Value a, Value b) { return arith::MulFOp::create(builder, loc, a, b); }
Value MathFunctions::fma(Value a, Value b, Value c) { return math::FmaOp::create(builder, loc, a, b, c); }
Value MathFunctions::neg(Value a) { return arith::NegFOp::create(builder, loc, a); }
Value MathFunctions::abs(Value a) { return math::AbsFOp::create(builder, loc, a); }
Value MathFunctions::divide(Value a, Value b) { return arith::DivFOp::create(builder, loc, a, b); }

// rcp.approx has 1 ulp (PTX ISA 9.7.3.14). Subnormal operands and results, which `ftz` flushes, do not occur.
Value MathFunctions::reciprocal(Value a) {
  return isDouble() ? divide(c(1.0), a) : intrinsic("llvm.nvvm.rcp.approx.ftz.f", a);
}
Value MathFunctions::intrinsic(StringRef name, Value x) {
  return LLVM::CallIntrinsicOp::create(builder, loc, type, builder.getStringAttr(name), ValueRange{x}).getResult(0);
}
Value MathFunctions::less(Value a, Value b) {
  return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT, a, b);
}
Value MathFunctions::equal(Value a, Value b) {
  return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, a, b);
}
Value MathFunctions::isNaN(Value a) { return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO, a, a); }
Value MathFunctions::select(Value condition, Value a, Value b) {
  return arith::SelectOp::create(builder, loc, condition, a, b);
}
Value MathFunctions::both(Value a, Value b) { return arith::AndIOp::create(builder, loc, a, b); }
Value MathFunctions::either(Value a, Value b) { return arith::OrIOp::create(builder, loc, a, b); }
Value MathFunctions::complement(Value a) {
  return arith::XOrIOp::create(builder, loc, a, constants.get(builder, builder.getBoolAttr(true)));
}
Value MathFunctions::withSign(Value magnitude, Value sign) {
  return math::CopySignOp::create(builder, loc, magnitude, sign);
}

// f64 has no maximum that keeps NaN.
Value MathFunctions::clamp(Value x, double low, double high) {
  if (isDouble())
    return select(less(x, c(low)), c(low), select(less(c(high), x), c(high), x));
  return arith::MaximumFOp::create(builder, loc, arith::MinimumFOp::create(builder, loc, x, c(high)), c(low));
}
Value MathFunctions::bits(Value x) { return arith::BitcastOp::create(builder, loc, integers, x); }
Value MathFunctions::fromBits(Value x) { return arith::BitcastOp::create(builder, loc, type, x); }

Value MathFunctions::polynomial(Value x, ArrayRef<double> coefficients) {
  Value result = c(coefficients.back());
  for (double coefficient : llvm::reverse(coefficients.drop_back()))
    result = fma(result, x, c(coefficient));
  return result;
}

// Adding 1.5 * 2^p rounds to an integer and leaves it in the low bits of the sum.
std::pair<Value, Value> MathFunctions::nearest(Value x, double factor) {
  Value magic = c(isDouble() ? 0x1.8p52 : 0x1.8p23);
  Value sum = fma(x, c(factor), magic);
  Value number = bits(sum);
  if (isDouble())
    number = arith::TruncIOp::create(builder, loc, builder.getI32Type(), number);
  else
    number = arith::SubIOp::create(builder, loc, number, bits(magic));
  return {sub(sum, magic), number};
}

Value MathFunctions::powerOfTwo(Value n) {
  Value wide = isDouble() ? Value(arith::ExtSIOp::create(builder, loc, integers, n)) : n;
  Value biased = arith::AddIOp::create(builder, loc, wide, i(isDouble() ? 1023 : 127));
  return fromBits(arith::ShLIOp::create(builder, loc, biased, i(isDouble() ? 52 : 23)));
}

// Two factors, so that neither the factors nor the product of normal numbers leaves the range early.
Value MathFunctions::scale(Value x, Value n) {
  Value half = arith::ShRSIOp::create(builder, loc, n, i32(1));
  Value rest = arith::SubIOp::create(builder, loc, n, half);
  return mul(mul(x, powerOfTwo(half)), powerOfTwo(rest));
}

//===----------------------------------------------------------------------===//
// Exponentials
//===----------------------------------------------------------------------===//

Value MathFunctions::expReduced(Value r, Value n) {
  Value rest = polynomial(r, isDouble() ? ArrayRef<double>(expRest64) : ArrayRef<double>(expRest32));
  return scale(add(fma(mul(r, r), rest, r), c(1.0)), n);
}

// exp(x) = 2^n * exp2(x * log2(e) - n) for the nearest n that is the exponent of a normal number: where |x| is too
// large, exp2 of what is left becomes 0 or infinite, and the product is right for subnormal results too.
Value MathFunctions::expOfSingle(Value x) {
  double magic = 0x1.8p23;
  Value sum = fma(x, c(log2eParts32[0]), c(magic));
  sum = arith::MaxNumFOp::create(builder, loc, sum, c(magic - 126));
  sum = arith::MinNumFOp::create(builder, loc, sum, c(magic + 127));
  Value whole = sub(sum, c(magic));
  Value part = fma(x, c(log2eParts32[1]), fma(x, c(log2eParts32[0]), neg(whole)));
  Value number = arith::SubIOp::create(builder, loc, bits(sum), bits(c(magic)));
  return mul(intrinsic("llvm.nvvm.ex2.approx.ftz", part), powerOfTwo(number));
}

Value MathFunctions::exp(Value x) {
  if (!isDouble())
    return expOfSingle(x);
  // Beyond the bounds the result is infinite or 0 anyway.
  Value bounded = clamp(x, -750.0, 710.0);
  auto [whole, n] = nearest(bounded, log2eParts64[0]);
  Value r = fma(neg(whole), c(ln2Parts64[0]), bounded);
  return expReduced(fma(neg(whole), c(ln2Parts64[1]), r), n);
}

// ex2.approx has 2 ulp (PTX ISA 9.7.3.20); rule 14 licenses `ftz`.
Value MathFunctions::exp2(Value x) {
  if (!isDouble())
    return intrinsic("llvm.nvvm.ex2.approx.ftz", x);
  return exp2Pair({clamp(x, -1080.0, 1025.0), c(0.0)});
}

// exp2(high + low) for |high| within twice the range of exponents and a small low.
Value MathFunctions::exp2Pair(Pair x) {
  ArrayRef<double> ln2 = isDouble() ? ArrayRef<double>(ln2Parts64) : ArrayRef<double>(ln2Parts32);
  auto [whole, n] = nearest(x.high, 1.0);
  Value part = sub(x.high, whole);
  Value low = fma(part, c(ln2[1]), mul(x.low, c(ln2[0])));
  return expReduced(fma(part, c(ln2[0]), low), n);
}

// With t = exp(-|x|): s = 1 / (1 + t), and t s = 1 - s without cancellation.
Value MathFunctions::sigmoid(Value x) {
  Value t = exp(neg(abs(x)));
  Value divisor = add(t, c(1.0));
  Value s = reciprocal(divisor);
  if (!isDouble())
    s = fma(s, fma(neg(s), divisor, c(1.0)), s);
  return select(less(x, c(0.0)), mul(t, s), s);
}

// A polynomial near 0, 1 - 2 t / (1 + t) with t = exp(-2 |x|) elsewhere.
Value MathFunctions::tanh(Value x) {
  Value size = abs(x), z = mul(x, x);
  Value rest = polynomial(z, isDouble() ? ArrayRef<double>(tanhRest64) : ArrayRef<double>(tanhRest32));
  Value small = fma(mul(size, z), rest, size);
  Value t = exp(mul(size, c(-2.0)));
  Value large = fma(mul(t, c(-2.0)), reciprocal(add(t, c(1.0))), c(1.0));
  return withSign(select(less(size, c(isDouble() ? 0.55 : 1.0)), small, large), x);
}

Value MathFunctions::erf(Value x) {
  Value size = abs(x), z = mul(x, x);
  Value rest = polynomial(z, isDouble() ? ArrayRef<double>(erfRest64) : ArrayRef<double>(erfRest32));
  Value small = fma(x, rest, x);
  Value complement;
  if (isDouble()) {
    // Beyond 6 the complement is below half a unit in the last place of 1.
    Value bounded = clamp(size, 0.0, 6.0);
    Value t = divide(sub(bounded, c(3.0)), add(bounded, c(3.0)));
    complement = mul(exp(neg(mul(bounded, bounded))), polynomial(t, erfcRest64));
  } else {
    Value bounded = clamp(size, 0.0, 4.0);
    complement = exp2(mul(bounded, polynomial(bounded, erfcExponent32)));
  }
  Value large = withSign(sub(c(1.0), complement), x);
  // NaN is in the polynomial; zeros keep their sign in both.
  return select(less(c(1.0), size), large, small);
}

//===----------------------------------------------------------------------===//
// For results of 16 bits
//===----------------------------------------------------------------------===//

// 1 / (1 + exp(-x)). Where exp2 overflows, the reciprocal is 0.
Value MathFunctions::narrowSigmoid(Scaled scaled) {
  Value power = exp2(mul(scaled.x, c(-log2eParts32[0] * scaled.factor)));
  return reciprocal(fma(power, c(1 / scaled.times), c(1 / scaled.times)));
}

// Twice the sigmoid of 2 x, which cancels nothing.
Value MathFunctions::narrowOnePlusTanh(Scaled scaled) {
  return narrowSigmoid({scaled.x, 2 * scaled.factor, 2 * scaled.times});
}

// erfc(-x) below 0, 2 - erfc(x) above. The polynomial falls beyond its range, too.
Value MathFunctions::narrowOnePlusErf(Scaled scaled) {
  SmallVector<double> exponent;
  double power = scaled.factor;
  for (double coefficient : narrowErfcExponent32) {
    exponent.push_back(coefficient * power);
    power *= scaled.factor;
  }
  Value size = abs(scaled.x);
  Value complement = exp2(fma(size, polynomial(size, exponent), c(std::log2(scaled.times))));
  return select(less(scaled.x, c(0.0)), complement, sub(c(2 * scaled.times), complement));
}

//===----------------------------------------------------------------------===//
// Roots and remainders
//===----------------------------------------------------------------------===//

// An approximation and one step of Newton's method; 0 and infinity have no step. rsqrt.approx has a relative error of
// 2^-22.9 (PTX ISA 9.7.3.16).
Value MathFunctions::rsqrt(Value x) {
  Value root =
      isDouble() ? divide(c(1.0), math::SqrtOp::create(builder, loc, x)) : intrinsic("llvm.nvvm.rsqrt.approx.f", x);
  Value error = fma(neg(mul(x, root)), root, c(1.0));
  Value better = fma(mul(root, c(0.5)), error, root);
  return select(isNaN(error), root, better);
}

Value MathFunctions::exponentOf(Value x) {
  int mantissa = isDouble() ? 52 : 23;
  Value subnormal = less(x, c(isDouble() ? 0x1p-1022 : 0x1p-126));
  Value pattern = bits(select(subnormal, mul(x, c(isDouble() ? 0x1p54 : 0x1p25)), x));
  Value exponent = arith::ShRUIOp::create(builder, loc, pattern, i(mantissa));
  if (isDouble())
    exponent = arith::TruncIOp::create(builder, loc, builder.getI32Type(), exponent);
  int bias = isDouble() ? 1023 : 127;
  return arith::SubIOp::create(builder, loc, exponent,
                               select(subnormal, i32(bias + (isDouble() ? 54 : 25)), i32(bias)));
}

// Long division: each turn takes off a multiple of |y| * 2^k, for the least k with which the quotient is an exact
// integer; every difference is exact.
Value MathFunctions::remainder(Value x, Value y) {
  Value size = abs(x), divisor = abs(y), zero = c(0.0);
  Value valid = both(both(less(size, infinity()), less(zero, divisor)), complement(isNaN(y)));
  Value start = select(valid, size, zero);
  Value divisorExponent = exponentOf(select(less(divisor, infinity()), divisor, c(1.0)));
  // 51 and 22: the largest k is then that of two factors in scale().
  int64_t digits = isDouble() ? 51 : 22;
  auto loop = scf::WhileOp::create(builder, loc, TypeRange{type}, ValueRange{start});
  {
    OpBuilder::InsertionGuard guard(builder);
    Value rest = builder.createBlock(&loop.getBefore(), {}, type, loc)->getArgument(0);
    Value more = both(arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OGE, rest, divisor), valid);
    scf::ConditionOp::create(builder, loc, more, rest);
    rest = builder.createBlock(&loop.getAfter(), {}, type, loc)->getArgument(0);
    Value gap = arith::SubIOp::create(builder, loc, exponentOf(rest), divisorExponent);
    Value up = arith::MaxSIOp::create(builder, loc, arith::SubIOp::create(builder, loc, gap, i32(digits)), i32(0));
    Value multiple = scale(divisor, up);
    Value quotient = math::TruncOp::create(builder, loc, divide(rest, multiple));
    Value next = fma(neg(quotient), multiple, rest);
    scf::YieldOp::create(builder, loc, select(less(next, zero), add(next, multiple), next));
  }
  return select(valid, withSign(loop.getResult(0), x), nan());
}
