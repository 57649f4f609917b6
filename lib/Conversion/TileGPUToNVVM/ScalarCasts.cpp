// Casts of rule 13: round to nearest even, once; f8 saturates; float to integer truncates and saturates, NaN becomes 0.
//
// Where a conversion needs a step through f32, this step rounds to odd: it truncates and sets the last bit if anything
// was lost, so that the second rounding, to at most 22 bits, sees what the first one took away (Boldo and Melquiond,
// "Emulation of a FMA and correctly rounded sums: proved algorithms using rounding to odd", IEEE TC 57, 2008).
#include "MmaEmitter.h"
#include "Ptx.h"
#include "ScalarOps.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

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

Value ScalarOps::oddFromDouble(Value input) {
  Type i32 = builder.getI32Type(), f32 = builder.getF32Type();
  Value exact = math::AbsFOp::create(builder, loc, input);
  Value nearest = arith::TruncFOp::create(builder, loc, f32, exact);
  Value wide = arith::ExtFOp::create(builder, loc, input.getType(), nearest);
  Value bits = arith::BitcastOp::create(builder, loc, i32, nearest);
  auto bit = [&](arith::CmpFPredicate predicate) -> Value {
    Value holds = arith::CmpFOp::create(builder, loc, predicate, wide, exact);
    return arith::ExtUIOp::create(builder, loc, i32, holds);
  };
  bits = arith::SubIOp::create(builder, loc, bits, bit(arith::CmpFPredicate::OGT));
  bits = arith::OrIOp::create(builder, loc, bits, bit(arith::CmpFPredicate::UNE));
  Value odd = arith::BitcastOp::create(builder, loc, f32, bits);
  Value negative = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                         arith::BitcastOp::create(builder, loc, builder.getI64Type(), input),
                                         integer(builder.getI64Type(), 0));
  return arith::SelectOp::create(builder, loc, negative, arith::NegFOp::create(builder, loc, odd), odd);
}

// Keeps the 24 leading bits of the magnitude, which f32 holds, and puts the exponent right afterwards.
Value ScalarOps::oddFromInteger(Value input, bool isUnsigned) {
  Type type = input.getType(), i32 = builder.getI32Type(), f32 = builder.getF32Type();
  unsigned width = type.getIntOrFloatBitWidth();
  Value zero = integer(type, 0), magnitude = input, negative;
  if (!isUnsigned) {
    negative = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, input, zero);
    Value opposite = arith::SubIOp::create(builder, loc, zero, input);
    magnitude = arith::SelectOp::create(builder, loc, negative, opposite, input);
  }
  Value leadingZeros = math::CountLeadingZerosOp::create(builder, loc, magnitude);
  Value shift = arith::SubIOp::create(builder, loc, integer(type, width - 24), leadingZeros);
  shift = arith::MaxSIOp::create(builder, loc, shift, zero);
  Value kept = arith::ShRUIOp::create(builder, loc, magnitude, shift);
  Value lost = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                     arith::ShLIOp::create(builder, loc, kept, shift), magnitude);
  kept = arith::OrIOp::create(builder, loc, kept, arith::ExtUIOp::create(builder, loc, type, lost));
  Value bits = arith::BitcastOp::create(builder, loc, i32, arith::UIToFPOp::create(builder, loc, f32, kept));
  Value exponent = arith::ShLIOp::create(builder, loc, resize(shift, i32, true), integer(i32, 23));
  Value odd = arith::BitcastOp::create(builder, loc, f32, arith::AddIOp::create(builder, loc, bits, exponent));
  return isUnsigned
             ? odd
             : Value(arith::SelectOp::create(builder, loc, negative, arith::NegFOp::create(builder, loc, odd), odd));
}

