// Which places of a box of elements lie inside a tensor.
#ifndef TILEC_LIB_CONVERSION_TILEGPUTONVVM_INTERVALS_H
#define TILEC_LIB_CONVERSION_TILEGPUTONVVM_INTERVALS_H

#include "Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tilec {

/// Places from `first` on, below `limit`; i32, limit >= first.
struct Interval {
  mlir::Value first, limit;
};

/// The places of a box of `extent` elements that are inside a dimension of `size` elements (`index`), in which the box
/// begins at `start` (`index`; may be negative or beyond the size).
Interval placesInside(Lowering &lowering, mlir::Value start, mlir::Value size, int64_t extent);

/// i1, by one comparison.
mlir::Value isInside(Lowering &lowering, mlir::Value place, const Interval &interval);

/// Whether an argument is a number of 31 bits by the conditions of the launch, of which LLVM knows nothing. Not where
/// products are: scalars are few there, and registers are scarce.
bool isNarrowArgument(tile::ArgOp op);

/// `size` - `first` (`index` both) as i32, at least 0, and exact up to `limit`, which has at most 31 bits. In 32 bits
/// where both numbers are known to fit.
mlir::Value placesLeft(Lowering &lowering, mlir::Value size, mlir::Value first, int64_t limit);

} // namespace tilec

#endif // TILEC_LIB_CONVERSION_TILEGPUTONVVM_INTERVALS_H
