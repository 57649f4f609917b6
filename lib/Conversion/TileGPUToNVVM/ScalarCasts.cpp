// Casts of rule 13: round to nearest even, f8 saturates, float to integer truncates and saturates, NaN becomes 0.
#include "MmaEmitter.h"
#include "Ptx.h"
#include "ScalarOps.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace tilec;

static bool isF8(Type type) { return isa<Float8E4M3FNType, Float8E5M2Type>(type); }

Value ScalarOps::resize(Value input, Type to, bool isUnsigned) {
  Type from = input.getType();
  if (from == to)
    return input;
  if (from.isIndex() || to.isIndex()) {
    if (isUnsigned)
      return arith::IndexCastUIOp::create(builder, loc, to, input);
    return arith::IndexCastOp::create(builder, loc, to, input);
  }
  if (isa<FloatType>(to)) {
    if (to.getIntOrFloatBitWidth() > from.getIntOrFloatBitWidth())
      return arith::ExtFOp::create(builder, loc, to, input);
    if (to.getIntOrFloatBitWidth() == from.getIntOrFloatBitWidth()) {
      Value wide = arith::ExtFOp::create(builder, loc, builder.getF32Type(), input);
      return arith::TruncFOp::create(builder, loc, to, wide);
    }
    return arith::TruncFOp::create(builder, loc, to, input);
  }
  if (to.getIntOrFloatBitWidth() < from.getIntOrFloatBitWidth())
    return arith::TruncIOp::create(builder, loc, to, input);
  if (isUnsigned)
    return arith::ExtUIOp::create(builder, loc, to, input);
  return arith::ExtSIOp::create(builder, loc, to, input);
}

// llvm.fptosi.sat / fptoui.sat have exactly the language's rule (LLVM LangRef).
Value ScalarOps::integerFromFloat(Value input, Type to, bool toUnsigned) {
  Type width = to.isIndex() ? builder.getI64Type() : to;
  if (input.getType().getIntOrFloatBitWidth() < 32)
    input = arith::ExtFOp::create(builder, loc, builder.getF32Type(), input);
  Type narrow = width.getIntOrFloatBitWidth() < 32 ? builder.getI32Type() : width;
  StringRef name = toUnsigned ? "llvm.fptoui.sat" : "llvm.fptosi.sat";
  Value wide =
      LLVM::CallIntrinsicOp::create(builder, loc, narrow, builder.getStringAttr(name), ValueRange{input}).getResult(0);
  if (narrow != width) {
    // Saturate in 32 bits to the range of the narrow type.
    unsigned bits = width.getIntOrFloatBitWidth();
    APInt high = toUnsigned ? APInt::getMaxValue(bits).zext(32) : APInt::getSignedMaxValue(bits).sext(32);
    Value top = integer(narrow, high.getSExtValue());
    if (toUnsigned) {
      wide = arith::MinUIOp::create(builder, loc, wide, top);
    } else {
      wide = arith::MinSIOp::create(builder, loc, wide, top);
      wide = arith::MaxSIOp::create(builder, loc, wide, integer(narrow, APInt::getSignedMinValue(bits).getSExtValue()));
    }
    wide = arith::TruncIOp::create(builder, loc, width, wide);
  }
  return to.isIndex() ? Value(arith::IndexCastOp::create(builder, loc, to, wide)) : wide;
}

