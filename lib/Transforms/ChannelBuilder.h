// ChannelBuilder: creates the rings of a kernel, the transfers through them and their releases.
#ifndef TILEC_TRANSFORMS_CHANNELBUILDER_H
#define TILEC_TRANSFORMS_CHANNELBUILDER_H

#include "tilec/Transforms/DotOperand.h"
#include "llvm/ADT/MapVector.h"

namespace tilec {

/// A load that comes through a ring.
struct Transfer {
  BoxLoad box;
  std::string engine;
  int64_t width = 16;
  /// Consumer groups each read `box`; the transfer carries `rows` times as many positions of view dimension
  /// `splitDim`, and group g reads from position g * box on (splitDim < 0: all groups read everything).
  int64_t splitDim = -1;
  tilegpu::SmemType buffer;
  /// The channel, the payload number, the received slot.
  unsigned channel = 0;
  int64_t payload = 0;
};

class ChannelBuilder {
public:
  ChannelBuilder(tilegpu::KernelOp kernel, const Machine &machine) : kernel(kernel), machine(machine) {}

  /// Decides which operands of a dot come through rings, and which rings they share.
  void planTransfers(tile::DotOp dot);

  /// Creates the rings; replaces each planned load by acquire, fill, commit and receive.
  void emitTransfers();

  /// The transfer of a planned load, or null.
  const Transfer *transferOf(mlir::Value load) const;

  /// The buffer of the received item, cut to this group's part, for use by `user`.
  mlir::Value bufferFor(const Transfer &transfer, mlir::Operation *user);

  /// Writes a tile to a buffer of its own, between barriers.
  mlir::Value stage(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value tile, bool asyncProxy);

  /// Bytes of a block's shared memory beside rings of two slots, pinned rings and staged operands.
  int64_t roomForStaging() const;

  /// Places releases, reads of transferred tiles by other code, and the numbers of slots. Fails with an error that
  /// lists the buffers when the smallest rings exceed the shared memory of a block.
  llvm::LogicalResult finish();

private:
  struct Channel {
    llvm::SmallVector<mlir::Value, 2> loads;
    tilegpu::ChanOp op;
    mlir::Value slot;
    mlir::Operation *lastFill = nullptr;
  };

  std::optional<Transfer> match(mlir::Value load, tilegpu::MmaAttr mma, bool isLhs, int64_t contracted);
  bool cutGroupPart(Transfer &transfer);
  void emit(unsigned number);
  void placeRelease(unsigned number);
  llvm::LogicalResult chooseSlots();
  static mlir::scf::ForOp pinnedLoopOf(const Channel &channel);
  int64_t wantedSlots(const Channel &channel) const;
  /// Whether the block runs on from tile to tile.
  bool isPersistent() const;
  int64_t stagedBytes() const;

  tilegpu::KernelOp kernel;
  const Machine &machine;
  llvm::MapVector<mlir::Value, Transfer> transfers;
  llvm::SmallVector<Channel> channels;
};

} // namespace tilec

#endif // TILEC_TRANSFORMS_CHANNELBUILDER_H
