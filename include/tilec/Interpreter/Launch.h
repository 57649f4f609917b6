// Runs the kernels of a module of tile.kernel or tilegpu.kernel operations on arrays of the host: the scalar
// interpreter of the `tile` level, which defines what the language means, and of `tilegpu` before and after slicing.
//
// Elements at absent positions are poison. What observes them (stores, atomics, conditions, scalars) is an error at the
// place of the operation; so are two plain stores of one stage to one element from different iterations, reads of slots
// that are not held, and processes that wait for ever.
#ifndef TILEC_INTERPRETER_LAUNCH_H
#define TILEC_INTERPRETER_LAUNCH_H

#include "mlir/IR/BuiltinOps.h"
#include "tilec/Interpreter/Memory.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include <map>

namespace tilec::interpreter {

/// Arguments of one launch by name. Dimensions, integer and bool scalars, and dynamic strides ("A.stride0") are
/// integers.
struct LaunchArguments {
  std::map<std::string, int64_t> integers;
  std::map<std::string, double> floats;
  std::map<std::string, Buffer> tensors;
  /// Byte address of each tensor modulo 256, for conditions on alignment.
  std::map<std::string, int64_t> addresses;
};

struct LaunchOptions {
  /// Orders the iterations of parallel loops and the turns of processes.
  uint64_t seed = 1;
};

/// The value of a host expression (docs/abi.md) in the IR form.
llvm::Expected<double> evaluateHostExpression(mlir::Attribute expression, const LaunchArguments &arguments);

/// The entry of the module's `tilec.kernels` for a kernel; null if there is none.
mlir::DictionaryAttr findKernel(mlir::ModuleOp module, llvm::StringRef kernel);

/// Checks the contracts of a kernel: success, or an error that quotes the first one that fails.
llvm::Error checkContracts(mlir::DictionaryAttr kernel, const LaunchArguments &arguments);

/// Runs the variant of `kernel` that the launcher would take. Errors of the program are emitted as MLIR diagnostics at
/// the operation at fault and returned as "stopped"; others (no variant, missing argument) are returned.
llvm::Error launch(mlir::ModuleOp module, llvm::StringRef kernel, LaunchArguments &arguments,
                   const LaunchOptions &options);

} // namespace tilec::interpreter

#endif // TILEC_INTERPRETER_LAUNCH_H