// cvt.rn.satfinite.e4m3x2.f32 d, a, b: a becomes the upper byte (PTX ISA 9.7.9.21).
std::pair<Value, Value> ScalarOps::f8PairFromFloats(Value low, Value high, Type to) {
  Ptx ptx(builder, loc);
  Ptx::AssemblyOptions pure;
  pure.sideEffects = pure.memory = false;
  StringRef name = isa<Float8E4M3FNType>(to) ? "e4m3x2" : "e5m2x2";
  Type i8 = builder.getI8Type(), i16 = builder.getI16Type();
  Value pair = ptx.assembly("cvt.rn.satfinite." + name + ".f32 $0, $2, $1;", {i16}, {low, high}, pure)[0];
  return {arith::TruncIOp::create(builder, loc, i8, pair),
          arith::TruncIOp::create(builder, loc, i8, arith::ShRUIOp::create(builder, loc, pair, integer(i16, 8)))};
}

// cvt.rn.f16x2.e4m3x2 d, a: exact.
std::pair<Value, Value> ScalarOps::halfPairFromF8(Value low, Value high, Type from) {
  Ptx ptx(builder, loc);
  Ptx::AssemblyOptions pure;
  pure.sideEffects = pure.memory = false;
  StringRef name = isa<Float8E4M3FNType>(from) ? "e4m3x2" : "e5m2x2";
  Type i16 = builder.getI16Type(), i32 = builder.getI32Type(), f16 = builder.getF16Type();
  Value codes = arith::ShLIOp::create(builder, loc, arith::ExtUIOp::create(builder, loc, i16, high), integer(i16, 8));
  codes = arith::OrIOp::create(builder, loc, codes, arith::ExtUIOp::create(builder, loc, i16, low));
  Value halves = ptx.assembly("cvt.rn.f16x2." + name + " $0, $1;", {i32}, {codes}, pure)[0];
  auto half = [&](Value bits) -> Value {
    return arith::BitcastOp::create(builder, loc, f16, arith::TruncIOp::create(builder, loc, i16, bits));
  };
  return {half(halves), half(arith::ShRUIOp::create(builder, loc, halves, integer(i32, 16)))};
}

// f32 to f8: adds half a unit in the last place on the bit pattern, so that ties go to even; below the least normal
// number the addition of a power of two does the rounding. Works on every architecture.
Value ScalarOps::f8FromFloat(Value input, Type to) {
  Type i32 = builder.getI32Type(), f32 = builder.getF32Type(), i8 = builder.getI8Type();
  if (machine.hasF8)
    return f8PairFromFloats(input, constant(f32, 0.0), to).first;
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
  Value half = machine.hasF8 && isa<Float8E4M3FNType>(from)
                   ? halfPairFromF8(input, integer(builder.getI8Type(), 0), from).first
                   : halfOfF8(builder, loc, input, from);
  return resize(half, to, false);
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

// From f32 or a number that f32 holds after rounding to odd.
Value ScalarOps::narrowSingle(Value input, Type to) {
  if (isF8(to))
    return f8FromFloat(input, to);
  return to.isTF32() ? tf32FromFloat(input) : resize(input, to, false);
}

Value ScalarOps::floatFromInteger(Value input, Type to, bool isUnsigned) {
  if (input.getType().isIndex())
    input = resize(input, builder.getI64Type(), false);
  isUnsigned |= input.getType().isInteger(1);
  // f32 holds integers of 24 bits; larger ones are beyond the range of f16 and f8.
  if ((to.isBF16() || to.isTF32()) && input.getType().getIntOrFloatBitWidth() > 24)
    return narrowSingle(oddFromInteger(input, isUnsigned), to);
  Type direct = to.isF64() || to.isF16() ? to : builder.getF32Type();
  Value value = isUnsigned ? Value(arith::UIToFPOp::create(builder, loc, direct, input))
                           : arith::SIToFPOp::create(builder, loc, direct, input);
  return direct == to ? value : narrowSingle(value, to);
}

Value ScalarOps::cast(Value input, Type from, Type to, bool fromUnsigned, bool toUnsigned) {
  if (from == to)
    return input;
  if (isF8(from))
    input = floatFromF8(input, from, builder.getF32Type());
  bool fromFloat = isa<FloatType>(from), toFloat = isa<FloatType>(to);
  if (!fromFloat)
    return toFloat ? floatFromInteger(input, to, fromUnsigned) : resize(input, to, fromUnsigned);
  if (!toFloat)
    return integerFromFloat(input, to, toUnsigned);
  bool narrows = isF8(to) || to.isTF32() || to.getIntOrFloatBitWidth() < 32;
  if (!narrows)
    return resize(input, to, false);
  return narrowSingle(from.isF64() ? oddFromDouble(input) : resize(input, builder.getF32Type(), false), to);
}

// The word that holds two 16-bit elements as its halves, if they come from such a place in a vector; else null.
static Value wordOfPair(OpBuilder &builder, Location loc, Value low, Value high) {
  auto first = low.getDefiningOp<LLVM::ExtractElementOp>(), second = high.getDefiningOp<LLVM::ExtractElementOp>();
  llvm::APInt i, j;
  if (!first || !second || first.getVector() != second.getVector() ||
      !matchPattern(first.getPosition(), m_ConstantInt(&i)) || !matchPattern(second.getPosition(), m_ConstantInt(&j)))
    return nullptr;
  int64_t length = cast<VectorType>(first.getVector().getType()).getNumElements();
  if (length % 2 != 0 || i.getZExtValue() % 2 != 0 || j != i + 1)
    return nullptr;
  Type i32 = builder.getI32Type();
  Value words = LLVM::BitcastOp::create(builder, loc, VectorType::get(length / 2, i32), first.getVector());
  Value index = LLVM::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(i.getZExtValue() / 2));
  return LLVM::ExtractElementOp::create(builder, loc, words, index);
}

