// The division of shared memory: where buffers begin, and the scratch that operations need while they run.
#ifndef TILEC_DIALECT_TILEGPU_SCRATCH_H
#define TILEC_DIALECT_TILEGPU_SCRATCH_H

#include "mlir/IR/Operation.h"
#include "tilec/Dialect/Tile/TileDialect.h"
#include "tilec/Layout/ReductionPlan.h"
#include "llvm/ADT/StringRef.h"

namespace tilec::tilegpu {

/// Buffers start at multiples of this many bytes: swizzles work on absolute addresses, and the widest (128 bytes, 8
/// rows) repeats after as many.
constexpr int64_t bufferAlignment = 1024;

/// Bytes of a block that rings leave to conversions and reductions across warps.
constexpr int64_t scratchBesideRings = 16 * 1024;
/// The same where tiles are stored through staging rings: those tiles are not converted for their stores. Barriers
/// take part of it.
constexpr int64_t scratchBesideStaging = 2 * 1024;

/// Attributes that `plan-shared-memory` sets: on an operation, where its scratch begins (bytes, i64); on the kernel,
/// the distance of the groups' scratch (bytes, i64); on an operation, that it runs once and shares its scratch with no
/// other, so that nobody has to wait before it is written (unit).
constexpr llvm::StringLiteral scratchName = "tilegpu.scratch", scratchStrideName = "tilegpu.scratch_stride",
                              singleUseName = "tilegpu.single_use";

/// How a reduction of a tile with a layout runs; none if the layout has no plan.
std::optional<ReductionPlan> planOf(tile::ReduceOp reduce);

/// Whether the blocks of a cluster reduce together: each warp sends its partial result to the slots of all of them.
bool isOverCluster(tile::ReduceOp reduce);

/// A reduction over a cluster: bytes of a slot, and where the mbarrier lies that counts what arrives in its scratch.
int64_t clusterSlotBytes(tile::ReduceOp reduce);
int64_t clusterBarrierOffset(tile::ReduceOp reduce);

/// Bytes of scratch that a `convert` or `tile.reduce` with layouts takes for one group; 0 for everything else. The
/// scratch starts at a multiple of 16.
int64_t scratchBytes(mlir::Operation *op);

} // namespace tilec::tilegpu

#endif // TILEC_DIALECT_TILEGPU_SCRATCH_H
