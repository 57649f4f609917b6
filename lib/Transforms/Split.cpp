// split: each consumer group works on its own part of the rows of the dots.
#include "mlir/IR/Matchers.h"
#include "tilec/Transforms/AxisClasses.h"
#include "tilec/Transforms/Passes.h"

namespace tilec {
#define GEN_PASS_DEF_SPLIT
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

namespace {

struct SplitPass : tilec::impl::SplitBase<SplitPass> {
  void runOnOperation() override {
    tilegpu::KernelOp kernel = getOperation();
    int64_t groups = kernel.getGroups();
    if (groups <= 1)
      return;
    tile::DotOp dot;
    kernel.walk([&](tile::DotOp op) { dot = dot ? dot : op; });
    // Groups of a kernel without products run iterations of their own.
    if (!dot)
      return;
    AxisClasses classes(kernel);
    unsigned rows = classes.classOf(dot.getResult(), 0);
    SmallVector<AxisClasses::Key> members = classes.members(rows);
    for (auto [value, dim] : members)
      if (dim >= 0)
        shrink(value, dim, groups);
    for (auto [value, dim] : members)
      if (dim < 0)
        splitAxis(value.getDefiningOp<tile::AxisOp>(), groups);
  }

  static void shrink(Value value, int64_t dim, int64_t groups) {
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[dim] /= groups;
    auto smaller = RankedTensorType::get(shape, type.getElementType());
    value.setType(smaller);
    if (auto constant = value.getDefiningOp<arith::ConstantOp>())
      constant.setValueAttr(cast<SplatElementsAttr>(constant.getValue()).resizeSplat(smaller));
  }

  // The part of group g: extent / groups positions from start + g * extent / groups on. The whole axis stays for the
  // channels, whose transfers serve all groups.
  static void splitAxis(tile::AxisOp axis, int64_t groups) {
    int64_t part = axis.getType().getExtent() / groups;
    OpBuilder builder(axis->getContext());
    builder.setInsertionPointAfter(axis);
    Location loc = axis.getLoc();
    Value group = tilegpu::GroupOp::create(builder, loc, builder.getIndexType());
    Value size = arith::ConstantIndexOp::create(builder, loc, part);
    Value start =
        arith::AddIOp::create(builder, loc, axis.getStart(), arith::MulIOp::create(builder, loc, group, size));
    Value end = arith::MinSIOp::create(builder, loc, arith::AddIOp::create(builder, loc, start, size), axis.getEnd());
    auto type = tile::AxisType::get(builder.getContext(), part);
    auto mine = tile::AxisOp::create(builder, loc, type, axis.getName(), start, end);
    mine->setDiscardableAttrs(axis->getDiscardableAttrDictionary());
    axis.getResult().replaceAllUsesWith(mine.getResult());
  }
};

} // namespace