// f32 to f8: adds half a unit in the last place on the bit pattern, so that ties go to even; below the least normal
// number the addition of a power of two does the rounding. Works on every architecture.
Value ScalarOps::f8FromFloat(Value input, Type to) {
  Type i32 = builder.getI32Type(), f32 = builder.getF32Type(), i8 = builder.getI8Type();
  if (machine.hasF8) {
    // cvt.rn.satfinite.e4m3x2.f32 d, a, b: a becomes the upper byte (PTX ISA 9.7.9.21).
    Ptx ptx(builder, loc);
    Ptx::AssemblyOptions pure;
    pure.sideEffects = pure.memory = false;
    StringRef name = isa<Float8E4M3FNType>(to) ? "e4m3x2" : "e5m2x2";
    Value pair = ptx.assembly("cvt.rn.satfinite." + name + ".f32 $0, $2, $1;", {builder.getI16Type()},
                              {input, constant(f32, 0.0)}, pure)[0];
    return arith::TruncIOp::create(builder, loc, i8, pair);
  }
  bool e4m3 = isa<Float8E4M3FNType>(to);
  int mantissa = e4m3 ? 3 : 2, bias = e4m3 ? 7 : 15;
  uint32_t largest = e4m3 ? 0x7e : 0x7b, nan = e4m3 ? 0x7f : 0x7f;
  double top = e4m3 ? 448.0 : 57344.0;
  auto c = [&](int64_t value) { return integer(i32, value); };
  Value bits = arith::BitcastOp::create(builder, loc, i32, input);
  Value sign = arith::AndIOp::create(builder, loc, arith::ShRUIOp::create(builder, loc, bits, c(24)), c(0x80));
  Value magnitude = arith::AndIOp::create(builder, loc, bits, c(0x7fffffff));
  // Normal results.
  int shift = 23 - mantissa;
  Value odd = arith::AndIOp::create(builder, loc, arith::ShRUIOp::create(builder, loc, magnitude, c(shift)), c(1));
  Value rounded = arith::AddIOp::create(builder, loc, magnitude, c((1 << (shift - 1)) - 1));
  rounded = arith::AddIOp::create(builder, loc, rounded, odd);
  Value normal = arith::SubIOp::create(builder, loc, arith::ShRUIOp::create(builder, loc, rounded, c(shift)),
                                       c((127 - bias) << mantissa));
  // Subnormal results: value + 2^(23 + least exponent - mantissa bits) leaves the rounded integer in the low bits.
  int exponent = 127 + 23 + (1 - bias - mantissa);
  Value magic = arith::BitcastOp::create(builder, loc, f32, c(static_cast<int64_t>(exponent) << 23));
  Value absolute = arith::BitcastOp::create(builder, loc, f32, magnitude);
  Value sum = arith::AddFOp::create(builder, loc, absolute, magic);
  Value small = arith::SubIOp::create(builder, loc, arith::BitcastOp::create(builder, loc, i32, sum),
                                      c(static_cast<int64_t>(exponent) << 23));
  Value isSmall = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, magnitude,
                                        c(static_cast<int64_t>(127 + 1 - bias) << 23));
  Value code = arith::SelectOp::create(builder, loc, isSmall, small, normal);
  Value over = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OGE, absolute, constant(f32, top));
  code = arith::SelectOp::create(builder, loc, over, c(largest), code);
  Value isNaN = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ugt, magnitude, c(0x7f800000));
  code = arith::SelectOp::create(builder, loc, isNaN, c(nan), code);
  code = arith::OrIOp::create(builder, loc, code, sign);
  return arith::TruncIOp::create(builder, loc, i8, code);
}

Value ScalarOps::floatFromF8(Value input, Type from, Type to) {
  Value half = halfOfF8(builder, loc, input, from);
  return half.getType() == to ? half : Value(arith::ExtFOp::create(builder, loc, to, half));
}

// Nearest even in 10 bits of mantissa; NaN and Inf keep their class.
Value ScalarOps::tf32FromFloat(Value input) {
  Type i32 = builder.getI32Type();
  auto c = [&](int64_t value) { return integer(i32, value); };
  Value bits = arith::BitcastOp::create(builder, loc, i32, input);
  Value odd = arith::AndIOp::create(builder, loc, arith::ShRUIOp::create(builder, loc, bits, c(13)), c(1));
  Value rounded = arith::AddIOp::create(builder, loc, arith::AddIOp::create(builder, loc, bits, c(0xfff)), odd);
  rounded = arith::AndIOp::create(builder, loc, rounded, c(~0x1fff));
  Value magnitude = arith::AndIOp::create(builder, loc, bits, c(0x7fffffff));
  Value special = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::uge, magnitude, c(0x7f800000));
  Value kept = arith::SelectOp::create(builder, loc, special, bits, rounded);
  return arith::BitcastOp::create(builder, loc, builder.getF32Type(), kept);
}

FailureOr<Value> ScalarOps::cast(Value input, Type from, Type to, bool fromUnsigned, bool toUnsigned) {
  Type f32 = builder.getF32Type();
  bool fromFloat = isa<FloatType>(from), toFloat = isa<FloatType>(to);
  if (from == to)
    return input;
  if (isF8(from)) {
    input = floatFromF8(input, from, f32);
    from = f32;
  } else if (from.isTF32()) {
    from = f32;
  }
  if (fromFloat && (isF8(to) || to.isTF32())) {
    if (from.isF64())
      input = arith::TruncFOp::create(builder, loc, f32, input);
    else if (!from.isF32())
      input = arith::ExtFOp::create(builder, loc, f32, input);
    return isF8(to) ? f8FromFloat(input, to) : tf32FromFloat(input);
  }
  if (fromFloat && toFloat)
    return resize(input, to, false);
  if (fromFloat)
    return integerFromFloat(input, to, toUnsigned);
  if (!toFloat)
    return resize(input, to, fromUnsigned);
  if (from.isIndex())
    input = resize(input, builder.getI64Type(), false);
  Type wide = isF8(to) || to.isTF32() ? f32 : to;
  Value value = fromUnsigned || from.isInteger(1) ? Value(arith::UIToFPOp::create(builder, loc, wide, input))
                                                  : arith::SIToFPOp::create(builder, loc, wide, input);
  return wide == to ? FailureOr<Value>(value) : cast(value, f32, to, false, false);
}
