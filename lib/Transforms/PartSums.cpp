// part-sums: loops that scale and add up sums over lanes carry what each lane has and add the lanes once, behind the
// loop.
#include "FloatRanges.h"
#include "InferLayoutsRules.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "tilec/Dialect/Tile/KeptDigits.h"
#include "tilec/Layout/ReductionPlan.h"
#include "tilec/Transforms/Passes.h"

namespace tilec {
#define GEN_PASS_DEF_PARTSUMS
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

// The value behind broadcasts and factors that are positive constants.
static Value strip(Value value) {
  while (true) {
    APFloat factor(0.0f);
    value = behindBroadcasts(value);
    if (auto product = value.getDefiningOp<arith::MulFOp>(); product &&
                                                             matchPattern(product.getRhs(), m_ConstantFloat(&factor)) &&
                                                             factor.isFiniteNonZero() && !factor.isNegative())
      value = product.getLhs();
    else
      return value;
  }
}

// Whether a value is max(a, ..), or a itself where that is chosen.
static bool isAtLeast(Value value, Value a) {
  if (value == a)
    return true;
  if (auto select = value.getDefiningOp<arith::SelectOp>())
    return isAtLeast(select.getTrueValue(), a) && isAtLeast(select.getFalseValue(), a);
  auto maximum = value.getDefiningOp<arith::MaximumFOp>();
  return maximum && (maximum.getLhs() == a || maximum.getRhs() == a);
}

// exp(a - b) with b >= a: from 0 to 1, or NaN. No part of a sum is spoilt by it: 0 times infinity cannot be.
static bool isRunningRescale(Value factor) {
  Operation *exponential = behindBroadcasts(factor).getDefiningOp();
  if (!isa_and_nonnull<math::ExpOp, math::Exp2Op>(exponential))
    return false;
  auto difference = strip(exponential->getOperand(0)).getDefiningOp<arith::SubFOp>();
  return difference && isAtLeast(difference.getRhs(), difference.getLhs());
}

namespace {

// A value that a loop carries from `carried` to `next` by additions and rescaling.
class PartSum {
public:
  PartSum(scf::ForOp loop, unsigned index) : loop(loop), index(index) {}

  bool match() {
    Value value = loop.getRegionIterArg(index), next = loop.getYieldedValues()[index];
    auto type = dyn_cast<FloatType>(getElementTypeOrSelf(value.getType()));
    if (!type || type.getWidth() < 32)
      return false;
    while (value != next) {
      Operation *op = value.hasOneUse() ? *value.user_begin() : nullptr;
      if (!op || op->getBlock() != loop.getBody() || !isa<arith::AddFOp, arith::MulFOp>(op) || !addLink(op, value))
        return false;
      value = op->getResult(0);
    }
    return next.hasOneUse() && sum && findParts();
  }

  void rewrite() {
    Location loc = sum.getLoc();
    OpBuilder before(loop), inside(loop.getBody(), loop.getBody()->begin()), after(loop->getContext());
    after.setInsertionPointAfter(loop);
    Value init = loop.getInitArgs()[index];
    loop.getInitArgsMutable()[index].set(matchPattern(init, m_AnyZeroFloat()) ? zero(before, loc)
                                                                              : inFirstPart(before, init));
    loop.getRegionIterArg(index).setType(parts);
    for (Operation *op : chain)
      rewriteLink(op);
    Value result = loop.getResult(index);
    result.setType(parts);
    Value total = tile::ReduceOp::create(after, loc, init.getType(), tile::CombineKind::add, result, Value(),
                                         axis(after, loc), dim, /*full=*/true);
    result.replaceAllUsesExcept(total, total.getDefiningOp());
  }

private:
  // Whether the next operation of the chain scales or adds.
  bool addLink(Operation *op, Value value) {
    Value other = op->getOperand(op->getOperand(0) == value ? 1 : 0);
    if (isa<arith::MulFOp>(op) && !isRunningRescale(other))
      return false;
    if (auto reduce = other.getDefiningOp<tile::ReduceOp>(); reduce && isa<arith::AddFOp>(op) && !sum && isSum(reduce))
      sum = reduce;
    chain.push_back(op);
    return true;
  }

