// Loops that can count, and divisions that can be done, in 32 bits.
#ifndef TILEC_CONVERSION_TILEGPUTONVVM_NARROWCOUNTERS_H
#define TILEC_CONVERSION_TILEGPUTONVVM_NARROWCOUNTERS_H

#include "mlir/Support/LLVM.h"
#include "tilec/Dialect/TileGPU/TileGPUDialect.h"
#include "llvm/ADT/StringRef.h"

namespace tilec {

/// On an scf.for (unit): its bounds, its number of turns, and its counter one step beyond them are signed, or unsigned,
/// numbers of 32 bits.
constexpr llvm::StringLiteral signedCounter = "tilec.signed_counter", unsignedCounter = "tilec.unsigned_counter";

/// Marks the loops of which range analysis proves that, and those of persistent blocks, and divides in 32 bits where
/// operands are known to have 31. Fails if the analysis does not converge.
llvm::LogicalResult narrowIndices(tilegpu::KernelOp kernel);

} // namespace tilec

#endif // TILEC_CONVERSION_TILEGPUTONVVM_NARROWCOUNTERS_H
