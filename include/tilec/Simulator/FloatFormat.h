// Floating-point formats of PTX: decoding to exact values, and encoding with every rounding mode.
//
// A value is sign * significand * 2^exponent with an integer significand, so that decoding is exact for each format and
// all rounding happens in one function, `encodeFloat`.
#ifndef TILEC_SIMULATOR_FLOATFORMAT_H
#define TILEC_SIMULATOR_FLOATFORMAT_H

#include <cstdint>

namespace tilec::simulator {

/// Storage of TF32 is a 32-bit word whose lower 13 bits are zero; decoding ignores them, as Tensor Cores do.
enum class FloatFormat : uint8_t { E4M3, E5M2, F16, BF16, TF32, F32, F64 };

/// .rn, .rna, .rz, .rp, .rm
enum class Rounding : uint8_t { NearestEven, NearestAway, Zero, Up, Down };

/// significand / 2^shift rounded to an integer; `shift` may be negative, or exceed 64.
uint64_t roundedShift(uint64_t significand, int shift, Rounding rounding, bool negative);

/// The constants of a format. Patterns are those of positive values, as they are stored.
struct FloatFormatInfo {
  unsigned bits;
  unsigned mantissaBits;
  int bias;
  unsigned storageShift;
  bool hasInfinity;
  uint64_t maxFinite;
  uint64_t infinity;
  /// What PTX instructions give for NaN results.
  uint64_t nan;
};

const FloatFormatInfo &formatInfo(FloatFormat format);

/// An exact value. `significand` is nonzero for finite nonzero values and meaningless otherwise.
struct Unpacked {
  enum Kind : uint8_t { Zero, Finite, Infinity, NaN };
  Kind kind = Zero;
  bool negative = false;
  int exponent = 0;
  uint64_t significand = 0;
};

Unpacked decodeFloat(FloatFormat format, uint64_t bits);

/// Overflow gives the largest finite value instead of infinity where `saturateFinite`; infinities too.
uint64_t encodeFloat(FloatFormat format, Unpacked value, Rounding rounding, bool saturateFinite = false);

/// The value as a double: exact but for f64 itself, which is returned as it is.
double toDouble(FloatFormat format, uint64_t bits);
/// Rounds to nearest, ties to even.
uint64_t fromDouble(FloatFormat format, double value);

bool isNaN(FloatFormat format, uint64_t bits);
/// Subnormals become zeros of their sign; other values stay.
uint64_t flushSubnormal(FloatFormat format, uint64_t bits);

/// x + y and x * y + z as doubles with the lowest bit set where bits are lost (rounding to odd), so that rounding them
/// again to a format of at most 50 bits of significand is rounding once. x * y must be exact in double.
double addToOdd(double x, double y);
inline double multiplyAddToOdd(double x, double y, double z) { return addToOdd(x * y, z); }

} // namespace tilec::simulator

#endif // TILEC_SIMULATOR_FLOATFORMAT_H
