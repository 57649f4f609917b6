// Work that rows usually do not need: a vote of the warp decides whether it is done.
#include "UsualWork.h"
#include "ScalarOps.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tilec/Dialect/Tile/AttributeNames.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tilec;

// A factor that is the same along a dimension.
static unsigned factorOf(Operation *op) { return op->getOperand(1).getDefiningOp<tile::BroadcastOp>() ? 1 : 0; }

bool tilec::hasFewConditions(arith::SelectOp op) {
  return Lowering::isTile(op.getCondition()) && op.getCondition().getDefiningOp<tile::BroadcastOp>();
}

bool tilec::isUsuallyNothing(Operation *op) {
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return op->hasAttr(usuallyTrue) && hasFewConditions(select);
  return isa<arith::MulFOp>(op) && op->hasAttr(tile::usuallyOneName) && Lowering::isTile(op->getResult(0)) &&
         op->getOperand(factorOf(op)).getDefiningOp<tile::BroadcastOp>();
}

// i1: the work changes something. NaN as a factor does.
static Value isNeeded(OpBuilder &builder, Location loc, Value decider) {
  if (decider.getType().isInteger(1))
    return arith::XOrIOp::create(builder, loc, decider, arith::ConstantIntOp::create(builder, loc, 1, 1));
  Value one = arith::ConstantOp::create(builder, loc, builder.getFloatAttr(decider.getType(), 1));
  return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNE, decider, one);
}

LogicalResult tilec::lowerUsuallyNothing(Lowering &lowering, Operation *op) {
  OpBuilder &builder = lowering.builder;
  Location loc = lowering.loc();
  auto select = dyn_cast<arith::SelectOp>(op);
  unsigned number = select ? 0 : factorOf(op);
  ArrayRef<Value> deciders = lowering.lowered(op->getOperand(number)),
                  tile = lowering.lowered(op->getOperand(1 - number));
  llvm::SmallSetVector<Value, 4> different(deciders.begin(), deciders.end());
  Value changes;
  for (Value decider : different) {
    Value needed = isNeeded(builder, loc, decider);
    changes = changes ? Value(arith::OrIOp::create(builder, loc, changes, needed)) : needed;
  }
  Value all = lowering.constant32(-1);
  Value vote = NVVM::VoteSyncOp::create(builder, loc, builder.getI1Type(), all, changes, NVVM::VoteSyncKind::any);
  SmallVector<Type> types(tile.size(), tile.front().getType());
  auto branch = scf::IfOp::create(builder, loc, types, vote, /*withElseRegion=*/true);
  ScalarOps scalars(builder, loc, lowering.machine);
  Type element = getElementTypeOrSelf(op->getResult(0).getType());
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    SmallVector<Value> results;
    for (size_t i = 0; i < tile.size(); ++i) {
      SmallVector<Value, 3> operands = {deciders[i], tile[i]};
      if (select) {
        ArrayRef<Value> others = lowering.lowered(select.getFalseValue());
        operands.push_back(others.size() == 1 ? others.front() : others[i]);
      }
      FailureOr<Value> result = scalars.emit(op, operands, element);
      if (failed(result))
        return failure();
      results.push_back(*result);
    }
    scf::YieldOp::create(builder, loc, results);
    builder.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(builder, loc, tile);
  }
  lowering.set(op->getResult(0), Registers(branch.getResults().begin(), branch.getResults().end()));
  return success();
}
