// share-masks: a softmax over a ragged axis masks its scores once instead of each of their uses.
#include "FloatRanges.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "tilec/Transforms/AxisClasses.h"
#include "tilec/Transforms/Passes.h"

namespace tilec {
#define GEN_PASS_DEF_SHAREMASKS
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

namespace {

// m = max(..., max of x over the axis) and weights exp(x - m), which are summed over the axis or set to 0 where it is
// absent; or with c * max(x) and exp(c * x - m) for a positive number c. With x = -inf at absent positions the maximum
// is the same and the weights there are 0 by themselves: m is at least x, and where m is infinite or NaN in the wrong
// way the weights of present positions, of which every tile has one, make the row's results NaN already.
class MaskedScores {
public:
  MaskedScores(tile::ReduceOp maximum, const FloatRanges &ranges)
      : maximum(maximum), scores(maximum.getInput()), ranges(ranges) {}

  bool match() {
    auto type = cast<RankedTensorType>(scores.getType());
    axis = maximum.getAxis().getDefiningOp<tile::AxisOp>();
    if (maximum.getKind() != tile::CombineKind::maxf || maximum.getFull() || maximum.getPredicate() || !axis ||
        axis.getFull() || type.getRank() != 2)
      return false;
    matchFactor();
    for (OpOperand &use : scores.getUses()) {
      if (use.getOwner() == maximum)
        continue;
      if (factor ? !collectScaled(use.getOwner()) : !collectDifference(use.getOwner(), scores))
        return false;
      operands.push_back(&use);
    }
    return !differences.empty() && llvm::all_of(differences, [&](arith::SubFOp d) { return collectWeights(d); }) &&
           !sums.empty();
  }

  void rewrite() {
    OpBuilder builder(maximum);
    builder.setInsertionPointAfterValue(scores);
    Location loc = maximum.getLoc();
    auto type = cast<RankedTensorType>(scores.getType());
    auto positions = RankedTensorType::get({axis.getType().getExtent()}, builder.getIndexType());
    int64_t dim = maximum.getDim();
    Value pos = tile::PosOp::create(builder, loc, positions, axis);
    Value end = tile::BroadcastOp::create(builder, loc, positions, axis.getEnd(), ArrayRef<int64_t>{});
    Value present = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, pos, end);
    Value mask = tile::BroadcastOp::create(builder, loc, type.clone(builder.getI1Type()), present, dim);
    Value low = infinity(builder, loc, type), source = scores;
    // Scores that have a mask of their own.
    auto select = scores.getDefiningOp<arith::SelectOp>();
    if (select && select.getCondition().getType() == mask.getType() && isInfinity(select.getFalseValue())) {
      mask = arith::AndIOp::create(builder, loc, select.getCondition(), mask);
      source = select.getTrueValue();
    }
    Value masked = arith::SelectOp::create(builder, loc, mask, source, low);
    Value extent = arith::ConstantIndexOp::create(builder, loc, axis.getType().getExtent());
    Value wholeEnd = arith::AddIOp::create(builder, loc, axis.getStart(), extent);
    auto whole = tile::AxisOp::create(builder, loc, axis.getType(), axis.getName(), axis.getStart(), wholeEnd,
                                      /*full=*/true);
    for (OpOperand *operand : operands)
      operand->set(masked);
    maximum.getInputMutable().assign(masked);
    sums.push_back(maximum);
    for (tile::ReduceOp reduce : sums) {
      reduce.getAxisMutable().assign(whole);
      reduce.setFull(true);
    }
    for (arith::SelectOp weight : selected)
      weight.getResult().replaceAllUsesWith(weight.getTrueValue());
  }

private:
  // The number by which nothing but the maximum is multiplied.
  void matchFactor() {
    peak = maximum.getResult();
    auto product = peak.hasOneUse() ? dyn_cast<arith::MulFOp>(*peak.user_begin()) : arith::MulFOp();
    Value number = product && product.getLhs() == peak ? uniformNumber(product.getRhs()) : Value();
    std::optional<FloatRange> range = number ? ranges.of(number) : std::nullopt;
    if (!range || !range->isPositive())
      return;
    factor = number;
    peak = product;
  }

