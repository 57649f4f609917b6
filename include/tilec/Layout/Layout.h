// Layout: the map from (register, lane, warp, ...) to the coordinates of a tile held in registers, written as
// mixed-radix digits.
//
// A tile of known shape is spread over the threads of a warpgroup or of a block. Each dimension of the tile has an
// ordered list of *digits*, from the inside out. A digit belongs to an *owner* (a register number, a lane, a warp,
// ...) and its value is one mixed-radix digit of the owner's number; the coordinate in the dimension is the sum of
// digit values, each multiplied by the radices of the digits inside it.
//
// Worked example: the accumulator of `wgmma.m64n16`, 8 registers a thread, 4 warps:
//
//     [[l1:8, r1:2, w0:4], [r0:2, l0:4, r2:2]]
//
// Dimension 0 (64 rows) reads, from the inside out, "digit 1 of the lane, radix 8; digit 1 of the register, radix 2;
// digit 0 of the warp, radix 4". Dimension 1 (16 columns) is "r0:2, l0:4, r2:2". The number after the owner's letter
// orders the digits of that owner, so the register number is r0 + 2*r1 + 4*r2 and the lane number is l0 + 4*l1:
//
//     row    = (lane / 4) + 8 * (register / 2 % 2) + 16 * warp
//     column = (register % 2) + 2 * (lane % 4) + 8 * (register / 4)
//
// Register 5, lane 6, warp 3 holds row 1 + 0 + 48 = 49 and column 1 + 4 + 8 = 13. The part that registers contribute,
// registerOffset(5) = (0, 9), is a compile-time constant; the part of the thread is `terms(0)` = {lane / 4 % 8 * 1,
// warp / 1 % 4 * 16} and `terms(1)` = {lane / 1 % 4 * 2}.
//
// Digits that belong to no dimension:
//   rep [l0:4]        threads that differ in this digit hold the same elements (a row vector after a reduction);
//   part(add) [l0:4]  threads that differ in this digit hold addends of the element: a reduction not finished yet.
//
// Invariants (`verify`): the digits of one owner tile its number without gap or overlap; lanes are 32; registers are
// neither replicated nor partial; radices are powers of two, except that the outermost digit of a dimension may have
// any radix if it is in registers. So an extent such as 176 = 8 x 22 needs no padding. Where the digits cover more
// than the extent of the tensor, the excess positions are padding: they exist in registers and hold no element.
//
// A Layout is always in canonical form: digits of radix 1 are dropped and neighbours that continue each other
// (`r2:2, r3:5`) are one digit (`r2:10`). Two layouts are therefore the same function if and only if they are equal.
#ifndef TILEC_LAYOUT_LAYOUT_H
#define TILEC_LAYOUT_LAYOUT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace tilec {

/// What a digit is taken from. The order is the order of the letters in `ownerLetters`.
enum class Owner : uint8_t { Register, Lane, Warp, Group, Cluster, Grid };
constexpr unsigned numOwners = 6;
constexpr unsigned lanesPerWarp = 32;

/// 'r', 'l', 'w', 'g', 'c', 'b'.
char ownerLetter(Owner owner);

/// How the addends of a partial digit combine.
enum class CombineKind : uint8_t { Add, Mul, Max, Min, And, Or, Xor };
llvm::StringRef combineKindName(CombineKind kind);
std::optional<CombineKind> combineKindFromName(llvm::StringRef name);

/// One digit of an owner's number: its value is `number / weight % radix`.
struct Digit {
  Owner owner = Owner::Register;
  uint32_t weight = 1;
  uint32_t radix = 1;

  uint32_t valueIn(uint32_t number) const { return number / weight % radix; }
  bool operator==(const Digit &other) const {
    return owner == other.owner && weight == other.weight && radix == other.radix;
  }
  bool operator!=(const Digit &other) const { return !(*this == other); }
};

struct PartialDigit {
  Digit digit;
  CombineKind kind = CombineKind::Add;

  bool operator==(const PartialDigit &other) const { return digit == other.digit && kind == other.kind; }
  bool operator!=(const PartialDigit &other) const { return !(*this == other); }
};

