// scf.for, scf.if and scf.while with tiles expanded into registers.
#include "Lowering.h"
#include "MmaEmitter.h"
#include "NarrowCounters.h"
#include "TileQueue.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tilec/Dialect/Tile/AttributeNames.h"
#include "tilec/Transforms/StagedStore.h"

using namespace mlir;
using namespace tilec;

namespace {

// What an operand of a loop, a branch or one of their terminators becomes behind the edge; null for other operands.
Value arrival(OpOperand &use) {
  Operation *owner = use.getOwner();
  unsigned number = use.getOperandNumber();
  if (auto loop = dyn_cast<scf::ForOp>(owner))
    return loop.getTiedLoopResult(&use);
  if (auto loop = dyn_cast<scf::WhileOp>(owner))
    return loop.getBeforeArguments()[number];
  if (isa<scf::ConditionOp>(owner))
    return owner->getParentOp()->getResult(number - 1);
  if (!isa<scf::YieldOp>(owner))
    return nullptr;
  if (auto loop = dyn_cast<scf::WhileOp>(owner->getParentOp()))
    return loop.getBeforeArguments()[number];
  return owner->getParentOp()->getResult(number);
}

// A loop's result and the argument of its body are what arrives over the same edges.
Value twin(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    if (auto loop = dyn_cast<scf::ForOp>(parent))
      return loop.getTiedLoopResult(argument);
    auto loop = dyn_cast<scf::WhileOp>(parent);
    return loop && argument.getOwner() == loop.getAfterBody() ? Value(loop.getResult(argument.getArgNumber()))
                                                              : Value();
  }
  auto result = dyn_cast<OpResult>(value);
  if (auto loop = value.getDefiningOp<scf::ForOp>())
    return loop.getTiedLoopRegionIterArg(result);
  auto loop = value.getDefiningOp<scf::WhileOp>();
  return loop ? Value(loop.getAfterArguments()[result.getResultNumber()]) : Value();
}

// Whether all uses of what arrives with a value, and behind further edges, are operands of products.
bool feedsProducts(Value value, SmallPtrSetImpl<Value> &visited) {
  if (!value || !visited.insert(value).second)
    return true;
  return feedsProducts(twin(value), visited) && llvm::all_of(value.getUses(), [&](OpOperand &use) {
           if (auto mma = dyn_cast<tilegpu::MmaOp>(use.getOwner()))
             return use.get() != mma.getAcc();
           Value next = arrival(use);
           return next && feedsProducts(next, visited);
         });
}

// How the registers of a value cross an edge. Products take elements of 8 and 16 bits as words of 32 bits, which
// conversions and loads make; LLVM would keep scalars that cross an edge apart. Other uses would have to unpack them.
struct Carried {
  SmallVector<Type> types;
  /// The type of the registers, if they are packed into words.
  Type packed;

  /// `arriving`: a value behind the edge.
  explicit Carried(Value arriving) {
    Type type = arriving.getType();
    if (auto pending = dyn_cast<tilegpu::PendingType>(type))
      type = pending.getTile();
    if (isa<tilegpu::SlotType>(type))
      type = IntegerType::get(type.getContext(), 32);
    Type element = Lowering::registerType(getElementTypeOrSelf(type));
    size_t count = isa<RankedTensorType>(type) ? tilegpu::layoutOf(type).getLayout().numRegisters() : 1;
    unsigned bits = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 0;
    SmallPtrSet<Value, 8> visited;
    if ((bits == 8 || bits == 16) && count % (32 / bits) == 0 && feedsProducts(arriving, visited)) {
      packed = element;
      element = IntegerType::get(type.getContext(), 32);
      count = count * bits / 32;
    }
    types.assign(count, element);
  }
};

SmallVector<Type> carriedTypes(ValueRange arriving) {
  SmallVector<Type> types;
  for (Value value : arriving)
    llvm::append_range(types, Carried(value).types);
  return types;
}

// What `sources` are on the edge to `arriving`, at the builder's insertion point.
SmallVector<Value> carry(Lowering &lowering, ValueRange sources, ValueRange arriving) {
  SmallVector<Value> values;
  for (auto [source, target] : llvm::zip_equal(sources, arriving)) {
    ArrayRef<Value> registers = lowering.lowered(source);
    if (Carried(target).packed)
      llvm::append_range(values, packRegisters(lowering.builder, lowering.loc(), registers));
    else
      llvm::append_range(values, registers);
  }
  return values;
}

