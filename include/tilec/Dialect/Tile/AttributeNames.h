// Names of discardable attributes by which one component of the compiler tells another what no operation has a field
// for.
#ifndef TILEC_DIALECT_TILE_ATTRIBUTENAMES_H
#define TILEC_DIALECT_TILE_ATTRIBUTENAMES_H

#include "llvm/ADT/StringRef.h"

namespace tilec::tile {

/// On a kernel, from IR generation: which specialisation it is, "fast", "pairs", "inputs", "packed" or
/// "general".
constexpr llvm::StringLiteral specializationName = "tilec.specialization";
/// On a kernel, from IR generation: the host expression (docs/abi.md) by which a launcher compares variants.
constexpr llvm::StringLiteral costName = "tilec.cost";

/// On a kernel that is one of several stages of a variant, from IR generation: its number among them, i64, and the name
/// of the variant. They follow each other, with the same conditions.
constexpr llvm::StringLiteral stageName = "tilec.stage", variantName = "tilec.variant";

/// On a stage, from IR generation: blocks of a cluster along its last ranges, whose tiles it can be divided into, array
/// of i64.
constexpr llvm::StringLiteral clusterName = "tilec.cluster";

/// On a loop: `@stages(n)`, i64.
constexpr llvm::StringLiteral stagesName = "tilec.stages";
/// On a loop: `@unroll(n)` or the plan's choice, i64; 1 keeps the loop as it is.
constexpr llvm::StringLiteral unrollName = "tilec.unroll";

/// On an axis, from IR generation: the size of its tiles, and so where one ends, is the compiler's choice, unit.
constexpr llvm::StringLiteral freeName = "tile.free";

/// On a product with a broadcast factor: the factor is 1 in most iterations of the loop around it, unit.
constexpr llvm::StringLiteral usuallyOneName = "tile.usually_one";

/// On a view of one dimension, from split-rows: the vectors of 16 bytes around its elements lie in the tensor's memory,
/// so that loads may read them, unless the view begins at a multiple of 16 bytes. A bool: whether it is expected to.
constexpr llvm::StringLiteral windowedName = "tile.windowed";

/// On an access, from split-rows, i64: the number of a row; 0 for its vectors, 1 for its ends, which have no element in
/// common; whether the row is known to be inside the tensor. Absent positions of the part are outside the view.
constexpr llvm::StringLiteral rowPartName = "tile.row_part";

/// On an access, from pair-rows, i64: of which of the rows of an iteration it is. These have no element in common that
/// one writes.
constexpr llvm::StringLiteral iterationName = "tile.iteration";

/// On a function, from the lowering: the blocks a multiprocessor for which the plan limits its registers, i64.
constexpr llvm::StringLiteral blocksName = "tilec.blocks";

} // namespace tilec::tile

#endif // TILEC_DIALECT_TILE_ATTRIBUTENAMES_H