/// A digit as it is written: `position` orders the digits of one owner, 0 innermost. Positions may have gaps.
struct DigitSpec {
  Owner owner = Owner::Register;
  uint32_t position = 0;
  uint32_t radix = 1;
};

struct PartialSpec {
  DigitSpec digit;
  CombineKind kind = CombineKind::Add;
};

/// What a layout is built from; see Layout::get.
struct LayoutSpec {
  llvm::SmallVector<llvm::SmallVector<DigitSpec, 4>, 2> dims;
  llvm::SmallVector<DigitSpec, 2> replicated;
  llvm::SmallVector<PartialSpec, 2> partial;
};

/// One place that holds an element: a register of a lane of a warp.
struct Place {
  uint32_t reg = 0;
  uint32_t lane = 0;
  uint32_t warp = 0;
  uint32_t group = 0;
  uint32_t cluster = 0;
  uint32_t grid = 0;

  uint32_t get(Owner owner) const;
  uint32_t &get(Owner owner);
  bool operator==(const Place &other) const;
};

/// A summand of a coordinate: `number(owner) / divisor % radix * stride`.
struct Term {
  Owner owner = Owner::Register;
  uint32_t divisor = 1;
  uint32_t radix = 1;
  int64_t stride = 1;
};

/// A stretch of a dimension on which each of two layouts has one digit, or part of a digit, or none; see refineDim.
struct RefinedDigit {
  int64_t stride = 1;
  std::optional<Digit> first;
  std::optional<Digit> second;
};

using Coordinates = llvm::SmallVector<int64_t, 4>;

class Layout {
public:
  using DigitList = llvm::SmallVector<Digit, 4>;

  /// The layout of a scalar in one register of one warp: rank 0, all lanes replicated.
  Layout();

  /// Builds the canonical layout of a spec; without a value, and with the reason in `error`, where an invariant fails.
  static std::optional<Layout> get(const LayoutSpec &spec, std::string *error = nullptr);

  /// The same from digits that already have weights.
  static std::optional<Layout> get(llvm::ArrayRef<DigitList> dims, llvm::ArrayRef<Digit> replicated,
                                   llvm::ArrayRef<PartialDigit> partial = {}, std::string *error = nullptr);

  // Text form -------------------------------------------------------------------------------------------------------

  /// `[[l1:8, r1:2, w0:4], [r0:2, l0:4, r2:32]] rep [..] part(add) [..]`; parses back to an equal layout.
  void print(llvm::raw_ostream &os) const;
  std::string str() const;

  /// Parses all of `text`; the order of the sections is dims, rep, part. Errors name the column.
  static std::optional<Layout> parse(llvm::StringRef text, std::string *error = nullptr);

  /// Checks every invariant, with the reason in `error`. Holds for every layout that `get` and `parse` return.
  bool verify(std::string &error) const;

  // Structure -------------------------------------------------------------------------------------------------------

  unsigned rank() const { return dims.size(); }
  llvm::ArrayRef<Digit> digits(unsigned dim) const { return dims[dim]; }
  llvm::ArrayRef<Digit> replicated() const { return repDigits; }
  llvm::ArrayRef<PartialDigit> partial() const { return partDigits; }
  bool isPartial() const { return !partDigits.empty(); }

  /// Positions covered in one dimension, a multiple of which is never exceeded by any place.
  int64_t covered(unsigned dim) const;
  Coordinates covered() const;

  /// Whether every element of a tensor of this shape (elements per dimension) has a place.
  bool covers(llvm::ArrayRef<int64_t> shape) const;

  uint32_t numberOf(Owner owner) const;
  uint32_t numRegisters() const { return numberOf(Owner::Register); }
  uint32_t numLanes() const { return numberOf(Owner::Lane); }
  uint32_t numWarps() const { return numberOf(Owner::Warp); }
  uint32_t numThreads() const { return numLanes() * numWarps(); }

  // The map ---------------------------------------------------------------------------------------------------------