// bf16 is the upper half of f32: one instruction each. By itself an upper half takes two, one to move it down.
std::optional<std::pair<Value, Value>> ScalarOps::widenPair(Value low, Value high) {
  Value word = wordOfPair(builder, loc, low, high);
  if (!word)
    return std::nullopt;
  Type i32 = builder.getI32Type(), f32 = builder.getF32Type();
  Value first = arith::ShLIOp::create(builder, loc, word, integer(i32, 16));
  Value second = arith::AndIOp::create(builder, loc, word, integer(i32, static_cast<int32_t>(0xffff0000)));
  return std::pair(Value(arith::BitcastOp::create(builder, loc, f32, first)),
                   Value(arith::BitcastOp::create(builder, loc, f32, second)));
}

// Bytes of the word and of a zero; any of the zero's four will do, so that each number has a selector of its own.
std::pair<Value, Value> ScalarOps::widenPairAgain(Value low, Value high, int64_t number) {
  Type i32 = builder.getI32Type(), f32 = builder.getF32Type();
  Value word = wordOfPair(builder, loc, low, high);
  if (!word) {
    Value pair = LLVM::PoisonOp::create(builder, loc, VectorType::get(2, low.getType()));
    for (auto [i, element] : {std::pair(0, low), std::pair(1, high)})
      pair = LLVM::InsertElementOp::create(builder, loc, pair, element,
                                           LLVM::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(i)));
    word = LLVM::BitcastOp::create(builder, loc, i32, pair);
  }
  Ptx ptx(builder, loc);
  Ptx::AssemblyOptions pure;
  pure.sideEffects = pure.memory = false;
  std::string zeros = std::to_string(4 + number % 4) + std::to_string(4 + number / 4 % 4);
  auto bytes = [&](StringRef upper) -> Value {
    Value bits = ptx.assembly("prmt.b32 $0, $1, 0, 0x" + upper.str() + zeros + ";", {i32}, {word}, pure)[0];
    return arith::BitcastOp::create(builder, loc, f32, bits);
  };
  Value first = bytes("10");
  return {first, bytes("32")};
}

std::optional<std::pair<Value, Value>> ScalarOps::castPair(Value low, Value high, Type from, Type to) {
  if (from.isBF16() && to.isF32())
    return widenPair(low, high);
  if (!machine.hasF8 || isF8(from) == isF8(to) || !isa<FloatType>(from) || !isa<FloatType>(to))
    return std::nullopt;
  if (isF8(from)) {
    auto [first, second] = halfPairFromF8(low, high, from);
    return std::pair(cast(first, first.getType(), to, false, false), cast(second, second.getType(), to, false, false));
  }
  Value singles[2] = {low, high};
  for (Value &value : singles)
    value = from.isF64() ? oddFromDouble(value) : resize(value, builder.getF32Type(), false);
  return f8PairFromFloats(singles[0], singles[1], to);
}
