// What the plan knows of one product, and whether wgmma can compute it.
#ifndef TILEC_LIB_TRANSFORMS_DOTFACTS_H
#define TILEC_LIB_TRANSFORMS_DOTFACTS_H

#include "tilec/Dialect/Tile/TileDialect.h"
#include "tilec/Machine/Machine.h"

#include <string>

namespace tilec {

/// A product of [m, k] and [n, k].
struct DotFacts {
  tile::DotOp dot;
  int64_t m, n, k;
  /// Element types.
  mlir::Type lhs, rhs;
  /// Whether the contraction is the last dimension of the operand's tile.
  bool lhsKMajor, rhsKMajor;
  /// Whether the left operand is computed from another product.
  bool lhsFromDot;

  tile::DotOp op() const { return dot; }
};

DotFacts factsOf(tile::DotOp dot);

/// Whether a tile is computed from a product, by way of tiles and of operations that `within` admits.
bool dependsOnDot(mlir::Value tile, llvm::function_ref<bool(mlir::Operation *)> within);

/// Whether a tile is computed from a product, also by way of loops and branches.
bool comesFromDot(mlir::Value tile);

bool isF8(mlir::Type type);

/// Whether the Tensor Core's sums are promoted: added up in f32 every so many positions.
bool isPromoted(const DotFacts &facts);

/// The k of one 32-byte step of a Tensor Core instruction; 0 if none takes this pair of types.
int64_t tensorCoreK(const DotFacts &facts);

/// Whether wgmma can take an operand straight from a TMA ring.
bool hasTmaOperand(mlir::Value value, bool kMajor);

/// `byThreads`: operands that TMA cannot bring may be copied by the threads of a producer.
bool canUseWgmma(const DotFacts &facts, const Machine &machine, bool byThreads);

/// Why canUseWgmma is false on a machine with wgmma, for a message: "its rows (100) are not a multiple of 64".
std::string obstacleToWgmma(const DotFacts &facts);

} // namespace tilec

#endif // TILEC_LIB_TRANSFORMS_DOTFACTS_H
