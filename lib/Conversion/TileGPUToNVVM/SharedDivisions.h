// The pass share-divisors, and the division that it emits.
#ifndef TILEC_CONVERSION_TILEGPUTONVVM_SHAREDDIVISIONS_H
#define TILEC_CONVERSION_TILEGPUTONVVM_SHAREDDIVISIONS_H

#include "mlir/IR/Builders.h"
#include "mlir/Pass/Pass.h"

#include <memory>

namespace tilec {

/// a / b rounded to nearest, from `reciprocal` = 1 / b rounded to nearest; f32. Exact rounding needs |a| and |b|
/// between 2^-60 and 2^60, or a or b NaN.
mlir::Value divideByReciprocal(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value a, mlir::Value b,
                               mlir::Value reciprocal);

/// Divisions of many f32 scalars by one, which stand in one block, share its reciprocal.
std::unique_ptr<mlir::Pass> createShareDivisorsPass();

} // namespace tilec

#endif // TILEC_CONVERSION_TILEGPUTONVVM_SHAREDDIVISIONS_H
