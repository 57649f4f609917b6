// Loops that can count in 32 bits.
#ifndef TILEC_CONVERSION_TILEGPUTONVVM_NARROWCOUNTERS_H
#define TILEC_CONVERSION_TILEGPUTONVVM_NARROWCOUNTERS_H

#include "mlir/Support/LLVM.h"
#include "tilec/Dialect/TileGPU/TileGPUDialect.h"
#include "llvm/ADT/StringRef.h"

namespace tilec {

/// On an scf.for: its bounds, and its counter one step beyond them, fit into 32 bits. With a unit attribute they do as
/// signed numbers, with `"unsigned"` as unsigned ones.
constexpr llvm::StringLiteral narrowCounter = "tilec.narrow_counter";

/// Marks the loops of which that is known.
llvm::LogicalResult markNarrowCounters(tilegpu::KernelOp kernel);

} // namespace tilec

#endif // TILEC_CONVERSION_TILEGPUTONVVM_NARROWCOUNTERS_H
