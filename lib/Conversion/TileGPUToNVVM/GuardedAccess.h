// Vector loads and stores of global memory in forms of their instructions that LLVM does not select: under a condition
// of the thread, or with a cache policy.
#ifndef TILEC_CONVERSION_TILEGPUTONVVM_GUARDEDACCESS_H
#define TILEC_CONVERSION_TILEGPUTONVVM_GUARDEDACCESS_H

#include "MemoryAccess.h"

namespace tilec {

/// Loads `type` (a scalar or a vector of 1, 2, 4, 8 or 16 bytes) where the access's condition holds; gives `otherwise`
/// (of the type) elsewhere, or 0 if it is null. `readOnly`: nothing writes this memory during the kernel.
/// A branch instead would split the kernel into as many blocks as it has vectors: slow to compile, and LLVM moves
/// arithmetic into them.
mlir::Value guardedLoad(Lowering &lowering, mlir::Type type, const VectorAccess &access, mlir::Value otherwise,
                        bool readOnly);

/// Stores a scalar or vector of such a size where the condition holds.
void guardedStore(Lowering &lowering, mlir::Value value, const VectorAccess &access);

/// The policy (i64) of `@evict(first)` and `@evict(last)` for the second-level cache; null for a null word.
mlir::Value evictionPolicy(Lowering &lowering, mlir::StringAttr evict);

/// A load of `type` (of such a size) with a cache policy. `ordered`: other operations write this memory.
mlir::Value loadWithPolicy(Lowering &lowering, mlir::Type type, mlir::Value pointer, mlir::Value policy, bool ordered);

} // namespace tilec

#endif // TILEC_CONVERSION_TILEGPUTONVVM_GUARDEDACCESS_H
