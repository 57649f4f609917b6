// Executes the operations of a kernel or process one by one, so that several machines can take turns.
#ifndef TILEC_LIB_INTERPRETER_MACHINE_H
#define TILEC_LIB_INTERPRETER_MACHINE_H

#include "State.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Support/LLVM.h"
#include "tilec/Dialect/Tile/TileDialect.h"
#include "tilec/Dialect/TileGPU/TileGPUDialect.h"
#include <deque>

namespace tilec::interpreter {

/// A new buffer, all poison.
SharedTile uninitialised(tilegpu::SmemType type);
/// Dimension i of the result of `type` is dimension order[i] of the input.
TilePtr permuted(mlir::Type type, const Tile &input, llvm::ArrayRef<int64_t> order);

enum class Step {
  /// An operation was executed.
  Done,
  /// The next operation waits for another machine; nothing changed.
  Blocked,
  /// The program is over.
  Finished,
  /// The next operation is the first process of the kernel.
  Processes,
  /// An error was emitted.
  Failed,
};

class Machine {
public:
  /// A machine for the operations of `block` with the values of `environment`. `number` tells readers of channels
  /// apart, `group` is the number of the consumer group.
  Machine(Context &context, mlir::Block &block, Environment environment, int number, int64_t group);

  Step step();
  /// Runs to the end of the block or to its first process; a wait is an error.
  mlir::FailureOr<Step> run();

  mlir::Operation *current() const { return &*frames.back().next; }
  const Environment &values() const { return environment; }

private:
  struct Frame {
    mlir::Block *block;
    mlir::Block::iterator next;
    /// scf.for: the induction variable, its limit and step.
    int64_t counter = 0, limit = 0, increment = 0;
    /// tile.parallel: the iterations still to run, last first.
    std::vector<llvm::SmallVector<int64_t, 4>> iterations;
  };

  // Control flow (Machine.cpp).
  Step endOfBlock();
  Step execute(mlir::Operation *op);
  mlir::LogicalResult enterFor(mlir::scf::ForOp op);
  mlir::LogicalResult enterIf(mlir::scf::IfOp op);
  mlir::LogicalResult enterParallel(tile::ParallelOp op);
  mlir::LogicalResult yield(mlir::scf::YieldOp op);
  mlir::LogicalResult condition(mlir::scf::ConditionOp op);
  bool nextIteration(Frame &frame);
  void push(mlir::Block &block);
  void assign(mlir::ValueRange to, llvm::ArrayRef<Datum> values);
  llvm::SmallVector<Datum> lookup(mlir::ValueRange values) const;

  // Access to values.
  void set(mlir::Value value, Datum datum) { environment[value] = std::move(datum); }
  const Tile &tile(mlir::Value value) const { return *std::get<TilePtr>(environment.lookup(value)); }
  TilePtr tilePtr(mlir::Value value) const { return std::get<TilePtr>(environment.lookup(value)); }
  AxisValue axis(mlir::Value value) const { return std::get<AxisValue>(environment.lookup(value)); }
  /// A scalar integer that must not be poison.
  mlir::FailureOr<int64_t> integer(mlir::Operation *op, mlir::Value value) const;
  mlir::LogicalResult integers(mlir::Operation *op, mlir::ValueRange values,
                               llvm::SmallVectorImpl<int64_t> &result) const;

