// Stores that go through shared memory and leave it by tensor memory access, or in whole vectors by threads.
#ifndef TILEC_TRANSFORMS_STAGEDSTORE_H
#define TILEC_TRANSFORMS_STAGEDSTORE_H

#include "tilec/Dialect/TileGPU/TileGPUDialect.h"
#include "tilec/Transforms/AffineIndex.h"

namespace tilec {

/// A store of a box: each dimension of a two-dimensional tile runs along one dimension of the view with step 1, and
/// every element of the tile that is absent lies outside the view, so that clipping at the view's bounds drops it.
struct BoxStore {
  tile::StoreOp store;
  tile::ViewOp view;
  /// First coordinate in each dimension of the view.
  llvm::SmallVector<LinearSum, 4> starts;
  /// The view dimensions along which the tile's dimensions run, increasing; the tile dimension of each.
  llvm::SmallVector<int64_t, 2> kept, order;
  /// For each kept dimension the coordinate from which on elements are absent.
  llvm::SmallVector<LinearSum, 2> ends;
  /// The part of the tile that goes through one slot: rows and columns of the view, the bytes of a row.
  int64_t unitRows = 0, unitColumns = 0, span = 0;
  /// TMA cannot store it: the base, a row or the box may begin within a vector of 16 bytes, or the box outside the
  /// view.
  bool byThreads = false;
};

/// The attributes (unit) with which `plan` marks stores, and those of them that threads make.
constexpr llvm::StringLiteral stagedStore = "tilegpu.staged", stagedByThreads = "tilegpu.staged_by_threads";

/// The box that a store writes if TMA or threads can write it from shared memory: rows are contiguous, no other access
/// of the tensor in the kernel could meet the store, and no loop of the program stores the same place again. `groups`:
/// the number of consumer groups among which `split` has divided the tiles, 1 before.
std::optional<BoxStore> matchBoxStore(tile::StoreOp store, int64_t groups);

/// Replaces the stores that `plan` has marked by writes to staging rings of one slot and flushes, as far as the rings
/// of all groups fit in `room` bytes.
void stageStores(tilegpu::KernelOp kernel, int64_t room);

/// Bytes of one slot of all staging rings of all groups.
int64_t stagingBytes(tilegpu::KernelOp kernel);

/// Whether the ring's memory may have a second slot: a tile takes more than one.
bool wantsSecondSlot(tilegpu::StagingOp staging);

/// Gives the ring of a channel or of staged stores another number of slots.
void setSlots(mlir::Value ring, int64_t slots);

/// The loop of a persistent block over its tiles.
constexpr llvm::StringLiteral persistentLoop = "tilegpu.persistent";

/// The innermost loop of the program around an operation; null if there is none but that of a persistent block.
mlir::Operation *enclosingLoop(mlir::Operation *op);

} // namespace tilec

#endif // TILEC_TRANSFORMS_STAGEDSTORE_H
