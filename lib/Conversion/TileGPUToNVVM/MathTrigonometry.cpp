// sin and cos: reduction to an angle within pi / 4 of 0, then polynomials.
#include "MathCoefficients.h"
#include "MathFunctions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"

#include <cmath>

using namespace mlir;
using namespace tilec;

// Below this the multiple of pi / 2 taken off has at most 17 bits, and the parts of pi / 2 suffice.
static constexpr double partsLimit = 0x1p16;

MathFunctions::Reduced MathFunctions::reduceByParts(Value x) {
  auto [whole, quarters] = nearest(x, inverseHalfPi);
  ArrayRef<double> parts = isDouble() ? ArrayRef<double>(halfPiParts64) : ArrayRef<double>(halfPiParts32);
  Value angle = x;
  for (double part : parts)
    angle = fma(whole, c(-part), angle);
  return {angle, quarters};
}

// Bits of 2 / pi in words of the float's width, in the constant space.
static Value twoOverPiTable(OpBuilder &builder, Location loc, IntegerType word) {
  auto module = builder.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  constexpr unsigned constantSpace = 4;
  bool isLong = word.getWidth() == 64;
  StringRef name = isLong ? "tilec_two_over_pi_64" : "tilec_two_over_pi_32";
  if (!module.lookupSymbol(name)) {
    OpBuilder global = OpBuilder::atBlockBegin(module.getBody());
    SmallVector<APInt> words;
    for (uint64_t bits : twoOverPi) {
      if (!isLong)
        words.push_back(APInt(32, bits >> 32));
      words.push_back(APInt(word.getWidth(), isLong ? bits : bits & UINT32_MAX));
    }
    // A finite f32 asks for no more than the first words.
    if (!isLong)
      words.resize(10);
    int64_t count = words.size();
    auto values = DenseElementsAttr::get(RankedTensorType::get(count, word), words);
    LLVM::GlobalOp::create(global, loc, LLVM::LLVMArrayType::get(word, count), /*isConstant=*/true,
                           LLVM::Linkage::Internal, name, values, /*alignment=*/8, constantSpace);
  }
  return LLVM::AddressOfOp::create(builder, loc, LLVM::LLVMPointerType::get(builder.getContext(), constantSpace), name);
}

// For finite |x| >= 1. |x| = m * 2^e with an integer m of p bits. Bits of 2 / pi whose product with m * 2^e is a
// multiple of 4 do not matter; the three words from there on give the number of quarter turns modulo 4 and the
// fraction, of which two words less two bits are kept. No f32 comes closer to a multiple of pi / 2 than 2^-31, no f64
// than 2^-62, so that at least p bits of the fraction count (Payne and Hanek, "Radian reduction for trigonometric
// functions", SIGNUM Newsletter 18, 1983).
MathFunctions::Reduced MathFunctions::reduceExactly(Value x) {
  int64_t width = integers.getWidth(), mantissa = isDouble() ? 52 : 23, bias = isDouble() ? 1023 : 127;
  auto shiftRight = [&](Value a, int64_t n) -> Value { return arith::ShRUIOp::create(builder, loc, a, i(n)); };
  auto plus = [&](Value a, Value b) -> Value { return arith::AddIOp::create(builder, loc, a, b); };
  auto masked = [&](Value a, int64_t mask) -> Value { return arith::AndIOp::create(builder, loc, a, i(mask)); };
  // The upper word of a:b shifted left by n.
  auto funnel = [&](Value a, Value b, Value n) -> Value {
    return LLVM::FshlOp::create(builder, loc, integers, a, b, n);
  };
  int64_t unit = int64_t(1) << mantissa;
  Value m = either(masked(bits(x), unit - 1), i(unit));
  // The bit of 2 / pi with weight 2^-(e - 1), after the 64 zeros before its point.
  Value first = plus(shiftRight(bits(x), mantissa), i(64 - 2 - bias - mantissa));
  Value index = shiftRight(first, isDouble() ? 6 : 5), shift = masked(first, width - 1);
  Value table = twoOverPiTable(builder, loc, integers);
  Value loaded[4], words[3];
  for (int32_t k = 0; k < 4; ++k) {
    Value address =
        LLVM::GEPOp::create(builder, loc, table.getType(), integers, table, ArrayRef<LLVM::GEPArg>{plus(index, i(k))});
    loaded[k] = LLVM::LoadOp::create(builder, loc, integers, address);
  }
  for (int k = 0; k < 3; ++k)
    words[k] = funnel(loaded[k], loaded[k + 1], shift);
  auto low = arith::MulUIExtendedOp::create(builder, loc, m, words[2]);
  auto middle = arith::MulUIExtendedOp::create(builder, loc, m, words[1]);
  auto sum = arith::AddUIExtendedOp::create(builder, loc, low.getHigh(), middle.getLow());
  Value top = plus(arith::MulIOp::create(builder, loc, m, words[0]), middle.getHigh());
  top = plus(top, arith::ExtUIOp::create(builder, loc, integers, sum.getOverflow()));
  // Two bits of quarter turns, then the fraction, as a signed number between -1/2 and 1/2.
  Value high = funnel(top, sum.getSum(), i(2)), rest = funnel(sum.getSum(), low.getLow(), i(2));
  Value sign = arith::ShRSIOp::create(builder, loc, high, i(width - 1));
  Value quarters = arith::SubIOp::create(builder, loc, shiftRight(top, width - 2), sign);
  if (isDouble())
    quarters = arith::TruncIOp::create(builder, loc, builder.getI32Type(), quarters);
  return {angleOfFraction(high, rest, sign), quarters};
}