  bool isFactor(Value tile) {
    Value number = uniformNumber(tile);
    APFloat a(0.0), b(0.0);
    return number == factor || (number && matchPattern(number, m_ConstantFloat(&a)) &&
                                matchPattern(factor, m_ConstantFloat(&b)) && a.bitwiseIsEqual(b));
  }

  // The product of scores and factor, of which only differences are made.
  bool collectScaled(Operation *user) {
    auto product = dyn_cast<arith::MulFOp>(user);
    return product && product.getLhs() == scores && isFactor(product.getRhs()) &&
           llvm::all_of(product->getUsers(),
                        [&](Operation *next) { return collectDifference(next, product.getResult()); });
  }

  bool collectDifference(Operation *user, Value minuend) {
    auto difference = dyn_cast<arith::SubFOp>(user);
    if (!difference || difference.getLhs() != minuend || !isAtLeastMaximum(difference.getRhs()))
      return false;
    differences.push_back(difference);
    return true;
  }

  // A broadcast of the maximum or of a maximum with it.
  bool isAtLeastMaximum(Value value) {
    auto broadcast = value.getDefiningOp<tile::BroadcastOp>();
    if (!broadcast)
      return false;
    Value row = broadcast.getInput();
    auto larger = row.getDefiningOp<arith::MaximumFOp>();
    return row == peak || (larger && llvm::is_contained(larger->getOperands(), peak));
  }

  // Weights that are summed over the axis. False if anything else sees them at absent positions.
  bool collectWeights(arith::SubFOp difference) {
    for (Operation *user : difference->getUsers()) {
      if (!isa<math::Exp2Op, math::ExpOp>(user))
        return false;
      for (Operation *use : user->getUsers()) {
        auto sum = dyn_cast<tile::ReduceOp>(use);
        auto select = dyn_cast<arith::SelectOp>(use);
        if (sum && sum.getKind() == tile::CombineKind::add && sum.getAxis() == axis && !sum.getPredicate() &&
            sum.getDim() == maximum.getDim())
          sums.push_back(sum);
        else if (select && select.getTrueValue() == user->getResult(0) && isPresence(select.getCondition()) &&
                 matchPattern(select.getFalseValue(), m_AnyZeroFloat()))
          selected.push_back(select);
        else
          return false;
      }
    }
    return true;
  }

  // Position < end of the axis.
  bool isPresence(Value condition) {
    auto mask = condition.getDefiningOp<tile::BroadcastOp>();
    if (!mask || mask.getDims() != ArrayRef<int64_t>{static_cast<int64_t>(maximum.getDim())})
      return false;
    auto compare = mask.getInput().getDefiningOp<arith::CmpIOp>();
    if (!compare || compare.getPredicate() != arith::CmpIPredicate::slt)
      return false;
    auto pos = compare.getLhs().getDefiningOp<tile::PosOp>();
    auto end = compare.getRhs().getDefiningOp<tile::BroadcastOp>();
    return pos && end && pos.getAxis() == axis && end.getInput() == axis.getEnd();
  }

  static Value infinity(OpBuilder &builder, Location loc, RankedTensorType type) {
    APFloat low = APFloat::getInf(cast<FloatType>(type.getElementType()).getFloatSemantics(), /*Negative=*/true);
    return arith::ConstantOp::create(builder, loc, type, DenseElementsAttr::get(type, low));
  }

  static bool isInfinity(Value value) { return matchPattern(value, m_NegInfFloat()); }

  tile::ReduceOp maximum;
  Value scores;
  const FloatRanges &ranges;
  tile::AxisOp axis;
  // The maximum as scores are compared with it, and the positive number in it and them, if there is one.
  Value peak, factor;
  // What takes the masked scores.
  SmallVector<OpOperand *> operands;
  SmallVector<arith::SubFOp> differences;
  SmallVector<tile::ReduceOp> sums;
  SmallVector<arith::SelectOp> selected;
};

struct ShareMasksPass : tilec::impl::ShareMasksBase<ShareMasksPass> {
  void runOnOperation() override {
    SmallVector<tile::ReduceOp> reductions;
    getOperation().walk([&](tile::ReduceOp reduce) { reductions.push_back(reduce); });
    FloatRanges ranges(getOperation());
    for (tile::ReduceOp reduce : reductions)
      if (MaskedScores scores(reduce, ranges); scores.match())
        scores.rewrite();
  }
};

} // namespace
