// Lowering: emits one llvm.func for a tilegpu.kernel by walking its operations.
//
// A scalar maps to one value of the same type (`index` stays `index` until the standard conversions). A distributed
// tile maps to the registers of its layout, one scalar value each, in the order of the layout's registers; padding
// registers exist and hold anything. An axis maps to its bounds, a view to its address, sizes and strides, a tile in
// shared memory to the address of its buffer and offsets into it.
#ifndef TILEC_CONVERSION_TILEGPUTONVVM_LOWERING_H
#define TILEC_CONVERSION_TILEGPUTONVVM_LOWERING_H

#include "ClusterTransfers.h"
#include "Ptx.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "tilec/Dialect/TileGPU/TileGPUDialect.h"
#include "tilec/Layout/SharedLayout.h"
#include "tilec/Machine/Machine.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"

#include <functional>

namespace mlir::LLVM {
class LLVMFuncOp;
} // namespace mlir::LLVM

namespace tilec {

using Registers = llvm::SmallVector<mlir::Value, 0>;

struct LoweredAxis {
  /// `index`: start <= position < end.
  mlir::Value start, end;
};

struct LoweredView {
  tile::ViewOp op;
  /// `!llvm.ptr<1>`.
  mlir::Value pointer;
  /// `index`; strides in elements.
  llvm::SmallVector<mlir::Value, 4> sizes, strides;
};

struct LoweredShared {
  tilegpu::SmemType type;
  /// i32 address of the whole buffer in shared memory.
  mlir::Value address;
  /// `index` element offsets of this part in each dimension; null for 0.
  llvm::SmallVector<mlir::Value, 4> offsets;
};

/// A comparison of positions, or several that must all hold, as one of constants with thresholds of the thread.
struct AffineCompare {
  mlir::arith::CmpIPredicate predicate;
  /// i32; `constant of the register  predicate  threshold`. One for each register, or one for all.
  llvm::SmallVector<mlir::Value> thresholds;
  /// What the register's offset in each dimension adds to the constant.
  llvm::SmallVector<int64_t> coefficients;
  const Layout *layout;
};

class ReductionEmitter;

class Lowering {
public:
  Lowering(tilegpu::KernelOp kernel, const Machine &machine)
      : kernel(kernel), machine(machine), builder(kernel.getContext()), transfers(kernel) {}

  /// Emits the function in front of the kernel. On failure an error has been reported on the operation at fault.
  llvm::LogicalResult run();

  /// Emits the operations of a block except its terminator at the builder's insertion point.
  llvm::LogicalResult lowerBlock(mlir::Block &block);

  // Values ----------------------------------------------------------------------------------------------------------

  mlir::Value scalar(mlir::Value value) const { return scalars.lookup(value); }
  llvm::ArrayRef<mlir::Value> registers(mlir::Value value) const;
  /// The registers of a tile, or the one value of a scalar.
  llvm::ArrayRef<mlir::Value> lowered(mlir::Value value) const { return registers(value); }
  void set(mlir::Value value, Registers registers);
  void setScalar(mlir::Value value, mlir::Value lowered);
  const LoweredAxis &axis(mlir::Value value) const { return axes.find(value)->second; }
  const LoweredView &view(mlir::Value value) const { return views.find(value)->second; }
  const LoweredShared &shared(mlir::Value value) const { return sharedTiles.find(value)->second; }
  void setShared(mlir::Value value, LoweredShared lowered) { sharedTiles[value] = std::move(lowered); }
  static const Layout &layoutOf(mlir::Value tile);
  static bool isTile(mlir::Value value) { return llvm::isa<mlir::RankedTensorType>(value.getType()); }

  // Threads ---------------------------------------------------------------------------------------------------------

  /// i32: the thread's number in its group, its lane, its warp in the group; the group (`index`) and i32 number.
  mlir::Value threadInGroup, lane, warp, groupNumber;
  /// Threads of the group that runs the current operations.
  int64_t groupThreads = 0;
  /// Inside a process, groups meet at named barriers; otherwise at the block's barrier.
  bool inProcess = false;
  /// Named barriers: 0 is the block's, from this one on those of the groups of all roles, then those of turns.
  static constexpr int64_t firstGroupBarrier = 1;
  /// Blocks that share the group, whose threads are numbered through all of them (plan field `cluster`).
  int64_t clusterBlocks = 1;
  /// Blocks of a cluster, whether they share a group or take tiles side by side.
  int64_t blocksOfCluster();
  void groupBarrier();
  /// For each group of the kernel, whether the thread is in it (i1).
  llvm::SmallVector<mlir::Value> groupConditions();
  /// Waits, once, until all blocks of the cluster run. Not inside of regions.
  void awaitCluster();
  /// The mbarrier of a reduction over the cluster.
  mlir::Value clusterBarrier(tile::ReduceOp reduce);
  /// Reductions that have the partial results of each thread and wait for the exchange of a later one.
  struct PendingReduction {
    tile::ReduceOp op;
    std::shared_ptr<ReductionEmitter> emitter;
    Registers partial;
  };
  llvm::SmallVector<PendingReduction> pendingReductions;
  /// Addresses this group's copies of the kernel's buffers, after the numbers above have been set for a process.
  void addressBuffers();

