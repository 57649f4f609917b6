// verifyLayouts: equal encodings between operations and operands except at conversions.
#include "InferLayoutsRules.h"
#include "tilec/Dialect/Tile/KeptDigits.h"
#include "tilec/Layout/ReductionPlan.h"
#include "tilec/Transforms/VerifyLayouts.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace tilec;

static int64_t groupWarps(Operation *op, tilegpu::KernelOp kernel) {
  auto process = op->getParentOfType<tilegpu::ProcessOp>();
  return process ? process.getWarps() : kernel.getWarps();
}

static LogicalResult verifyTile(Operation *op, Value value, int64_t warps) {
  if (!isTile(value))
    return success();
  auto type = cast<RankedTensorType>(value.getType());
  tilegpu::LayoutAttr attr = tilegpu::layoutOf(type);
  if (!attr)
    return op->emitError("has a tile without a layout: ") << type;
  const Layout &layout = attr.getLayout();
  bool oneGroup =
      layout.numberOf(Owner::Group) == 1 && layout.numberOf(Owner::Cluster) == 1 && layout.numberOf(Owner::Grid) == 1;
  if (layout.rank() != type.getRank() || !layout.covers(type.getShape()) || layout.numWarps() != warps || !oneGroup)
    return op->emitError("has a layout that does not spread its tile over ") << warps << " warps: " << type;
  return success();
}

// The layout from which those of the operands follow.
static std::optional<Layout> ownLayout(Operation *op) {
  Value value;
  if (auto reduce = dyn_cast<tile::ReduceOp>(op))
    value = reduce.getInput();
  else if (auto store = dyn_cast<tilegpu::LocalStoreOp>(op))
    value = store.getValue();
  else if (std::optional<GlobalOperation> global = GlobalOperation::match(op))
    value = global->value;
  else if (isElementwise(op) || isa<tile::BroadcastOp, tile::PermuteOp>(op))
    value = op->getResult(0);
  if (!value)
    return std::nullopt;
  return tilegpu::layoutOf(value.getType()).getLayout();
}

static LogicalResult require(Operation *op, Value value, const Layout &layout) {
  if (tilegpu::layoutOf(value.getType()).getLayout() == layout)
    return success();
  return op->emitError("has a tile ") << value.getType() << " whose layout should be " << layout.str();
}

static Layout reducedLayout(tile::ReduceOp reduce, const Layout &own) {
  return reduce->hasAttr(tile::keptName) ? keepThreadDigits(own, reduce.getDim()) : own.sliceDim(reduce.getDim());
}

static LogicalResult verifyResults(Operation *op, const Layout &own) {
  if (auto reduce = dyn_cast<tile::ReduceOp>(op))
    return isTile(reduce.getResult()) ? require(op, reduce.getResult(), reducedLayout(reduce, own)) : success();
  if (isElementwise(op))
    for (Value result : op->getResults())
      if (failed(require(op, result, own)))
        return failure();
  return success();
}

static LogicalResult verifyMma(tilegpu::MmaOp op, int64_t warps) {
  FailureOr<MmaLayouts> layouts = mmaLayouts(op, warps);
  if (failed(layouts) || failed(require(op, op.getResult(), layouts->accumulator)))
    return failure();
  if (layouts->a && failed(require(op, op.getA(), *layouts->a)))
    return failure();
  return layouts->b ? require(op, op.getB(), *layouts->b) : success();
}

static LogicalResult verifyOperation(Operation *op, int64_t warps) {
  for (Value operand : op->getOperands())
    if (failed(verifyTile(op, operand, warps)))
      return failure();
  for (Value result : op->getResults())
    if (failed(verifyTile(op, result, warps)))
      return failure();
  if (auto mma = dyn_cast<tilegpu::MmaOp>(op))
    return verifyMma(mma, warps);
  bool forwards = true;
  forEachForwardedTile(
      op, [&](OpOperand &operand, Value target) { forwards &= operand.get().getType() == target.getType(); });
  if (!forwards)
    return op->emitError("passes on a tile in another layout than its target has");
  std::optional<Layout> own = ownLayout(op);
  if (!own)
    return success();
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    if (std::optional<Layout> layout = operandLayout(op, i, *own))
      if (failed(require(op, op->getOperand(i), *layout)))
        return failure();
  return verifyResults(op, *own);
}

LogicalResult tilec::verifyLayouts(tilegpu::KernelOp kernel) {
  WalkResult result = kernel.walk([&](Operation *op) {
    if (op == kernel)
      return WalkResult::advance();
    return succeeded(verifyOperation(op, groupWarps(op, kernel))) ? WalkResult::advance() : WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}
