// The table of steps, and the dialects that they use.
#include "tilec/Driver/Pipeline.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "tilec/Dialect/Tile/TileDialect.h"
#include "tilec/Dialect/TileGPU/TileGPUDialect.h"
#include "tilec/Target/Codegen.h"

using namespace llvm;

namespace tilec {

ArrayRef<PipelineStep> getPipeline() { return {}; }

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
