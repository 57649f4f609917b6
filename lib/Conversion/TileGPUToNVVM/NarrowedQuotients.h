// Quotients of which only 16 bits or fewer are used: marked on tiles, computed with a reciprocal on scalars
// (docs/decisions/quotients-that-are-narrowed.md).
#ifndef TILEC_CONVERSION_TILEGPUTONVVM_NARROWEDQUOTIENTS_H
#define TILEC_CONVERSION_TILEGPUTONVVM_NARROWEDQUOTIENTS_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "tilec/Dialect/TileGPU/TileGPUDialect.h"

namespace tilec {

/// On an f32 division (unit): every use of the quotient casts it to a float of at most 16 bits.
constexpr llvm::StringLiteral narrowedQuotient = "tilec.narrowed";

/// Whether all uses of an f32 value cast it to a float of at most 16 bits, directly or through `select` and changes of
/// layout; with `throughProducts` also after products with others, which keep a relative error.
bool isNarrowed(mlir::Value value, bool throughProducts = false);

/// Marks the kernel's divisions.
void markNarrowedQuotients(tilegpu::KernelOp kernel);

/// Divides rows of a tile that have one divisor each, of marked divisions, by products with reciprocals of the rows,
/// before the tile is lowered unit by unit.
void divideRowsByReciprocals(tilegpu::KernelOp kernel);

/// 1, or the power of two by which a divisor is multiplied so that it and its reciprocal are normal; f32, scalars or
/// tiles. Zeros, infinities and NaN have any.
mlir::Value scaleOfDivisor(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value divisor);

/// i1: the divisor and its reciprocal are normal.
mlir::Value hasNormalReciprocal(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value divisor);

/// `dividend` / `divisor` within 1.5 units in the last place of f32, for `scale` = scaleOfDivisor(divisor) and
/// `reciprocal` = 1 / (divisor * scale) rounded to nearest. Special values and overflow are right once it is narrowed.
mlir::Value divideForNarrowing(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value dividend, mlir::Value scale,
                               mlir::Value reciprocal);

} // namespace tilec

#endif // TILEC_CONVERSION_TILEGPUTONVVM_NARROWEDQUOTIENTS_H
