// lower-to-nvvm, and the standard conversions after it.
#include "tilec/Conversion/Passes.h"

#include "AbsentElements.h"
#include "LateWaits.h"
#include "Lowering.h"
#include "MathExpansion.h"
#include "NarrowCounters.h"
#include "NarrowedFunctions.h"
#include "NarrowedQuotients.h"
#include "Rematerialize.h"
#include "SharedDivisions.h"
#include "StagedStores.h"
#include "UnrollLoops.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"
#include "tilec/Dialect/TileGPU/Scratch.h"
#include "tilec/Transforms/Passes.h"

using namespace mlir;
using namespace tilec;

namespace {

struct LowerToNVVMPass : PassWrapper<LowerToNVVMPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerToNVVMPass)

  StringRef getArgument() const override { return "lower-to-nvvm"; }
  StringRef getDescription() const override { return "emit one function for each tilegpu.kernel"; }

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<LLVM::LLVMDialect, NVVM::NVVMDialect, scf::SCFDialect, arith::ArithDialect, math::MathDialect>();
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<tilegpu::KernelOp> kernels(module.getOps<tilegpu::KernelOp>());
    if (kernels.empty())
      return;
    OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
    auto bytes = LLVM::LLVMArrayType::get(builder.getI8Type(), 0);
    // Dynamic shared memory.
    LLVM::GlobalOp::create(builder, module.getLoc(), bytes, /*isConstant=*/false, LLVM::Linkage::External,
                           "tilec_shared", Attribute(), tilegpu::bufferAlignment, /*addrSpace=*/3);
    for (tilegpu::KernelOp kernel : kernels) {
      widenAgainAfterReductions(kernel);
      markNarrowedQuotients(kernel);
      markNarrowedFunctions(kernel);
      divideRowsByReciprocals(kernel);
      waitBehindRows(kernel);
      joinStagedStores(kernel);
      chooseAbsentElements(kernel);
      if (failed(narrowIndices(kernel)) || failed(Lowering(kernel, targetMachine(kernel)).run()))
        return signalPassFailure();
      kernel.erase();
    }
  }
};

// Rounded divisions only: the general expansion pass would also take maximumf apart, which the hardware has.
struct ExpandDivisionsPass : PassWrapper<ExpandDivisionsPass, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExpandDivisionsPass)

  StringRef getArgument() const override { return "expand-divisions"; }
  StringRef getDescription() const override { return "expand ceildiv and floordiv"; }

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    arith::populateCeilFloorDivExpandOpsPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
  }
};

} // namespace

std::unique_ptr<Pass> tilec::createLowerToNVVMPass() { return std::make_unique<LowerToNVVMPass>(); }

void tilec::addLowerToLLVMPasses(OpPassManager &passes) {
  passes.addPass(createUnrollLoopsPass());
  passes.addPass(createCSEPass());
  passes.addPass(createShareDivisorsPass());
  passes.addPass(createExpandMathPass());
  passes.addPass(std::make_unique<ExpandDivisionsPass>());
  passes.addPass(createSCFToControlFlowPass());
  passes.addPass(createConvertControlFlowToLLVMPass());
  passes.addPass(createKeepLoopAnnotationsPass());
  passes.addPass(createConvertMathToLLVMPass());
  passes.addPass(createArithToLLVMConversionPass());
  passes.addPass(createConvertNVVMToLLVMPass());
  passes.addPass(createReconcileUnrealizedCastsPass());
}

void tilec::registerConversionPasses() {
  PassRegistration<LowerToNVVMPass>();
  registerPass([] { return createExpandMathPass(); });
  registerPass([] { return createShareDivisorsPass(); });
  PassRegistration<ExpandDivisionsPass>();
  registerPass([] { return createUnrollLoopsPass(); });
  PassPipelineRegistration<>("lower-to-llvm", "from scalar operations to the LLVM and NVVM dialects",
                             [](OpPassManager &passes) { addLowerToLLVMPasses(passes); });
}
