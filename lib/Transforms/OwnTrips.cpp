// Bounds of a group's own: causal attention needs fewer tiles of keys for the first rows of a tile of queries.
#include "OwnTrips.h"

#include "LoopProducts.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "tilec/Dialect/Tile/AttributeNames.h"
#include "tilec/Transforms/AffineIndex.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tilec;

namespace {

class OwnTripsFinder {
public:
  explicit OwnTripsFinder(scf::ForOp loop) : loop(loop), block(loop.getUpperBound().getParentBlock()) {}

  std::optional<OwnTrips> run();

private:
  bool findTop();
  bool isOnlyBound();
  bool receivesAtTop();
  tile::AxisOp findRows();
  bool collectSlice(Value value, Value end);
  bool coversWholeTiles(tile::AxisOp part);
  bool comparesWith(tile::AxisOp rows);
  Value firstNumber(OpBuilder &builder, Operation *user);

  scf::ForOp loop;
  Block *block;
  Operation *top = nullptr;
  llvm::SetVector<Operation *> slice;
};

} // namespace

// Items of the loop's channels are received nowhere else in the block.
bool OwnTripsFinder::findTop() {
  top = block->findAncestorOpInBlock(*loop);
  if (!top)
    return false;
  llvm::DenseSet<Value> channels;
  loop.walk([&](tilegpu::ReceiveOp receive) { channels.insert(receive.getChan()); });
  bool elsewhere = false;
  block->getParentOp()->walk([&](tilegpu::ReceiveOp receive) {
    elsewhere |= channels.contains(receive.getChan()) && !top->isAncestor(receive);
  });
  return !channels.empty() && !elsewhere;
}

// The bound counts iterations and is no number of the program: it bounds the loop, is compared with its first number,
// and the last number is one less.
bool OwnTripsFinder::isOnlyBound() {
  Value bound = loop.getUpperBound();
  return llvm::all_of(bound.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (user == loop)
      return use.getOperandNumber() == 1;
    return top->isProperAncestor(user) ? isa<arith::SubIOp>(user) : isa<arith::CmpIOp>(user);
  });
}

// Each iteration receives the same items.
bool OwnTripsFinder::receivesAtTop() {
  bool nested = false;
  loop.walk([&](Operation *op) {
    nested |= isa<tilegpu::ReceiveOp, tilegpu::ReleaseOp>(op) && op->getBlock() != loop.getBody();
  });
  APInt step;
  return !nested && matchPattern(loop.getStep(), m_ConstantInt(&step)) && step == 1;
}

// The part of a divided axis with free ends on which the bound depends.
tile::AxisOp OwnTripsFinder::findRows() {
  for (tile::AxisOp axis : block->getOps<tile::AxisOp>()) {
    auto end = axis.getEnd().getDefiningOp<arith::MinSIOp>();
    if (!axis->hasAttr(tile::freeName) || !end || !axis->isBeforeInBlock(top))
      continue;
    slice.clear();
    if (collectSlice(loop.getUpperBound(), end.getRhs()) && !slice.empty() && !coversWholeTiles(axis) &&
        comparesWith(axis))
      return axis;
  }
  return nullptr;
}

// The operations that lead from the end to the value, all of which grow with it.
bool OwnTripsFinder::collectSlice(Value value, Value end) {
  if (value == end)
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != block)
    return true;
  bool depends = false;
  for (Value operand : op->getOperands()) {
    if (!collectSlice(operand, end))
      return false;
    depends |= operand == end || slice.contains(operand.getDefiningOp());
  }
  if (!depends)
    return true;
  APInt divisor;
  bool grows = isa<arith::MinSIOp, arith::MaxSIOp, arith::AddIOp>(op) ||
               (isa<arith::CeilDivSIOp, arith::FloorDivSIOp>(op) &&
                matchPattern(op->getOperand(1), m_ConstantInt(&divisor)) && divisor.isStrictlyPositive());
  slice.insert(op);
  return grows;
}

