// Products with few rows, computed transposed.
#ifndef TILEC_LIB_TRANSFORMS_SWAPOPERANDS_H
#define TILEC_LIB_TRANSFORMS_SWAPOPERANDS_H

#include "tilec/Dialect/Tile/TileDialect.h"

namespace tilec {

/// D = A B^T becomes D^T = B A^T, and with it everything from the loop that sums D to the stores of what is made of it.
/// False, and nothing changes, where something else than element-wise work and stores uses D, or memory holds it as
/// more than rows and columns.
bool swapOperands(tile::DotOp dot);

} // namespace tilec

#endif // TILEC_LIB_TRANSFORMS_SWAPOPERANDS_H
