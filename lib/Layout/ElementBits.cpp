// Where two layouts keep the bits of the coordinates.
#include "ElementBits.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace tilec;

static void appendBits(const Digit &digit, llvm::SmallVectorImpl<BitPlace> &places) {
  for (unsigned bit = 0; bit < llvm::Log2_32_Ceil(digit.radix); ++bit)
    places.push_back({digit.owner, digit.weight << bit});
}

llvm::SmallVector<ElementBit, 24> tilec::elementBits(const Layout &from, const Layout &to) {
  llvm::SmallVector<ElementBit, 24> result;
  for (unsigned dim = 0; dim < from.rank(); ++dim) {
    llvm::SmallVector<BitPlace, 16> fromPlaces, toPlaces;
    for (const Digit &digit : from.digits(dim))
      appendBits(digit, fromPlaces);
    for (const Digit &digit : to.digits(dim))
      appendBits(digit, toPlaces);
    for (unsigned bit = 0; bit < std::max(fromPlaces.size(), toPlaces.size()); ++bit) {
      ElementBit element{dim, bit, std::nullopt, std::nullopt};
      if (bit < fromPlaces.size())
        element.from = fromPlaces[bit];
      if (bit < toPlaces.size())
        element.to = toPlaces[bit];
      result.push_back(element);
    }
  }
  llvm::SmallVector<BitPlace, 8> partial;
  for (const PartialDigit &digit : from.partial())
    appendBits(digit.digit, partial);
  for (unsigned bit = 0; bit < partial.size(); ++bit)
    result.push_back({from.rank(), bit, partial[bit], partial[bit]});
  return result;
}
