// The module of a .tile or .mlir file.
#ifndef TILEC_TOOLS_TILE_INTERPRET_LOADMODULE_H
#define TILEC_TOOLS_TILE_INTERPRET_LOADMODULE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <string>
#include <utility>
#include <vector>

namespace tilec {

/// Null after errors, which are printed. `defines` are the names and values of -D.
mlir::OwningOpRef<mlir::ModuleOp> loadModule(const std::string &path,
                                             const std::vector<std::pair<std::string, std::string>> &defines,
                                             mlir::MLIRContext &context);

} // namespace tilec

#endif // TILEC_TOOLS_TILE_INTERPRET_LOADMODULE_H
