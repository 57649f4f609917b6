// Widens loaded elements again after a reduction instead of keeping them wide across its barrier.
#include "Rematerialize.h"

#include "Lowering.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"
#include "tilec/Dialect/Tile/AttributeNames.h"
#include "tilec/Layout/ReductionPlan.h"

using namespace mlir;
using namespace tilec;

// Elements of two rows from which on a warp that holds them has too few others beside it if they stay wide.
static constexpr size_t manyOfPair = 64;

static bool isNarrow(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getElementType().isIntOrFloat() && type.getElementTypeBitWidth() <= 16;
}

static bool isWidening(Operation *op) {
  return isa_and_nonnull<arith::ExtFOp>(op) && isNarrow(op->getOperand(0)) &&
         op->getOperand(0).getDefiningOp<tile::LoadOp>();
}

// A constant or the same scalar in every element: no registers of its own.
static bool isUniform(Value value) {
  if (auto broadcast = value.getDefiningOp<tile::BroadcastOp>())
    return !Lowering::isTile(broadcast.getInput());
  return value.getDefiningOp<arith::ConstantOp>();
}

// The widening conversion at the root of a value that is cheap to compute again, or null.
static Operation *cheapRoot(Value value, unsigned steps) {
  Operation *op = value.getDefiningOp();
  if (isWidening(op))
    return op;
  if (steps == 0 || !op)
    return nullptr;
  if (isa<math::Exp2Op>(op))
    return cheapRoot(op->getOperand(0), steps - 1);
  if (!isa<arith::AddFOp, arith::SubFOp, arith::MulFOp>(op))
    return nullptr;
  for (unsigned i : {0u, 1u})
    if (isUniform(op->getOperand(1 - i)))
      return cheapRoot(op->getOperand(i), steps - 1);
  return nullptr;
}

// Arithmetic that may be done again beside the conversion: one operation, the centring of a row. Where a thread has
// many elements of the tensor, registers for them all cost it the company of other blocks, which is dearer than the
// exponentials of a softmax.
static bool isCheap(Value value) {
  constexpr size_t many = 32;
  constexpr unsigned centring = 1, exponential = 3;
  Operation *root = cheapRoot(value, exponential);
  if (!root || cheapRoot(value, centring))
    return root;
  auto read = root->getOperand(0).getDefiningOp<tile::LoadOp>();
  size_t elements = 0;
  for (tile::LoadOp load : read->getBlock()->getOps<tile::LoadOp>())
    if (load.getView() == read.getView() && Lowering::isTile(load.getResult()))
      elements += Lowering::layoutOf(load.getResult()).numRegisters();
  return elements >= many;
}

static Value cloneChain(OpBuilder &builder, Value value, int64_t number) {
  Operation *op = value.getDefiningOp();
  IRMapping mapping;
  if (isWidening(op)) {
    Operation *clone = builder.clone(*op);
    clone->setAttr(widenedAgain, builder.getI64IntegerAttr(number));
    return clone->getResult(0);
  }
  for (Value operand : op->getOperands())
    if (!isUniform(operand))
      mapping.map(operand, cloneChain(builder, operand, number));
  return builder.clone(*op, mapping)->getResult(0);
}

// Cheap wide values of `block` before the reduction that operations after it use.
static SmallVector<Value> valuesAcross(tile::ReduceOp reduce) {
  SmallVector<Value> values;
  for (Operation &op : *reduce->getBlock()) {
    if (&op == reduce)
      break;
    if (op.getNumResults() != 1 || !Lowering::isTile(op.getResult(0)) || !isCheap(op.getResult(0)))
      continue;
    if (llvm::any_of(op.getUsers(), [&](Operation *user) {
          return user->getBlock() == reduce->getBlock() && reduce->isBeforeInBlock(user);
        }))
      values.push_back(op.getResult(0));
  }
  return values;
}

// What a thread holds of the two rows of an iteration.
static size_t elementsOfPair(Block &block) {
  size_t elements = 0;
  for (tile::LoadOp load : block.getOps<tile::LoadOp>())
    if (load->hasAttr(tile::iterationName) && Lowering::isTile(load.getResult()))
      elements += Lowering::layoutOf(load.getResult()).numRegisters();
  return elements;
}

void tilec::widenAgainAfterReductions(tilegpu::KernelOp kernel) {
  int64_t number = 0;
  kernel.walk([&](tile::ReduceOp reduce) {
    if (!Lowering::isTile(reduce.getInput()))
      return;
    std::optional<ReductionPlan> plan = planReduction(Lowering::layoutOf(reduce.getInput()), reduce.getDim());
    if (!plan || (plan->warps.empty() && elementsOfPair(*reduce->getBlock()) < manyOfPair))
      return;
    for (Value value : valuesAcross(reduce)) {
      Operation *first = nullptr;
      for (Operation *user : value.getUsers())
        if (user->getBlock() == reduce->getBlock() && reduce->isBeforeInBlock(user) &&
            (!first || user->isBeforeInBlock(first)))
          first = user;
      OpBuilder builder(first);
      Value again = cloneChain(builder, value, ++number);
      value.replaceUsesWithIf(again, [&](OpOperand &use) {
        return use.getOwner()->getBlock() == reduce->getBlock() && reduce->isBeforeInBlock(use.getOwner()) &&
               use.getOwner() != again.getDefiningOp();
      });
    }
  });
  kernel.walk([](Operation *op) {
    if (isWidening(op) && op->use_empty())
      op->erase();
  });
}
