// Decoding and encoding of floating-point formats.
#include "tilec/Simulator/FloatFormat.h"

#include "llvm/ADT/bit.h"
#include <algorithm>
#include <cmath>
#include <limits>

using namespace tilec::simulator;

// NaN results: PTX ISA, "cvt" and "Floating Point Instructions": f32 0x7fffffff, f16 and bf16 0x7fff; tf32 keeps the
// bits of f32; f8: OCP 8-bit Floating Point Specification, section 5. e4m3 has no infinities and one NaN.
static constexpr FloatFormatInfo formats[] = {
    {8, 3, 7, 0, false, 0x7e, 0x7f, 0x7f},
    {8, 2, 15, 0, true, 0x7b, 0x7c, 0x7f},
    {16, 10, 15, 0, true, 0x7bff, 0x7c00, 0x7fff},
    {16, 7, 127, 0, true, 0x7f7f, 0x7f80, 0x7fff},
    {32, 10, 127, 13, true, 0x7f7fe000, 0x7f800000, 0x7fffffff},
    {32, 23, 127, 0, true, 0x7f7fffff, 0x7f800000, 0x7fffffff},
    {64, 52, 1023, 0, true, 0x7fefffffffffffff, 0x7ff0000000000000, 0x7fffffffffffffff},
};

const FloatFormatInfo &tilec::simulator::formatInfo(FloatFormat format) {
  return formats[static_cast<unsigned>(format)];
}

static uint64_t signBit(const FloatFormatInfo &info) { return uint64_t(1) << (info.bits - 1); }

Unpacked tilec::simulator::decodeFloat(FloatFormat format, uint64_t bits) {
  const FloatFormatInfo &info = formatInfo(format);
  Unpacked value;
  value.negative = bits & signBit(info);
  uint64_t magnitude = bits & (signBit(info) - 1);
  magnitude = magnitude >> info.storageShift << info.storageShift;
  if (magnitude > info.maxFinite) {
    value.kind = info.hasInfinity && magnitude == info.infinity ? Unpacked::Infinity : Unpacked::NaN;
    return value;
  }
  magnitude >>= info.storageShift;
  if (magnitude == 0)
    return value;
  value.kind = Unpacked::Finite;
  int field = static_cast<int>(magnitude >> info.mantissaBits);
  value.significand = magnitude & ((uint64_t(1) << info.mantissaBits) - 1);
  if (field != 0)
    value.significand |= uint64_t(1) << info.mantissaBits;
  value.exponent = (field ? field : 1) - info.bias - static_cast<int>(info.mantissaBits);
  return value;
}

uint64_t tilec::simulator::roundedShift(uint64_t significand, int shift, Rounding rounding, bool negative) {
  if (shift <= 0)
    return significand << -shift;
  uint64_t quotient = shift < 64 ? significand >> shift : 0;
  uint64_t rest = shift < 64 ? significand & ((uint64_t(1) << shift) - 1) : significand;
  if (rest == 0)
    return quotient;
  uint64_t half = shift <= 64 ? uint64_t(1) << (shift - 1) : 0;
  bool above = half && rest > half, tie = half && rest == half;
  switch (rounding) {
  case Rounding::NearestEven:
    return quotient + (above || (tie && (quotient & 1)));
  case Rounding::NearestAway:
    return quotient + (above || tie);
  case Rounding::Zero:
    return quotient;
  case Rounding::Up:
    return quotient + !negative;
  case Rounding::Down:
    return quotient + negative;
  }
  return quotient;
}

static uint64_t overflow(const FloatFormatInfo &info, Rounding rounding, bool negative, bool saturateFinite) {
  bool towardsZero =
      rounding == Rounding::Zero || (rounding == Rounding::Up && negative) || (rounding == Rounding::Down && !negative);
  return saturateFinite || towardsZero ? info.maxFinite : info.infinity;
}

uint64_t tilec::simulator::encodeFloat(FloatFormat format, Unpacked value, Rounding rounding, bool saturateFinite) {
  const FloatFormatInfo &info = formatInfo(format);
  uint64_t sign = value.negative ? signBit(info) : 0;
  switch (value.kind) {
  case Unpacked::NaN:
    return info.nan;
  case Unpacked::Infinity:
    return sign | (saturateFinite ? info.maxFinite : info.infinity);
  case Unpacked::Zero:
    return sign;
  case Unpacked::Finite:
    break;
  }
  int leading = value.exponent + 63 - llvm::countl_zero(value.significand);
  int exponent = std::max(leading, 1 - info.bias);
  int mantissaBits = static_cast<int>(info.mantissaBits);
  uint64_t rounded =
      roundedShift(value.significand, exponent - mantissaBits - value.exponent, rounding, value.negative);
  // A significand below the implicit bit is subnormal, with field 0; a carry moves into the exponent by itself.
  uint64_t implicit = uint64_t(1) << mantissaBits;
  uint64_t magnitude = rounded < implicit
                           ? rounded
                           : (static_cast<uint64_t>(exponent + info.bias) << mantissaBits) + (rounded - implicit);
  if (exponent > info.bias + 1 || magnitude > info.maxFinite >> info.storageShift)
    return sign | overflow(info, rounding, value.negative, saturateFinite);
  return sign | magnitude << info.storageShift;
}

double tilec::simulator::toDouble(FloatFormat format, uint64_t bits) {
  if (format == FloatFormat::F64)
    return llvm::bit_cast<double>(bits);
  if (format == FloatFormat::F32)
    return llvm::bit_cast<float>(static_cast<uint32_t>(bits));
  if (format == FloatFormat::BF16)
    return llvm::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  Unpacked value = decodeFloat(format, bits);
  double magnitude = 0;
  if (value.kind == Unpacked::NaN)
    return std::numeric_limits<double>::quiet_NaN();
  if (value.kind == Unpacked::Infinity)
    magnitude = std::numeric_limits<double>::infinity();
  else if (value.kind == Unpacked::Finite)
    magnitude = std::ldexp(static_cast<double>(value.significand), value.exponent);
  return value.negative ? -magnitude : magnitude;
}

uint64_t tilec::simulator::fromDouble(FloatFormat format, double value) {
  Unpacked unpacked = decodeFloat(FloatFormat::F64, llvm::bit_cast<uint64_t>(value));
  return encodeFloat(format, unpacked, Rounding::NearestEven);
}

bool tilec::simulator::isNaN(FloatFormat format, uint64_t bits) {
  return decodeFloat(format, bits).kind == Unpacked::NaN;
}

uint64_t tilec::simulator::flushSubnormal(FloatFormat format, uint64_t bits) {
  const FloatFormatInfo &info = formatInfo(format);
  uint64_t magnitude = bits & (signBit(info) - 1);
  bool subnormal = magnitude >> info.storageShift >> info.mantissaBits == 0;
  return subnormal ? bits & signBit(info) : bits;
}

double tilec::simulator::addToOdd(double x, double y) {
  double sum = x + y;
  if (!std::isfinite(sum))
    return sum;
  // The exact error of the sum (Knuth, TAOCP volume 2, 4.2.2, theorem B).
  double fromY = sum - x;
  double error = (x - (sum - fromY)) + (y - fromY);
  uint64_t bits = llvm::bit_cast<uint64_t>(sum);
  if (error == 0 || (bits & 1))
    return sum;
  bool away = (error > 0) == (sum > 0);
  return llvm::bit_cast<double>(away ? bits + 1 : bits - 1);
}
