// delay-products: a product whose operand is made from another one's result runs one iteration later.
#include "LoopProducts.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "tilec/Transforms/AffineIndex.h"
#include "tilec/Transforms/Passes.h"
#include "llvm/ADT/SetVector.h"

namespace tilec {
#define GEN_PASS_DEF_DELAYPRODUCTS
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

namespace {

// An iteration is cut in two stages. Iteration j of the new loop runs stage 0 of j and stage 1 of j - 1:
//
//   if (first < end) {
//     stage 0 of the first iteration
//     for j = first + 1 .. end { early part of stage 0 of j; stage 1 of j - 1; late part of stage 0 of j }
//     stage 1 of the last iteration
//   }
//
// The late part of stage 0 is what uses values that stage 1 of the iteration before yields.
class DelayedLoop {
public:
  explicit DelayedLoop(scf::ForOp loop) : loop(loop), body(*loop.getBody()), dependences(body) {}

  // False, with the loop unchanged, if no product is to be delayed or something forbids it.
  bool run() {
    APInt step;
    if (!matchPattern(loop.getStep(), m_ConstantInt(&step)) || step != 1 || !dependences.areKnown())
      return false;
    if (!collectDelayed() || !collectNeeds())
      return false;
    for (auto [i, yielded] : llvm::enumerate(loop.getYieldedValues()))
      if (Operation *op = yielded.getDefiningOp(); op && delayed.contains(op))
        lateArguments.insert(loop.getRegionIterArg(i));
    collectLate();
    emit();
    return true;
  }

private:
  bool isInBody(Value value) { return value.getParentBlock() == &body; }

  // Stage 1: products with a register operand that another product feeds, all uses of their items, and what uses their
  // results.
  bool collectDelayed() {
    SmallVector<tilegpu::MmaOp> products = productsOf(body);
    llvm::SetVector<Value> channels;
    for (tilegpu::MmaOp product : products) {
      bool fed = isa<RankedTensorType>(product.getA().getType()) &&
                 llvm::any_of(products, [&](tilegpu::MmaOp other) { return dependences.isBefore(other, product); });
      if (!fed)
        continue;
      delayed.insert(product);
      for (Value operand : {product.getA(), product.getB()})
        if (isa<tilegpu::SmemType>(operand.getType()))
          if (Operation *item = itemOf(operand); item && item->getBlock() == &body)
            channels.insert(item->getOperand(0));
    }
    if (delayed.empty() || delayed.size() == products.size())
      return false;
    for (Operation &op : body.without_terminator()) {
      bool uses = llvm::any_of(op.getOperands(), [&](Value operand) {
        if (isa<tilegpu::ChanType>(operand.getType()))
          return channels.contains(operand);
        return operand.getDefiningOp() && delayed.contains(operand.getDefiningOp());
      });
      // Views of items of these channels come with their users.
      bool access = !isPure(&op) && llvm::any_of(op.getOperands(), [&](Value operand) {
        Operation *item = isa<tilegpu::SmemType>(operand.getType()) ? itemOf(operand) : nullptr;
        return item && item->getBlock() == &body && channels.contains(item->getOperand(0));
      });
      if (uses || access)
        delayed.insert(&op);
    }
    return llvm::all_of(products, [&](tilegpu::MmaOp product) { return !delayed.contains(product) || isFed(product); });
  }

  bool isFed(tilegpu::MmaOp product) { return isa<RankedTensorType>(product.getA().getType()); }

  // What stage 1 takes from its own iteration's stage 0: computed again where that costs nothing, else carried. False
  // if it would have to be a token or a buffer.
  bool collectNeeds() {
    for (Operation &op : body.without_terminator())
      if (delayed.contains(&op))
        for (Value operand : op.getOperands())
          if (!need(operand))
            return false;
    return true;
  }

  bool need(Value value) {
    Operation *op = value.getDefiningOp();
    if (value == loop.getInductionVar() || !isInBody(value) || (op && delayed.contains(op)))
      return true;
    if (op && isRepeatable(op)) {
      repeated.insert(op);
      return true;
    }
    carried.insert(value);
    return isa<RankedTensorType>(value.getType()) || value.getType().isIntOrIndexOrFloat();
  }

