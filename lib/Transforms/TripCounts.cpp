// Bounds of loops as functions of an iteration's number: constant, growing, or anything else.
#include "TripCounts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "tilec/Transforms/AffineIndex.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace tilec;

namespace {
enum class Growth { Constant, Grows, Unknown };
} // namespace

static bool isPositive(Value value) {
  APInt constant;
  return matchPattern(value, m_ConstantInt(&constant)) && constant.isStrictlyPositive();
}

namespace {

/// How values change with a number; each operation is looked at once.
class Growths {
public:
  explicit Growths(Value number) { known[number] = Growth::Grows; }

  Growth of(Value value) {
    auto [entry, isNew] = known.try_emplace(value, Growth::Unknown);
    return isNew ? known[value] = derive(value) : entry->second;
  }

private:
  Growth derive(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op)
      return Growth::Constant;
    if (op->getNumRegions() > 0)
      return Growth::Unknown;
    auto operands = llvm::map_to_vector(op->getOperands(), [&](Value operand) { return of(operand); });
    if (llvm::all_of(operands, [](Growth g) { return g == Growth::Constant; }))
      return Growth::Constant;
    bool monotone = llvm::none_of(operands, [](Growth g) { return g == Growth::Unknown; });
    bool sum = isa<arith::AddIOp, arith::MinSIOp, arith::MaxSIOp, arith::IndexCastOp>(op);
    bool scaled = isa<arith::MulIOp, arith::CeilDivSIOp, arith::FloorDivSIOp, arith::DivUIOp>(op) &&
                  operands[1] == Growth::Constant &&
                  (isPositive(op->getOperand(1)) || isNonNegative(op->getOperand(1)));
    bool difference = isa<arith::SubIOp>(op) && operands[1] == Growth::Constant;
    return monotone && (sum || scaled || difference) ? Growth::Grows : Growth::Unknown;
  }

  llvm::DenseMap<Value, Growth> known;
};

} // namespace

bool tilec::growsWithIteration(tile::ParallelOp stage, unsigned dim) {
  Value number = stage.getBody().front().getArgument(dim);
  Growths growths(number);
  bool grows = false, known = true;
  stage.walk([&](scf::ForOp loop) {
    bool products = llvm::any_of(*loop.getBody(), [](Operation &op) { return isa<tile::DotOp>(op); });
    if (!products)
      return;
    Growth upper = growths.of(loop.getUpperBound()), lower = growths.of(loop.getLowerBound());
    known &= upper != Growth::Unknown && lower == Growth::Constant;
    grows |= upper == Growth::Grows;
  });
  return grows && known;
}
