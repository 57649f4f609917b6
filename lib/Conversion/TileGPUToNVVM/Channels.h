// Rings of slots in shared memory: who fills and reads them, and the barriers between the two.
//
// | engine   | full barrier                                   | waits for it              |
// |----------|------------------------------------------------|---------------------------|
// | tma      | 1 arrival with the bytes of all boxes          | parity of the item        |
// | cp_async | every filling thread, when its copies are done | parity of the item        |
// | ldst     | lane 0 of every filling warp                   | parity of the item        |
// | ldst, one process | none: a block barrier at the receive  | -                         |
//
// Empty side: with processes, lane 0 of every reading warp arrives once the warp has read the item, and the producer
// waits for the opposite parity, so that a fresh ring is free. An arrival of every warp needs no barrier of the group
// and costs nothing measurable against one of each group. In one process the acquire is a block barrier: every thread
// has passed the release of the item that was in the slot before.
//
// Blocks of a cluster that share the fills of a channel (ClusterTransfers.h) write to each other's slots: the warps
// that read an item arrive at the empty barriers of all of these blocks.
//
// In shared memory the barriers of a channel lie one after another: full[slots], empty[slots], 8 bytes each.
#ifndef TILEC_CONVERSION_TILEGPUTONVVM_CHANNELS_H
#define TILEC_CONVERSION_TILEGPUTONVVM_CHANNELS_H

#include "Lowering.h"

namespace tilec {

enum class Engine { Tma, CpAsync, LdSt };

/// What all endpoints of a channel know of it.
class Channel {
public:
  explicit Channel(tilegpu::ChanOp op);

  tilegpu::ChanOp op;
  tilegpu::ChanType type;
  Engine engine = Engine::Tma;
  /// The process that fills it; null without processes.
  tilegpu::ProcessOp producer;
  /// Warps that release each item; 0 without processes.
  int64_t readingWarps = 0;
  /// Whether wgmma reads it, and whether anything else does.
  bool readByWgmma = false;
  bool readByOthers = false;

  /// Whether wgmma is all that reads buffer `payload`.
  bool onlyWgmmaReads(unsigned payload) const;
  /// Arrivals of a full barrier; `threads` and `warps` are those that fill.
  int64_t fullArrivals(int64_t threads) const;
  bool hasFullBarrier() const { return engine != Engine::LdSt || producer; }
};

/// Starts the copies of a fill.
llvm::LogicalResult emitTensorFill(Lowering &lowering, tilegpu::FillOp op, mlir::Value target, mlir::Value barrier);
llvm::LogicalResult emitThreadFill(Lowering &lowering, tilegpu::FillOp op, mlir::Value target, Engine engine);

/// Bytes that a fill by TMA brings, boxes that reach outside counted in full.
int64_t tensorFillBytes(tilegpu::FillOp op);

/// Panels of the buffer that such a fill writes, each by a copy of its own.
int64_t tensorFillPanels(tilegpu::FillOp op);

/// The buffer that a fill writes.
tilegpu::SmemType filledBuffer(tilegpu::FillOp op);

/// Whether a process runs its body in one thread.
bool isElected(tilegpu::ProcessOp process);

} // namespace tilec

#endif // TILEC_CONVERSION_TILEGPUTONVVM_CHANNELS_H
