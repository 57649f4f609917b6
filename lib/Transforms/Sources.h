// The values that a value is computed from.
#ifndef TILEC_LIB_TRANSFORMS_SOURCES_H
#define TILEC_LIB_TRANSFORMS_SOURCES_H

#include "mlir/IR/Operation.h"
#include "mlir/IR/Visitors.h"
#include "llvm/ADT/DenseSet.h"

namespace tilec {

inline void addOperands(mlir::OpResult value, llvm::SmallVectorImpl<mlir::Value> &sources) {
  llvm::append_range(sources, value.getOwner()->getOperands());
}

/// Visits a value and those that it is computed from, each once, and says whether a visit interrupted; the sources of a
/// value at which a visit skips are not visited on its account. `addSources`: what a result is computed from, the
/// operands unless given.
inline bool
anySource(mlir::Value value, llvm::function_ref<mlir::WalkResult(mlir::Value)> visit,
          llvm::function_ref<void(mlir::OpResult, llvm::SmallVectorImpl<mlir::Value> &)> addSources = addOperands) {
  llvm::DenseSet<mlir::Value> seen;
  llvm::SmallVector<mlir::Value> work = {value};
  while (!work.empty()) {
    mlir::Value next = work.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    mlir::WalkResult result = visit(next);
    if (result.wasInterrupted())
      return true;
    if (auto computed = llvm::dyn_cast<mlir::OpResult>(next); computed && !result.wasSkipped())
      addSources(computed, work);
  }
  return false;
}

} // namespace tilec

#endif // TILEC_LIB_TRANSFORMS_SOURCES_H
