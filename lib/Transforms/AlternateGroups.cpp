// A consumer process becomes the program of groups that take tiles in turns (docs/decisions/alternating-groups.md).
#include "AlternateGroups.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "tilec/Transforms/StagedStore.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace tilec;

namespace {

// The items that a tile takes of each ring: `once`, and one an iteration of each of `loops`.
struct Items {
  int64_t once = 0;
  SmallVector<scf::ForOp, 1> loops;
};

class Alternation {
public:
  Alternation(tilegpu::ProcessOp process, int64_t groups)
      : groups(groups), builder(process.getContext()), loc(process.getLoc()) {
    for (auto loop : process.getBody().front().getOps<scf::ForOp>())
      if (loop->hasAttr(persistentLoop))
        tiles = loop;
  }

  bool run() {
    if (!tiles || tiles.getNumResults() > 0 || !collectItems())
      return false;
    takeTurns();
    dealOut();
    return true;
  }

private:
  bool collectItems();
  bool isAlikeInAllTiles(Value value);
  Value hoisted(Value value);
  Value itemsOf(const Items &items);
  void takeTurns();
  void dealOut();
  void skip(Value chan, Value tilesToSkip, Value itemsOfTile);

  int64_t groups;
  OpBuilder builder;
  Location loc;
  scf::ForOp tiles;
  llvm::MapVector<Value, Items> rings;
  /// The first and last operation of a tile that receive.
  Operation *first = nullptr, *last = nullptr;
};

} // namespace

// Whether a scalar is the same in all tiles: computed by operations without effect from what is outside the loop.
bool Alternation::isAlikeInAllTiles(Value value) {
  if (tiles.isDefinedOutsideOfLoop(value))
    return true;
  Operation *op = value.getDefiningOp();
  return op && op->getNumRegions() == 0 && isPure(op) && !isa<tilegpu::GroupOp>(op) &&
         llvm::all_of(op->getOperands(), [&](Value operand) { return isAlikeInAllTiles(operand); });
}

// Items are received by the tile itself, or by loops directly in it that run equally often in all tiles.
bool Alternation::collectItems() {
  bool known = true;
  tiles.getBody()->walk([&](tilegpu::ReceiveOp receive) {
    Operation *parent = receive->getParentOp();
    auto loop = dyn_cast<scf::ForOp>(parent);
    Operation *outer = parent == tiles ? receive.getOperation() : parent;
    Items &items = rings[receive.getChan()];
    if (parent == tiles)
      ++items.once;
    else if (loop && loop->getParentOp() == tiles &&
             llvm::all_of(ValueRange{loop.getLowerBound(), loop.getUpperBound(), loop.getStep()},
                          [&](Value bound) { return isAlikeInAllTiles(bound); }))
      items.loops.push_back(loop);
    else
      known = false;
    first = first ? first : outer;
    last = outer;
  });
  return known && first;
}

// A value that is the same in all tiles, in front of their loop.
Value Alternation::hoisted(Value value) {
  Operation *op = value.getDefiningOp();
  if (tiles.isDefinedOutsideOfLoop(value))
    return value;
  for (Value operand : op->getOperands())
    hoisted(operand);
  op->moveBefore(tiles);
  return value;
}

Value Alternation::itemsOf(const Items &items) {
  Value count = arith::ConstantIndexOp::create(builder, loc, items.once);
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  for (scf::ForOp loop : items.loops) {
    Value lower = hoisted(loop.getLowerBound()), upper = hoisted(loop.getUpperBound()), step = hoisted(loop.getStep());
    Value range = builder.createOrFold<arith::SubIOp>(loc, upper, lower);
    range = arith::MaxSIOp::create(builder, loc, range, zero);
    Value trips = builder.createOrFold<arith::CeilDivUIOp>(loc, range, step);
    count = builder.createOrFold<arith::AddIOp>(loc, count, trips);
  }
  return count;
}

void Alternation::takeTurns() {
  builder.setInsertionPoint(first);
  tilegpu::TurnTakeOp::create(builder, loc);
  builder.setInsertionPointAfter(last);
  tilegpu::TurnPassOp::create(builder, loc);
}

void Alternation::skip(Value chan, Value tilesToSkip, Value itemsOfTile) {
  Value count = builder.createOrFold<arith::MulIOp>(loc, tilesToSkip, itemsOfTile);
  tilegpu::SkipOp::create(builder, loc, chan, count);
}

// Rounds of as many tiles as there are groups. Where the last one is not full, the groups without a tile take and pass
// their turn all the same, so that all take it equally often.
void Alternation::dealOut() {
  builder.setInsertionPoint(tiles);
  Value group = tilegpu::GroupOp::create(builder, loc, builder.getIndexType());
  Value others = arith::ConstantIndexOp::create(builder, loc, groups - 1);
  Value all = arith::ConstantIndexOp::create(builder, loc, groups);
  SmallVector<std::pair<Value, Value>> counts;
  for (auto &[chan, items] : rings) {
    counts.push_back({chan, itemsOf(items)});
    skip(chan, group, counts.back().second);
  }
  Value step = arith::MulIOp::create(builder, loc, tiles.getStep(), all);
  Value offset = arith::MulIOp::create(builder, loc, tiles.getStep(), group);
  auto rounds = scf::ForOp::create(builder, loc, tiles.getLowerBound(), tiles.getUpperBound(), step);
  rounds->setDiscardableAttrs(tiles->getDiscardableAttrDictionary());
  builder.setInsertionPointToStart(rounds.getBody());
  Value tile = arith::AddIOp::create(builder, loc, rounds.getInductionVar(), offset);
  Value exists = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, tile, tiles.getUpperBound());
  auto branch = scf::IfOp::create(builder, loc, exists, /*withElseRegion=*/true);
  builder.setInsertionPointToStart(branch.elseBlock());
  tilegpu::TurnTakeOp::create(builder, loc);
  tilegpu::TurnPassOp::create(builder, loc);
  tiles.getInductionVar().replaceAllUsesWith(tile);
  Block *body = branch.thenBlock();
  Block &old = *tiles.getBody();
  body->getOperations().splice(Block::iterator(body->getTerminator()), old.getOperations(), old.begin(),
                               Block::iterator(old.getTerminator()));
  // In the turn still: what comes behind it may take long.
  for (Operation &op : *body)
    if (isa<tilegpu::TurnPassOp>(op)) {
      builder.setInsertionPointAfter(&op);
      break;
    }
  for (auto [chan, count] : counts)
    skip(chan, others, count);
  tiles.erase();
}

bool tilec::alternateGroups(tilegpu::ProcessOp process, int64_t groups) { return Alternation(process, groups).run(); }
