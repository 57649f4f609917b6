// Products with factors that are usually one: a vote of the warp decides whether they are computed.
#include "LowerRescale.h"
#include "ScalarOps.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tilec/Dialect/Tile/AttributeNames.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tilec;

// A factor that is the same along a dimension.
static unsigned factorOf(Operation *op) { return op->getOperand(1).getDefiningOp<tile::BroadcastOp>() ? 1 : 0; }

bool tilec::isUsualRescale(Operation *op) {
  return isa<arith::MulFOp>(op) && op->hasAttr(tile::usuallyOneName) && Lowering::isTile(op->getResult(0)) &&
         op->getOperand(factorOf(op)).getDefiningOp<tile::BroadcastOp>();
}

LogicalResult tilec::lowerRescale(Lowering &lowering, arith::MulFOp op) {
  OpBuilder &builder = lowering.builder;
  Location loc = lowering.loc();
  unsigned number = factorOf(op);
  ArrayRef<Value> factors = lowering.lowered(op->getOperand(number)),
                  tile = lowering.lowered(op->getOperand(1 - number));
  llvm::SmallSetVector<Value, 4> different(factors.begin(), factors.end());
  Value one = arith::ConstantOp::create(builder, loc, builder.getFloatAttr(factors.front().getType(), 1)), changes;
  for (Value factor : different) {
    // NaN changes the tile as well.
    Value differs = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNE, factor, one);
    changes = changes ? Value(arith::OrIOp::create(builder, loc, changes, differs)) : differs;
  }
  Value all = lowering.constant32(-1);
  Value vote = NVVM::VoteSyncOp::create(builder, loc, builder.getI1Type(), all, changes, NVVM::VoteSyncKind::any);
  SmallVector<Type> types(tile.size(), tile.front().getType());
  auto branch = scf::IfOp::create(builder, loc, types, vote, /*withElseRegion=*/true);
  ScalarOps scalars(builder, loc, lowering.machine);
  Type element = getElementTypeOrSelf(op.getType());
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    SmallVector<Value> products;
    for (auto [factor, value] : llvm::zip_equal(factors, tile)) {
      FailureOr<Value> product = scalars.emit(op, {factor, value}, element);
      if (failed(product))
        return failure();
      products.push_back(*product);
    }
    scf::YieldOp::create(builder, loc, products);
    builder.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(builder, loc, tile);
  }
  lowering.set(op.getResult(), Registers(branch.getResults().begin(), branch.getResults().end()));
  return success();
}
