// order-products: where products of a loop start, are waited for and give up their slots; turns of consumer groups.
#include "ChainProducts.h"
#include "LoopProducts.h"
#include "OwnTrips.h"
#include "mlir/IR/IRMapping.h"
#include "tilec/Transforms/AxisClasses.h"
#include "tilec/Transforms/Passes.h"
#include "llvm/ADT/SetVector.h"

namespace tilec {
#define GEN_PASS_DEF_ORDERPRODUCTS
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

namespace {

// A product that is started here and ends at its wait.
struct StartedProduct {
  tilegpu::MmaOp start;
  tilegpu::MmaWaitOp wait;
};

// Replaces a complete product by its start and, right behind it, its wait.
StartedProduct startProduct(tilegpu::MmaOp product) {
  OpBuilder builder(product);
  auto start = cast<tilegpu::MmaOp>(builder.clone(*product));
  RankedTensorType tile = product.getTileType();
  start.getResult().setType(tilegpu::PendingType::get(product.getContext(), tile));
  auto wait = tilegpu::MmaWaitOp::create(builder, product.getLoc(), TypeRange(tile), start.getResult(), /*after=*/0,
                                         ValueRange());
  product.getResult().replaceAllUsesWith(wait.getResult());
  product.erase();
  return {start, wait};
}

// The body of a loop with two products of which neither needs the other, and vector work that needs the first alone.
class OverlappedBody {
public:
  explicit OverlappedBody(scf::ForOp loop) : loop(loop), dependences(*loop.getBody()) {}

  // Reorders the body; false, and nothing changed, if there is nothing to gain or an operation stands in the way.
  bool run() {
    SmallVector<tilegpu::MmaOp> products = productsOf(*loop.getBody());
    if (products.size() != 2 || !dependences.areKnown() || !llvm::all_of(products, canStart))
      return false;
    first = products[0];
    second = products[1];
    if (dependences.isBefore(first, second) || !hasExclusiveWork() || !rank())
      return false;
    place();
    return true;
  }

  tilegpu::MmaOp firstStart() { return first; }
  tilegpu::MmaOp secondStart() { return second; }

private:
  // The order of an iteration: what the starts need, each in front of its start; what needs the first product; what
  // needs the second.
  enum Rank { BeforeFirst, First, BeforeSecond, Second, AfterFirst, BetweenWaits, AfterSecond, Last };

  bool hasExclusiveWork() {
    return llvm::any_of(*loop.getBody(), [&](Operation &op) {
      return isVectorWork(&op) && dependences.isBefore(first, &op) && !dependences.isBefore(second, &op);
    });
  }

  // What gives the next iteration's register operand its elements: it must not be written while the second product,
  // which reads the same registers, is under way (ptxas then serialises all products, C7513). Only operations on narrow
  // elements: what they are made from may be computed before.
  void collectPacks() {
    for (tilegpu::MmaOp product : {first, second}) {
      auto carried = dyn_cast<BlockArgument>(product.getA());
      if (!carried || carried.getOwner() != loop.getBody() || carried == loop.getInductionVar())
        continue;
      Operation *op = loop.getYieldedValues()[carried.getArgNumber() - 1].getDefiningOp();
      while (op && op->getBlock() == loop.getBody() && isNarrowTile(op->getResult(0))) {
        packs.insert(op);
        op = op->getNumOperands() ? op->getOperand(0).getDefiningOp() : nullptr;
      }
    }
  }

  static bool isNarrowTile(Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && type.getElementType().isIntOrFloat() && type.getElementType().getIntOrFloatBitWidth() < 32;
  }

  Rank rankOf(Operation *op) {
    bool afterFirst = op != first && dependences.isBefore(first, op);
    bool afterSecond = op != second && dependences.isBefore(second, op);
    bool packed =
        packs.contains(op) || llvm::any_of(packs, [&](Operation *pack) { return dependences.isBefore(pack, op); });
    if (op == first)
      return First;
    if (op == second)
      return Second;
    if (afterSecond || packed)
      return isa<tilegpu::ReleaseOp>(op) ? AfterSecond : Last;
    if (afterFirst)
      return isa<tilegpu::ReleaseOp>(op) ? AfterFirst : BetweenWaits;
    if (dependences.isBefore(op, first))
      return BeforeFirst;
    return dependences.isBefore(op, second) ? BeforeSecond : BetweenWaits;
  }

