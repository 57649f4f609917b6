// Kinds of reductions and the scalar operations that combine two values in the same way.
#ifndef TILEC_TRANSFORMS_COMBINEKINDS_H
#define TILEC_TRANSFORMS_COMBINEKINDS_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "tilec/Dialect/Tile/TileDialect.h"

#include <optional>

namespace tilec {

/// The kind of reduction that a combination of two values continues; none of other operations.
std::optional<tile::CombineKind> combineKindOf(mlir::Operation *combination);

/// The combination of two scalars or tiles; none of kinds without an operation of their own.
std::optional<mlir::arith::AtomicRMWKind> scalarKindOf(tile::CombineKind kind, bool isFloat);

} // namespace tilec

#endif // TILEC_TRANSFORMS_COMBINEKINDS_H