  // Addresses -------------------------------------------------------------------------------------------------------

  /// i32 address of dynamic shared memory plus `offset` bytes.
  mlir::Value sharedAddress(int64_t offset);
  /// i32 address of an operation's scratch for this group (attribute `tilegpu.scratch`).
  mlir::Value scratchAddress(mlir::Operation *op);
  /// i32: what the thread contributes to coordinate `dim` of a layout. coordinate = this + registerOffset(reg)[dim].
  mlir::Value threadCoordinate(const Layout &layout, unsigned dim);
  /// i32: the value of a digit of lanes or warps in this thread.
  mlir::Value digitOf(const Digit &digit);
  /// Whether the thread is the first of those that differ in these digits alone; null if there are none.
  mlir::Value isFirstOf(llvm::ArrayRef<Digit> digits);
  /// i32 byte address of the element of a shared tile at i32 coordinates (one each dimension).
  mlir::Value sharedElement(const LoweredShared &tile, llvm::ArrayRef<mlir::Value> coordinates);
  SharedTile sharedTileOf(tilegpu::SmemType type) const;

  // Emission helpers ------------------------------------------------------------------------------------------------

  mlir::Location loc() const { return location; }
  mlir::Value constantIndex(int64_t value);
  mlir::Value constant32(int64_t value);
  mlir::Value toI32(mlir::Value index);
  mlir::Value toIndex(mlir::Value i32);
  /// The i32 of an argument (`index`) of 0 to 2^31 - 1; null for anything else.
  mlir::Value narrowArgument(mlir::Value index) const;
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value addConstant(mlir::Value a, int64_t b);
  mlir::Value mulConstant(mlir::Value a, int64_t b);
  /// The same i32, of which the optimiser knows nothing: comparisons with it stay comparisons of 32 bits with constants
  /// instead of going back to the 64-bit values it was clamped from. Copies of one value with different numbers are
  /// different values to it.
  mlir::Value opaque(mlir::Value i32, int64_t number = 0);
  /// A new number for opaque() if an operation makes more `comparisons` with one threshold than predicate registers
  /// hold, else 0. Operations with one number share results; ptxas keeps those that no register holds as bits, four
  /// instructions each.
  int64_t newThresholdNumber(size_t comparisons);
  /// Runs `body` under a condition, without results.
  void emitIf(mlir::Value condition, llvm::function_ref<void()> body);
  /// The scalar type that holds one register of an element type: i8 for f8, f32 for tf32, else itself.
  static mlir::Type registerType(mlir::Type elementType);

  tilegpu::KernelOp kernel;
  const Machine &machine;
  mlir::OpBuilder builder;
  mlir::LLVM::LLVMFuncOp *function = nullptr;

  /// What blocks of a cluster of tiles share.
  ClusterTransfers transfers;

  // Hooks of the parts that live in files of their own ---------------------------------------------------------------

  // Channels.cpp, Processes.cpp: rings, roles.
  llvm::LogicalResult collectTensorMaps();
  llvm::LogicalResult emitPrologue();
  llvm::LogicalResult lowerProcesses();
  // Turns.cpp: groups of a process that start products one after another.
  llvm::LogicalResult lowerTurn(mlir::Operation *op);
  /// Before and after the body of a process whose groups take turns.
  void openTurns(tilegpu::ProcessOp process);
  void closeTurns(tilegpu::ProcessOp process);
  llvm::LogicalResult lowerChannelOp(mlir::Operation *op);
  /// Parameters for tensor maps: the launch dictionary's entries, and which of them fills and flushes use.
  llvm::SmallVector<mlir::DictionaryAttr> tensorMapParams;
  llvm::DenseMap<mlir::Operation *, unsigned> tensorMapOf;
  llvm::SmallVector<mlir::Value> tensorMapValues;
  /// Of a channel and its side (0 producer, 1 consumer): the memory of the item counter (slot and phase).
  llvm::DenseMap<std::pair<mlir::Value, unsigned>, std::pair<mlir::Value, mlir::Value>> counters;
  /// The memory of an i32 that starts at 0 with the kernel; it becomes a register when LLVM promotes it.
  mlir::Value emitCounter();

  // TileQueue.cpp: the counter of tiles taken (`!llvm.ptr<1>`), and i32, not 0 where the launch uses it.
  mlir::Value queueCounter, queueFlag;
  /// Operations of the block that is lowered next whose results are known.
  llvm::SmallPtrSet<mlir::Operation *, 16> given;
  /// An operation, or null, in front of which this is called.
  mlir::Operation *resume = nullptr;
  std::function<llvm::LogicalResult()> whenResumed;

