// Slots of items that serve a whole tile, such as the queries of attention, are free again early, and what they hold
// next is asked for late.
#ifndef TILEC_LIB_TRANSFORMS_SLOTTURNOVER_H
#define TILEC_LIB_TRANSFORMS_SLOTTURNOVER_H

#include "tilec/Dialect/TileGPU/TileGPUDialect.h"

namespace tilec {

/// Moves releases behind a branch into it, where all reads of the item stand in the branch: behind the last of them.
void releaseEarly(tilegpu::KernelOp kernel);

/// In a producer: a transfer into a ring of one slot, which is free when a tile ends, comes behind the first transfer
/// of the branch behind it, whose slot was free before.
void fillLate(tilegpu::ProcessOp producer);

} // namespace tilec

#endif // TILEC_LIB_TRANSFORMS_SLOTTURNOVER_H
