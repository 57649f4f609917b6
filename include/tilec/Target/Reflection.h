// The reflection file: JSON that tells other programs how to launch the kernels of a cubin.
#ifndef TILEC_TARGET_REFLECTION_H
#define TILEC_TARGET_REFLECTION_H

#include "tilec/Target/LaunchInfo.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace tilec {

/// Facts of a compilation that the reflection file and the header mention.
struct ModuleFacts {
  /// The file name of the source, without folders.
  std::string source;
  std::string version;
  std::string arch;
};

/// A host expression as the format has it: a number, a name, or an array that an operator begins.
llvm::json::Value toJSON(const HostExpr &expr);

/// Writes version 1 of the format, described in docs/abi.md.
void writeReflection(llvm::ArrayRef<KernelInfo> kernels, const ModuleFacts &facts, llvm::raw_ostream &os);

} // namespace tilec

#endif // TILEC_TARGET_REFLECTION_H
