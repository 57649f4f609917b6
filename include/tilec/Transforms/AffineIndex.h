// Affine form of subscripts: base + sum of coefficient * iota(dimension), recovered from SSA whatever its spelling; and
// the power-of-two divisibility of integers.
#ifndef TILEC_TRANSFORMS_AFFINEINDEX_H
#define TILEC_TRANSFORMS_AFFINEINDEX_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"
#include "tilec/Dialect/Tile/TileDialect.h"

namespace tilec {

/// A linear combination of scalar SSA values plus a constant.
struct LinearSum {
  llvm::SmallVector<std::pair<mlir::Value, int64_t>, 4> terms;
  int64_t constant = 0;

  void add(const LinearSum &other, int64_t factor);
  /// Emits the sum as an `index` value.
  mlir::Value materialize(mlir::OpBuilder &builder, mlir::Location loc) const;
};

/// A tile of indices (or a scalar index): element at (d0, d1, ...) is base + sum of coefficients[i] * d_i.
struct AffineIndex {
  LinearSum base;
  /// One entry for each dimension of the tile.
  llvm::SmallVector<int64_t, 2> coefficients;
  /// For each dimension the axis whose positions it counts, if the coefficient comes from one `tile.pos` alone.
  llvm::SmallVector<tilec::tile::AxisOp, 2> axes;
};

/// The affine form of a subscript, or none (data-dependent, divisions of positions, products of positions).
std::optional<AffineIndex> affineIndex(mlir::Value subscript);

/// The linear form of a scalar index in terms of values that are not sums or constant multiples themselves.
LinearSum linearSum(mlir::Value scalar);

/// The largest power of two, at most 2^20, that provably divides a scalar integer in every execution.
int64_t divisorOf(mlir::Value scalar);
int64_t divisorOf(const LinearSum &sum);

/// A reading of an end as min(tileEnd, limit) with tileEnd = start + width.
struct TileEnd {
  mlir::Value tileEnd, limit;
  int64_t width;
};

/// The readings of an end beside a start with a constant width; the operands of the minimum may stand in either order.
llvm::SmallVector<TileEnd, 2> tileEnds(mlir::Value end, const LinearSum &start);

/// Whether every element of the extent of `axis` is present: end - start is provably the extent.
bool isFullAxis(mlir::Value axis);

/// Whether end of the axis is provably at most `bound` (the same SSA value, a minimum with it, or constants).
bool axisEndsWithin(mlir::Value axis, mlir::Value bound);
bool isAtMost(mlir::Value value, mlir::Value bound);

/// Whether absent positions of the axis, those at or beyond its end, are provably not below `size`: the end is `size`,
/// or the minimum of it and the end of the extent.
bool absentIsBeyond(tilec::tile::AxisOp axis, mlir::Value size);

/// Whether a scalar integer is provably at least 0.
bool isNonNegative(mlir::Value scalar);

} // namespace tilec

#endif // TILEC_TRANSFORMS_AFFINEINDEX_H
