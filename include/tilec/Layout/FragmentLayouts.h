// Register layouts that Tensor Core instructions fix: wgmma accumulators and register operands, and the fragments of
// mma.sync tiled over a grid of warps. Sources: PTX ISA 9.0, "Asynchronous warpgroup level matrix instructions" and
// "Warp-level matrix instructions", matrix fragments.
//
// Registers are numbered so that every instruction takes one range of consecutive registers, in the order of its PTX
// operands: register numbers count *elements*, so `{a0, a1}` of a 16-bit fragment are registers 0 and 1 and are packed
// into one 32-bit operand by the lowering.
#ifndef TILEC_LAYOUT_FRAGMENTLAYOUTS_H
#define TILEC_LAYOUT_FRAGMENTLAYOUTS_H

#include "tilec/Layout/Layout.h"

namespace tilec {

/// Registers `first` to `first + count - 1` of a thread.
struct RegisterRange {
  uint32_t first = 0;
  uint32_t count = 0;

  bool operator==(const RegisterRange &other) const { return first == other.first && count == other.count; }
};

/// A tile of one warpgroup computed by `wgmma.m64nNkK`, repeated over blocks of 64 rows and of `instructionN` columns.
/// Extents that are not multiples of the instruction are padded up.
struct WgmmaTile {
  int64_t m = 64;
  int64_t n = 8;
  int64_t k = 16;
  /// N of the instruction, a multiple of 8 up to 256.
  int64_t instructionN = 8;
  /// Bits of an element of A: 8, 16, or 32 for tf32. K of the instruction is 256 bits of them.
  unsigned elementBits = 16;

  int64_t instructionK() const { return 256 / elementBits; }
  int64_t blocksM() const { return (m + 63) / 64; }
  int64_t blocksN() const { return (n + instructionN - 1) / instructionN; }
  int64_t blocksK() const { return (k + instructionK() - 1) / instructionK(); }

  /// Dimensions (m, n): [[l1:8, r1:2, w0:4, r3:blocksM], [r0:2, l0:4, r2:N/8]].
  Layout accumulator() const;
  /// Dimensions (m, k): A in registers.
  Layout operandA() const;

  /// Accumulators of the instruction (mi, ni); instructionN / 2 of them.
  RegisterRange accumulatorRegisters(int64_t mi, int64_t ni) const;
  /// Register operand of the instruction (mi, ki); 128 bits of elements.
  RegisterRange operandARegisters(int64_t mi, int64_t ki) const;
};

/// Shape of one mma.sync; m16n8k16 and m16n8k8 (16 bits), m16n8k8 and m16n8k4 (tf32), m16n8k32 and m16n8k16 (8 bits),
/// m8n8k4 (64 bits).
struct MmaInstruction {
  int64_t m = 16;
  int64_t n = 8;
  int64_t k = 16;
  unsigned elementBits = 16;
};

/// A tile computed by mma.sync. Warp number = wm + warpsM * (wn + warpsN * wk). Blocks of the instruction's rows go
/// round the warps: block b of warp wm is rows (b * warpsM + wm) * instruction.m onwards; columns and k likewise. With
/// warpsK > 1 the accumulator holds addends: `part(add)` over the warps that share a block.
struct MmaTile {
  MmaInstruction instruction;
  int64_t m = 16;
  int64_t n = 8;
  int64_t k = 16;
  uint32_t warpsM = 1;
  uint32_t warpsN = 1;
  uint32_t warpsK = 1;

  int64_t blocksM() const;
  int64_t blocksN() const;
  int64_t blocksK() const;

  /// Dimensions (m, k), (k, n) and (m, n).
  Layout operandA() const;
  Layout operandB() const;
  Layout accumulator() const;

  RegisterRange operandARegisters(int64_t mi, int64_t ki) const;
  RegisterRange operandBRegisters(int64_t ki, int64_t ni) const;
  RegisterRange accumulatorRegisters(int64_t mi, int64_t ni) const;
};

} // namespace tilec

#endif // TILEC_LAYOUT_FRAGMENTLAYOUTS_H
