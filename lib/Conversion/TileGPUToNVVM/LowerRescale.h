// Products with factors that are usually one.
#ifndef TILEC_LIB_CONVERSION_TILEGPUTONVVM_LOWERRESCALE_H
#define TILEC_LIB_CONVERSION_TILEGPUTONVVM_LOWERRESCALE_H

#include "Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tilec {

/// Whether a product is marked (tile::usuallyOneName) and has a factor of few different registers.
bool isUsualRescale(mlir::Operation *op);

/// Multiplies where a lane of the warp has a factor other than 1; elsewhere the tile is the product.
mlir::LogicalResult lowerRescale(Lowering &lowering, mlir::arith::MulFOp op);

} // namespace tilec

#endif // TILEC_LIB_CONVERSION_TILEGPUTONVVM_LOWERRESCALE_H
