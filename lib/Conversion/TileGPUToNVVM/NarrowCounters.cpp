// Range analysis of loop counters and divisions. A register holds 32 bits: a counter and a bound of 64 take four
// registers where two would do, for as long as the loop runs, and a division of 64 bits is a call
// (docs/decisions/counters-in-32-bits.md).
#include "NarrowCounters.h"

#include "mlir/Analysis/DataFlow/IntegerRangeAnalysis.h"
#include "mlir/Analysis/DataFlow/Utils.h"
#include "mlir/Analysis/DataFlowFramework.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tilec/Transforms/StagedStore.h"

using namespace mlir;
using namespace tilec;

static ConstantIntRanges rangeOf(const DataFlowSolver &solver, Value value) {
  auto *lattice = solver.lookupState<dataflow::IntegerValueRangeLattice>(value);
  return !lattice || lattice->getValue().isUninitialized() ? ConstantIntRanges::maxRange(64)
                                                           : lattice->getValue().getValue();
}

// Whether lower <= counter < upper + step and upper - lower are signed numbers of 32 bits.
static bool fits(const DataFlowSolver &solver, scf::ForOp loop) {
  ConstantIntRanges lower = rangeOf(solver, loop.getLowerBound()), upper = rangeOf(solver, loop.getUpperBound()),
                    step = rangeOf(solver, loop.getStep());
  for (const APInt &bound : {lower.smin(), lower.smax(), upper.smin(), upper.smax(), step.smax()})
    if (!bound.isSignedIntN(32))
      return false;
  return step.smin().isStrictlyPositive() && (upper.smax() + step.smax() - 1).isSignedIntN(32) &&
         (upper.smax() - lower.smin()).isSignedIntN(32);
}

// Whether an index is no less than 0 and has 31 bits.
static bool isShort(const DataFlowSolver &solver, Value value) {
  ConstantIntRanges range = rangeOf(solver, value);
  return value.getType().isIndex() && range.smin().isNonNegative() && range.smax().isSignedIntN(32);
}

static Value inWord(OpBuilder &builder, Location loc, Value index) {
  if (auto cast = index.getDefiningOp<arith::IndexCastUIOp>(); cast && cast.getIn().getType().isInteger(32))
    return cast.getIn();
  return builder.createOrFold<arith::IndexCastOp>(loc, builder.getI32Type(), index);
}

// Quotient or remainder of numbers of 31 bits; by zero both are 0.
static void divideInWord(Operation *op) {
  OpBuilder builder(op);
  Location loc = op->getLoc();
  Value one = arith::ConstantIntOp::create(builder, loc, 1, 32);
  Value dividend = inWord(builder, loc, op->getOperand(0)), divisor = inWord(builder, loc, op->getOperand(1));
  Value safe = builder.createOrFold<arith::MaxUIOp>(loc, divisor, one), result;
  if (isa<tile::RemOp>(op)) {
    result = arith::RemUIOp::create(builder, loc, dividend, safe);
  } else {
    result = arith::DivUIOp::create(builder, loc, dividend, safe);
    result = builder.createOrFold<arith::MulIOp>(loc, result, builder.createOrFold<arith::MinUIOp>(loc, divisor, one));
  }
  op->replaceAllUsesWith(arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(), result));
  op->erase();
}

LogicalResult tilec::narrowIndices(tilegpu::KernelOp kernel) {
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
  SmallVector<Operation *> divisions;
  kernel.walk([&](Operation *op) {
    if (isa<tile::DivOp, tile::RemOp>(op) && isShort(solver, op->getOperand(0)) && isShort(solver, op->getOperand(1)))
      divisions.push_back(op);
  });
  llvm::for_each(divisions, divideInWord);
  return success();
}
