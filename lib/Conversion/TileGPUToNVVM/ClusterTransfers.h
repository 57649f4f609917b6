// Transfers that the blocks of a cluster of tiles share: each block brings a part of a box to all that want it
// (docs/decisions/clusters-of-tiles.md).
#ifndef TILEC_LIB_CONVERSION_TILEGPUTONVVM_CLUSTERTRANSFERS_H
#define TILEC_LIB_CONVERSION_TILEGPUTONVVM_CLUSTERTRANSFERS_H

#include "tilec/Dialect/TileGPU/TileGPUDialect.h"
#include "llvm/ADT/DenseMap.h"

namespace tilec {

class Lowering;

/// How a fill is divided among the blocks that want the same box: those along one dimension of the cluster.
struct SharedFill {
  int64_t dim = 0;
  /// How many blocks these are.
  int64_t blocks = 1;
  /// Each brings as many rows of this dimension of the box; or, where it is -1, as many panels of the buffer.
  int64_t sliced = -1;
};

/// The fills of a kernel that blocks share, and with whom a block shares the slots of a channel.
class ClusterTransfers {
public:
  explicit ClusterTransfers(tilegpu::KernelOp kernel);

  /// Null for a fill that each block makes for itself.
  const SharedFill *of(tilegpu::FillOp fill) const;
  /// Whether blocks share any.
  bool any() const { return !shared.empty(); }
  /// Blocks that write to a block's slots of the channel, and to whose slots it writes, itself included.
  int64_t sharersOf(tilegpu::ChanOp chan) const;

  /// i32: the rank of sharer `number` (i32) of the channel; number 0 is the block itself, numbers beyond the sharers
  /// give any rank of the cluster.
  mlir::Value rankOfSharer(Lowering &lowering, tilegpu::ChanOp chan, mlir::Value number) const;
  /// i16: the blocks that a shared fill writes to. i32: the part of the box that this block brings.
  mlir::Value multicastMask(Lowering &lowering, const SharedFill &fill) const;
  mlir::Value partOfBlock(Lowering &lowering, const SharedFill &fill) const { return place(lowering, fill.dim); }
  /// i32: the place of the block along a dimension of the cluster.
  mlir::Value place(Lowering &lowering, int64_t dim) const;

private:
  void inspect(tilegpu::ChanOp chan);
  int64_t stride(int64_t dim) const;

  llvm::SmallVector<int64_t> extents;
  llvm::DenseMap<mlir::Operation *, SharedFill> shared;
  /// Dimensions of the cluster along which some fill of a channel is shared.
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<int64_t, 2>> dimsOf;
};

} // namespace tilec

#endif // TILEC_LIB_CONVERSION_TILEGPUTONVVM_CLUSTERTRANSFERS_H
