// Lowering of tilegpu kernels to functions of the LLVM and NVVM dialects.
#ifndef TILEC_CONVERSION_PASSES_H
#define TILEC_CONVERSION_PASSES_H

#include "mlir/Pass/Pass.h"

#include <memory>

namespace tilec {

/// Replaces every tilegpu.kernel of a module by a function with the attribute `tilec.launch`; leaves scf, arith and
/// math operations on scalars in it. Expects the results of infer-layouts and plan-shared-memory.
std::unique_ptr<mlir::Pass> createLowerToNVVMPass();

/// Adds the passes that bring the functions to the LLVM and NVVM dialects alone.
void addLowerToLLVMPasses(mlir::OpPassManager &passes);

/// Registers `lower-to-nvvm` and the pipeline `lower-to-llvm`.
void registerConversionPasses();

} // namespace tilec

#endif // TILEC_CONVERSION_PASSES_H
