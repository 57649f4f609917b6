// Passes for `@unroll`, on loops of scalars after the lowering of tiles.
#ifndef TILEC_CONVERSION_TILEGPUTONVVM_UNROLLLOOPS_H
#define TILEC_CONVERSION_TILEGPUTONVVM_UNROLLLOOPS_H

#include "mlir/Pass/Pass.h"

namespace tilec {

/// Unrolls `scf.for` with the attribute `tilec.unroll` by its factor; 1 keeps the loop from being unrolled at all. The
/// loops that remain are marked so that LLVM unrolls them no further.
std::unique_ptr<mlir::Pass> createUnrollLoopsPass();

/// Runs once loops are branches of the LLVM dialect: makes the marks known to the translation to LLVM IR.
std::unique_ptr<mlir::Pass> createKeepLoopAnnotationsPass();

} // namespace tilec

#endif // TILEC_CONVERSION_TILEGPUTONVVM_UNROLLLOOPS_H
