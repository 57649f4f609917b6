// ConversionPlan: how a tile in registers gets from one layout to another.
#ifndef TILEC_LAYOUT_CONVERSIONPLAN_H
#define TILEC_LAYOUT_CONVERSIONPLAN_H

#include "tilec/Layout/Layout.h"
#include "tilec/Layout/WarpProgram.h"

namespace tilec {

enum class ConversionKind : uint8_t {
  /// Nothing to do.
  Identity,
  /// Registers get other numbers.
  RegisterPermutation,
  /// Shuffles and selects inside each warp.
  Shuffle,
  /// Through shared memory.
  SharedMemory
};

/// A vector access: registers of one thread that hold consecutive elements along the scratch's inner dimension.
using VectorRegisters = llvm::SmallVector<uint32_t, 8>;

/// An exchange through shared memory: every thread writes its vectors, a barrier, every thread reads its vectors (and
/// another barrier before the scratch is written again).
///
/// The scratch holds the tile row after row, `innerDim` contiguous, all other dimensions flattened into the row:
///     row     = sum of coordinate * rowStride
///     address = (row * pitchBytes + coordinate[innerDim] * elementBytes)
///               ^ ((row >> swizzleShift & swizzleMask) << swizzleBit)
/// The xor acts on 16-byte units (swizzleBit is 4 or 5), so vectors of up to 16 bytes stay whole. It and the pitch are
/// chosen by counting bank conflicts over the 32 lanes of a warp.
struct ScratchPlan {
  unsigned innerDim = 0;
  /// Per dimension; 0 for `innerDim`.
  llvm::SmallVector<int64_t, 4> rowStride;
  unsigned elementBytes = 1;
  int64_t pitchBytes = 0;
  uint32_t swizzleShift = 0;
  uint32_t swizzleMask = 0;
  uint32_t swizzleBit = 4;
  /// Size of the scratch; it must be 16-byte aligned.
  int64_t bytes = 0;
  /// Accesses in order. The address of one is that of its first register: registerOffset(first) plus the thread's
  /// terms.
  llvm::SmallVector<VectorRegisters, 0> writes;
  llvm::SmallVector<VectorRegisters, 0> reads;
  /// Only threads in which all these digits are 0 write; the others hold copies.
  llvm::SmallVector<Digit, 2> writers;
  /// Each warp reads only what it wrote itself, so a warp barrier is enough.
  bool withinWarp = false;
  /// Cycles of the shared-memory pipe one warp takes, and the least possible for these accesses.
  unsigned wavefronts = 0;
  unsigned idealWavefronts = 0;

  /// Byte offset of an element; for linear arithmetic and xor on run-time values follow the formula above.
  int64_t address(llvm::ArrayRef<int64_t> coordinates) const;
  int64_t rowOf(llvm::ArrayRef<int64_t> coordinates) const;
  int64_t address(int64_t row, int64_t innerCoordinate) const {
    return (row * pitchBytes + innerCoordinate * elementBytes) ^ ((row >> swizzleShift & swizzleMask) << swizzleBit);
  }
};

struct ConversionPlan {
  ConversionKind kind = ConversionKind::Identity;
  /// For all kinds but SharedMemory.
  WarpProgram program;
  /// For SharedMemory.
  ScratchPlan scratch;
};

/// The plan for a tensor of `shape` whose elements have `elementBits` (those under 8 travel as bytes). Both layouts
/// cover the shape and have the same number of threads. None where no plan exists: the partial digits differ (finish
/// the reduction first), a partial digit would have to go through shared memory, or an element would have to change
/// its group, cluster rank or block.
std::optional<ConversionPlan> planConversion(const Layout &from, const Layout &to, llvm::ArrayRef<int64_t> shape,
                                             unsigned elementBits);

/// The shared-memory exchange, whether or not shuffles would do; the layouts are not partial.
ScratchPlan planScratch(const Layout &from, const Layout &to, llvm::ArrayRef<int64_t> shape, unsigned elementBits);

} // namespace tilec

#endif // TILEC_LAYOUT_CONVERSIONPLAN_H
