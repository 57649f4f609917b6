// Positions, broadcasts, permutations: what a layout already knows about registers.
#include "Lowering.h"

using namespace mlir;
using namespace tilec;

LogicalResult Lowering::lowerPos(tile::PosOp op) {
  const Layout &layout = layoutOf(op.getResult());
  Value base = add(axis(op.getAxis()).start, toIndex(threadCoordinate(layout, 0)));
  Registers registers;
  for (uint32_t reg = 0; reg < layout.numRegisters(); ++reg)
    registers.push_back(addConstant(base, layout.registerOffset(reg)[0]));
  set(op.getResult(), std::move(registers));
  return success();
}

SmallVector<uint32_t> tilec::registersOfSlice(tile::BroadcastOp op) {
  const Layout &layout = Lowering::layoutOf(op.getResult());
  // Drop the new dimensions from the last to the first; each step tells which register of the slice a register reads.
  SmallVector<unsigned> dropped;
  for (unsigned dim = layout.rank(); dim-- > 0;)
    if (!llvm::is_contained(op.getDims(), static_cast<int64_t>(dim)))
      dropped.push_back(dim);
  SmallVector<uint32_t> result;
  for (uint32_t reg = 0; reg < layout.numRegisters(); ++reg) {
    Layout current = layout;
    uint32_t source = reg;
    for (unsigned dim : dropped) {
      source = current.sliceRegister(dim, source);
      current = current.sliceDim(dim);
    }
    result.push_back(source);
  }
  return result;
}

LogicalResult Lowering::lowerBroadcast(tile::BroadcastOp op) {
  const Layout &layout = layoutOf(op.getResult());
  ArrayRef<Value> input = registers(op.getInput());
  Registers registers;
  if (!isTile(op.getInput())) {
    registers.assign(layout.numRegisters(), input.front());
    set(op.getResult(), std::move(registers));
    return success();
  }
  for (uint32_t source : registersOfSlice(op)) {
    if (source >= input.size())
      return op.emitError("E0431: a broadcast's operand does not have the slice of its result's layout");
    registers.push_back(input[source]);
  }
  set(op.getResult(), std::move(registers));
  return success();
}

LogicalResult Lowering::lowerPermute(tile::PermuteOp op) {
  SmallVector<unsigned> order(op.getOrder().begin(), op.getOrder().end());
  if (layoutOf(op.getInput()).permuteDims(order) != layoutOf(op.getResult()))
    return op.emitError("E0431: a permutation's result does not have the permuted layout of its operand");
  set(op.getResult(), Registers(registers(op.getInput())));
  return success();
}