  // Pure scalars, axes, views and positions that follow from the iteration's number and values outside.
  bool isRepeatable(Operation *op) {
    if (repeated.contains(op))
      return true;
    if (!isPure(op) || op->getNumRegions() > 0)
      return false;
    bool cheap = llvm::all_of(op->getResults(), [](Value result) {
      auto type = dyn_cast<RankedTensorType>(result.getType());
      return !type || type.getElementType().isIndex() || type.getElementType().isInteger(1);
    });
    bool known = llvm::all_of(op->getOperands(), [&](Value operand) {
      Operation *definition = operand.getDefiningOp();
      return operand == loop.getInductionVar() || !isInBody(operand) ||
             (definition && (delayed.contains(definition) || isRepeatable(definition)));
    });
    if (!cheap || !known)
      return false;
    for (Value operand : op->getOperands())
      if (Operation *definition = operand.getDefiningOp();
          definition && isInBody(operand) && !delayed.contains(definition))
        repeated.insert(definition);
    return true;
  }

  // Stage 0 operations that follow from what stage 1 of the iteration before yields.
  void collectLate() {
    for (Operation &op : body.without_terminator())
      if (!delayed.contains(&op) && llvm::any_of(op.getOperands(), [&](Value operand) {
            return lateArguments.contains(operand) ||
                   (operand.getDefiningOp() && late.contains(operand.getDefiningOp()));
          }))
        late.insert(&op);
  }

  void cloneStage0(OpBuilder &builder, IRMapping &map, bool latePart) {
    for (Operation &op : body.without_terminator())
      if (!delayed.contains(&op) && late.contains(&op) == latePart)
        builder.clone(op, map);
  }

  // Stage 1 of the iteration `number`; `values` are those of `carried`.
  void cloneStage1(OpBuilder &builder, IRMapping &map, Value number, ValueRange values) {
    map.map(loop.getInductionVar(), number);
    map.map(carried.getArrayRef(), values);
    for (Operation &op : body.without_terminator())
      if (delayed.contains(&op) || repeated.contains(&op))
        builder.clone(op, map);
  }

  SmallVector<Value> mapped(ArrayRef<Value> values, IRMapping &map) {
    SmallVector<Value> result;
    for (Value value : values)
      result.push_back(map.lookupOrDefault(value));
    return result;
  }

  void emit() {
    Location loc = loop.getLoc();
    OpBuilder builder(loop);
    Value runs =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, loop.getLowerBound(), loop.getUpperBound());
    auto branch = scf::IfOp::create(builder, loc, loop.getResultTypes(), runs, /*addThenBlock=*/true,
                                    /*addElseBlock=*/true);
    OpBuilder otherwise = OpBuilder::atBlockEnd(branch.elseBlock());
    scf::YieldOp::create(otherwise, loc, loop.getInitArgs());
    OpBuilder inner = OpBuilder::atBlockEnd(branch.thenBlock());
    scf::YieldOp::create(inner, loc, emitStages(inner));
    loop.replaceAllUsesWith(branch.getResults());
    loop.erase();
  }

  // Returns the results of the loop.
  SmallVector<Value> emitStages(OpBuilder &builder) {
    Location loc = loop.getLoc();
    IRMapping first;
    first.map(loop.getInductionVar(), loop.getLowerBound());
    first.map(loop.getRegionIterArgs(), loop.getInitArgs());
    cloneStage0(builder, first, /*latePart=*/false);
    cloneStage0(builder, first, /*latePart=*/true);
    // What the new loop carries: results of stage 0 for its next run, then those for stage 1.
    SmallVector<unsigned> early;
    SmallVector<Value> inits;
    for (auto [i, argument] : llvm::enumerate(loop.getRegionIterArgs()))
      if (!lateArguments.contains(argument)) {
        early.push_back(i);
        inits.push_back(first.lookupOrDefault(loop.getYieldedValues()[i]));
      }
    llvm::append_range(inits, mapped(carried.getArrayRef(), first));
    Value one = loop.getStep();
    Value second = arith::AddIOp::create(builder, loc, loop.getLowerBound(), one);
    auto copy = scf::ForOp::create(builder, loc, second, loop.getUpperBound(), one, inits);
    copy->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
    emitBody(copy, early);
    Value last = arith::SubIOp::create(builder, loc, loop.getUpperBound(), one);
    IRMapping end;
    cloneStage1(builder, end, last, copy.getResults().drop_front(early.size()));
    SmallVector<Value> results(loop.getNumResults());
    for (auto [position, i] : llvm::enumerate(early))
      results[i] = copy.getResult(position);
    for (auto [i, argument] : llvm::enumerate(loop.getRegionIterArgs()))
      if (lateArguments.contains(argument))
        results[i] = end.lookup(loop.getYieldedValues()[i]);
    return results;
  }

