// A loop of products becomes
//
//   if (lower < upper) {
//     first iteration: start
//     for (the others) { start onto the one before; settle that one, release its items }
//     pass the turn; wait; release
//   } else { pass the turn }
#include "ChainProducts.h"

#include "LoopProducts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace tilec;

namespace {

class Chain {
public:
  explicit Chain(scf::ForOp loop) : loop(loop), builder(loop), loc(loop.getLoc()) {}

  bool matches();
  void build();

private:
  Value startIteration(Value iteration, Value accumulator, SmallVectorImpl<Value> &slots);
  void release(ValueRange slots);
  scf::ForOp buildOthers();

  scf::ForOp loop;
  OpBuilder builder;
  Location loc;
  tilegpu::MmaOp product;
  SmallVector<tilegpu::ReleaseOp, 1> releases;
};

} // namespace

// The body receives items, starts one product onto the loop's only carried tile, and releases the items.
bool Chain::matches() {
  SmallVector<tilegpu::MmaOp> products = productsOf(*loop.getBody());
  if (products.size() != 1 || loop.getNumResults() != 1)
    return false;
  product = products.front();
  bool addsUp = product.getAcc() == loop.getRegionIterArg(0) && loop.getRegionIterArg(0).hasOneUse() &&
                product.getResult().hasOneUse() && loop.getYieldedValues()[0] == product.getResult();
  if (!addsUp || product.getFirst() || !canStart(product) || !isa<tilegpu::SmemType>(product.getA().getType()))
    return false;
  for (Operation *op = product->getNextNode(); op != loop.getBody()->getTerminator(); op = op->getNextNode()) {
    auto release = dyn_cast<tilegpu::ReleaseOp>(op);
    if (!release || !isa_and_nonnull<tilegpu::ReceiveOp>(release.getSlot().getDefiningOp()) ||
        release.getSlot().getParentBlock() != loop.getBody())
      return false;
    // The next item needs a slot beside the one that is held.
    if (cast<tilegpu::ChanType>(release.getChan().getType()).getSlots() < 2)
      return false;
    releases.push_back(release);
  }
  return true;
}

// Clones the body up to its releases; the started product, and the items to release behind it.
Value Chain::startIteration(Value iteration, Value accumulator, SmallVectorImpl<Value> &slots) {
  IRMapping map;
  map.map(loop.getInductionVar(), iteration);
  map.map(loop.getRegionIterArg(0), accumulator);
  for (Operation &op : *loop.getBody()) {
    Operation *copy = builder.clone(op, map);
    if (&op != product)
      continue;
    auto start = cast<tilegpu::MmaOp>(copy);
    start.getResult().setType(tilegpu::PendingType::get(builder.getContext(), product.getTileType()));
    for (tilegpu::ReleaseOp release : releases)
      slots.push_back(map.lookup(release.getSlot()));
    return start.getResult();
  }
  llvm_unreachable("the product is in the loop");
}

void Chain::release(ValueRange slots) {
  for (auto [slot, release] : llvm::zip_equal(slots, releases))
    tilegpu::ReleaseOp::create(builder, loc, slot, release.getChan());
}

// The loop behind the first iteration carries the product under way, and the items of the iteration before.
scf::ForOp Chain::buildOthers() {
  SmallVector<Value> carried(1);
  carried[0] = startIteration(loop.getLowerBound(), loop.getInits()[0], carried);
  Value second = builder.createOrFold<arith::AddIOp>(loc, loop.getLowerBound(), loop.getStep());
  auto others = scf::ForOp::create(builder, loc, second, loop.getUpperBound(), loop.getStep(), carried);
  others->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(others.getBody());
  SmallVector<Value> next(1);
  next[0] = startIteration(others.getInductionVar(), others.getRegionIterArg(0), next);
  tilegpu::MmaSettleOp::create(builder, loc, /*after=*/1);
  release(others.getRegionIterArgs().drop_front());
  scf::YieldOp::create(builder, loc, next);
  return others;
}

void Chain::build() {
  auto pass = dyn_cast_or_null<tilegpu::TurnPassOp>(loop->getNextNode());
  Value some =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, loop.getLowerBound(), loop.getUpperBound());
  auto branch = scf::IfOp::create(builder, loc, loop.getResultTypes(), some, /*withElseRegion=*/true);
  builder.setInsertionPointToStart(branch.elseBlock());
  if (pass)
    builder.clone(*pass);
  scf::YieldOp::create(builder, loc, loop.getInits());
  builder.setInsertionPointToStart(branch.thenBlock());
  scf::ForOp others = buildOthers();
  if (pass)
    builder.clone(*pass);
  auto wait =
      tilegpu::MmaWaitOp::create(builder, loc, loop.getResultTypes(), others.getResult(0), /*after=*/0, ValueRange());
  release(others.getResults().drop_front());
  scf::YieldOp::create(builder, loc, ValueRange(wait.getResult()));
  loop.replaceAllUsesWith(branch.getResults());
  if (pass)
    pass.erase();
  loop.erase();
}

bool tilec::chainProducts(scf::ForOp loop) {
  Chain chain(loop);
  if (!chain.matches())
    return false;
  chain.build();
  return true;
}
