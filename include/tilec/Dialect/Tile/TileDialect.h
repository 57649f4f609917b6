// The tile dialect: types, attributes and operations.
#ifndef TILEC_DIALECT_TILE_TILEDIALECT_H
#define TILEC_DIALECT_TILE_TILEDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "tilec/Dialect/Tile/TileDialect.h.inc"
#include "tilec/Dialect/Tile/TileEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "tilec/Dialect/Tile/TileAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "tilec/Dialect/Tile/TileTypes.h.inc"
#define GET_OP_CLASSES
#include "tilec/Dialect/Tile/TileOps.h.inc"

#endif // TILEC_DIALECT_TILE_TILEDIALECT_H
