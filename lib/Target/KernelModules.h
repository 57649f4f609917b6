// Splits a module into one module a kernel, internal to the target library.
#ifndef TILEC_LIB_TARGET_KERNELMODULES_H
#define TILEC_LIB_TARGET_KERNELMODULES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <string>
#include <vector>

namespace tilec {

struct KernelModule {
  std::string entry;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

/// A module for each kernel, in order, with a copy of everything the kernel refers to. Definitions other than the
/// kernel get names that end in the kernel's name, so that the PTX of all modules can be joined.
std::vector<KernelModule> splitKernels(mlir::ModuleOp module);

} // namespace tilec

#endif // TILEC_LIB_TARGET_KERNELMODULES_H
