// From a module in the LLVM and NVVM dialects to LLVM IR and PTX.
//
// Every kernel is translated, optimised and printed in a module of its own, in parallel, so that the variants of a
// kernel cost the time of the slowest one. The texts are joined into one PTX module in the order of the functions;
// see docs/decisions/one-cubin-per-file.md.
#ifndef TILEC_TARGET_CODEGEN_H
#define TILEC_TARGET_CODEGEN_H

#include "tilec/Machine/Machine.h"
#include "tilec/Target/LaunchInfo.h"
#include "llvm/Support/Error.h"
#include <string>

namespace mlir {
class DialectRegistry;
class ModuleOp;
} // namespace mlir

namespace tilec {

struct CodegenOptions {
  /// The target; must be set.
  const Machine *machine = nullptr;
  /// 0 to 3, as for -O.
  unsigned optLevel = 3;
  /// 0 for one a core.
  unsigned threads = 0;
};

/// Registers what the translation of the LLVM and NVVM dialects needs; call it before the context is created.
void registerTargetTranslations(mlir::DialectRegistry &registry);

/// Checks what LLVM does not: that a kernel's parameters and launch bounds agree with its launch interface, that a
/// tensor map is passed by value where TMA can read it (PTX ISA 9.7.9.27: 64-byte aligned; without `grid_constant`
/// LLVM copies it to local memory), and that shared memory fits. Failures are faults of the compiler.
llvm::Error verifyKernels(mlir::ModuleOp module, llvm::ArrayRef<KernelInfo> kernels, const Machine &machine);

/// The LLVM IR of the whole module, optimised or as translated.
llvm::Expected<std::string> emitLLVMIR(mlir::ModuleOp module, const CodegenOptions &options, bool optimise);

/// The PTX of the whole module. Equal modules give equal bytes.
llvm::Expected<std::string> emitPTX(mlir::ModuleOp module, const CodegenOptions &options);

} // namespace tilec

#endif // TILEC_TARGET_CODEGEN_H
