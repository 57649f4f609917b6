// mma.sync: fragments and arithmetic (PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions", matrix fragments).
//
// Every shape follows one rule. With g = lane / 4, t = lane % 4 and e elements in a register, register r of
//   A (m x k)  holds row g + 8 (r mod m/8), columns 4 e (r div m/8) + e t + i for i < e;
//   B (k x n)  holds rows 4 e r + e t + i, column g;
//   C and D    hold row g + 8 (r div 2), column 2 t + r mod 2; two f16 accumulators in a register are columns 2 t, 2 t
//   + 1.
//
// Sums are those of an H200, bit for bit (docs/simulator-probe.md; the rules were found by comparing models with its
// results on random operands, and the probe compares them again). Products are exact. The addends of one instruction, c
// among them, are aligned to the largest exponent (of a product: the sum of its factors' exponents) and cut off behind
// 25 bits of fraction; their sum is cut off to f32, or rounded to nearest for f16. wgmma of 8-bit floats keeps 13 bits
// of fraction, in the sum and in an f32 result; mma.sync of 8-bit floats converts to f16 and makes two products, bytes
// 0 and 1 of every register first, from zero, and adds c in f32 to nearest. f64 is fused multiply-adds in the order of
// k; integers wrap or saturate.
#ifndef TILEC_SIMULATOR_MMA_H
#define TILEC_SIMULATOR_MMA_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>

namespace tilec::simulator {

enum class MmaType : uint8_t { F16, BF16, TF32, E4M3, E5M2, S8, U8, S4, U4, F64 };
enum class AccumulatorType : uint8_t { F16, F32, F64, S32 };

/// "bf16" and so on, as in PTX.
std::optional<MmaType> parseMmaType(llvm::StringRef name);
std::optional<AccumulatorType> parseAccumulatorType(llvm::StringRef name);
unsigned bitsOf(MmaType type);

/// mma.sync.aligned.mMnNkK.row.col.ACC.A.B.ACC
struct MmaInstruction {
  unsigned m = 16, n = 8, k = 16;
  MmaType a = MmaType::BF16, b = MmaType::BF16;
  AccumulatorType accumulator = AccumulatorType::F32;
  /// .satfinite of integers: clamp to s32.
  bool saturate = false;

  /// Null, or why there is no such instruction.
  const char *check() const;
  unsigned registersA() const;
  unsigned registersB() const;
  unsigned registersC() const;
};

/// A register of a warp: the values of its 32 lanes, in the lower bits.
using WarpRegister = const uint64_t *;
using WritableWarpRegister = uint64_t *;

/// The registers in the order of PTX. `d` may be `c`.
void executeMma(const MmaInstruction &instruction, llvm::ArrayRef<WarpRegister> a, llvm::ArrayRef<WarpRegister> b,
                llvm::ArrayRef<WarpRegister> c, llvm::ArrayRef<WritableWarpRegister> d);

} // namespace tilec::simulator

#endif // TILEC_SIMULATOR_MMA_H
