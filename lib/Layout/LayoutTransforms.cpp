// Relabellings of layouts: slices, partial reductions, new, permuted, merged and split dimensions.
#include "tilec/Layout/Layout.h"

#include "llvm/ADT/STLExtras.h"

#include <cassert>

using namespace tilec;

void Layout::closeRegisterGaps() {
  llvm::SmallVector<Digit *, 8> registers;
  for (DigitList &dim : dims)
    for (Digit &digit : dim)
      if (digit.owner == Owner::Register)
        registers.push_back(&digit);
  llvm::sort(registers, [](const Digit *a, const Digit *b) { return a->weight < b->weight; });
  uint32_t weight = 1;
  for (Digit *digit : registers) {
    digit->weight = weight;
    weight *= digit->radix;
  }
}

Layout Layout::withoutDim(unsigned dim, llvm::SmallVectorImpl<Digit> &threadDigits) const {
  assert(dim < rank() && "no such dimension");
  Layout result = *this;
  for (const Digit &digit : dims[dim])
    if (digit.owner != Owner::Register)
      threadDigits.push_back(digit);
  result.dims.erase(result.dims.begin() + dim);
  result.closeRegisterGaps();
  return result;
}

Layout Layout::sliceDim(unsigned dim) const {
  llvm::SmallVector<Digit, 4> threadDigits;
  Layout result = withoutDim(dim, threadDigits);
  result.repDigits.append(threadDigits.begin(), threadDigits.end());
  result.canonicalize();
  return result;
}

Layout Layout::partialDim(unsigned dim, CombineKind kind) const {
  llvm::SmallVector<Digit, 4> threadDigits;
  Layout result = withoutDim(dim, threadDigits);
  for (const Digit &digit : threadDigits)
    result.partDigits.push_back({digit, kind});
  result.canonicalize();
  return result;
}

Layout Layout::finished() const {
  Layout result = *this;
  for (const PartialDigit &partial : partDigits)
    result.repDigits.push_back(partial.digit);
  result.partDigits.clear();
  result.canonicalize();
  return result;
}

uint32_t Layout::sliceRegister(unsigned dim, uint32_t reg) const {
  Coordinates coordinates = registerOffset(reg);
  coordinates.erase(coordinates.begin() + dim);
  // The slice covers what this layout covers, so the element has a place, in thread 0 as it has here.
  return sliceDim(dim).placeOf(coordinates)->reg;
}

Layout Layout::expandDim(unsigned dim) const {
  assert(dim <= rank() && "no such dimension");
  Layout result = *this;
  result.dims.insert(result.dims.begin() + dim, DigitList());
  return result;
}

Layout Layout::permuteDims(llvm::ArrayRef<unsigned> order) const {
  assert(order.size() == rank() && "one entry a dimension");
  Layout result = *this;
  for (unsigned i = 0; i < order.size(); ++i)
    result.dims[i] = dims[order[i]];
  return result;
}

/// Cuts digits off the inner end of `digits` until they cover `extent` positions exactly.
static bool takeInner(llvm::SmallVectorImpl<Digit> &digits, int64_t extent, Layout::DigitList &taken) {
  unsigned next = 0;
  while (extent > 1) {
    if (next == digits.size())
      return false;
    Digit &digit = digits[next];
    if (extent % digit.radix == 0) {
      taken.push_back(digit);
      extent /= digit.radix;
      ++next;
      continue;
    }
    if (digit.radix % extent != 0)
      return false;
    uint32_t inner = static_cast<uint32_t>(extent);
    taken.push_back({digit.owner, digit.weight, inner});
    digit = {digit.owner, digit.weight * inner, digit.radix / inner};
    extent = 1;
  }
  digits.erase(digits.begin(), digits.begin() + next);
  return true;
}

std::optional<Layout> Layout::reshape(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to) const {
  assert(from.size() == rank() && "one extent a dimension");
  llvm::SmallVector<DigitList, 4> result(to.size());
  // Walk both shapes from the innermost dimension in groups of equal products.
  int i = static_cast<int>(from.size()) - 1, j = static_cast<int>(to.size()) - 1;
  while (i >= 0 || j >= 0) {
    // A dimension that stays as it is may be padded.
    if (i >= 0 && j >= 0 && from[i] == to[j]) {
      result[j--] = dims[i--];
      continue;
    }
    int firstFrom = i, firstTo = j;
    int64_t fromProduct = i >= 0 ? from[i--] : 1, toProduct = j >= 0 ? to[j--] : 1;
    while (fromProduct != toProduct) {
      bool fromIsSmaller = fromProduct < toProduct;
      if ((fromIsSmaller ? i : j) < 0)
        return std::nullopt;
      if (fromIsSmaller)
        fromProduct *= from[i--];
      else
        toProduct *= to[j--];
    }

    llvm::SmallVector<Digit, 8> digits;
    for (int dim = firstFrom; dim > i; --dim) {
      if (covered(dim) != from[dim])
        return std::nullopt;
      digits.append(dims[dim].begin(), dims[dim].end());
    }
    for (int dim = firstTo; dim > j; --dim)
      if (!takeInner(digits, to[dim], result[dim]))
        return std::nullopt;
  }
  return get(result, repDigits, partDigits);
}
