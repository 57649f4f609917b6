// The sizes that a source leaves to the compiler: candidates for a kernel, and the cost by which a launcher chooses.
#ifndef TILEC_TILING_CHOOSESIZES_H
#define TILEC_TILING_CHOOSESIZES_H

#include "tilec/Machine/Machine.h"
#include "tilec/Sema/Sema.h"

namespace tilec {

/// Sets of sizes for a kernel whose trial is `probe`, the one for large tensors first; empty where the kernel is none
/// that the model knows. Costs are in picoseconds.
std::vector<sema::SizeChoice> chooseSizes(const sema::Kernel &probe, llvm::ArrayRef<sema::AutoSize> sizes,
                                          const Machine &machine);

} // namespace tilec

#endif // TILEC_TILING_CHOOSESIZES_H