  // Operations of tile (TileOperations.cpp, GlobalMemory.cpp).
  mlir::LogicalResult executeTile(mlir::Operation *op);
  mlir::LogicalResult constant(mlir::arith::ConstantOp op);
  mlir::LogicalResult argument(tile::ArgOp op);
  int64_t addressOf(const Pointer &pointer, int64_t elementBytes) const;
  mlir::LogicalResult movePointer(tile::AdvanceOp op);
  mlir::LogicalResult misalignment(tile::MisalignmentOp op);
  mlir::LogicalResult checkPart(tile::ViewOp op, const View &view) const;
  mlir::LogicalResult view(tile::ViewOp op);
  mlir::LogicalResult makeAxis(tile::AxisOp op);
  mlir::LogicalResult dot(tile::DotOp op);
  mlir::LogicalResult reduce(tile::ReduceOp op);
  mlir::LogicalResult broadcast(tile::BroadcastOp op);
  mlir::LogicalResult permute(tile::PermuteOp op);
  mlir::LogicalResult load(tile::LoadOp op);
  mlir::LogicalResult store(tile::StoreOp op);
  mlir::LogicalResult atomic(tile::AtomicOp op);
  /// Calls `write(element number, i)` for each element i of the value of a store or atomic that is present and inside
  /// the view.
  template <typename Op, typename F> mlir::LogicalResult forEachWritten(Op op, F write);
  mlir::LogicalResult observe(mlir::Operation *op, const Tile &value);

  // Operations of tilegpu (TileGPUOperations.cpp, Channels.cpp).
  mlir::LogicalResult executeTileGPU(mlir::Operation *op);
  bool waits(mlir::Operation *op);
  /// Whether a slot may still be accessed: received and not released, or acquired and not committed.
  bool holds(const SlotValue &slot) const;
  mlir::LogicalResult makeChannel(tilegpu::ChanOp op);
  mlir::LogicalResult acquire(tilegpu::AcquireOp op);
  mlir::LogicalResult fill(tilegpu::FillOp op);
  mlir::LogicalResult commit(tilegpu::CommitOp op);
  mlir::LogicalResult receive(tilegpu::ReceiveOp op);
  mlir::LogicalResult release(tilegpu::ReleaseOp op);
  mlir::LogicalResult skip(tilegpu::SkipOp op);
  mlir::LogicalResult slotView(tilegpu::SlotViewOp op);
  mlir::LogicalResult subview(tilegpu::SubviewOp op);
  mlir::LogicalResult zeroTail(tilegpu::ZeroTailOp op);
  mlir::LogicalResult mma(tilegpu::MmaOp op);
  mlir::LogicalResult mmaWait(tilegpu::MmaWaitOp op);
  mlir::FailureOr<TilePtr> compute(mlir::Operation *op, const Product &product);
  /// Ends the products below a number.
  mlir::LogicalResult settle(mlir::Operation *op, int64_t number);
  mlir::LogicalResult takeTurn(mlir::Operation *op);
  mlir::LogicalResult passTurn(mlir::Operation *op);
  // Staged stores (StagedStores.cpp).
  mlir::LogicalResult makeStaging(tilegpu::StagingOp op);
  mlir::LogicalResult write(tilegpu::WriteOp op);
  mlir::LogicalResult flush(tilegpu::FlushOp op);
  mlir::LogicalResult drain(tilegpu::DrainOp op);
  StagingPtr staging(mlir::Value ring) const { return std::get<StagingPtr>(environment.lookup(ring)); }
  mlir::LogicalResult finishStore(Staging::Slot &slot);
  void meet(bool asyncProxy);
  /// `asyncProxy`: the access is one of wgmma, which sees writes of threads only behind a fence.
  mlir::FailureOr<TilePtr> readShared(mlir::Operation *op, const SharedView &view, bool asyncProxy = false);
  mlir::LogicalResult writeShared(tilegpu::LocalStoreOp op);

  Context &context;
  Environment environment;
  llvm::SmallVector<Frame, 8> frames;
  int number;
  int64_t group;
  /// The number of the last barrier of the group, from 1, and of the last one with a proxy fence.
  int64_t barrier = 1;
  int64_t fence = 0;
  /// Products started so far, and those of them that have not ended.
  int64_t started = 0;
  std::deque<std::shared_ptr<Product>> underWay;
};

} // namespace tilec::interpreter

#endif // TILEC_LIB_INTERPRETER_MACHINE_H
