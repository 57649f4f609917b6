// Functions of which only 16 bits or fewer are used: marked on tiles, computed with fewer instructions on scalars
// (docs/decisions/functions-that-are-narrowed.md).
#ifndef TILEC_CONVERSION_TILEGPUTONVVM_NARROWEDFUNCTIONS_H
#define TILEC_CONVERSION_TILEGPUTONVVM_NARROWEDFUNCTIONS_H

#include "MathFunctions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "tilec/Dialect/TileGPU/TileGPUDialect.h"

namespace tilec {

/// On the last operation of an f32 function (unit): every use casts the value to a float of at most 16 bits, directly
/// or after products with others.
constexpr llvm::StringLiteral narrowedFunction = "tilec.narrowed_function";

/// Marks the kernel's sigmoids, and the sums of 1 and a tanh or an erf.
void markNarrowedFunctions(tilegpu::KernelOp kernel);

/// Replaces a marked scalar operation by what suffices for 16 bits; a product with a power of two goes into it. False
/// if it has changed since.
bool expandNarrowedFunction(mlir::Operation *op, MathFunctions &functions);

/// x where `op` is 1 / (1 + exp(-x)); null elsewhere. Scalars or tiles.
mlir::Value sigmoidArgument(mlir::Operation *op);

} // namespace tilec

#endif // TILEC_CONVERSION_TILEGPUTONVVM_NARROWEDFUNCTIONS_H
