// Staged stores: what the tensor maps need to know of them, and flushes by threads.
#ifndef TILEC_CONVERSION_TILEGPUTONVVM_STAGEDSTORES_H
#define TILEC_CONVERSION_TILEGPUTONVVM_STAGEDSTORES_H

#include "Lowering.h"

namespace tilec {

/// The buffer that a flush stores.
inline tilegpu::SmemType flushedBuffer(tilegpu::FlushOp op) {
  return llvm::cast<tilegpu::SmemType>(op.getRing().getType().getPayload().front());
}

/// Whether the threads of a group store the slot themselves.
inline bool isByThreads(tilegpu::FlushOp op) { return op.getRing().getDefiningOp<tilegpu::StagingOp>().getByThreads(); }

/// Where a ring has a slot for every unit of a tile, the units are written one after another and then flushed.
void joinStagedStores(tilegpu::KernelOp kernel);

/// The registers of the tile, in their order, that may hold elements of the unit which is written: from the first to
/// before the second number.
std::pair<size_t, size_t> registersOfUnit(Lowering &lowering, tilegpu::WriteOp op);

/// Emits a write whose registers `compute` makes first. With `apart` both stand in a basic block of their own, so that
/// ptxas does not compute other units' registers at the same time; nothing else may use them then.
llvm::LogicalResult emitWrite(Lowering &lowering, tilegpu::WriteOp op, bool apart,
                              llvm::function_ref<llvm::LogicalResult()> compute);

/// Stores the slot at `address` (i32), which all threads of the group have written, to the flush's box: whole vectors
/// of 16 bytes at the multiples of 16 bytes in each row of the tensor, single elements at the two ends of the unit's
/// row and at the bounds of the view.
void emitThreadFlush(Lowering &lowering, tilegpu::FlushOp op, mlir::Value address);

} // namespace tilec

#endif // TILEC_CONVERSION_TILEGPUTONVVM_STAGEDSTORES_H
