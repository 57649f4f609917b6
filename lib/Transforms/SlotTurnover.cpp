// Early releases and late acquires of items that serve a whole tile (docs/decisions/queues-of-tiles.md).
#include "SlotTurnover.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tilec;

//===----------------------------------------------------------------------===//
// Releases
//===----------------------------------------------------------------------===//

// The last operation of the block that reads the item, or holds one that does; null if none does.
static Operation *lastReaderIn(Block &block, tilegpu::ReleaseOp release) {
  Operation *last = nullptr;
  SmallVector<Operation *> users(release.getSlot().getUsers());
  while (!users.empty()) {
    Operation *user = users.pop_back_val();
    if (isa<tilegpu::ReleaseOp>(user))
      continue;
    if (isa<tilegpu::SlotViewOp, tilegpu::SubviewOp>(user)) {
      llvm::append_range(users, user->getUsers());
      continue;
    }
    Operation *ancestor = block.findAncestorOpInBlock(*user);
    if (ancestor && (!last || last->isBeforeInBlock(ancestor)))
      last = ancestor;
  }
  return last;
}

void tilec::releaseEarly(tilegpu::KernelOp kernel) {
  SmallVector<tilegpu::ReleaseOp> releases;
  kernel.walk([&](tilegpu::ReleaseOp release) { releases.push_back(release); });
  while (!releases.empty()) {
    tilegpu::ReleaseOp release = releases.pop_back_val();
    auto branch = dyn_cast_or_null<scf::IfOp>(lastReaderIn(*release->getBlock(), release));
    if (!branch || !branch->isBeforeInBlock(release) || branch.getElseRegion().empty())
      continue;
    for (Block *block : {branch.thenBlock(), branch.elseBlock()}) {
      OpBuilder builder = OpBuilder::atBlockBegin(block);
      if (Operation *last = lastReaderIn(*block, release))
        builder.setInsertionPointAfter(last);
      releases.push_back(cast<tilegpu::ReleaseOp>(builder.clone(*release)));
    }
    release.erase();
  }
}

//===----------------------------------------------------------------------===//
// Transfers
//===----------------------------------------------------------------------===//

// An acquire and what follows it up to the commit; nothing if other operations with effects stand between.
static SmallVector<Operation *> transferOf(tilegpu::AcquireOp acquire) {
  SmallVector<Operation *> transfer;
  for (Operation *op = acquire; op; op = op->getNextNode()) {
    auto isOfItem = [&](Value slot) { return slot == acquire.getSlot(); };
    if (op != acquire && !llvm::any_of(op->getOperands(), isOfItem)) {
      if (op->getNumRegions() > 0 || !isPure(op))
        return {};
      continue;
    }
    transfer.push_back(op);
    if (isa<tilegpu::CommitOp>(op))
      return transfer;
  }
  return {};
}

// The branch behind the transfer, if it begins with one into another ring; the commit of that.
static tilegpu::CommitOp firstOfBranch(tilegpu::AcquireOp acquire, Operation *behind) {
  while (behind && behind->getNumRegions() == 0 && isPure(behind))
    behind = behind->getNextNode();
  auto branch = dyn_cast_or_null<scf::IfOp>(behind);
  if (!branch)
    return nullptr;
  for (Operation &op : *branch.thenBlock()) {
    auto commit = dyn_cast<tilegpu::CommitOp>(op);
    if (commit)
      return commit.getChan() == acquire.getChan() ? nullptr : commit;
    if (op.getNumRegions() > 0)
      return nullptr;
  }
  return nullptr;
}

void tilec::fillLate(tilegpu::ProcessOp producer) {
  SmallVector<tilegpu::AcquireOp> acquires;
  producer.walk([&](tilegpu::AcquireOp acquire) {
    if (acquire.getChan().getType().getSlots() == 1)
      acquires.push_back(acquire);
  });
  for (tilegpu::AcquireOp acquire : acquires) {
    SmallVector<Operation *> transfer = transferOf(acquire);
    tilegpu::CommitOp first = transfer.empty() ? nullptr : firstOfBranch(acquire, transfer.back()->getNextNode());
    if (!first)
      continue;
    auto branch = cast<scf::IfOp>(first->getParentOp());
    if (branch.getElseRegion().empty()) {
      OpBuilder builder(branch.getContext());
      builder.createBlock(&branch.getElseRegion());
      scf::YieldOp::create(builder, branch.getLoc());
    }
    OpBuilder builder = OpBuilder::atBlockBegin(branch.elseBlock());
    IRMapping map;
    for (Operation *op : transfer)
      builder.clone(*op, map);
    Operation *place = first;
    for (Operation *op : transfer) {
      op->moveAfter(place);
      place = op;
    }
  }
}
