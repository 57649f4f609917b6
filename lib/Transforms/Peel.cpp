// peel: interior iterations of loops over tiles, in which masks are true and axes full, get a loop of their own.
#include "LoopProducts.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "tilec/Transforms/AffineIndex.h"
#include "tilec/Transforms/AxisClasses.h"
#include "tilec/Transforms/Facts.h"
#include "tilec/Transforms/Passes.h"
#include "tilec/Transforms/StagedStore.h"

namespace tilec {
#define GEN_PASS_DEF_PEEL
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

namespace {

// A condition `factor * j + rest <= 0` on the iteration j, true up to some j.
struct Threshold {
  int64_t factor;
  LinearSum rest;
};

// The smaller and the larger side of a comparison of positions; none if it is no such.
std::pair<std::optional<AffineIndex>, std::optional<AffineIndex>> sidesOf(arith::CmpIOp compare) {
  if (rankOf(compare.getResult()) == 0 || !getElementTypeOrSelf(compare.getLhs()).isIndex())
    return {};
  arith::CmpIPredicate predicate = compare.getPredicate();
  bool less = predicate == arith::CmpIPredicate::slt || predicate == arith::CmpIPredicate::sle;
  bool greater = predicate == arith::CmpIPredicate::sgt || predicate == arith::CmpIPredicate::sge;
  if (!less && !greater)
    return {};
  return {affineIndex(less ? compare.getLhs() : compare.getRhs()),
          affineIndex(less ? compare.getRhs() : compare.getLhs())};
}

// What is at most 0 exactly if the comparison holds for all elements: the greatest difference left - right, one more
// where they must not be equal.
LinearSum greatestDifference(arith::CmpIOp compare, const AffineIndex &left, const AffineIndex &right) {
  arith::CmpIPredicate predicate = compare.getPredicate();
  bool strict = predicate == arith::CmpIPredicate::slt || predicate == arith::CmpIPredicate::sgt;
  LinearSum difference = left.base;
  difference.add(right.base, -1);
  difference.constant += strict ? 1 : 0;
  auto type = cast<RankedTensorType>(compare.getType());
  for (int64_t d = 0; d < type.getRank(); ++d)
    difference.constant +=
        std::max<int64_t>(left.coefficients[d] - right.coefficients[d], 0) * (type.getDimSize(d) - 1);
  return difference;
}

class LoopPeeler {
public:
  explicit LoopPeeler(scf::ForOp loop) : loop(loop) {}

  void run() {
    APInt step;
    if (!matchPattern(loop.getStep(), m_ConstantInt(&step)) || step != 1)
      return;
    loop.getBody()->walk([&](Operation *op) {
      if (auto axis = dyn_cast<tile::AxisOp>(op))
        collectAxis(axis);
      else if (auto compare = dyn_cast<arith::CmpIOp>(op))
        collectMask(compare);
      else if (auto tail = dyn_cast<tilegpu::ZeroTailOp>(op))
        collectTail(tail);
    });
    if (thresholds.empty() || !isWorthwhile())
      return;
    split();
  }

private:
  bool isOutside(Value value) { return value.getParentRegion()->isProperAncestor(&loop.getRegion()); }

  // Takes the iteration out of a sum; none if another value of the body is in it.
  std::optional<Threshold> threshold(LinearSum sum) {
    Threshold result{0, {}};
    result.rest.constant = sum.constant;
    for (auto [value, coefficient] : sum.terms) {
      if (value == loop.getInductionVar())
        result.factor = coefficient;
      else if (isOutside(value))
        result.rest.terms.push_back({value, coefficient});
      else
        return std::nullopt;
    }
    if (result.factor <= 0)
      return std::nullopt;
    return result;
  }

  // end = min(start + extent, limit): full while start + extent - limit <= 0.
  std::optional<Threshold> fullUntil(Value end, Value start, int64_t extent) {
    for (const TileEnd &reading : tileEnds(end, linearSum(start))) {
      if (reading.width != extent)
        continue;
      LinearSum beyond = linearSum(reading.tileEnd);
      beyond.add(linearSum(reading.limit), -1);
      if (std::optional<Threshold> found = threshold(beyond))
        return found;
    }
    return std::nullopt;
  }

