// The tilegpu dialect: attributes, types and operations.
#ifndef TILEC_DIALECT_TILEGPU_TILEGPUDIALECT_H
#define TILEC_DIALECT_TILEGPU_TILEGPUDIALECT_H

#include "tilec/Dialect/Tile/TileDialect.h"
#include "tilec/Layout/Layout.h"

#include "tilec/Dialect/TileGPU/TileGPUDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "tilec/Dialect/TileGPU/TileGPUAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "tilec/Dialect/TileGPU/TileGPUTypes.h.inc"
#define GET_OP_CLASSES
#include "tilec/Dialect/TileGPU/TileGPUOps.h.inc"

namespace tilec::tilegpu {

/// The layout of a distributed tile, or null when the type has no encoding.
LayoutAttr layoutOf(mlir::Type type);

/// The shape and element type of a tile in registers or in shared memory.
llvm::ArrayRef<int64_t> tileShape(mlir::Type type);
mlir::Type tileElementType(mlir::Type type);

/// The tile that a value is or, if it is pending, will be.
mlir::RankedTensorType productType(mlir::Type type);

/// Blocks of a launch, at most: dimension 0 of a grid (CUDA C++ Programming Guide, compute capabilities).
constexpr int64_t maxGridBlocks = INT32_MAX;

/// Field of a plan, one i64 for each of the last ranges of the stage: blocks of a cluster that take tiles side by side
/// along it, and share what they load alike (docs/decisions/clusters-of-tiles.md).
constexpr llvm::StringLiteral tileClusterName = "tile_cluster";

/// Bytes of shared memory an element takes: sub-byte types are stored one element a byte there.
int64_t elementBytes(mlir::Type elementType);

} // namespace tilec::tilegpu

#endif // TILEC_DIALECT_TILEGPU_TILEGPUDIALECT_H
