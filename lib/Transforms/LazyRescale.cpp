// lazy-rescale: a running softmax keeps its reference point until a maximum is far above it, so that its sums and
// products are rarely rescaled.
#include "RunningSoftmax.h"

#include "tilec/Dialect/Tile/AttributeNames.h"
#include "tilec/Transforms/AxisClasses.h"
#include "tilec/Transforms/Passes.h"

#include <cmath>

namespace tilec {
#define GEN_PASS_DEF_LAZYRESCALE
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

// A weight may become 2^8: far from the ends of f32 and bf16.
static constexpr double slack = 8;

// It pays where rescaling is a large part of a loop's work, or where many groups share the issue slots (measurements:
// docs/decisions/lazy-rescaling.md).
static bool pays(const RunningSoftmax &softmax, tilegpu::KernelOp kernel) {
  int64_t rescaled = 0;
  for (arith::MulFOp product : softmax.rescales)
    if (auto type = dyn_cast<RankedTensorType>(product.getType()); type && type.getRank() > rankOf(softmax.top))
      rescaled = std::max(rescaled, type.getNumElements());
  return rescaled > 0 && (rescaled > softmax.weightsPerIteration || kernel.getGroups() >= 3);
}

// How far above the reference point a maximum may lie, as a value of its type.
static Value slackOf(const RunningSoftmax &softmax, OpBuilder &builder) {
  Location loc = softmax.top.getLoc();
  Type element = getElementTypeOrSelf(softmax.top.getType());
  Value bound =
      arith::ConstantOp::create(builder, loc, builder.getFloatAttr(element, softmax.base2 ? slack : slack * M_LN2));
  if (softmax.scale)
    bound = arith::DivFOp::create(builder, loc, bound, softmax.scale);
  if (isa<RankedTensorType>(softmax.top.getType()))
    bound = tile::BroadcastOp::create(builder, loc, softmax.top.getType(), bound, ArrayRef<int64_t>{});
  return bound;
}

static void rewrite(scf::ForOp loop, const RunningSoftmax &softmax) {
  arith::MaximumFOp maximum = softmax.maximum;
  Value top = softmax.top, found = maximum.getLhs() == top ? maximum.getRhs() : maximum.getLhs();
  OpBuilder before(loop), builder(maximum->getContext());
  builder.setInsertionPointAfter(maximum);
  Location loc = maximum.getLoc();
  Value limit = arith::AddFOp::create(builder, loc, top, slackOf(softmax, before));
  // Unordered: NaN moves the point, which is NaN then.
  Value isFar = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UGT, found, limit);
  Value next = arith::SelectOp::create(builder, loc, isFar, maximum, top);
  maximum.getResult().replaceAllUsesExcept(next, next.getDefiningOp());
  for (arith::MulFOp product : softmax.rescales)
    if (rankOf(product) > rankOf(top))
      product->setAttr(tile::usuallyOneName, builder.getUnitAttr());
}

namespace {

struct LazyRescalePass : tilec::impl::LazyRescaleBase<LazyRescalePass> {
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops)
      if (std::optional<RunningSoftmax> softmax = RunningSoftmax::match(loop);
          softmax && pays(*softmax, getOperation()))
        rewrite(loop, *softmax);
  }
};

} // namespace