  void emitBody(scf::ForOp copy, ArrayRef<unsigned> early) {
    Location loc = loop.getLoc();
    Block *block = copy.getBody();
    if (!block->empty())
      block->back().erase();
    OpBuilder builder = OpBuilder::atBlockEnd(block);
    IRMapping now, before;
    now.map(loop.getInductionVar(), copy.getInductionVar());
    for (auto [position, i] : llvm::enumerate(early))
      now.map(loop.getRegionIterArg(i), copy.getRegionIterArg(position));
    cloneStage0(builder, now, /*latePart=*/false);
    Value previous = arith::SubIOp::create(builder, loc, copy.getInductionVar(), loop.getStep());
    cloneStage1(builder, before, previous, ValueRange(copy.getRegionIterArgs()).drop_front(early.size()));
    // Only the last iteration's tile may be ragged, and its stage 1 stands behind the loop.
    for (Operation &op : body)
      if (auto tail = dyn_cast<tilegpu::ZeroTailOp>(op); tail && isWholeBeforeLast(tail))
        before.lookup(&op)->erase();
    for (auto [i, argument] : llvm::enumerate(loop.getRegionIterArgs()))
      if (lateArguments.contains(argument))
        now.map(argument, before.lookup(loop.getYieldedValues()[i]));
    cloneStage0(builder, now, /*latePart=*/true);
    SmallVector<Value> yielded;
    for (unsigned i : early)
      yielded.push_back(now.lookupOrDefault(loop.getYieldedValues()[i]));
    llvm::append_range(yielded, mapped(carried.getArrayRef(), now));
    scf::YieldOp::create(builder, loc, yielded);
  }

  // first = min(j * extent + extent, limit) - j * extent in a loop of ceil(limit / extent) iterations.
  bool isWholeBeforeLast(tilegpu::ZeroTailOp tail) {
    auto count = loop.getUpperBound().getDefiningOp<arith::CeilDivSIOp>();
    auto present = tail.getFirst().getDefiningOp<arith::SubIOp>();
    APInt extent;
    if (!count || !present || !matchPattern(count.getRhs(), m_ConstantInt(&extent)) || !delayed.contains(tail))
      return false;
    LinearSum start = linearSum(present.getRhs());
    bool steps = start.constant == 0 && start.terms.size() == 1 && start.terms[0].first == loop.getInductionVar() &&
                 start.terms[0].second == extent.getSExtValue();
    return steps && llvm::any_of(tileEnds(present.getLhs(), start), [&](const TileEnd &reading) {
             return reading.width == extent.getSExtValue() && reading.limit == count.getLhs();
           });
  }

  scf::ForOp loop;
  Block &body;
  BodyDependences dependences;
  llvm::SetVector<Operation *> delayed, repeated, late;
  llvm::SetVector<Value> carried, lateArguments;
};

struct DelayProductsPass : tilec::impl::DelayProductsBase<DelayProductsPass> {
  void runOnOperation() override {
    auto delay = getOperation().getPlan().getAs<BoolAttr>("delay");
    if (!delay || !delay.getValue())
      return;
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) {
      if (isProductLoop(loop))
        loops.push_back(loop);
    });
    for (scf::ForOp loop : loops)
      if (!DelayedLoop(loop).run())
        loop.emitRemark() << getOperation().getSymName() << ": no product of this loop runs under the vector work";
  }
};

} // namespace
