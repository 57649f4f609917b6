// scf.for, scf.if and scf.while with tiles expanded into registers.
#include "Lowering.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tilec/Dialect/Tile/AttributeNames.h"

using namespace mlir;
using namespace tilec;

namespace {

// Values of the source program in one list of lowered values.
struct Expansion {
  SmallVector<Value> values;
  SmallVector<Type> types() const {
    SmallVector<Type> result;
    for (Value value : values)
      result.push_back(value.getType());
    return result;
  }
};

Expansion expand(const Lowering &lowering, ValueRange sources) {
  Expansion expansion;
  for (Value source : sources)
    llvm::append_range(expansion.values, lowering.lowered(source));
  return expansion;
}

// Hands `flat` out to `targets`, each taking as many values as its counterpart in `like` has.
void distribute(Lowering &lowering, ValueRange targets, ValueRange like, ValueRange flat) {
  unsigned next = 0;
  for (auto [target, source] : llvm::zip(targets, like)) {
    unsigned count = lowering.lowered(source).size();
    Registers registers(flat.begin() + next, flat.begin() + next + count);
    next += count;
    lowering.set(target, std::move(registers));
  }
}

// Types of the registers of a value that has not been lowered yet.
SmallVector<Type> registerTypes(Value value) {
  if (!Lowering::isTile(value))
    return {value.getType()};
  Type element = cast<RankedTensorType>(value.getType()).getElementType();
  return SmallVector<Type>(Lowering::layoutOf(value).numRegisters(), Lowering::registerType(element));
}

void distributeByType(Lowering &lowering, ValueRange targets, ValueRange flat) {
  unsigned next = 0;
  for (Value target : targets) {
    unsigned count = registerTypes(target).size();
    lowering.set(target, Registers(flat.begin() + next, flat.begin() + next + count));
    next += count;
  }
}

} // namespace

LogicalResult Lowering::lowerFor(Operation *op) {
  auto loop = cast<scf::ForOp>(op);
  Expansion inits = expand(*this, loop.getInitArgs());
  auto copy = scf::ForOp::create(builder, location, scalar(loop.getLowerBound()), scalar(loop.getUpperBound()),
                                 scalar(loop.getStep()), inits.values);
  if (Attribute factor = loop->getAttr(tile::unrollName))
    copy->setAttr(tile::unrollName, factor);
  setScalar(loop.getInductionVar(), copy.getInductionVar());
  distribute(*this, loop.getRegionIterArgs(), loop.getInitArgs(), copy.getRegionIterArgs());
  OpBuilder::InsertionGuard guard(builder);
  Block *body = copy.getBody();
  if (!body->empty())
    body->back().erase();
  builder.setInsertionPointToEnd(body);
  if (failed(lowerBlock(*loop.getBody())))
    return failure();
  scf::YieldOp::create(builder, location, expand(*this, loop.getYieldedValues()).values);
  distribute(*this, loop.getResults(), loop.getInitArgs(), copy.getResults());
  return success();
}

LogicalResult Lowering::lowerIf(Operation *op) {
  auto branch = cast<scf::IfOp>(op);
  SmallVector<Type> types;
  for (Value result : branch.getResults())
    llvm::append_range(types, registerTypes(result));
  bool hasElse = !branch.getElseRegion().empty();
  auto copy = scf::IfOp::create(builder, location, types, scalar(branch.getCondition()), /*addThenBlock=*/true,
                                /*addElseBlock=*/hasElse);
  for (unsigned r = 0; r < (hasElse ? 2u : 1u); ++r) {
    OpBuilder::InsertionGuard guard(builder);
    Block *body = &copy->getRegion(r).front();
    if (!body->empty())
      body->back().erase();
    builder.setInsertionPointToEnd(body);
    Block &source = branch->getRegion(r).front();
    if (failed(lowerBlock(source)))
      return failure();
    scf::YieldOp::create(builder, location, expand(*this, source.getTerminator()->getOperands()).values);
  }
  distributeByType(*this, branch.getResults(), copy.getResults());
  return success();
}

LogicalResult Lowering::lowerWhile(Operation *op) {
  auto loop = cast<scf::WhileOp>(op);
  Expansion inits = expand(*this, loop.getInits());
  SmallVector<Type> types;
  for (Value result : loop.getResults())
    llvm::append_range(types, registerTypes(result));
  auto copy = scf::WhileOp::create(builder, location, types, inits.values);
  SmallVector<Type> argumentTypes[2] = {inits.types(), types};
  for (unsigned r : {0u, 1u}) {
    OpBuilder::InsertionGuard guard(builder);
    Block &source = loop->getRegion(r).front();
    Block *body = builder.createBlock(&copy->getRegion(r), {}, argumentTypes[r],
                                      SmallVector<Location>(argumentTypes[r].size(), location));
    distributeByType(*this, source.getArguments(), body->getArguments());
    if (failed(lowerBlock(source)))
      return failure();
    if (r == 0)
      scf::ConditionOp::create(builder, location, scalar(loop.getConditionOp().getCondition()),
                               expand(*this, loop.getConditionOp().getArgs()).values);
    else
      scf::YieldOp::create(builder, location, expand(*this, source.getTerminator()->getOperands()).values);
  }
  distributeByType(*this, loop.getResults(), copy.getResults());
  return success();
}
