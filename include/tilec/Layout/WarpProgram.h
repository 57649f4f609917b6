// WarpProgram: a straight-line program of shuffles and selects that moves a tile from one layout to another without
// leaving the warps.
#ifndef TILEC_LAYOUT_WARPPROGRAM_H
#define TILEC_LAYOUT_WARPPROGRAM_H

#include "tilec/Layout/Layout.h"

namespace tilec {

/// A bit of the lane or warp number: `number(owner) & weight`.
struct ThreadBit {
  Owner owner = Owner::Lane;
  uint32_t weight = 1;
};

/// One step; it defines the next value of the program.
struct WarpStep {
  enum class Kind : uint8_t {
    /// `first` of the lane whose number is this lane's xor `laneMask` (shfl.sync.bfly).
    ShuffleXor,
    /// `first` of the lane that WarpProgram::sourceLane names (shfl.sync.idx).
    ShuffleIndex,
    /// `bit` ? `first` : `second`.
    Select
  };
  Kind kind = Kind::Select;
  uint32_t first = 0;
  uint32_t second = 0;
  uint32_t laneMask = 0;
  ThreadBit bit;
};

/// Values 0 to numInputs - 1 are the source registers and value numInputs + i is the result of step i. Each value is
/// a unit of `elementsPerValue` neighbouring registers, packed into 32 bits where the elements are narrow and keep
/// their places in the unit.
struct WarpProgram {
  static constexpr int32_t undefined = -1;

  uint32_t elementsPerValue = 1;
  uint32_t numInputs = 0;
  llvm::SmallVector<WarpStep, 0> steps;
  /// The value of each unit of destination registers; `undefined` where the unit is padding in the source.
  llvm::SmallVector<int32_t, 0> results;
  /// The lane that ShuffleIndex steps read: the sum of number(owner) / divisor % radix * stride.
  llvm::SmallVector<Term, 5> sourceLane;

  unsigned shuffles() const;
  unsigned selects() const { return steps.size() - shuffles(); }
  /// Whether every result is the input of the same number.
  bool isIdentity() const;
};

/// The program that converts `from` to `to`, layouts of one tensor whose elements have `elementBits`; none where an
/// element has to change its warp (or group, or block), or where the partial digits of the two differ.
std::optional<WarpProgram> buildWarpProgram(const Layout &from, const Layout &to, unsigned elementBits);

} // namespace tilec

#endif // TILEC_LAYOUT_WARPPROGRAM_H
