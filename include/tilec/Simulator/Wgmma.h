// wgmma.mma_async: matrix descriptors, operands in shared memory and registers, arithmetic (PTX ISA, "Asynchronous
// Warpgroup Level Matrix Multiply-Accumulate Instructions").
//
// Arithmetic is that of Mma.h, one rounding of each accumulator for each instruction. When an instruction runs is up to
// the caller: operands are read, and accumulators written, by `executeWgmma` alone.
#ifndef TILEC_SIMULATOR_WGMMA_H
#define TILEC_SIMULATOR_WGMMA_H

#include "tilec/Simulator/Mma.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace tilec::simulator {

/// A matrix descriptor, all in bytes. Swizzles are named by their span.
struct MatrixDescriptor {
  uint32_t address = 0;
  uint32_t leadingOffset = 0;
  uint32_t strideOffset = 0;
  unsigned baseOffset = 0;
  /// 0 (none), 32, 64 or 128.
  unsigned swizzle = 0;

  static MatrixDescriptor decode(uint64_t bits);
  uint64_t encode() const;

  /// The address of the 16 bytes that hold element (mn, k) and its neighbours: along k if the operand is contiguous
  /// along the contraction (`kMajor`), along m or n otherwise.
  uint32_t chunkAddress(bool kMajor, unsigned elementBytes, unsigned mn, unsigned k) const;
};

/// Bits 4 to 6 of an address in shared memory exchanged by the swizzle of a span of 32, 64 or 128 bytes; TMA and wgmma
/// agree. `baseOffset` is the phase of a pattern that does not begin at a multiple of 8 spans.
uint32_t swizzledAddress(uint32_t address, unsigned span, unsigned baseOffset = 0);

/// wgmma.mma_async.sync.aligned.m64nNkK.ACC.A.B
struct WgmmaInstruction {
  unsigned n = 8;
  MmaType a = MmaType::BF16, b = MmaType::BF16;
  AccumulatorType accumulator = AccumulatorType::F32;
  bool registersA = false;
  bool transposeA = false, transposeB = false;
  bool negateA = false, negateB = false;
  /// .satfinite of integers.
  bool saturate = false;

  unsigned k() const { return 256 / bitsOf(a); }
  /// Registers of each thread.
  unsigned numAccumulators() const { return accumulator == AccumulatorType::F16 ? n / 4 : n / 2; }
  /// Null, or why there is no such instruction.
  const char *check() const;
};

struct WgmmaOperation {
  WgmmaInstruction instruction;
  /// Unused where A is in registers.
  uint64_t descriptorA = 0;
  uint64_t descriptorB = 0;
  /// scale-d: false ignores what the accumulators hold.
  bool accumulate = true;
};

/// Registers of the four warps of a warpgroup: a[warp] has 4 registers or none, d[warp] the accumulators.
struct WgmmaRegisters {
  llvm::SmallVector<WarpRegister, 4> a[4];
  llvm::SmallVector<WritableWarpRegister, 0> d[4];
};

/// Reads 16 bytes of shared memory at a multiple of 16; reports faults itself.
using SharedReader = llvm::function_ref<void(uint32_t address, uint8_t *bytes)>;

void executeWgmma(const WgmmaOperation &operation, SharedReader read, const WgmmaRegisters &registers);

} // namespace tilec::simulator

#endif // TILEC_SIMULATOR_WGMMA_H
