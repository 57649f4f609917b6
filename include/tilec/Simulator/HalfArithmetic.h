// Arithmetic of f16 and bf16, one element or two packed in a 32-bit register (PTX ISA, "Half Precision Floating Point
// Instructions"). Every result is rounded once, to nearest even.
#ifndef TILEC_SIMULATOR_HALFARITHMETIC_H
#define TILEC_SIMULATOR_HALFARITHMETIC_H

#include "tilec/Simulator/FloatFormat.h"

namespace tilec::simulator {

/// `Exp2` and `Tanh` are the approximations ex2.approx and tanh.approx, computed here to the last bit.
enum class HalfOperation : uint8_t {
  Add,
  Subtract,
  Multiply,
  MultiplyAdd,
  Minimum,
  Maximum,
  Negate,
  Absolute,
  Exp2,
  Tanh
};

struct HalfModifiers {
  /// .ftz: subnormal operands and results become zeros of their sign.
  bool flush = false;
  /// .sat: clamped to [0, 1], NaN to +0.
  bool saturate = false;
  /// .relu: negative results become +0, NaN stays.
  bool relu = false;
  /// .NaN of minimum and maximum: NaN if any operand is NaN, else the other operand is the result.
  bool propagateNaN = false;
  /// .xorsign.abs of minimum and maximum.
  bool xorSign = false;
};

/// One element of F16 or BF16. Operands that the operation does not have are ignored.
uint16_t computeHalf(HalfOperation operation, FloatFormat format, uint16_t a, uint16_t b = 0, uint16_t c = 0,
                     const HalfModifiers &modifiers = {});

/// Both halves of f16x2 or bf16x2.
uint32_t computeHalf2(HalfOperation operation, FloatFormat format, uint32_t a, uint32_t b = 0, uint32_t c = 0,
                      const HalfModifiers &modifiers = {});

} // namespace tilec::simulator

#endif // TILEC_SIMULATOR_HALFARITHMETIC_H
