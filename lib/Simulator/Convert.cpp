// Conversions between floats and integers as PTX `cvt` defines them.
#include "tilec/Simulator/Convert.h"

#include "llvm/Support/MathExtras.h"

using namespace tilec::simulator;

static Unpacked roundToIntegral(Unpacked value, Rounding rounding) {
  if (value.kind != Unpacked::Finite || value.exponent >= 0)
    return value;
  value.significand = roundedShift(value.significand, -value.exponent, rounding, value.negative);
  value.exponent = 0;
  if (value.significand == 0)
    value.kind = Unpacked::Zero;
  return value;
}

static Unpacked flushed(Unpacked value, FloatFormat format) {
  bool subnormal = value.kind == Unpacked::Finite && value.significand < uint64_t(1) << formatInfo(format).mantissaBits;
  if (format == FloatFormat::F32 && subnormal)
    value.kind = Unpacked::Zero;
  return value;
}

static uint64_t clampToUnit(FloatFormat format, uint64_t bits) {
  double value = toDouble(format, bits);
  if (!(value > 0))
    return 0;
  return value > 1 ? fromDouble(format, 1) : bits;
}

// cvt.rna.tf32.f32 cuts off the lower bits of a NaN, of which infinity may be left (H200).
static uint64_t cutNaN(FloatFormat to, uint64_t bits, bool saturateFinite) {
  const FloatFormatInfo &info = formatInfo(to);
  uint64_t rest = bits >> info.storageShift << info.storageShift, sign = rest & uint64_t(1) << (info.bits - 1);
  return saturateFinite && (rest ^ sign) == info.infinity ? sign | info.maxFinite : rest;
}

uint64_t tilec::simulator::convertFloat(FloatFormat to, FloatFormat from, uint64_t bits,
                                        const FloatConversion &options) {
  Unpacked value = decodeFloat(from, bits);
  // The hardware does not flush operands of conversions to f16 (H200).
  if (options.flush && to != FloatFormat::F16)
    value = flushed(value, from);
  if (value.kind == Unpacked::NaN && to == FloatFormat::TF32 && options.rounding == Rounding::NearestAway)
    return cutNaN(to, bits, options.saturateFinite);
  if (value.kind == Unpacked::NaN && from == FloatFormat::BF16 && to == FloatFormat::F32 && !options.saturate)
    return bits << 16;
  if (options.relu && value.kind != Unpacked::NaN && value.negative)
    value = Unpacked();
  if (options.integral)
    value = roundToIntegral(value, options.rounding);
  uint64_t result = encodeFloat(to, value, options.rounding, options.saturateFinite);
  if (options.flush && to == FloatFormat::F32)
    result = flushSubnormal(to, result);
  return options.saturate ? clampToUnit(to, result) : result;
}

static uint64_t cut(uint64_t bits, unsigned width) { return bits & llvm::maskTrailingOnes<uint64_t>(width); }

// The nearest value of the type to sign * magnitude.
static uint64_t clampToType(IntegerType type, bool negative, uint64_t magnitude, bool beyond) {
  uint64_t most = llvm::maskTrailingOnes<uint64_t>(type.isSigned ? type.bits - 1 : type.bits);
  if (!negative)
    return beyond || magnitude > most ? most : magnitude;
  if (!type.isSigned)
    return 0;
  uint64_t least = most + 1;
  return cut(uint64_t(0) - (beyond || magnitude > least ? least : magnitude), type.bits);
}

uint64_t tilec::simulator::convertFloatToInteger(IntegerType to, FloatFormat from, uint64_t bits, Rounding rounding,
                                                 bool flush) {
  Unpacked value = decodeFloat(from, bits);
  if (flush)
    value = flushed(value, from);
  if (value.kind == Unpacked::NaN)
    return from == FloatFormat::F64 || to.bits == 64 ? uint64_t(1) << (to.bits - 1) : 0;
  value = roundToIntegral(value, rounding);
  if (value.kind == Unpacked::Zero)
    return 0;
  bool beyond = value.kind == Unpacked::Infinity || value.exponent >= 64 ||
                (value.exponent > 0 && value.significand >> (64 - value.exponent));
  return clampToType(to, value.negative, beyond ? 0 : value.significand << value.exponent, beyond);
}

static bool isNegative(IntegerType type, uint64_t bits) { return type.isSigned && (bits >> (type.bits - 1) & 1); }

static uint64_t magnitudeOf(IntegerType type, uint64_t bits) {
  bits = cut(bits, type.bits);
  return isNegative(type, bits) ? cut(uint64_t(0) - bits, type.bits) : bits;
}

uint64_t tilec::simulator::convertIntegerToFloat(FloatFormat to, IntegerType from, uint64_t bits, Rounding rounding,
                                                 bool saturate) {
  Unpacked value;
  value.significand = magnitudeOf(from, bits);
  value.kind = value.significand ? Unpacked::Finite : Unpacked::Zero;
  value.negative = isNegative(from, bits);
  uint64_t result = encodeFloat(to, value, rounding);
  return saturate ? clampToUnit(to, result) : result;
}

uint64_t tilec::simulator::convertInteger(IntegerType to, IntegerType from, uint64_t bits, bool saturate) {
  bool negative = isNegative(from, bits);
  if (saturate)
    return clampToType(to, negative, magnitudeOf(from, bits), false);
  uint64_t magnitude = magnitudeOf(from, bits);
  return cut(negative ? uint64_t(0) - magnitude : magnitude, to.bits);
}

uint64_t tilec::simulator::convertPacked(FloatFormat to, FloatFormat from, unsigned count, uint64_t bits,
                                         const FloatConversion &options) {
  unsigned fromBits = formatInfo(from).bits, toBits = formatInfo(to).bits;
  uint64_t result = 0;
  for (unsigned i = 0; i < count; ++i)
    result |= convertFloat(to, from, cut(bits >> (i * fromBits), fromBits), options) << (i * toBits);
  return result;
}
