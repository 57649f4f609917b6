// Tiles that no schedule keeps in registers: found before and after layouts are chosen, and refused with their sizes.
#ifndef TILEC_TRANSFORMS_REGISTERLIMITS_H
#define TILEC_TRANSFORMS_REGISTERLIMITS_H

#include "tilec/Dialect/TileGPU/TileGPUDialect.h"

namespace tilec {

/// Reports E0413 at the first tile of which each thread would hold more elements than a thread has registers.
mlir::LogicalResult checkTileSizes(tilegpu::KernelOp kernel);

/// Reports E0413 at the first loop that carries more registers a thread than there are; layouts must be known.
mlir::LogicalResult checkCarriedRegisters(tilegpu::KernelOp kernel);

} // namespace tilec

#endif // TILEC_TRANSFORMS_REGISTERLIMITS_H