// Gives `arriving` what has crossed the edge.
void arrive(Lowering &lowering, ValueRange arriving, ValueRange values) {
  for (Value target : arriving) {
    Carried carried(target);
    ValueRange own = values.take_front(carried.types.size());
    values = values.drop_front(own.size());
    lowering.set(target, carried.packed ? unpackRegisters(lowering.builder, lowering.loc(), own, carried.packed)
                                        : Registers(own.begin(), own.end()));
  }
}

} // namespace

LogicalResult Lowering::lowerFor(Operation *op) {
  auto loop = cast<scf::ForOp>(op);
  if (queueCounter && loop->hasAttr(persistentLoop))
    return lowerQueuedLoop(*this, loop);
  ValueRange arguments = loop.getRegionIterArgs();
  bool narrow = loop->hasAttr(signedCounter) || loop->hasAttr(unsignedCounter);
  bool isUnsigned = loop->hasAttr(unsignedCounter) || loop.getUnsignedCmp();
  auto bound = [&](Value value) { return narrow ? toI32(scalar(value)) : scalar(value); };
  auto copy = scf::ForOp::create(builder, location, bound(loop.getLowerBound()), bound(loop.getUpperBound()),
                                 bound(loop.getStep()), carry(*this, loop.getInitArgs(), arguments),
                                 /*bodyBuilder=*/nullptr, isUnsigned);
  if (Attribute factor = loop->getAttr(tile::unrollName))
    copy->setAttr(tile::unrollName, factor);
  {
    OpBuilder::InsertionGuard guard(builder);
    Block *body = copy.getBody();
    if (!body->empty())
      body->back().erase();
    builder.setInsertionPointToEnd(body);
    setScalar(loop.getInductionVar(), narrow ? toIndex(copy.getInductionVar()) : copy.getInductionVar());
    arrive(*this, arguments, copy.getRegionIterArgs());
    if (failed(lowerBlock(*loop.getBody())))
      return failure();
    scf::YieldOp::create(builder, location, carry(*this, loop.getYieldedValues(), arguments));
  }
  arrive(*this, loop.getResults(), copy.getResults());
  return success();
}

LogicalResult Lowering::lowerIf(Operation *op) {
  auto branch = cast<scf::IfOp>(op);
  bool hasElse = !branch.getElseRegion().empty();
  auto copy = scf::IfOp::create(builder, location, carriedTypes(branch.getResults()), scalar(branch.getCondition()),
                                /*addThenBlock=*/true, /*addElseBlock=*/hasElse);
  for (unsigned r = 0; r < (hasElse ? 2u : 1u); ++r) {
    OpBuilder::InsertionGuard guard(builder);
    Block *body = &copy->getRegion(r).front();
    if (!body->empty())
      body->back().erase();
    builder.setInsertionPointToEnd(body);
    Block &source = branch->getRegion(r).front();
    if (failed(lowerBlock(source)))
      return failure();
    scf::YieldOp::create(builder, location, carry(*this, source.getTerminator()->getOperands(), branch.getResults()));
  }
  arrive(*this, branch.getResults(), copy.getResults());
  return success();
}

LogicalResult Lowering::lowerWhile(Operation *op) {
  auto loop = cast<scf::WhileOp>(op);
  ValueRange before = loop.getBeforeArguments(), after = loop.getAfterArguments();
  auto copy = scf::WhileOp::create(builder, location, carriedTypes(after), carry(*this, loop.getInits(), before));
  for (unsigned r : {0u, 1u}) {
    OpBuilder::InsertionGuard guard(builder);
    Block &source = loop->getRegion(r).front();
    SmallVector<Type> types = carriedTypes(source.getArguments());
    Block *body = builder.createBlock(&copy->getRegion(r), {}, types, SmallVector<Location>(types.size(), location));
    arrive(*this, source.getArguments(), body->getArguments());
    if (failed(lowerBlock(source)))
      return failure();
    if (r == 0)
      scf::ConditionOp::create(builder, location, scalar(loop.getConditionOp().getCondition()),
                               carry(*this, loop.getConditionOp().getArgs(), after));
    else
      scf::YieldOp::create(builder, location, carry(*this, source.getTerminator()->getOperands(), before));
  }
  arrive(*this, loop.getResults(), copy.getResults());
  return success();
}
