// Scratch: shared memory that an operation needs while it runs.
#ifndef TILEC_DIALECT_TILEGPU_SCRATCH_H
#define TILEC_DIALECT_TILEGPU_SCRATCH_H

#include "mlir/IR/Operation.h"

namespace tilec::tilegpu {

/// Bytes of scratch that a `convert` or `tile.reduce` with layouts takes for one group; 0 for everything else. The
/// scratch starts at a multiple of 16.
int64_t scratchBytes(mlir::Operation *op);

} // namespace tilec::tilegpu

#endif // TILEC_DIALECT_TILEGPU_SCRATCH_H
