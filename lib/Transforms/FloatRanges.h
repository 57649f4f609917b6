// Ranges of the float numbers of a launch, from contracts and the conditions of the variant.
#ifndef TILEC_LIB_TRANSFORMS_FLOATRANGES_H
#define TILEC_LIB_TRANSFORMS_FLOATRANGES_H

#include "tilec/Dialect/Tile/TileDialect.h"
#include "llvm/ADT/StringMap.h"

namespace tilec {

/// low <= x <= high, both of the type of x, which is not NaN.
struct FloatRange {
  llvm::APFloat low, high;

  /// Products with such numbers are NaN only where the other factor is, and rise or fall with it.
  bool isPositive() const { return !low.isNegative() && low.isNonZero() && high.isFinite(); }
  bool isNegative() const { return high.isNegative() && high.isNonZero() && low.isFinite(); }
};

/// What a value repeats along new dimensions; the value itself if it is no broadcast.
mlir::Value behindBroadcasts(mlir::Value value);

/// The scalar that a tile repeats, or a splat constant itself; null for another tile.
mlir::Value uniformNumber(mlir::Value tile);

class FloatRanges {
public:
  /// Of a tile.kernel or tilegpu.kernel.
  explicit FloatRanges(mlir::Operation *kernel);

  /// The range of a scalar or splat constant of type f16, bf16, f32 or f64; none if nothing is known.
  std::optional<FloatRange> of(mlir::Value number) const { return range(number, /*assume=*/false); }

  /// The same where all parameters have usual magnitudes and are positive.
  std::optional<FloatRange> usual(mlir::Value number) const { return range(number, /*assume=*/true); }

  /// The conditions (docs/abi.md) beyond what is known by which `usual` holds for a number.
  llvm::SmallVector<mlir::Attribute> conditionsOf(mlir::Value number) const;

  /// Relies on one more condition.
  void assume(mlir::Attribute condition);

private:
  struct Bound {
    llvm::StringRef comparison;
    double value;
  };

  std::optional<FloatRange> range(mlir::Value number, bool assume) const;
  std::optional<FloatRange> known(tile::ArgOp argument) const;

  llvm::StringMap<llvm::SmallVector<Bound, 2>> bounds;
};

/// The float parameters that a number is computed from.
llvm::SmallVector<tile::ArgOp> parametersOf(mlir::Value number);

/// 2^-exponent to 2^exponent are usual magnitudes of a parameter of this type: products of up to three of them and of
/// constants stay inside the range of f32 and f64.
int usualExponent(mlir::Type type);

} // namespace tilec

#endif // TILEC_LIB_TRANSFORMS_FLOATRANGES_H
