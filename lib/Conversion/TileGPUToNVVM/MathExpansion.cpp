// expand-math: functions that the hardware lacks become arithmetic before the backend sees them.
#include "MathExpansion.h"
#include "MathFunctions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilec;

namespace {

// x where `op` is 1 / (1 + exp(-x)); null elsewhere.
Value sigmoidArgument(Operation *op) {
  auto quotient = dyn_cast<arith::DivFOp>(op);
  if (!quotient || !matchPattern(quotient.getLhs(), m_OneFloat()))
    return nullptr;
  auto sum = quotient.getRhs().getDefiningOp<arith::AddFOp>();
  if (!sum)
    return nullptr;
  Value power = matchPattern(sum.getLhs(), m_OneFloat())   ? sum.getRhs()
                : matchPattern(sum.getRhs(), m_OneFloat()) ? sum.getLhs()
                                                           : Value();
  auto exp = power ? power.getDefiningOp<math::ExpOp>() : nullptr;
  auto negation = exp ? exp.getOperand().getDefiningOp<arith::NegFOp>() : nullptr;
  return negation ? negation.getOperand() : Value();
}

struct ExpandMathPass : PassWrapper<ExpandMathPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExpandMathPass)

  StringRef getArgument() const override { return "expand-math"; }
  StringRef getDescription() const override { return "expand mathematical functions into arithmetic"; }

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<LLVM::LLVMDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect>();
  }

  void runOnOperation() override {
    SmallVector<Operation *> functions;
    getOperation().walk([&](Operation *op) {
      if (op->getNumResults() == 1 && op->getNumRegions() == 0 &&
          (op->getResult(0).getType().isF32() || op->getResult(0).getType().isF64()))
        functions.push_back(op);
    });
    ConstantPool constants;
    // Users before what they use: the parts of a sigmoid die with it.
    for (Operation *op : llvm::reverse(functions))
      if (isOpTriviallyDead(op))
        op->erase();
      else
        expand(op, constants);
  }

  static void expand(Operation *op, ConstantPool &constants) {
    OpBuilder builder(op);
    MathFunctions functions(builder, op->getLoc(), cast<FloatType>(op->getResult(0).getType()), constants);
    Value argument = sigmoidArgument(op);
    Value result =
        argument ? functions.sigmoid(argument) : functions.emit(op, SmallVector<Value, 3>(op->getOperands()));
    if (!result)
      return;
    op->getResult(0).replaceAllUsesWith(result);
    op->erase();
  }
};

} // namespace

std::unique_ptr<Pass> tilec::createExpandMathPass() { return std::make_unique<ExpandMathPass>(); }
