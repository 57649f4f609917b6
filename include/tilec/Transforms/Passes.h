// The passes of the middle end; Passes.td describes them.
#ifndef TILEC_TRANSFORMS_PASSES_H
#define TILEC_TRANSFORMS_PASSES_H

#include "mlir/Pass/Pass.h"
#include "tilec/Dialect/TileGPU/TileGPUDialect.h"
#include "tilec/Machine/Machine.h"

namespace tilec {

#define GEN_PASS_DECL
#include "tilec/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "tilec/Transforms/Passes.h.inc"

/// The machine named by the enclosing module's `tilec.target`; sm_90a where it has none.
const Machine &targetMachine(mlir::Operation *op);

/// Which specialisation a kernel is, by the attribute that IR generation gives it (`tilec.specialization`): "fast",
/// "pairs", "inputs", "packed", "general", or empty without one.
llvm::StringRef specializationOf(mlir::Operation *kernel);

} // namespace tilec

#endif // TILEC_TRANSFORMS_PASSES_H