  void collectAxis(tile::AxisOp axis) {
    if (isFullAxis(axis))
      return;
    if (auto found = fullUntil(axis.getEnd(), axis.getStart(), axis.getType().getExtent())) {
      thresholds.push_back(*found);
      axes.push_back(axis);
    }
  }

  // Absent positions of a buffer, as of the axis. The axis itself may be gone, or be that of another iteration.
  void collectTail(tilegpu::ZeroTailOp tail) {
    auto present = tail.getFirst().getDefiningOp<arith::SubIOp>();
    if (!present)
      return;
    int64_t extent = tail.getTarget().getType().getShape()[tail.getDim()];
    if (auto found = fullUntil(present.getLhs(), present.getRhs(), extent)) {
      thresholds.push_back(*found);
      tails.push_back(tail);
    }
  }

  void collectMask(arith::CmpIOp compare) {
    auto [left, right] = sidesOf(compare);
    if (!left || !right)
      return;
    if (isPresence(*left, *right)) {
      presenceMasks.push_back(compare);
      return;
    }
    if (std::optional<Threshold> found = threshold(greatestDifference(compare, *left, *right))) {
      thresholds.push_back(*found);
      masks.push_back(compare);
    }
  }

  // pos(axis) < end of the same axis: true in all elements exactly when the axis is full.
  bool isPresence(const AffineIndex &left, const AffineIndex &right) {
    tile::AxisOp axis;
    for (auto [coefficient, candidate] : llvm::zip(left.coefficients, left.axes))
      if (coefficient != 0)
        axis = coefficient == 1 && !axis ? candidate : tile::AxisOp();
    if (!axis || !llvm::is_contained(axes, axis))
      return false;
    LinearSum shift = left.base;
    shift.add(linearSum(axis.getStart()), -1);
    LinearSum bound = right.base;
    bound.add(linearSum(axis.getEnd()), -1);
    return shift.terms.empty() && shift.constant == 0 && bound.terms.empty() && bound.constant >= 0 &&
           llvm::all_of(right.coefficients, [](int64_t c) { return c == 0; });
  }

  // Only loops with something to fold are copied.
  bool isWorthwhile() {
    if (!masks.empty() || !presenceMasks.empty() || !tails.empty())
      return true;
    bool folds = false;
    loop.getBody()->walk([&](Operation *op) {
      if (auto reduce = dyn_cast<tile::ReduceOp>(op))
        folds |= llvm::is_contained(axes, reduce.getAxis().getDefiningOp());
      if (isa<tile::LoadOp, tile::StoreOp, tile::AtomicOp>(op))
        folds |= llvm::any_of(op->getOperands(), [](Value operand) { return rankOf(operand) > 0; });
    });
    return folds;
  }

  void split() {
    OpBuilder builder(loop);
    Location loc = loop.getLoc();
    // j <= floor(-rest / factor) in each condition: the interior has one iteration more than the least bound.
    Value bound = loop.getUpperBound();
    for (const Threshold &threshold : thresholds) {
      LinearSum negated;
      negated.add(threshold.rest, -1);
      negated.constant += threshold.factor;
      Value count = arith::FloorDivSIOp::create(builder, loc, negated.materialize(builder, loc),
                                                arith::ConstantIndexOp::create(builder, loc, threshold.factor));
      bound = arith::MinSIOp::create(builder, loc, bound, count);
    }
    bound = arith::MaxSIOp::create(builder, loc, bound, loop.getLowerBound());
    IRMapping map;
    auto interior = cast<scf::ForOp>(builder.clone(*loop, map));
    interior.getUpperBoundMutable().assign(bound);
    fold(interior, map);
    loop.getLowerBoundMutable().assign(bound);
    for (auto [init, result] : llvm::zip(loop.getInitArgsMutable(), interior.getResults()))
      init.set(result);
  }

