// Facts about presence and bounds, from the structure of axes and subscripts.
#include "tilec/Transforms/Facts.h"

#include "mlir/IR/Matchers.h"
#include "tilec/Transforms/AffineIndex.h"
#include "tilec/Transforms/AxisClasses.h"

using namespace mlir;
using namespace tilec;

namespace {

// A scalar subscript that counts a range inside the tensor: 0 <= x < bound.
bool isInside(Value scalar, Value size) {
  APInt x, bound;
  if (matchPattern(scalar, m_ConstantInt(&x)) && matchPattern(size, m_ConstantInt(&bound)))
    return x.sge(0) && x.slt(bound);
  auto argument = dyn_cast<BlockArgument>(scalar);
  if (!argument || !isNonNegative(scalar))
    return false;
  if (auto parallel = dyn_cast<tile::ParallelOp>(argument.getOwner()->getParentOp()))
    return isAtMost(parallel.getUpper()[argument.getArgNumber()], size);
  if (auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()))
    return isAtMost(loop.getUpperBound(), size);
  return false;
}

} // namespace

bool tilec::isInbounds(Value subscript, Value size, bool all) {
  if (rankOf(subscript) == 0)
    return isInside(subscript, size);
  std::optional<AffineIndex> index = affineIndex(subscript);
  if (!index)
    return false;
  tile::AxisOp axis;
  for (auto [coefficient, candidate] : llvm::zip(index->coefficients, index->axes)) {
    if (coefficient == 0)
      continue;
    if (coefficient != 1 || !candidate || axis)
      return false;
    axis = candidate;
  }
  if (!axis)
    return false;
  LinearSum shift = index->base;
  shift.add(linearSum(axis.getStart()), -1);
  if (!shift.terms.empty() || shift.constant != 0 || !isNonNegative(axis.getStart()))
    return false;
  APInt start, bound;
  if (matchPattern(axis.getStart(), m_ConstantInt(&start)) && matchPattern(size, m_ConstantInt(&bound)) &&
      start.getSExtValue() + axis.getType().getExtent() <= bound.getSExtValue())
    return true;
  return axisEndsWithin(axis, size) && (!all || isFullAxis(axis));
}

namespace {

template <typename AccessOp> void markBounds(AccessOp op, bool all) {
  auto view = op.getView().template getDefiningOp<tile::ViewOp>();
  if (!view)
    return;
  // What was proved before stays proved: the schedule has removed some of the evidence.
  SmallVector<bool> inbounds(op.getSubscripts().size(), false);
  if (op.getInbounds())
    llvm::copy(*op.getInbounds(), inbounds.begin());
  for (auto [d, subscript, size] : llvm::enumerate(op.getSubscripts(), view.getSizes()))
    inbounds[d] = inbounds[d] || isInbounds(subscript, size, all);
  op.setInbounds(inbounds);
}

template <typename AxesOp> void markFull(AxesOp op) {
  SmallVector<bool> full(op.getAxes().size(), false);
  if (op.getFull())
    llvm::copy(*op.getFull(), full.begin());
  for (auto [d, axis] : llvm::enumerate(op.getAxes()))
    full[d] = full[d] || isFullAxis(axis);
  op.setFull(full);
}

} // namespace

void tilec::markFacts(Operation *root) {
  root->walk([&](Operation *op) {
    if (auto load = dyn_cast<tile::LoadOp>(op))
      markBounds(load, /*all=*/true);
    else if (auto store = dyn_cast<tile::StoreOp>(op))
      markBounds(store, /*all=*/false), markFull(store);
    else if (auto atomic = dyn_cast<tile::AtomicOp>(op))
      markBounds(atomic, /*all=*/false), markFull(atomic);
    else if (auto dot = dyn_cast<tile::DotOp>(op))
      markFull(dot);
    else if (auto reduce = dyn_cast<tile::ReduceOp>(op))
      reduce.setFull(reduce.getFull() || isFullAxis(reduce.getAxis()));
  });
}