  bool isSum(tile::ReduceOp reduce) {
    return reduce.getKind() == tile::CombineKind::add && reduce->hasOneUse() && reduce->getBlock() == loop.getBody() &&
           !reduce->hasAttr(tile::keptName);
  }

  // The type of the parts; none if all positions of a sum are in one thread, or in several groups or blocks.
  bool findParts() {
    auto type = cast<RankedTensorType>(sum.getInput().getType());
    const Layout &layout = tilegpu::layoutOf(type).getLayout();
    dim = sum.getDim();
    int64_t stride = 1;
    SmallVector<int64_t> numbers;
    for (const Digit &digit : layout.digits(dim)) {
      if (digit.owner > Owner::Warp)
        return false;
      if (digit.owner != Owner::Register)
        numbers.append({stride, digit.radix});
      stride *= digit.radix;
    }
    kept = DenseI64ArrayAttr::get(loop.getContext(), numbers);
    tile::KeptDigits digits = tile::KeptDigits::fromAttribute(kept);
    if (!digits.fits(type.getDimSize(dim)))
      return false;
    SmallVector<int64_t> shape(type.getShape());
    shape[dim] = digits.extent();
    parts = RankedTensorType::get(shape, type.getElementType(),
                                  tilegpu::LayoutAttr::get(loop.getContext(), keepThreadDigits(layout, dim)));
    return true;
  }

  void rewriteLink(Operation *op) {
    OpBuilder builder(op);
    for (OpOperand &operand : op->getOpOperands()) {
      Value value = operand.get();
      if (value.getType() == parts)
        continue;
      if (value == sum.getResult()) {
        sum->setAttr(tile::keptName, kept);
        sum.getResult().setType(parts);
      } else {
        operand.set(isa<arith::MulFOp>(op) ? spread(builder, value) : inFirstPart(builder, value));
      }
    }
    op->getResult(0).setType(parts);
  }

  Value zero(OpBuilder &builder, Location loc) {
    return arith::ConstantOp::create(builder, loc, parts, builder.getZeroAttr(parts));
  }

  Value axis(OpBuilder &builder, Location loc) {
    Value start = arith::ConstantIndexOp::create(builder, loc, 0);
    Value end = arith::ConstantIndexOp::create(builder, loc, parts.getDimSize(dim));
    auto name = sum.getAxis().getDefiningOp<tile::AxisOp>();
    auto type = tile::AxisType::get(builder.getContext(), parts.getDimSize(dim));
    return tile::AxisOp::create(builder, loc, type, name ? name.getName() : "part", start, end);
  }

  // The same value in every part.
  Value spread(OpBuilder &builder, Value value) {
    SmallVector<int64_t> dims;
    for (int64_t d = 0; d < parts.getRank(); ++d)
      if (d != dim)
        dims.push_back(d);
    return tile::BroadcastOp::create(builder, value.getLoc(), parts, value, dims);
  }

  // The value in the part of the first positions, zero in the others.
  Value inFirstPart(OpBuilder &builder, Value value) {
    Location loc = value.getLoc();
    auto layoutOfPart =
        tilegpu::LayoutAttr::get(builder.getContext(), projectLayout(tilegpu::layoutOf(parts).getLayout(), {dim}));
    auto vector = [&](Type element) {
      return withLayout(RankedTensorType::get({parts.getDimSize(dim)}, element), layoutOfPart);
    };
    Value pos = tile::PosOp::create(builder, loc, vector(builder.getIndexType()), axis(builder, loc));
    Value first = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(vector(builder.getIndexType())));
    Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, pos, first);
    Type mask = parts.clone(builder.getI1Type());
    Value masks = tile::BroadcastOp::create(builder, loc, mask, isFirst, ArrayRef<int64_t>{dim});
    return arith::SelectOp::create(builder, loc, masks, spread(builder, value), zero(builder, loc));
  }

  scf::ForOp loop;
  unsigned index;
  // From the carried value to the next one.
  SmallVector<Operation *, 4> chain;
  tile::ReduceOp sum;
  int64_t dim = 0;
  DenseI64ArrayAttr kept;
  RankedTensorType parts;
};

struct PartSumsPass : tilec::impl::PartSumsBase<PartSumsPass> {
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops)
      for (unsigned index = 0; index < loop.getNumResults(); ++index)
        if (PartSum sum(loop, index); sum.match())
          sum.rewrite();
  }
};

} // namespace
