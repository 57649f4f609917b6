// Host expressions: integer expressions over launch arguments that the launcher evaluates (docs/abi.md).
#ifndef TILEC_TRANSFORMS_HOSTEXPRESSION_H
#define TILEC_TRANSFORMS_HOSTEXPRESSION_H

#include "mlir/IR/Attributes.h"
#include "mlir/IR/Value.h"

namespace tilec {

/// The host expression of a scalar integer computed from constants and `tile.arg` by arithmetic; null where a value
/// depends on anything else (memory, the block number, a loop).
mlir::Attribute hostExpression(mlir::Value value);

/// `[op, operands...]` with the obvious folds for constants (x * 1, x + 0, two constants).
mlir::Attribute hostOperation(mlir::MLIRContext *context, llvm::StringRef op, llvm::ArrayRef<mlir::Attribute> operands);

} // namespace tilec

#endif // TILEC_TRANSFORMS_HOSTEXPRESSION_H