  // False if the order would break a dependence.
  bool rank() {
    collectPacks();
    for (Operation &op : loop.getBody()->without_terminator())
      ranks[&op] = rankOf(&op);
    for (auto [before, after] : dependences.edges())
      if (ranks.lookup(before) > ranks.lookup(after))
        return false;
    return true;
  }

  // Tiles that are computed between the waits and packed behind the second pass through it.
  SmallVector<Value> tilesThroughWait() {
    llvm::SetVector<Value> tiles;
    for (Operation *pack : packs)
      for (Value operand : pack->getOperands())
        if (Operation *op = operand.getDefiningOp();
            op && ranks.lookup(op) == BetweenWaits && op->getBlock() == loop.getBody() && tilec::rankOf(operand) > 1)
          tiles.insert(operand);
    return tiles.takeVector();
  }

  void place() {
    SmallVector<Value> through = tilesThroughWait();
    SmallVector<Operation *> order;
    for (Operation &op : loop.getBody()->without_terminator())
      order.push_back(&op);
    llvm::stable_sort(order, [&](Operation *a, Operation *b) { return ranks.lookup(a) < ranks.lookup(b); });
    Operation *terminator = loop.getBody()->getTerminator();
    for (Operation *op : order)
      op->moveBefore(terminator);
    // The first operation behind each wait.
    auto firstFrom = [&](Rank rank) {
      auto *found = llvm::find_if(order, [&](Operation *op) { return ranks.lookup(op) >= rank; });
      return found == order.end() ? terminator : *found;
    };
    Operation *behindFirst = firstFrom(AfterFirst), *behindSecond = firstFrom(AfterSecond);
    StartedProduct one = startProduct(first), other = startProduct(second);
    one.wait->moveBefore(behindFirst);
    one.wait.setAfter(1);
    other.wait->moveBefore(behindSecond);
    first = one.start;
    second = other.start;
    if (through.empty())
      return;
    // A third group keeps the Tensor Cores busy meanwhile.
    constexpr int64_t mostGroups = 2;
    if (loop->getParentOfType<tilegpu::KernelOp>().getGroups() <= mostGroups)
      holdReleases(order, other.wait, through);
    SmallVector<Type> types = {other.wait.getResult().getType()};
    llvm::append_range(types, ValueRange(through).getTypes());
    OpBuilder builder(other.wait);
    auto wait = tilegpu::MmaWaitOp::create(builder, other.wait.getLoc(), types, other.wait.getPending(),
                                           other.wait.getAfter(), through);
    other.wait.getResult().replaceAllUsesWith(wait.getResult());
    for (auto [before, after] : llvm::zip(through, wait.getPassed()))
      before.replaceUsesWithIf(after, [&](OpOperand &use) { return packs.contains(use.getOwner()); });
    other.wait.erase();
  }

  // Items of the first product are released behind the work between the waits, so that the second wait is: nothing
  // else keeps ptxas from waiting before the work has begun. Behind the sum of a row half of it has been done; the rest
  // is left to do together with what needs the second product.
  void holdReleases(ArrayRef<Operation *> order, Operation *wait, ArrayRef<Value> through) {
    Value behind = through.back();
    for (Operation *op : order)
      if (auto reduce = dyn_cast<tile::ReduceOp>(op);
          reduce && ranks.lookup(op) == BetweenWaits && llvm::is_contained(through, reduce.getInput()))
        behind = reduce.getResult();
    for (Operation *op : order) {
      auto release = dyn_cast<tilegpu::ReleaseOp>(op);
      if (!release || ranks.lookup(op) != AfterFirst)
        continue;
      release.getBehindMutable().assign(behind);
      release->moveBefore(wait);
    }
  }

