// The table of steps, and the dialects that they use.
#include "tilec/Driver/Pipeline.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Transforms/Passes.h"
#include "tilec/Conversion/Passes.h"
#include "tilec/Dialect/Tile/TileDialect.h"
#include "tilec/Dialect/TileGPU/TileGPUDialect.h"
#include "tilec/Target/Codegen.h"
#include "tilec/Transforms/Passes.h"

using namespace llvm;

namespace tilec {

/// What every step that leaves dead or repeated code ends with.
static void addCleanUp(mlir::OpPassManager &passes) {
  passes.addPass(mlir::createCanonicalizerPass());
  passes.addPass(mlir::createCSEPass());
}

static void buildSimplify(mlir::OpPassManager &passes) {
  addCleanUp(passes);
  passes.addPass(mlir::createLoopInvariantCodeMotionPass());
  passes.nest<tile::KernelOp>().addPass(createSimplify());
  addCleanUp(passes);
}

static void buildSinkFactors(mlir::OpPassManager &passes) {
  passes.nest<tile::KernelOp>().addPass(createSinkFactors());
  addCleanUp(passes);
}

static void buildSplitRows(mlir::OpPassManager &passes) {
  passes.nest<tile::KernelOp>().addPass(createSplitRows());
  addCleanUp(passes);
}

static void buildHoldRows(mlir::OpPassManager &passes) {
  passes.nest<tile::KernelOp>().addPass(createHoldRows());
  addCleanUp(passes);
}

static void buildPairRows(mlir::OpPassManager &passes) {
  passes.nest<tile::KernelOp>().addPass(createPairRows());
  addCleanUp(passes);
}

template <auto create> static void buildTilePass(mlir::OpPassManager &passes) {
  passes.nest<tile::KernelOp>().addPass(create());
}

template <auto create> static void buildModulePass(mlir::OpPassManager &passes) { passes.addPass(create()); }

template <auto create> static void buildTileGPUPass(mlir::OpPassManager &passes) {
  passes.nest<tilegpu::KernelOp>().addPass(create());
  addCleanUp(passes);
}

static constexpr PipelineStep steps[] = {
    {"simplify", "fold, hoist, and prove positions present and subscripts inside", IRLevel::Tile, buildSimplify},
    {"sink-factors", "take maxima before products with positive numbers", IRLevel::Tile, buildSinkFactors},
    {"split-rows", "part rows at multiples of 16 bytes", IRLevel::Tile, buildSplitRows},
    {"hold-rows", "hold short rows that loops read tile by tile, more than once", IRLevel::Tile, buildHoldRows},
    {"pair-rows", "let an iteration take two rows that share what is loaded for all", IRLevel::Tile, buildPairRows},
    {"plan", "choose threads, instructions, consumer groups and rings", IRLevel::Tile, buildTilePass<&createPlan>},
    {"schedule", "turn each stage into a kernel with a grid", IRLevel::Tile, buildModulePass<&createSchedule>},
    {"split", "give each consumer group its part of a tile", IRLevel::TileGPU, buildTileGPUPass<&createSplit>},
    {"channels", "turn loads into transfers through rings", IRLevel::TileGPU, buildTileGPUPass<&createChannels>},
    {"share-masks", "mask the scores of a softmax once", IRLevel::TileGPU, buildTileGPUPass<&createShareMasks>},
    {"lazy-rescale", "rescale the sums of a running softmax seldom", IRLevel::TileGPU,
     buildTileGPUPass<&createLazyRescale>},
    {"accumulate", "reduce after a loop what the loop sums up", IRLevel::TileGPU, buildTileGPUPass<&createAccumulate>},
    {"infer-layouts", "spread tiles over threads and registers", IRLevel::TileGPU,
     buildTileGPUPass<&createInferLayouts>},
    {"part-sums", "carry the sums of a loop in parts, one a lane", IRLevel::TileGPU, buildTileGPUPass<&createPartSums>},
    {"rotate", "start transfers ahead of their use", IRLevel::TileGPU, buildTileGPUPass<&createRotate>},
    {"delay-products", "run products under the vector work of the next iteration", IRLevel::TileGPU,
     buildTileGPUPass<&createDelayProducts>},
    {"slice", "divide a kernel into producer and consumers", IRLevel::TileGPU, buildTileGPUPass<&createSlice>},
    {"order-accesses", "separate accesses of one element by different threads", IRLevel::TileGPU,
     buildTileGPUPass<&createOrderAccesses>},
    {"order-products", "start and wait for products, take turns", IRLevel::TileGPU,
     buildTileGPUPass<&createOrderProducts>},
    {"peel", "split loops into an interior without masks and the rest", IRLevel::TileGPU,
     buildTileGPUPass<&createPeel>},
    {"gather-reductions", "let reductions of one row wait together", IRLevel::TileGPU,
     buildTileGPUPass<&createGatherReductions>},
    {"plan-shared-memory", "place buffers in shared memory", IRLevel::TileGPU,
     buildTileGPUPass<&createPlanSharedMemory>},
    {"lower-to-nvvm", "turn kernels into functions of one thread", IRLevel::TileGPU,
     buildModulePass<&createLowerToNVVMPass>},
    {"lower-to-llvm", "leave the LLVM and NVVM dialects alone", IRLevel::LLVM, addLowerToLLVMPasses},
};

ArrayRef<PipelineStep> getPipeline() { return steps; }

IRLevel getIRLevel(mlir::ModuleOp module) {
  IRLevel level = IRLevel::LLVM;
  module.walk([&](mlir::Operation *op) {
    if (isa_and_nonnull<tile::TileDialect>(op->getDialect()))
      level = IRLevel::Tile;
    else if (isa_and_nonnull<tilegpu::TileGPUDialect>(op->getDialect()))
      level = std::min(level, IRLevel::TileGPU);
  });
  return level;
}

void registerAllDialects(mlir::DialectRegistry &registry) {
  registry.insert<tile::TileDialect, tilegpu::TileGPUDialect, mlir::arith::ArithDialect, mlir::cf::ControlFlowDialect,
                  mlir::LLVM::LLVMDialect, mlir::NVVM::NVVMDialect, mlir::math::MathDialect, mlir::scf::SCFDialect>();
  registerTargetTranslations(registry);
}

} // namespace tilec
