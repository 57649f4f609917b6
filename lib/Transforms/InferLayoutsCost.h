// Costs of layouts: accesses of global and shared memory, conversions, reductions. The unit is a quarter of a cycle in
// which a warp occupies its issue slot or a pipe of the multiprocessor; the model only ranks layouts.
#ifndef TILEC_TRANSFORMS_INFERLAYOUTSCOST_H
#define TILEC_TRANSFORMS_INFERLAYOUTSCOST_H

#include "InferLayoutsRules.h"
#include "llvm/ADT/DenseMap.h"

namespace tilec {

/// How a tile lies in global memory.
struct GlobalPattern {
  /// The dimension of the tile that runs along memory with step 1, or -1 (then `vector` is 1); none if there is none.
  std::optional<unsigned> contiguous;
  /// Elements that one access can move, by alignment and bounds.
  uint32_t vector = 1;
  /// The tile's dimensions from the contiguous one to the slowest.
  llvm::SmallVector<unsigned, 4> order;
};

GlobalPattern globalPattern(const GlobalOperation &global);

/// The layout for coalesced access by whole vectors, fewer elements where threads would be left without any.
Layout coalescedLayout(mlir::RankedTensorType type, llvm::ArrayRef<unsigned> order, uint32_t vector, int64_t warps);

/// The same with the threads spread over all dimensions but `reduced`, so that sums along these stay in the threads.
Layout reductionLayout(mlir::RankedTensorType type, llvm::ArrayRef<unsigned> order, uint32_t vector, int64_t warps,
                       llvm::ArrayRef<unsigned> reduced);

/// A layout for tiles that no access and no instruction puts a demand on.
Layout defaultLayout(mlir::RankedTensorType type, int64_t warps);

class LayoutCosts {
public:
  /// Conversions through more than `scratchLimit` bytes of shared memory are to be avoided; those through any are
  /// impossible if it is negative.
  explicit LayoutCosts(int64_t scratchLimit) : scratchLimit(scratchLimit) {}

  /// A tile of `type` from one layout to another.
  int64_t conversion(tilegpu::LayoutAttr from, tilegpu::LayoutAttr to, mlir::RankedTensorType type);

  int64_t globalAccess(const GlobalPattern &pattern, const Layout &layout, mlir::RankedTensorType type, bool isStore);

  /// `columnDim` is the value's dimension that is the last one of the buffer.
  int64_t sharedAccess(const Layout &layout, mlir::RankedTensorType type, unsigned columnDim);

  int64_t reduction(const Layout &layout, unsigned dim);

  /// Issue slots of an element-wise operation.
  static int64_t elementwise(const Layout &layout) { return cyclesToUnits(layout.numRegisters()); }

private:
  static int64_t cyclesToUnits(int64_t cycles) { return 4 * cycles; }

  int64_t scratchLimit;
  llvm::DenseMap<std::tuple<mlir::Attribute, mlir::Attribute, mlir::Type>, int64_t> conversions;
};

} // namespace tilec

#endif // TILEC_TRANSFORMS_INFERLAYOUTSCOST_H
