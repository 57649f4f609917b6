// Vectors that come with the units of an epilogue.
#include "LateVector.h"

#include "ScalarOps.h"
#include "UsualWork.h"
#include "tilec/Machine/ConsumerRegisters.h"

using namespace mlir;
using namespace tilec;

static bool isCast(Operation *op) { return isa_and_nonnull<arith::ExtFOp, arith::TruncFOp, tile::CastOp>(op); }

tile::LoadOp tilec::matchLateVector(tile::BroadcastOp broadcast) {
  // A row's elements that a thread has are few.
  constexpr size_t leastRegisters = 16;
  if (!Lowering::isTile(broadcast.getInput()) ||
      Lowering::layoutOf(broadcast.getResult()).numRegisters() < manyAccumulators ||
      Lowering::layoutOf(broadcast.getInput()).numRegisters() < leastRegisters)
    return nullptr;
  Value vector = broadcast.getInput();
  while (isCast(vector.getDefiningOp()) && vector.hasOneUse())
    vector = vector.getDefiningOp()->getOperand(0);
  auto load = vector.getDefiningOp<tile::LoadOp>();
  bool isLoad = load && vector.hasOneUse() && isMemoryEffectFree(load) && !load.getOtherwise() &&
                load->getBlock() == broadcast->getBlock();
  bool isTaken = llvm::all_of(broadcast->getUsers(), [&](Operation *user) {
    return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp>(user) && user->getBlock() == broadcast->getBlock() &&
           !isUsuallyNothing(user);
  });
  return isLoad && isTaken ? load : tile::LoadOp();
}

bool tilec::isPartOfLateVector(Operation *op) {
  while ((isa<tile::LoadOp>(op) || isCast(op)) && op->hasOneUse())
    op = *op->user_begin();
  auto broadcast = dyn_cast<tile::BroadcastOp>(op);
  return broadcast && matchLateVector(broadcast);
}

LateVector::LateVector(Lowering &lowering, tile::BroadcastOp broadcast) : lowering(lowering) {
  for (Value vector = broadcast.getInput(); isCast(vector.getDefiningOp());
       vector = vector.getDefiningOp()->getOperand(0))
    casts.insert(casts.begin(), vector.getDefiningOp());
  sources = registersOfSlice(broadcast);
  load = std::make_unique<LoadEmitter>(lowering, matchLateVector(broadcast), /*inOrder=*/true);
}

// A unit of the epilogue may be a block of its own: what others have loaded is not there.
LogicalResult LateVector::advance(size_t end) {
  ScalarOps scalars(lowering.builder, lowering.loc(), lowering.machine);
  auto needed = ArrayRef<uint32_t>(sources).slice(values.size(), end - values.size());
  load->emit(llvm::SmallDenseSet<uint32_t>(needed.begin(), needed.end()));
  for (uint32_t source : needed) {
    Value value = load->results()[source];
    for (Operation *cast : casts) {
      FailureOr<Value> result = scalars.emit(cast, value, getElementTypeOrSelf(cast->getResult(0).getType()));
      if (failed(result))
        return failure();
      value = *result;
    }
    values.push_back(value);
  }
  return success();
}
