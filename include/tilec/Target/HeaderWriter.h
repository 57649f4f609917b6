// The C header through which a program loads a cubin and launches its kernels.
#ifndef TILEC_TARGET_HEADERWRITER_H
#define TILEC_TARGET_HEADERWRITER_H

#include "tilec/Target/Reflection.h"
#include <string>

namespace tilec {

/// A header in C99 and C++11 for the CUDA driver API of version 12.0 or newer. Loading functions are named after the
/// source file, launchers after the kernels.
std::string writeHeader(llvm::ArrayRef<KernelInfo> kernels, const ModuleFacts &facts);

} // namespace tilec

#endif // TILEC_TARGET_HEADERWRITER_H
