// Sums and other combinations of elements.
#ifndef TILEC_LIB_INTERPRETER_COMBINE_H
#define TILEC_LIB_INTERPRETER_COMBINE_H

#include "tilec/Dialect/Tile/TileDialect.h"
#include "tilec/Interpreter/Tile.h"

namespace tilec::interpreter {

/// Combines elements of one type, starting from the kind's neutral element. Sums and products of floats are kept in
/// double precision and rounded once; reassociation is the language's licence.
class Accumulator {
public:
  Accumulator(tile::CombineKind kind, mlir::Type element);
  void add(const Tile &tile, int64_t i);
  void store(Tile &tile, int64_t i) const;

private:
  tile::CombineKind kind;
  mlir::Type element;
  int64_t integer = 0;
  double real = 0;
};

/// A sum of products: pairs of batch and contracted dimensions, and how many positions of each contracted pair are
/// present.
struct Contraction {
  llvm::SmallVector<int64_t, 2> lhsBatch, rhsBatch, lhsContract, rhsContract, present;
  bool lhsUnsigned = false, rhsUnsigned = false;
};

/// The result of `type` (batch, free dimensions of lhs, free dimensions of rhs), plus `acc` if it is not null.
TilePtr contract(mlir::Type type, const Contraction &contraction, const Tile &lhs, const Tile &rhs, const Tile *acc);

} // namespace tilec::interpreter

#endif // TILEC_LIB_INTERPRETER_COMBINE_H