  Coordinates coordinates(const Place &place) const;
  Coordinates coordinates(uint32_t reg, uint32_t lane, uint32_t warp) const;

  /// What the register digits contribute to each coordinate: a constant of each register.
  Coordinates registerOffset(uint32_t reg) const;

  /// The terms of one coordinate that depend on the thread. coordinate = registerOffset + sum of terms.
  llvm::SmallVector<Term, 4> terms(unsigned dim) const;

  /// The place of an element with all replicated and partial digits 0; none outside the covered positions.
  std::optional<Place> placeOf(llvm::ArrayRef<int64_t> coordinates) const;

  /// All places of an element, one a combination of the replicated digits; partial digits are 0.
  llvm::SmallVector<Place, 4> placesOf(llvm::ArrayRef<int64_t> coordinates) const;

  /// Offsets of the registers of one thread that hold consecutive coordinates along `dim`, starting at a multiple of
  /// their number: adding result[i] to the number of a register whose own innermost digits are 0 steps by i. The
  /// size, at least 1, is the longest such run; it is a power of two unless the run is the whole dimension.
  llvm::SmallVector<uint32_t, 8> contiguousRegisters(unsigned dim) const;

  /// The widest vector along `dim`, a power of two of at most `limit` elements.
  uint32_t vectorWidth(unsigned dim, uint32_t limit) const;

  // Relabelling: none of these moves data between threads -----------------------------------------------------------

  /// After a finished reduction along `dim`: its thread digits are replicated, its registers vanish and the remaining
  /// registers keep their order. Also the layout of a vector that is broadcast along `dim` into this layout.
  Layout sliceDim(unsigned dim) const;

  /// After reducing only the registers along `dim`: its thread digits are partial.
  Layout partialDim(unsigned dim, CombineKind kind) const;

  /// Partial digits become replicated: the layout after the reduction has been finished.
  Layout finished() const;

  /// The register of `sliceDim(dim)` that holds the element with this register's other coordinates.
  uint32_t sliceRegister(unsigned dim, uint32_t reg) const;

  /// Inserts a dimension of extent 1 before `dim` (or last, for dim = rank).
  Layout expandDim(unsigned dim) const;

  /// Dimension i of the result is dimension `order[i]` of this layout.
  Layout permuteDims(llvm::ArrayRef<unsigned> order) const;

  /// The layout after a row-major reshape of a tensor from one shape to another with the same number of elements;
  /// none where a digit would be cut apart off its radix, an odd digit would no longer be outermost, or a padded
  /// dimension would be merged or split.
  std::optional<Layout> reshape(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to) const;

  // Comparison ------------------------------------------------------------------------------------------------------

  bool operator==(const Layout &other) const;
  bool operator!=(const Layout &other) const { return !(*this == other); }
  friend llvm::hash_code hash_value(const Layout &layout);

private:
  void canonicalize();
  /// All digits of an owner, mapped or not, by increasing weight.
  llvm::SmallVector<Digit, 8> digitsOf(Owner owner) const;
  /// Renumbers registers after some register digits were dropped.
  void closeRegisterGaps();
  /// Without `dim`, whose thread digits go to `threadDigits`.
  Layout withoutDim(unsigned dim, llvm::SmallVectorImpl<Digit> &threadDigits) const;

  llvm::SmallVector<DigitList, 2> dims;
  llvm::SmallVector<Digit, 2> repDigits;
  llvm::SmallVector<PartialDigit, 1> partDigits;
};

llvm::hash_code hash_value(const Layout &layout);
llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const Layout &layout);

/// Whether both layouts send every (register, lane, warp, ...) to the same element. Equality of canonical forms.
bool equivalent(const Layout &first, const Layout &second);

/// Cuts one dimension of two layouts at all the strides at which either has a digit boundary, from the inside out.
/// Where only one layout still has digits the other side is empty (padding of the first). On the outermost stretch
/// the two radices may differ.
llvm::SmallVector<RefinedDigit, 8> refineDim(const Layout &first, const Layout &second, unsigned dim);

} // namespace tilec

#endif // TILEC_LAYOUT_LAYOUT_H
