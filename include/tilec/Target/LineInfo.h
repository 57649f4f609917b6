// Line tables: from the locations of operations to `.file` and `.loc` of PTX.
#ifndef TILEC_TARGET_LINEINFO_H
#define TILEC_TARGET_LINEINFO_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/ArrayRef.h"
#include <string>
#include <utility>
#include <vector>

namespace tilec {

/// Replacements of the beginnings of paths, as (old, new); the last one that fits wins, as in GCC and Clang.
using PrefixMap = std::vector<std::pair<std::string, std::string>>;

/// `path` with its beginning replaced.
std::string mapPrefix(llvm::StringRef path, const PrefixMap &map);

/// Gives every function of a module in the LLVM dialect a scope, so that the locations of its operations become a line
/// table. File names are replaced by `map`. Code is the same with and without.
llvm::LogicalResult addLineInfo(mlir::ModuleOp module, const PrefixMap &map);

/// Joins the PTX of several modules: the text of the first, then the others from the end of their header on. Each
/// numbers its files from 1; the result has one numbering and names every file once, behind the header.
std::string joinPTX(llvm::ArrayRef<std::string> parts);

} // namespace tilec

#endif // TILEC_TARGET_LINEINFO_H