  void fold(scf::ForOp interior, IRMapping &map) {
    for (tile::AxisOp axis : axes)
      map.lookup(axis.getResult()).getDefiningOp<tile::AxisOp>().setFull(true);
    for (arith::CmpIOp compare : llvm::concat<arith::CmpIOp>(masks, presenceMasks)) {
      Operation *copy = map.lookup(compare.getResult()).getDefiningOp();
      OpBuilder builder(copy);
      auto type = cast<RankedTensorType>(copy->getResult(0).getType());
      Value all = arith::ConstantOp::create(builder, copy->getLoc(), type, DenseElementsAttr::get(type, true));
      copy->getResult(0).replaceAllUsesWith(all);
      copy->erase();
    }
    for (tilegpu::ZeroTailOp tail : tails)
      map.lookup(tail.getOperation())->erase();
    markFacts(interior);
  }

  scf::ForOp loop;
  SmallVector<Threshold> thresholds;
  SmallVector<tile::AxisOp> axes;
  SmallVector<arith::CmpIOp> masks, presenceMasks;
  SmallVector<tilegpu::ZeroTailOp> tails;
};

// A mask outside of loops, as of the part of an iteration that stands before its loop: where it is true in all
// elements, which scalars tell, neither it nor the selection is computed.
class StraightMask {
public:
  explicit StraightMask(arith::SelectOp select) : select(select) {}

  void run() {
    if (!isLarge() || !collect(select.getCondition()))
      return;
    OpBuilder builder(select);
    Location loc = select.getLoc();
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0), all;
    for (const LinearSum &difference : differences) {
      Value holds =
          arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sle, difference.materialize(builder, loc), zero);
      all = all ? arith::AndIOp::create(builder, loc, all, holds).getResult() : holds;
    }
    auto branch = scf::IfOp::create(builder, loc, select.getType(), all, /*withElseRegion=*/true);
    builder.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(builder, loc, select.getTrueValue());
    builder.setInsertionPointToStart(branch.elseBlock());
    IRMapping map;
    for (Operation *op : llvm::reverse(mask))
      builder.clone(*op, map);
    scf::YieldOp::create(builder, loc, builder.clone(*select, map)->getResult(0));
    select.replaceAllUsesWith(branch.getResult(0));
    select.erase();
    for (Operation *op : mask)
      if (op->use_empty())
        op->erase();
  }

private:
  // Tiles of products: others have their own ways with absent elements.
  bool isLarge() {
    Operation *source = select.getTrueValue().getDefiningOp();
    return rankOf(select.getCondition()) == 2 && isa_and_nonnull<tilegpu::MmaOp, tilegpu::MmaWaitOp>(source);
  }

  // Conjunctions and broadcasts of comparisons, users before what they use.
  bool collect(Value condition) {
    Operation *op = condition.getDefiningOp();
    if (!op || op->getBlock() != select->getBlock())
      return false;
    if (!llvm::is_contained(mask, op))
      mask.push_back(op);
    if (isa<arith::AndIOp>(op))
      return collect(op->getOperand(0)) && collect(op->getOperand(1));
    if (auto broadcast = dyn_cast<tile::BroadcastOp>(op))
      return collect(broadcast.getInput());
    auto compare = dyn_cast<arith::CmpIOp>(op);
    if (!compare)
      return false;
    auto [left, right] = sidesOf(compare);
    if (!left || !right)
      return false;
    differences.push_back(greatestDifference(compare, *left, *right));
    return true;
  }

  arith::SelectOp select;
  SmallVector<Operation *> mask;
  SmallVector<LinearSum> differences;
};

struct PeelPass : tilec::impl::PeelBase<PeelPass> {
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    // Innermost loops, and only those of tiles: the producer's loops have nothing to fold.
    getOperation().walk([&](scf::ForOp loop) {
      if (!loop->hasAttr(persistentLoop) && isInnermost(loop))
        loops.push_back(loop);
    });
    for (scf::ForOp loop : loops)
      LoopPeeler(loop).run();
    // More groups cover for each other, and have no registers left for another path.
    constexpr int64_t mostGroups = 2;
    if (getOperation().getGroups() > mostGroups)
      return;
    SmallVector<arith::SelectOp> selects;
    getOperation().walk([&](arith::SelectOp select) {
      auto loop = select->getParentOfType<scf::ForOp>();
      if (loop && loop->hasAttr(persistentLoop))
        selects.push_back(select);
    });
    for (arith::SelectOp select : selects)
      StraightMask(select).run();
  }
};

} // namespace
