// Values that are cheaper to compute again than to keep in registers across a barrier.
#ifndef TILEC_CONVERSION_TILEGPUTONVVM_REMATERIALIZE_H
#define TILEC_CONVERSION_TILEGPUTONVVM_REMATERIALIZE_H

#include "tilec/Dialect/TileGPU/TileGPUDialect.h"

namespace tilec {

/// On a widening conversion: it works on a copy of the packed elements that the optimiser takes for another value, of
/// this number (i64), so that the wide elements of an earlier conversion do not stay alive for it.
constexpr llvm::StringLiteral widenedAgain = "tilec.widened_again";

/// Loaded tiles of 8 and 16 bits that are widened before a reduction over several warps and used after it are widened
/// again behind it (docs/decisions/blocks-of-streaming-kernels.md).
void widenAgainAfterReductions(tilegpu::KernelOp kernel);

} // namespace tilec

#endif // TILEC_CONVERSION_TILEGPUTONVVM_REMATERIALIZE_H