// Whether an iteration has the positions of whole tiles of rows, so that all parts of a tile need the same ones.
bool OwnTripsFinder::coversWholeTiles(tile::AxisOp part) {
  int64_t rows = part.getType().getExtent() * loop->getParentOfType<tilegpu::KernelOp>().getGroups();
  auto count = loop.getUpperBound().getDefiningOp<arith::CeilDivSIOp>();
  APInt positions;
  return count && matchPattern(count.getRhs(), m_ConstantInt(&positions)) && positions.getSExtValue() % rows == 0;
}

// Whether positions of the loop are compared with the rows: a program without a mask means all that it loads.
bool OwnTripsFinder::comparesWith(tile::AxisOp rows) {
  auto dependsOn = [&](Value side, function_ref<bool(tile::AxisOp)> isMeant) {
    std::optional<AffineIndex> index = affineIndex(side);
    return index && llvm::any_of(index->axes, [&](tile::AxisOp axis) { return axis && isMeant(axis); });
  };
  auto isRows = [&](tile::AxisOp axis) { return axis == rows; };
  auto isInLoop = [&](tile::AxisOp axis) { return loop->isProperAncestor(axis); };
  return loop
      .walk([&](arith::CmpIOp compare) {
        Value left = compare.getLhs(), right = compare.getRhs();
        if (!isa<RankedTensorType>(left.getType()) || !getElementTypeOrSelf(left).isIndex())
          return WalkResult::advance();
        bool masks = (dependsOn(left, isRows) && dependsOn(right, isInLoop)) ||
                     (dependsOn(right, isRows) && dependsOn(left, isInLoop));
        return masks ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

// The loop's lower bound in front of the user; null if it is computed later.
Value OwnTripsFinder::firstNumber(OpBuilder &builder, Operation *user) {
  Value number = loop.getLowerBound();
  if (APInt constant; matchPattern(number, m_ConstantInt(&constant)))
    return arith::ConstantIndexOp::create(builder, loop.getLoc(), constant.getSExtValue());
  Operation *op = number.getDefiningOp();
  return op && op->getBlock() == block && op->isBeforeInBlock(user) ? number : Value();
}

std::optional<OwnTrips> OwnTripsFinder::run() {
  Value whole = loop.getUpperBound();
  if (!whole.getDefiningOp() || !findTop() || !isOnlyBound() || !receivesAtTop())
    return std::nullopt;
  tile::AxisOp rows = findRows();
  if (!rows)
    return std::nullopt;
  Operation *first = top;
  for (Operation *user : whole.getUsers())
    if (Operation *ancestor = block->findAncestorOpInBlock(*user); ancestor && ancestor->isBeforeInBlock(first))
      first = ancestor;
  if (!rows->isBeforeInBlock(first))
    return std::nullopt;
  OpBuilder builder(first);
  Location loc = loop.getLoc();
  Value least = firstNumber(builder, first);
  if (!least)
    return std::nullopt;
  IRMapping map;
  map.map(rows.getEnd().getDefiningOp<arith::MinSIOp>().getRhs(), rows.getEnd());
  SmallVector<Operation *> order = slice.takeVector();
  llvm::sort(order, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  for (Operation *op : order)
    builder.clone(*op, map);
  // No iteration of which a part stands before the loop is left out, and no bound goes beyond the whole.
  Value own = arith::MinSIOp::create(builder, loc, map.lookup(whole), whole);
  own = arith::MaxSIOp::create(builder, loc, own, arith::MinSIOp::create(builder, loc, least, whole));
  return OwnTrips{loop, whole, own, top};
}

SmallVector<OwnTrips> tilec::findOwnTrips(tilegpu::KernelOp kernel) {
  SmallVector<OwnTrips> found;
  SmallVector<scf::ForOp> loops;
  kernel.walk([&](scf::ForOp loop) {
    if (isInnermost(loop))
      loops.push_back(loop);
  });
  for (scf::ForOp loop : loops)
    if (std::optional<OwnTrips> trips = OwnTripsFinder(loop).run())
      found.push_back(*trips);
  return found;
}

scf::ForOp tilec::drainOf(scf::ForOp loop) {
  Attribute number = loop->getAttr(ownTripsName);
  if (!number)
    return nullptr;
  scf::ForOp drain;
  loop->getParentOfType<tilegpu::ProcessOp>().walk([&](scf::ForOp candidate) {
    if (candidate->getAttr(restName) == number)
      drain = candidate;
  });
  return drain;
}
