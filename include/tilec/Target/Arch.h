// The GPU architectures that tilec generates code for, as LLVM and ptxas name them.
#ifndef TILEC_TARGET_ARCH_H
#define TILEC_TARGET_ARCH_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace tilec {

struct TargetArch {
  /// The name for --arch, for LLVM's -mcpu and for ptxas.
  llvm::StringLiteral name;
  /// The PTX level as an LLVM feature string.
  llvm::StringLiteral features;
  /// Cards of this architecture, for --list-targets.
  llvm::StringLiteral cards;
  /// Shared memory one block may use, in bytes (CUDA C++ Programming Guide, "Technical Specifications per Compute
  /// Capability").
  unsigned maxSharedBytes;
};

/// All architectures, oldest first.
llvm::ArrayRef<TargetArch> getTargetArchs();
/// The architecture with this name or this card (`sm_90a`, `h200`), in any case; null if there is none.
const TargetArch *findTargetArch(llvm::StringRef name);
/// The architecture of a compilation without --arch.
const TargetArch &getDefaultTargetArch();

} // namespace tilec

#endif // TILEC_TARGET_ARCH_H
