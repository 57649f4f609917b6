// Iterations at the end of a loop that are not needed by every consumer group.
#ifndef TILEC_LIB_TRANSFORMS_OWNTRIPS_H
#define TILEC_LIB_TRANSFORMS_OWNTRIPS_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tilec/Dialect/TileGPU/TileGPUDialect.h"

namespace tilec {

/// A loop over items of rings whose bound grows with the end of a tile of rows that is divided among the groups.
struct OwnTrips {
  mlir::scf::ForOp loop;
  /// The loop's bound, by which the producer and all groups count items; that up to which this group needs them.
  mlir::Value whole, own;
  /// What surrounds the loop in the block where the bounds are computed; all receives of its channels are in it.
  mlir::Operation *top;
};

/// Finds such loops in a sequential program, and computes their own bounds before their first use. The size of the tile
/// must be the compiler's choice: each group's rows might as well be a tile, of the same end.
llvm::SmallVector<OwnTrips> findOwnTrips(tilegpu::KernelOp kernel);

/// On a loop of a consumer, and on the one behind it that receives and releases the items that the group does not need:
/// their number (i64).
constexpr llvm::StringLiteral ownTripsName = "tilegpu.own_trips", restName = "tilegpu.rest_of";

/// The loop that does so for a loop of a consumer; null if there is none.
mlir::scf::ForOp drainOf(mlir::scf::ForOp loop);

} // namespace tilec

#endif // TILEC_LIB_TRANSFORMS_OWNTRIPS_H
