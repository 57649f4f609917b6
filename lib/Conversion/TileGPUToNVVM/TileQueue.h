// Loops of persistent blocks over the tiles that a queue hands out.
#ifndef TILEC_CONVERSION_TILEGPUTONVVM_TILEQUEUE_H
#define TILEC_CONVERSION_TILEGPUTONVVM_TILEQUEUE_H

#include "Lowering.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tilec {

/// Whether a kernel's persistent loops may take tiles from a queue: it says so, one thread fills its rings, and a warp
/// beside that thread's is free.
bool hasQueue(tilegpu::KernelOp kernel);

/// The kernel's parameters for it: the address of the counter, and whether this launch uses it.
llvm::SmallVector<mlir::Attribute, 2> queueParameters(tilegpu::KernelOp kernel);

/// Adds the workspace of the queue to the module's description of the kernel.
void addQueueWorkspace(tilegpu::KernelOp kernel);

/// Initialises the barriers of the ring; for one thread.
void initializeQueue(Lowering &lowering);

/// The program of the thread that asks the queue.
llvm::LogicalResult emitQueue(Lowering &lowering);

/// A persistent loop of such a kernel, without values that it carries.
llvm::LogicalResult lowerQueuedLoop(Lowering &lowering, mlir::scf::ForOp loop);

} // namespace tilec

#endif // TILEC_CONVERSION_TILEGPUTONVVM_TILEQUEUE_H
