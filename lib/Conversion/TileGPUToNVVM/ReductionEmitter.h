// ReductionEmitter: a tile.reduce, whose input comes all at once or some registers at a time.
#ifndef TILEC_CONVERSION_TILEGPUTONVVM_REDUCTIONEMITTER_H
#define TILEC_CONVERSION_TILEGPUTONVVM_REDUCTIONEMITTER_H

#include "ScalarOps.h"
#include "SharedScratch.h"

#include "tilec/Layout/ReductionPlan.h"

namespace tilec {

class ReductionEmitter {
public:
  /// Emits what the masks of absent positions need.
  ReductionEmitter(Lowering &lowering, tile::ReduceOp op, const ReductionPlan &plan);

  /// The reduction of the input's registers, all lowered. The result is known at once, or with the last one of the
  /// reductions across warps that wait together.
  void run();

  /// Whether the input may come in the order of its registers instead: one result, in the same order of its addends.
  static bool takesRegistersInOrder(tile::ReduceOp op, const ReductionPlan &plan);
  /// Takes registers [begin, end) of the input, after those before them.
  void add(llvm::ArrayRef<mlir::Value> input, size_t begin, size_t end);
  /// After all registers, as run().
  void finish();
  /// Of one reduction across warps, before and after the barrier of those that wait together.
  void send(Registers partial);
  void receive();

private:
  /// Sums of addends by turns, and whose turn is next.
  struct Chains {
    llvm::SmallVector<mlir::Value, 4> values;
    size_t next = 0;
  };

  /// Of all registers of the input, the part of this thread.
  Registers parts();
  /// The part of this thread in the reduction that joins this one; 0 parts in all threads but one of those with copies.
  mlir::Value partOfOther();
  Registers joined(Registers parts);
  mlir::Value isPresent(uint32_t reg);
  mlir::Value masked(mlir::Value value, uint32_t reg);
  int64_t presentTogether(unsigned dim, int64_t extent);
  mlir::Value presentCount(unsigned dim, int64_t extent);
  mlir::Value combined(Chains &own);
  void addTo(Chains &own, mlir::Value value);
  void addTogether(Chains &own, llvm::ArrayRef<mlir::Value> input, llvm::ArrayRef<uint32_t> registers);
  void addAll(Chains &own, llvm::ArrayRef<mlir::Value> input, llvm::ArrayRef<uint32_t> registers);
  void acrossThreads(Registers partial);
  mlir::Value shuffle(mlir::Value value, uint32_t mask);
  Registers acrossLanes(Registers partial);
  void acrossWarps(Registers partial);
  void sendInCluster(mlir::Value partial);
  mlir::Type slotType();
  SharedScratch slots();
  Registers received();
  mlir::Value slotOfWarp();
  mlir::Value fromSlot(mlir::Value value);
  mlir::Value sumOfSlots(SharedScratch &scratch);
  mlir::Value elementOfThread();
  int64_t elementOfRegister(uint32_t reg);

  friend class ReductionExchange;

  Lowering &lowering;
  tile::ReduceOp op;
  /// Null unless it has left its addends to this reduction.
  tile::ReduceOp other;
  ReductionPlan plan;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  ScalarOps scalars;
  const Layout &layout;
  mlir::Type element, type;
  mlir::Value neutral;
  /// i32: registers at offsets below it are present; null if all are.
  mlir::Value threshold;
  int64_t granule = 1;
  /// Of registers that come in order.
  Chains chains;
};

/// Reductions of the same kind and layout, each to one word, that wait together: lanes and warps exchange all of them
/// with fewer shuffles than one by one.
class ReductionExchange {
public:
  using Pending = llvm::ArrayRef<Lowering::PendingReduction>;
  /// The longest head of `pending` that can be exchanged so; less than two: none.
  static size_t countAlike(Lowering &lowering, Pending pending);

  explicit ReductionExchange(Pending members);
  void send();
  void receive();

private:
  mlir::Value address(mlir::Value slot, mlir::Value member);

  Pending members;
  ReductionEmitter &first;
  /// A power of two, at least the number of members: lane i has the member i modulo it.
  uint32_t width;
};

/// Whether a reduction across warps can wait for the exchange of a later one: no operation between them uses a result
/// of `pending`, whose last one it is.
bool waitsForNext(llvm::ArrayRef<tile::ReduceOp> pending);

/// Two reductions of tiles of one dimension whose results are only combined with each other. The second takes the parts
/// that each thread has of the first along, so that lanes and warps combine once.
struct JoinedReductions {
  tile::ReduceOp first, second;
};
/// `combination`: of the two results.
std::optional<JoinedReductions> matchJoinedReductions(mlir::Operation *combination);
/// Of which the reduction is one.
std::optional<JoinedReductions> joinedReductionsOf(tile::ReduceOp reduce);

} // namespace tilec

#endif // TILEC_CONVERSION_TILEGPUTONVVM_REDUCTIONEMITTER_H
