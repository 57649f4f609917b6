// Bounds of loops as functions of an iteration's number: constant, growing, or anything else.
#include "TripCounts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "tilec/Transforms/AffineIndex.h"

using namespace mlir;
using namespace tilec;

namespace {
enum class Growth { Constant, Grows, Unknown };
} // namespace

static bool isPositive(Value value) {
  APInt constant;
  return matchPattern(value, m_ConstantInt(&constant)) && constant.isStrictlyPositive();
}

static Growth growth(Value value, Value number, unsigned depth = 24) {
  if (value == number)
    return Growth::Grows;
  Operation *op = value.getDefiningOp();
  if (!op)
    return Growth::Constant;
  if (depth == 0 || op->getNumRegions() > 0)
    return Growth::Unknown;
  SmallVector<Growth> operands;
  for (Value operand : op->getOperands())
    operands.push_back(growth(operand, number, depth - 1));
  if (llvm::all_of(operands, [](Growth g) { return g == Growth::Constant; }))
    return Growth::Constant;
  bool monotone = llvm::none_of(operands, [](Growth g) { return g == Growth::Unknown; });
  bool sum = isa<arith::AddIOp, arith::MinSIOp, arith::MaxSIOp, arith::IndexCastOp>(op);
  bool scaled = isa<arith::MulIOp, arith::CeilDivSIOp, arith::FloorDivSIOp, arith::DivUIOp>(op) &&
                operands[1] == Growth::Constant && (isPositive(op->getOperand(1)) || isNonNegative(op->getOperand(1)));
  bool difference = isa<arith::SubIOp>(op) && operands[1] == Growth::Constant;
  return monotone && (sum || scaled || difference) ? Growth::Grows : Growth::Unknown;
}

bool tilec::growsWithIteration(tile::ParallelOp stage, unsigned dim) {
  Value number = stage.getBody().front().getArgument(dim);
  bool grows = false, known = true;
  stage.walk([&](scf::ForOp loop) {
    bool products = llvm::any_of(*loop.getBody(), [](Operation &op) { return isa<tile::DotOp>(op); });
    if (!products)
      return;
    Growth upper = growth(loop.getUpperBound(), number), lower = growth(loop.getLowerBound(), number);
    known &= upper != Growth::Unknown && lower == Growth::Constant;
    grows |= upper == Growth::Grows;
  });
  return grows && known;
}
