// The steps between the tile dialect and the LLVM dialect, in order. One step is one name in --dump-after; it may hold
// several passes.
#ifndef TILEC_DRIVER_PIPELINE_H
#define TILEC_DRIVER_PIPELINE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace mlir {
class DialectRegistry;
class ModuleOp;
class OpPassManager;
} // namespace mlir

namespace tilec {

/// What a module consists of.
enum class IRLevel { Tile, TileGPU, LLVM };

struct PipelineStep {
  llvm::StringLiteral name;
  llvm::StringLiteral summary;
  /// The level of the module that the step takes.
  IRLevel input;
  void (*build)(mlir::OpPassManager &passes);
};

/// All steps in order; their input levels never fall.
llvm::ArrayRef<PipelineStep> getPipeline();

/// The highest level among the operations of a module.
IRLevel getIRLevel(mlir::ModuleOp module);

/// Registers every dialect and translation that a compilation uses.
void registerAllDialects(mlir::DialectRegistry &registry);

} // namespace tilec

#endif // TILEC_DRIVER_PIPELINE_H