  // StagedStores.cpp.
  llvm::LogicalResult lowerStagedStore(mlir::Operation *op);

  // LowerCompare.cpp: none where the operands are not affine in positions. `op` is a comparison of tiles or a
  // conjunction.
  std::optional<AffineCompare> planAffineCompare(mlir::Operation *op);
  /// i1: the comparison of one register.
  mlir::Value emitAffineCompare(const AffineCompare &compare, uint32_t reg);

  // Mma.cpp.
  llvm::LogicalResult lowerMma(tilegpu::MmaOp op);
  llvm::LogicalResult lowerMmaWait(tilegpu::MmaWaitOp op);
  /// ldmatrix where the layout is a fragment; false if the generic path must serve.
  bool lowerMatrixLoad(tilegpu::LocalLoadOp op);

  /// Emits one operation that is no element-wise one of a tile.
  llvm::LogicalResult lowerOp(mlir::Operation *op);
  /// Stores tiles of one layout, vector by vector of all. `compute(n)`, if given, makes the first n registers of the
  /// values before they are stored. Vectors of `apart` elements are computed and stored in basic blocks of their own,
  /// under their conditions; nothing else may use the registers.
  llvm::LogicalResult lowerStores(llvm::ArrayRef<tile::StoreOp> ops,
                                  llvm::function_ref<llvm::LogicalResult(size_t)> compute = nullptr, size_t apart = 0);

private:
  llvm::LogicalResult createFunction();
  mlir::DictionaryAttr launchAttribute();
  void emitThreadNumbers();
  void startCluster();
  /// All threads of the cluster arrive, and wait for each other.
  void meetInCluster();
  /// Lowers the operation, or several from it on; returns the one after them.
  llvm::FailureOr<mlir::Block::iterator> lowerFrom(mlir::Block::iterator op);
  llvm::LogicalResult lowerArg(tile::ArgOp op);
  llvm::LogicalResult lowerView(tile::ViewOp op);
  llvm::LogicalResult lowerAdvance(tile::AdvanceOp op);
  llvm::LogicalResult lowerMisalignment(tile::MisalignmentOp op);
  // LowerControl.cpp
  llvm::LogicalResult lowerFor(mlir::Operation *op);
  llvm::LogicalResult lowerIf(mlir::Operation *op);
  llvm::LogicalResult lowerWhile(mlir::Operation *op);
  // LowerElementwise.cpp. A run begins at the operation and ends before the one that is returned.
  static bool isElementwiseTile(mlir::Operation &op);
  static bool startsRun(mlir::Operation &op);
  llvm::FailureOr<mlir::Block::iterator> lowerElementwiseRun(mlir::Block::iterator first);
  llvm::LogicalResult lowerConstant(mlir::Operation *op);
  llvm::LogicalResult lowerElementwise(mlir::Operation *op);
  // LowerTile.cpp
  llvm::LogicalResult lowerPos(tile::PosOp op);
  llvm::LogicalResult lowerBroadcast(tile::BroadcastOp op);
  llvm::LogicalResult lowerPermute(tile::PermuteOp op);
  // LowerMemory.cpp, LowerAtomic.cpp
  llvm::LogicalResult lowerLoad(tile::LoadOp op);
  llvm::LogicalResult lowerAtomic(tile::AtomicOp op);
  // LowerReduce.cpp, LowerConvert.cpp, LowerShared.cpp
  llvm::LogicalResult lowerReduce(tile::ReduceOp op);
  llvm::LogicalResult lowerConvert(tilegpu::ConvertOp op);
  llvm::LogicalResult lowerSharedOp(mlir::Operation *op);

  llvm::DenseMap<mlir::Value, mlir::Value> scalars;
  llvm::DenseMap<mlir::Value, Registers> tiles;
  llvm::DenseMap<mlir::Value, LoweredAxis> axes;
  llvm::DenseMap<mlir::Value, LoweredView> views;
  llvm::DenseMap<mlir::Value, LoweredShared> sharedTiles;
  llvm::DenseMap<mlir::Value, mlir::Value> argumentValues;
  llvm::DenseSet<mlir::Value> narrowArguments;
  mlir::Location location = mlir::UnknownLoc::get(kernel.getContext());
  mlir::Value sharedBase;
  bool clusterRuns = false;
  int64_t lastThresholdNumber = 0;
};

/// For each register of a broadcast's result the register of its operand, a tile.
llvm::SmallVector<uint32_t> registersOfSlice(tile::BroadcastOp op);

} // namespace tilec

#endif // TILEC_CONVERSION_TILEGPUTONVVM_LOWERING_H
