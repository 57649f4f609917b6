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

  // left < right for all elements: the greatest difference left - right is at most -1 (at most 0 for <=).
  void collectMask(arith::CmpIOp compare) {
    if (rankOf(compare.getResult()) == 0 || !getElementTypeOrSelf(compare.getLhs()).isIndex())
      return;
    arith::CmpIPredicate predicate = compare.getPredicate();
    bool less = predicate == arith::CmpIPredicate::slt || predicate == arith::CmpIPredicate::sle;
    bool greater = predicate == arith::CmpIPredicate::sgt || predicate == arith::CmpIPredicate::sge;
    if (!less && !greater)
      return;
    std::optional<AffineIndex> left = affineIndex(less ? compare.getLhs() : compare.getRhs());
    std::optional<AffineIndex> right = affineIndex(less ? compare.getRhs() : compare.getLhs());
    if (!left || !right)
      return;
    if (isPresence(*left, *right)) {
      presenceMasks.push_back(compare);
      return;
    }
    bool strict = predicate == arith::CmpIPredicate::slt || predicate == arith::CmpIPredicate::sgt;
    LinearSum difference = left->base;
    difference.add(right->base, -1);
    difference.constant += strict ? 1 : 0;
    auto type = cast<RankedTensorType>(compare.getType());
    for (int64_t d = 0; d < type.getRank(); ++d)
      difference.constant +=
          std::max<int64_t>(left->coefficients[d] - right->coefficients[d], 0) * (type.getDimSize(d) - 1);
    if (std::optional<Threshold> found = threshold(difference)) {
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
  }
};

} // namespace
