// The division of shared memory: where buffers begin, and the scratch that operations need while they run.
#ifndef TILEC_DIALECT_TILEGPU_SCRATCH_H
#define TILEC_DIALECT_TILEGPU_SCRATCH_H

#include "mlir/IR/Operation.h"

namespace tilec::tilegpu {

/// Buffers start at multiples of this many bytes: swizzles work on absolute addresses, and the widest (128 bytes, 8
/// rows) repeats after as many.
constexpr int64_t bufferAlignment = 1024;

/// Bytes of a block that rings leave to conversions and reductions across warps.
constexpr int64_t scratchBesideRings = 16 * 1024;
/// The same where tiles are stored through staging rings: those tiles are not converted for their stores. Barriers
/// take part of it.
constexpr int64_t scratchBesideStaging = 2 * 1024;

/// Bytes of scratch that a `convert` or `tile.reduce` with layouts takes for one group; 0 for everything else. The
/// scratch starts at a multiple of 16.
int64_t scratchBytes(mlir::Operation *op);

} // namespace tilec::tilegpu

#endif // TILEC_DIALECT_TILEGPU_SCRATCH_H
