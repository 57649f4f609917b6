// Counts of one warp instruction's accesses: bank conflicts and sectors.
#ifndef TILEC_SIMULATOR_COUNTERS_H
#define TILEC_SIMULATOR_COUNTERS_H

#include "tilec/Simulator/Warp.h"

namespace tilec::simulator {

struct TensorMap;
struct WgmmaInstruction;
struct MmaInstruction;

/// All of these add to the counts of the instruction if the launch counts.

/// The instruction ran, or waits.
void countStep(Warp &warp, const Op &op, Flow flow);
/// A bulk copy of `bytes`, of which `clipped` are outside of the tensor, to or from `blocks` blocks.
void countBulk(Warp &warp, const Op &op, uint64_t bytes, uint64_t clipped, unsigned blocks);
/// Bytes of the box at these coordinates that lie outside.
uint64_t clippedBytes(const TensorMap &map, llvm::ArrayRef<int32_t> coordinates);
/// One warp's part of the product.
void countProduct(Warp &warp, const Op &op, const WgmmaInstruction &product);
void countProduct(Warp &warp, const Op &op, const MmaInstruction &product);

/// An access of a warp to shared or global memory. `addresses` has 32 entries, those of `lanes` matter.
void countAccess(Warp &warp, const Op &op, LaneMask lanes, Space space, const uint64_t *addresses, unsigned bytes);

} // namespace tilec::simulator

#endif // TILEC_SIMULATOR_COUNTERS_H
