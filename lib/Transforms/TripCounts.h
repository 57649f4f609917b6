// Which iterations of a stage take longer than others.
#ifndef TILEC_LIB_TRANSFORMS_TRIPCOUNTS_H
#define TILEC_LIB_TRANSFORMS_TRIPCOUNTS_H

#include "tilec/Dialect/Tile/TileDialect.h"

namespace tilec {

/// Whether loops with products in `stage` run longer, and none of them shorter, the larger iteration number `dim` is.
bool growsWithIteration(tile::ParallelOp stage, unsigned dim);

} // namespace tilec

#endif // TILEC_LIB_TRANSFORMS_TRIPCOUNTS_H