  scf::ForOp loop;
  BodyDependences dependences;
  tilegpu::MmaOp first, second;
  llvm::SetVector<Operation *> packs;
  llvm::DenseMap<Operation *, int> ranks;
};

// Turns around the products of a loop.
class LoopTurns {
public:
  explicit LoopTurns(scf::ForOp loop) : loop(loop) {}

  // Both products of an iteration start in one turn.
  void around(tilegpu::MmaOp first, tilegpu::MmaOp last) {
    OpBuilder builder(first);
    tilegpu::TurnTakeOp::create(builder, loop.getLoc());
    builder.setInsertionPointAfter(last);
    tilegpu::TurnPassOp::create(builder, loop.getLoc());
  }

  // Outside its longest stretch of vector work between two products, which may reach over the end of an iteration, a
  // group has its turn. Turns that last over the end of an iteration begin before the loop and end behind it. False if
  // there is no vector work.
  bool outsideVectorWork() {
    SmallVector<tilegpu::MmaOp> products = productsOf(*loop.getBody());
    SmallVector<int64_t> work(products.size() + 1);
    size_t number = 0;
    for (Operation &op : *loop.getBody()) {
      if (number < products.size() && &op == products[number])
        ++number;
      else
        work[number] += vectorWork(&op);
    }
    // work[0] and the last are one stretch, over the end of an iteration.
    work.back() += work.front();
    size_t longest = std::max_element(work.begin() + 1, work.end()) - work.begin();
    if (work[longest] == 0)
      return false;
    bool wraps = longest < products.size();
    tilegpu::MmaOp next = products[wraps ? longest : 0], last = products[longest - 1];
    OpBuilder builder(next);
    tilegpu::TurnTakeOp::create(builder, loop.getLoc());
    builder.setInsertionPointAfter(canStart(last) ? startProduct(last).start : last);
    tilegpu::TurnPassOp::create(builder, loop.getLoc());
    if (!wraps)
      return true;
    builder.setInsertionPoint(loop);
    tilegpu::TurnTakeOp::create(builder, loop.getLoc());
    builder.setInsertionPointAfter(loop);
    tilegpu::TurnPassOp::create(builder, loop.getLoc());
    return true;
  }

private:
  scf::ForOp loop;
};

// Items that a group does not need stand for iterations, each with its turn, which comes first: another group may need
// it for the next item to come.
void passTurns(scf::ForOp drain) {
  OpBuilder builder(drain.getContext());
  builder.setInsertionPointToStart(drain.getBody());
  tilegpu::TurnTakeOp::create(builder, drain.getLoc());
  tilegpu::TurnPassOp::create(builder, drain.getLoc());
}

// All groups of a process run a loop that receives items equally often, with what they drain behind it: they receive
// the same ones.
bool isUniform(scf::ForOp loop) {
  return llvm::any_of(*loop.getBody(), [](Operation &op) { return isa<tilegpu::ReceiveOp>(op); });
}

struct OrderProductsPass : tilec::impl::OrderProductsBase<OrderProductsPass> {
  void runOnOperation() override {
    bool alternate = getOperation().getPlan().get("alternate") != nullptr;
    auto turns = getOperation().getPlan().getAs<BoolAttr>("turns");
    for (auto process : getOperation().getOps<tilegpu::ProcessOp>()) {
      SmallVector<scf::ForOp> loops;
      process.walk([&](scf::ForOp loop) {
        if (isProductLoop(loop))
          loops.push_back(loop);
      });
      bool takesTurns = turns && turns.getValue() && process.getReplicas() > 1;
      for (scf::ForOp loop : loops)
        if (!alternate || !chainProducts(loop))
          order(loop, takesTurns && isUniform(loop));
    }
  }

  static void order(scf::ForOp loop, bool takesTurns) {
    OverlappedBody body(loop);
    bool overlapped = body.run();
    if (!takesTurns)
      return;
    LoopTurns turns(loop);
    bool taken = true;
    if (overlapped)
      turns.around(body.firstStart(), body.secondStart());
    else
      taken = turns.outsideVectorWork();
    if (scf::ForOp drain = drainOf(loop); drain && taken)
      passTurns(drain);
  }
};

} // namespace
