// A register holds 32 bits: a loop whose counter and bound are held in 64 keeps four registers where two would do, for
// as long as the loop runs (docs/decisions/counters-in-32-bits.md).
#include "NarrowCounters.h"

#include "mlir/Analysis/DataFlow/IntegerRangeAnalysis.h"
#include "mlir/Analysis/DataFlow/Utils.h"
#include "mlir/Analysis/DataFlowFramework.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tilec/Transforms/StagedStore.h"

using namespace mlir;
using namespace tilec;

// lower <= counter < upper + step, all of them signed numbers of 32 bits.
static bool fits(const DataFlowSolver &solver, scf::ForOp loop) {
  auto rangeOf = [&](Value value) -> std::optional<ConstantIntRanges> {
    auto *lattice = solver.lookupState<dataflow::IntegerValueRangeLattice>(value);
    if (!lattice || lattice->getValue().isUninitialized())
      return std::nullopt;
    return lattice->getValue().getValue();
  };
  auto lower = rangeOf(loop.getLowerBound()), upper = rangeOf(loop.getUpperBound()), step = rangeOf(loop.getStep());
  if (!lower || !upper || !step)
    return false;
  APInt least(64, INT32_MIN, /*isSigned=*/true), most(64, INT32_MAX);
  return lower->smin().sge(least) && lower->smax().sle(most) && upper->smin().sge(least) && upper->smax().sle(most) &&
         step->smin().isStrictlyPositive() && step->smax().sle(most - upper->smax() + 1);
}

LogicalResult tilec::markNarrowCounters(tilegpu::KernelOp kernel) {
  DataFlowSolver solver;
  dataflow::loadBaselineAnalyses(solver);
  solver.load<dataflow::IntegerRangeAnalysis>();
  if (failed(solver.initializeAndRun(kernel)))
    return failure();
  Builder builder(kernel.getContext());
  kernel.walk([&](scf::ForOp loop) {
    if (!loop.getInductionVar().getType().isIndex())
      return;
    // The launcher refuses more than 2^31 - 1 tiles; a step is the number of blocks, of which there are no more.
    if (loop->hasAttr(persistentLoop))
      loop->setAttr(narrowCounter, builder.getStringAttr("unsigned"));
    else if (fits(solver, loop))
      loop->setAttr(narrowCounter, builder.getUnitAttr());
  });
  return success();
}
