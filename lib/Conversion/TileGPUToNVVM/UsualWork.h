// Work on tiles that rows usually do not need: products with factors that are one, selections of what is there.
#ifndef TILEC_LIB_CONVERSION_TILEGPUTONVVM_USUALWORK_H
#define TILEC_LIB_CONVERSION_TILEGPUTONVVM_USUALWORK_H

#include "Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tilec {

/// On a select (unit): its condition, which is the same in a row, is usually true.
constexpr llvm::StringLiteral usuallyTrue = "tilec.usually_true";

/// Whether the condition is one of few different registers.
bool hasFewConditions(mlir::arith::SelectOp op);

/// Whether the operation is a product that is marked (tile::usuallyOneName) and has a factor of few different
/// registers, or a select that is marked (usuallyTrue).
bool isUsuallyNothing(mlir::Operation *op);

/// Does the work where a lane of the warp needs it; elsewhere the result is the tile as it was.
mlir::LogicalResult lowerUsuallyNothing(Lowering &lowering, mlir::Operation *op);

} // namespace tilec

#endif // TILEC_LIB_CONVERSION_TILEGPUTONVVM_USUALWORK_H
