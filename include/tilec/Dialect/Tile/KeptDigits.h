// Digits of the reduced dimension that a `tile.reduce` leaves apart.
#ifndef TILEC_DIALECT_TILE_KEPTDIGITS_H
#define TILEC_DIALECT_TILE_KEPTDIGITS_H

#include "tilec/Dialect/Tile/TileDialect.h"

namespace tilec::tile {

/// `tile.kept = array<i64: stride, radix, ...>` on a reduction, from the innermost digit outwards: digit i of position
/// p is p / stride % radix. The reduced dimension stays, with one position for each combination of digits; it holds the
/// combination of the positions that have them. Without the attribute the dimension vanishes.
constexpr llvm::StringLiteral keptName = "tile.kept";

class KeptDigits {
public:
  /// None where the reduction keeps nothing.
  static std::optional<KeptDigits> of(ReduceOp reduce);
  static KeptDigits fromAttribute(mlir::DenseI64ArrayAttr attribute);

  /// Combinations of digits: the extent of the dimension in the result.
  int64_t extent() const;
  /// The position in the result to which a position of the input belongs.
  int64_t resultOf(int64_t position) const;
  /// Whether strides and radices are those of digits of a dimension of `size` positions, from the inside out.
  bool fits(int64_t size) const;

private:
  struct Digit {
    int64_t stride, radix;
  };
  llvm::SmallVector<Digit, 2> digits;
};

} // namespace tilec::tile

#endif // TILEC_DIALECT_TILE_KEPTDIGITS_H