// The fraction high:rest times pi / 2; `sign` is 0 or -1.
Value MathFunctions::angleOfFraction(Value high, Value rest, Value sign) {
  int64_t width = integers.getWidth(), digits = isDouble() ? 53 : 24;
  ArrayRef<double> halfPi = isDouble() ? ArrayRef<double>(halfPiParts64) : ArrayRef<double>(halfPiParts32);
  auto number = [&](Value a, double unit) { return mul(arith::UIToFPOp::create(builder, loc, type, a), c(unit)); };
  // The magnitude by complement; the unit it lacks is negligible.
  high = arith::XOrIOp::create(builder, loc, high, sign);
  rest = arith::XOrIOp::create(builder, loc, rest, sign);
  // As many bits as a float holds, then a word more.
  int64_t left = width - digits, mask = (int64_t(1) << left) - 1;
  Value lead = arith::AndIOp::create(builder, loc, high, i(~mask));
  Value next = LLVM::FshlOp::create(builder, loc, integers, high, rest, i(digits));
  Value a = number(lead, std::ldexp(1.0, -width)), b = number(next, std::ldexp(1.0, -width - digits));
  Value angle = fma(a, c(halfPi[0]), fma(a, c(halfPi[1]), mul(b, c(halfPi[0]))));
  Value negative = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, sign, i(0));
  return select(negative, neg(angle), angle);
}

// Large arguments go through a branch of their own. It repeats the polynomials: were they after the branch, the backend
// would gather those of all elements at the end, with every angle in a register.
Value MathFunctions::sinOrCos(Value x, bool cosine) {
  Value size = abs(x);
  Value large = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OGE, size, c(partsLimit));
  large = both(large, less(size, infinity()));
  Value usual = sinOrCosReduced(x, reduceByParts(size), cosine);
  auto branch = scf::IfOp::create(builder, loc, TypeRange{type}, large, true, true);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(builder, loc, sinOrCosReduced(x, reduceExactly(size), cosine));
    builder.setInsertionPointToStart(branch.elseBlock());
    // Infinite angles have no sine; NaN has come through.
    scf::YieldOp::create(builder, loc, select(equal(size, infinity()), nan(), usual));
  }
  return branch.getResult(0);
}

// The function of |x|: quarter turns exchange and negate the two polynomials. sin takes the sign of x in the end.
Value MathFunctions::sinOrCosReduced(Value x, Reduced reduced, bool cosine) {
  auto [r, quarters] = reduced;
  Value z = mul(r, r);
  Value sine = fma(mul(r, z), polynomial(z, isDouble() ? ArrayRef<double>(sinRest64) : ArrayRef<double>(sinRest32)), r);
  Value half = fma(z, c(-0.5), c(1.0));
  // What rounding took from 1 - z / 2 matters where z is large.
  Value lost = fma(z, c(-0.5), sub(c(1.0), half));
  Value rest = polynomial(z, isDouble() ? ArrayRef<double>(cosRest64) : ArrayRef<double>(cosRest32));
  Value cosineOfAngle = add(half, fma(mul(z, z), rest, lost));
  if (cosine)
    quarters = arith::AddIOp::create(builder, loc, quarters, i32(1));
  Value isOdd = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                      arith::AndIOp::create(builder, loc, quarters, i32(1)), i32(0));
  Value result = bits(select(isOdd, cosineOfAngle, sine));
  // Bit 1 of the quarters is the sign.
  Value wide = isDouble() ? Value(arith::ExtUIOp::create(builder, loc, integers, quarters)) : quarters;
  Value sign = arith::ShLIOp::create(builder, loc, wide, i(isDouble() ? 62 : 30));
  if (!cosine)
    sign = arith::XOrIOp::create(builder, loc, sign, bits(x));
  sign = arith::AndIOp::create(builder, loc, sign, i(isDouble() ? INT64_MIN : INT32_MIN));
  return fromBits(arith::XOrIOp::create(builder, loc, result, sign));
}
