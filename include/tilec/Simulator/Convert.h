// The conversions of PTX `cvt` (PTX ISA, "Data Movement and Conversion Instructions: cvt").
#ifndef TILEC_SIMULATOR_CONVERT_H
#define TILEC_SIMULATOR_CONVERT_H

#include "tilec/Simulator/FloatFormat.h"

namespace tilec::simulator {

/// Modifiers of a conversion whose result is a float.
struct FloatConversion {
  Rounding rounding = Rounding::NearestEven;
  /// .satfinite: the largest finite value instead of overflow and infinities. NaN stays NaN.
  bool saturateFinite = false;
  /// .relu: negative values become +0. NaN stays NaN.
  bool relu = false;
  /// .sat: clamped to [0, 1], NaN to +0.
  bool saturate = false;
  /// .ftz: subnormal f32 operands and results become zeros of their sign; operands do not where the result is f16.
  bool flush = false;
  /// .rni, .rzi, .rmi, .rpi between floats of one size: to an integral value, with `rounding`.
  bool integral = false;
};

/// NaN becomes the format's canonical one, except bf16 to f32, which only moves bits, and f32 to tf32 by NearestAway,
/// which cuts bits off.
uint64_t convertFloat(FloatFormat to, FloatFormat from, uint64_t bits, const FloatConversion &options = {});

/// An integer type of 8 to 64 bits. Values are kept in the lower bits.
struct IntegerType {
  unsigned bits = 32;
  bool isSigned = false;
};

/// Clamps to the result's range, as PTX always does. NaN gives 0; where f64 or a 64-bit integer takes part, the sign
/// bit alone.
uint64_t convertFloatToInteger(IntegerType to, FloatFormat from, uint64_t bits, Rounding rounding, bool flush = false);

uint64_t convertIntegerToFloat(FloatFormat to, IntegerType from, uint64_t bits, Rounding rounding,
                               bool saturate = false);

/// Extends by the source's sign or cuts off; `saturate` clamps to the result's range instead.
uint64_t convertInteger(IntegerType to, IntegerType from, uint64_t bits, bool saturate = false);

/// Packed conversions: each element of `bits`, lowest first, `count` of them; the results are packed the same way.
uint64_t convertPacked(FloatFormat to, FloatFormat from, unsigned count, uint64_t bits,
                       const FloatConversion &options = {});

} // namespace tilec::simulator

#endif // TILEC_SIMULATOR_CONVERT_H
