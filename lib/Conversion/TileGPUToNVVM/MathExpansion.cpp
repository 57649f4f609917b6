// expand-math: functions that the hardware lacks become arithmetic before the backend sees them.
#include "MathExpansion.h"
#include "MathFunctions.h"
#include "NarrowedFunctions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace tilec;

namespace {

// Operations that the expansion of a function has, about.
int64_t expansionSize(Operation *op) {
  if (isa<math::SinOp, math::CosOp, math::PowFOp, arith::RemFOp>(op))
    return 60;
  if (isa<math::TanhOp, math::LogOp, math::Log2Op>(op))
    return 20;
  if (isa<math::ErfOp, math::ExpOp>(op))
    return 12;
  // f64 has no approximations to start from.
  return isa<math::Exp2Op, math::RsqrtOp>(op) && op->getResult(0).getType().isF64() ? 12 : 0;
}

// Expansions of one large function in a kernel, over its tiles' registers, up to this size stay in line, of others up
// to four times as much. A fragment of 64 sines would take the backend and ptxas a second each; but around a call the
// accumulators of a 128x256 tile do not fit in the registers, and GELU there is common.
constexpr int64_t inlineSize = 1000;
// Functions of at least this size are called from loops too, where a call keeps more from overlapping.
constexpr int64_t largeFunction = 60;

// The functions that become calls of one copy of their expansion, by kernel and operation.
class OutlinedFunctions {
public:
  explicit OutlinedFunctions(ArrayRef<Operation *> functions) {
    for (Operation *op : functions)
      sizes[keyOf(op)] += expansionSize(op);
  }

  bool contains(Operation *op) const {
    bool inLoop = static_cast<bool>(op->getParentOfType<LoopLikeOpInterface>());
    bool isLarge = expansionSize(op) >= largeFunction;
    return sizes.lookup(keyOf(op)) > (isLarge ? inlineSize : 4 * inlineSize) && (!inLoop || isLarge);
  }

  // Replaces the operation by a call; the first call makes the function.
  void call(Operation *op, ConstantPool &constants) {
    OpBuilder builder(op);
    LLVM::LLVMFuncOp function = get(op, constants);
    auto call = LLVM::CallOp::create(builder, op->getLoc(), function, op->getOperands());
    op->getResult(0).replaceAllUsesWith(call.getResult());
    op->erase();
  }

private:
  using Key = std::tuple<Operation *, OperationName, Type>;

  static Key keyOf(Operation *op) {
    return {op->getParentOfType<LLVM::LLVMFuncOp>(), op->getName(), op->getResult(0).getType()};
  }

  LLVM::LLVMFuncOp get(Operation *op, ConstantPool &constants) {
    auto type = cast<FloatType>(op->getResult(0).getType());
    LLVM::LLVMFuncOp &function = made[{op->getName(), type}];
    if (function)
      return function;
    auto kernel = op->getParentOfType<LLVM::LLVMFuncOp>();
    OpBuilder builder(kernel);
    SmallVector<Type> inputs(op->getNumOperands(), type);
    std::string name = ("tilec_" + op->getName().stripDialect() + "_f" + Twine(type.getWidth())).str();
    function = LLVM::LLVMFuncOp::create(builder, op->getLoc(), name, LLVM::LLVMFunctionType::get(type, inputs),
                                        LLVM::Linkage::Internal);
    function.setNoInline(true);
    builder.setInsertionPointToStart(function.addEntryBlock(builder));
    SmallVector<Value, 3> arguments(function.getArguments().begin(), function.getArguments().end());
    Value result = MathFunctions(builder, op->getLoc(), type, constants).emit(op, arguments);
    LLVM::ReturnOp::create(builder, op->getLoc(), result);
    return function;
  }

  llvm::DenseMap<Key, int64_t> sizes;
  llvm::DenseMap<std::pair<OperationName, Type>, LLVM::LLVMFuncOp> made;
};

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
    OutlinedFunctions outlined(functions);
    // Users before what they use: the parts of a sigmoid die with it.
    for (Operation *op : llvm::reverse(functions))
      if (isOpTriviallyDead(op))
        op->erase();
      else
        expand(op, constants, outlined);
  }

  static void expand(Operation *op, ConstantPool &constants, OutlinedFunctions &outlined) {
    OpBuilder builder(op);
    MathFunctions functions(builder, op->getLoc(), cast<FloatType>(op->getResult(0).getType()), constants);
    if (op->hasAttr(narrowedFunction) && expandNarrowedFunction(op, functions))
      return;
    Value argument = sigmoidArgument(op);
    if (!argument && outlined.contains(op))
      return outlined.call(op, constants);
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
