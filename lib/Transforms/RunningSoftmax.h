// Loops that keep sums of exponentials relative to a running maximum.
#ifndef TILEC_LIB_TRANSFORMS_RUNNINGSOFTMAX_H
#define TILEC_LIB_TRANSFORMS_RUNNINGSOFTMAX_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tilec/Dialect/TileGPU/TileGPUDialect.h"

namespace tilec {

/// A loop whose state is (m, x1, .., xn) with
///     m' = max(m, e)    and    xi' = xi * h(m - m') + fi,
/// where h(d) is exp2(c * d) or exp(c * d) with one c and fi is linear in weights h(s - m'); and what follows the loop
/// does not change if all states become (m - d, xi * h(d)) for any d of each row: quotients of sums, and m + log(x). So
/// m' may be any point that is not far below the maximum.
struct RunningSoftmax {
  /// The carried m, and the operation that makes m'.
  mlir::Value top;
  mlir::arith::MaximumFOp maximum;
  /// The products xi * h(m - m').
  llvm::SmallVector<mlir::arith::MulFOp, 2> rescales;
  /// Elements of the largest tile of weights that an iteration computes.
  int64_t weightsPerIteration = 0;
  /// h is exp2(scale * ..), else exp(scale * ..); a null scale is 1.
  bool base2 = false;
  mlir::Value scale;

  /// The recurrence is found by what operations do with weights, not by their order or spelling; anything unknown that
  /// takes part of the state is a reason to find none.
  static std::optional<RunningSoftmax> match(mlir::scf::ForOp loop);
};

} // namespace tilec

#endif // TILEC_LIB_TRANSFORMS_RUNNINGSOFTMAX_H
