// What the processes of a block compute from the number of a tile that a queue hands out.
#ifndef TILEC_CONVERSION_TILEGPUTONVVM_TILEDECODING_H
#define TILEC_CONVERSION_TILEGPUTONVVM_TILEDECODING_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tilec/Dialect/TileGPU/TileGPUDialect.h"

namespace tilec {

/// Values of the whole kernel, which every process may read.
bool isOfKernel(mlir::Value value);

/// The loop of a process over its block's tiles.
mlir::scf::ForOp persistentLoopOf(tilegpu::ProcessOp process);

/// What processes need of a tile's number, from divisions: they get it beside the number.
struct Decoding {
  mlir::Value number;
  /// Arithmetic in 32 bits at the top of a loop, and the results that are used behind it in any process; null where
  /// this one has no use for one.
  llvm::SmallVector<mlir::Operation *> chain;
  llvm::SmallVector<mlir::Value> results;
};

/// The process that computes most from a tile's number, which thus has what all others compute.
tilegpu::ProcessOp decoderOf(tilegpu::KernelOp kernel);

/// What the ring holds of the tile, as values of one process; nothing where processes decode differently, a slot is too
/// small, or nobody would divide.
Decoding decodingOf(tilegpu::ProcessOp process);

} // namespace tilec

#endif // TILEC_CONVERSION_TILEGPUTONVVM_TILEDECODING_H
