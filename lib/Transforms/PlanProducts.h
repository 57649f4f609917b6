// How the products of a loop and its vector work share the time: products in flight, turns of groups.
#ifndef TILEC_LIB_TRANSFORMS_PLANPRODUCTS_H
#define TILEC_LIB_TRANSFORMS_PLANPRODUCTS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "tilec/Dialect/Tile/TileDialect.h"

namespace tilec {

/// Sets `delay` (a product runs under the vector work of the next iteration) and `turns` (groups start their products
/// one after another) in a plan whose products are wgmma instructions of `groups` consumer groups, each thread with at
/// most `registers`. Says why in remarks.
void planProducts(mlir::NamedAttrList &plan, tile::KernelOp kernel, int64_t groups, int64_t registers);

} // namespace tilec

#endif // TILEC_LIB_TRANSFORMS_PLANPRODUCTS_H
