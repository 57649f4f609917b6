// What the plan and the channel pass ask about an operand of a dot.
#ifndef TILEC_TRANSFORMS_DOTOPERAND_H
#define TILEC_TRANSFORMS_DOTOPERAND_H

#include "tilec/Dialect/TileGPU/TileGPUDialect.h"
#include "tilec/Machine/Machine.h"
#include "tilec/Transforms/AffineIndex.h"

namespace tilec {

/// A load of a box: each dimension of the tile runs along one dimension of the view with step 1.
struct BoxLoad {
  tile::LoadOp load;
  tile::ViewOp view;
  /// First coordinate in each dimension of the view.
  llvm::SmallVector<LinearSum, 4> starts;
  /// Size of the box in each dimension of the view (1 where the subscript is scalar).
  llvm::SmallVector<int64_t, 4> box;
  /// The view dimensions along which the tile's dimensions run, increasing.
  llvm::SmallVector<int64_t, 4> kept;
  /// For each dimension of the tile, the axis that its positions count, or null.
  llvm::SmallVector<tile::AxisOp, 4> axes;

  tile::ViewOp viewOp() const { return view; }
};

/// The box that a value is loaded as; none if it is no load, has an `else` value, or gathers.
std::optional<BoxLoad> matchBoxLoad(mlir::Value value);

/// The swizzle span (128, 64 or 32 bytes) with which TMA can bring the box into shared memory for a Tensor Core, or 0
/// if it cannot: base or strides off 16 bytes, more than five dimensions, rows that no span divides, tensors that the
/// kernel also writes, `@no_tma`.
int64_t tmaSpan(const BoxLoad &box);

/// The same, whatever engine brings it.
int64_t swizzleSpan(const BoxLoad &box);

/// The swizzle span with which the threads of a producer can bring the box in vectors of 16 bytes, wherever its rows
/// begin: elements of 16 bits that are neighbours in memory, two dimensions, no `@no_tma`. 0 if they cannot.
int64_t threadSpan(const BoxLoad &box);

/// The largest power of two that divides the byte offsets of all rows of a view: its base and all strides but the last,
/// which is 1; 0 if it is not.
int64_t rowAlignment(tile::ViewOp view);

/// Bytes of one cp.async access (16, 8 or 4) that base, strides and starts allow, or 0.
int64_t asyncCopyWidth(const BoxLoad &box);

/// Whether the elements at absent positions of tile dimension `dim` are provably outside the view and therefore 0.
bool isZeroWhereAbsent(const BoxLoad &box, int64_t dim);

} // namespace tilec

#endif // TILEC_TRANSFORMS_DOTOPERAND_H
