// Lowering of turns: named barriers at which a group waits for the one before it.
//
// Behind the barriers of the groups (Lowering::firstGroupBarrier) follow those of the turns: the i-th group of the
// process waits at the i-th, where the group before it arrives. The last group arrives once before its
// program, for the first turn, and the first group waits once after its program, so that no barrier ends half full.
#include "Lowering.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tilec;

// Named barriers of a block (PTX ISA 9.7.13.1, barrier).
static constexpr int64_t numBarriers = 16;

static bool hasTurns(tilegpu::ProcessOp process) {
  return process.walk([](tilegpu::TurnTakeOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

namespace {
// The numbers of a process's groups among those of all roles, and the first of its barriers.
struct TurnNumbers {
  int64_t firstGroup = 0, lastGroup = 0, firstBarrier = Lowering::firstGroupBarrier;

  explicit TurnNumbers(tilegpu::ProcessOp process) {
    for (auto other : process->getParentOfType<tilegpu::KernelOp>().getOps<tilegpu::ProcessOp>()) {
      if (other == process) {
        firstGroup = firstBarrier - Lowering::firstGroupBarrier;
        lastGroup = firstGroup + static_cast<int64_t>(process.getReplicas()) - 1;
      }
      firstBarrier += other.getReplicas();
    }
  }
};
} // namespace

static Value isGroup(Lowering &lowering, int64_t number) {
  return arith::CmpIOp::create(lowering.builder, lowering.loc(), arith::CmpIPredicate::eq, lowering.groupNumber,
                               lowering.constant32(number));
}

LogicalResult Lowering::lowerTurn(Operation *op) {
  auto process = op->getParentOfType<tilegpu::ProcessOp>();
  if (!process || process.getReplicas() < 2)
    return op->emitOpError("needs a process of several groups");
  TurnNumbers numbers(process);
  if (numbers.firstBarrier + static_cast<int64_t>(process.getReplicas()) > numBarriers)
    return op->emitOpError("needs more barriers than a block has");
  Ptx ptx(builder, location);
  Value own = addConstant(groupNumber, numbers.firstBarrier - numbers.firstGroup);
  if (isa<tilegpu::TurnTakeOp>(op)) {
    ptx.namedBarrier(own, 2 * groupThreads);
    return success();
  }
  Value next = arith::SelectOp::create(builder, location, isGroup(*this, numbers.lastGroup),
                                       constant32(numbers.firstBarrier), addConstant(own, 1));
  ptx.namedBarrierArrive(next, 2 * groupThreads);
  return success();
}

void Lowering::openTurns(tilegpu::ProcessOp process) {
  if (!hasTurns(process))
    return;
  TurnNumbers numbers(process);
  emitIf(isGroup(*this, numbers.lastGroup),
         [&] { Ptx(builder, location).namedBarrierArrive(constant32(numbers.firstBarrier), 2 * groupThreads); });
}

void Lowering::closeTurns(tilegpu::ProcessOp process) {
  if (!hasTurns(process))
    return;
  TurnNumbers numbers(process);
  emitIf(isGroup(*this, numbers.firstGroup),
         [&] { Ptx(builder, location).namedBarrier(constant32(numbers.firstBarrier), 2 * groupThreads); });
}
