// Range analysis of loop counters. A register holds 32 bits: a counter and a bound of 64 take four registers where two
// would do, for as long as the loop runs (docs/decisions/counters-in-32-bits.md).
#include "NarrowCounters.h"

#include "mlir/Analysis/DataFlow/IntegerRangeAnalysis.h"
#include "mlir/Analysis/DataFlow/Utils.h"
#include "mlir/Analysis/DataFlowFramework.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tilec/Transforms/StagedStore.h"

using namespace mlir;
using namespace tilec;

// Whether lower <= counter < upper + step and upper - lower are signed numbers of 32 bits.
static bool fits(const DataFlowSolver &solver, scf::ForOp loop) {
  auto rangeOf = [&](Value value) {
    auto *lattice = solver.lookupState<dataflow::IntegerValueRangeLattice>(value);
    return !lattice || lattice->getValue().isUninitialized() ? ConstantIntRanges::maxRange(64)
                                                             : lattice->getValue().getValue();
  };
  ConstantIntRanges lower = rangeOf(loop.getLowerBound()), upper = rangeOf(loop.getUpperBound()),
                    step = rangeOf(loop.getStep());
  for (const APInt &bound : {lower.smin(), lower.smax(), upper.smin(), upper.smax(), step.smax()})
    if (!bound.isSignedIntN(32))
      return false;
  return step.smin().isStrictlyPositive() && (upper.smax() + step.smax() - 1).isSignedIntN(32) &&
         (upper.smax() - lower.smin()).isSignedIntN(32);
}

LogicalResult tilec::markNarrowCounters(tilegpu::KernelOp kernel) {
  DataFlowSolver solver;
  dataflow::loadBaselineAnalyses(solver);
  solver.load<dataflow::IntegerRangeAnalysis>();
  if (failed(solver.initializeAndRun(kernel)))
    return failure();
  Attribute unit = UnitAttr::get(kernel.getContext());
  kernel.walk([&](scf::ForOp loop) {
    if (!loop.getInductionVar().getType().isIndex())
      return;
    // Launchers refuse more than tilegpu::maxGridBlocks tiles, and the step, the number of blocks, is no larger.
    if (loop->hasAttr(persistentLoop))
      loop->setAttr(unsignedCounter, unit);
    else if (fits(solver, loop))
      loop->setAttr(signedCounter, unit);
  });
  return success();
}
