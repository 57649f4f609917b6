// ReductionPlan: how a tile in registers is reduced along one dimension.
#ifndef TILEC_LAYOUT_REDUCTIONPLAN_H
#define TILEC_LAYOUT_REDUCTIONPLAN_H

#include "tilec/Layout/Layout.h"

namespace tilec {

/// A reduction in three steps, each in a fixed order, so that results do not depend on timing:
///   1. in each thread, combine the registers of `inThread`;
///   2. for each mask of `laneMasks`, combine with the value of lane ^ mask: then all lanes of a set agree;
///   3. if `warps` is not empty: threads in which every digit of `writers` is 0 write to slot(warp), element of the
///      scratch; a barrier; every thread reads the `numSlots` values of its element and combines them in the order of
///      slots; a barrier before the scratch is written again.
/// The positions beyond the extent of the tensor must hold the neutral element first. A partial reduction stops after
/// step 1 and leaves the digits as `part` of its result: Layout::partialDim.
struct ReductionPlan {
  /// After all steps: Layout::sliceDim, or Layout::finished.
  Layout result;
  /// For each register of the result, the registers to combine, by increasing coordinate. Some may be padding only.
  llvm::SmallVector<llvm::SmallVector<uint32_t, 16>, 0> inThread;
  /// Lane masks from the innermost to the outermost digit, each one bit.
  llvm::SmallVector<uint32_t, 5> laneMasks;
  /// Warp digits that hold different addends.
  llvm::SmallVector<Digit, 2> warps;
  /// Lane digits that agree after step 2, and lane and warp digits that hold copies anyway.
  llvm::SmallVector<Digit, 4> writers;

  /// Addends of an element that come from different warps: the product of the radices of `warps`.
  uint32_t numSlots() const;
  /// The slot of a warp: its digits of `warps`, the first innermost.
  uint32_t slot(uint32_t warp) const;
  /// Elements of the scratch: numSlots times the positions that the result covers. Element (slot, coordinates) is at
  /// slot * scratchElements / numSlots + the row-major index of the coordinates within result.covered().
  int64_t scratchElements() const;
  int64_t scratchIndex(uint32_t slotNumber, llvm::ArrayRef<int64_t> coordinates) const;
};

/// Reduces along `dim`. Digits of groups, clusters or the grid in that dimension need a further step that this plan
/// does not contain: none is returned then, nor for a partial layout whose dimension has warp digits (finish it first).
std::optional<ReductionPlan> planReduction(const Layout &layout, unsigned dim);

/// The layout after reducing only the registers along `dim`, which stays as a dimension of its thread digits: one
/// position for each combination of them.
Layout keepThreadDigits(const Layout &layout, unsigned dim);

/// Step 1 of a reduction along `dim`, whose result has the layout keepThreadDigits.
ReductionPlan planParts(const Layout &layout, unsigned dim);

/// Finishes the partial digits of a layout; `inThread` is the identity. None where a group, cluster or
/// grid digit is partial.
std::optional<ReductionPlan> planFinish(const Layout &layout);

} // namespace tilec

#endif // TILEC_LAYOUT_REDUCTIONPLAN_H
