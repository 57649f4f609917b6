// rotate: in a block of one process, items of a loop's rings are put `slots - 1` iterations ahead of their use.
#include "mlir/IR/IRMapping.h"
#include "tilec/Transforms/Passes.h"
#include "llvm/ADT/SetVector.h"

namespace tilec {
#define GEN_PASS_DEF_ROTATE
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

namespace {

// The transfers that stand directly in one loop's body.
struct LoopTransfers {
  scf::ForOp loop;
  SmallVector<Operation *> puts;
  llvm::SetVector<Operation *> needed;
  tilegpu::ReceiveOp firstReceive;
  int64_t lead = INT64_MAX;

  // Collects acquire, fill and commit and the scalars of the body that they use; false if there is nothing to move or
  // something that depends on the loop's carried values.
  bool collect() {
    for (Operation &op : loop.getBody()->without_terminator()) {
      auto acquire = dyn_cast<tilegpu::AcquireOp>(op);
      // A producer process of its own runs ahead by itself.
      if (acquire && acquire.getChan().getDefiningOp<tilegpu::ChanOp>().getEngine() == "tma")
        return false;
      if (acquire)
        lead = std::min(lead, acquire.getChan().getType().getSlots() - 1);
      if (isa<tilegpu::AcquireOp, tilegpu::FillOp, tilegpu::CommitOp>(op))
        puts.push_back(&op);
      if (auto receive = dyn_cast<tilegpu::ReceiveOp>(op); receive && !firstReceive)
        firstReceive = receive;
    }
    if (puts.empty() || lead < 1 || !firstReceive)
      return false;
    for (Operation *put : puts)
      if (!llvm::all_of(put->getOperands(), [&](Value operand) { return need(operand); }))
        return false;
    needed.insert(puts.begin(), puts.end());
    return true;
  }

  bool need(Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value))
      return argument.getOwner() != loop.getBody() || argument == loop.getInductionVar();
    Operation *op = value.getDefiningOp();
    if (!loop->isProperAncestor(op) || isa<tilegpu::AcquireOp>(op) || needed.contains(op))
      return true;
    if (op->getBlock() != loop.getBody() || op->getNumRegions() > 0 || !isMemoryEffectFree(op))
      return false;
    if (!llvm::all_of(op->getOperands(), [&](Value operand) { return need(operand); }))
      return false;
    needed.insert(op);
    return true;
  }

  // if (iteration < upper) put the items of that iteration.
  void putIf(OpBuilder &builder, Value iteration) {
    Location loc = loop.getLoc();
    Value inside = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, iteration, loop.getUpperBound());
    auto guard = scf::IfOp::create(builder, loc, inside, /*withElseRegion=*/false);
    OpBuilder inner = OpBuilder::atBlockBegin(guard.thenBlock());
    IRMapping map;
    map.map(loop.getInductionVar(), iteration);
    for (Operation &op : loop.getBody()->without_terminator())
      if (needed.contains(&op))
        inner.clone(op, map);
  }

  void rotate() {
    Location loc = loop.getLoc();
    OpBuilder builder(loop);
    Value ahead = loop.getLowerBound();
    for (int64_t i = 0; i < lead; ++i) {
      putIf(builder, ahead);
      ahead = builder.createOrFold<arith::AddIOp>(loc, ahead, loop.getStep());
    }
    Value distance = builder.createOrFold<arith::SubIOp>(loc, ahead, loop.getLowerBound());
    builder.setInsertionPointAfter(firstReceive);
    putIf(builder, arith::AddIOp::create(builder, loc, loop.getInductionVar(), distance));
    for (Operation *put : llvm::reverse(puts))
      put->erase();
  }
};

struct RotatePass : tilec::impl::RotateBase<RotatePass> {
  void runOnOperation() override {
    bool sliced = false;
    getOperation().walk([&](tilegpu::ProcessOp) { sliced = true; });
    if (sliced)
      return;
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops) {
      LoopTransfers transfers{loop, {}, {}, {}};
      if (transfers.collect())
        transfers.rotate();
    }
  }
};

} // namespace
