// The bits of the coordinates of a tensor and where two layouts keep each of them.
#ifndef TILEC_LIB_LAYOUT_ELEMENTBITS_H
#define TILEC_LIB_LAYOUT_ELEMENTBITS_H

#include "tilec/Layout/Layout.h"

namespace tilec {

/// Where a layout keeps a coordinate bit: in the bit `weight` of an owner's number (or, for registers, in a step of
/// `weight` register numbers).
struct BitPlace {
  Owner owner = Owner::Register;
  uint32_t weight = 1;

  bool isRegister() const { return owner == Owner::Register; }
  bool operator==(const BitPlace &other) const { return owner == other.owner && weight == other.weight; }
  bool operator!=(const BitPlace &other) const { return !(*this == other); }
};

/// One bit of one coordinate. A side without a place does not cover positions in which the bit is 1. Radices inside a
/// dimension are powers of two, so bits are enough; the outermost digit may use only some combinations of its bits.
struct ElementBit {
  unsigned dim = 0;
  unsigned bit = 0;
  std::optional<BitPlace> from;
  std::optional<BitPlace> to;
};

/// All coordinate bits of two layouts of the same rank. Partial digits, which must be the same in both, follow as bits
/// of a further dimension.
llvm::SmallVector<ElementBit, 24> elementBits(const Layout &from, const Layout &to);

} // namespace tilec

#endif // TILEC_LIB_LAYOUT_ELEMENTBITS_H
