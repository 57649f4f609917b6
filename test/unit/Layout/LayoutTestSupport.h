// Helpers of the layout tests: parsing that must succeed, brute-force enumeration, random layouts.
#ifndef TILEC_TEST_UNIT_LAYOUT_LAYOUTTESTSUPPORT_H
#define TILEC_TEST_UNIT_LAYOUT_LAYOUTTESTSUPPORT_H

#include "tilec/Layout/Layout.h"

#include "gtest/gtest.h"

#include <map>
#include <random>
#include <vector>

namespace tilec::test {

inline Layout parsed(llvm::StringRef text) {
  std::string error;
  std::optional<Layout> layout = Layout::parse(text, &error);
  EXPECT_TRUE(layout) << text.str() << ": " << error;
  return layout.value_or(Layout());
}

/// Calls `visit(reg, lane, warp)` for every place of a layout without group, cluster and grid digits.
template <typename Visit> void forEachPlace(const Layout &layout, Visit visit) {
  for (uint32_t warp = 0; warp < layout.numWarps(); ++warp)
    for (uint32_t lane = 0; lane < layout.numLanes(); ++lane)
      for (uint32_t reg = 0; reg < layout.numRegisters(); ++reg)
        visit(reg, lane, warp);
}

/// Calls `visit(coordinates)` for every element of a shape.
template <typename Visit> void forEachElement(llvm::ArrayRef<int64_t> shape, Visit visit) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  for (int64_t i = 0; i < count; ++i) {
    Coordinates coordinates(shape.size());
    int64_t rest = i;
    for (int dim = static_cast<int>(shape.size()) - 1; dim >= 0; --dim) {
      coordinates[dim] = rest % shape[dim];
      rest /= shape[dim];
    }
    visit(coordinates);
  }
}

/// Every covered position is held by exactly as many places as the replicated and partial digits say.
inline void expectBijective(const Layout &layout) {
  uint64_t copies = 1;
  for (const Digit &digit : layout.replicated())
    copies *= digit.radix;
  for (const PartialDigit &partial : layout.partial())
    copies *= partial.digit.radix;
  std::map<std::vector<int64_t>, uint64_t> held;
  forEachPlace(layout, [&](uint32_t reg, uint32_t lane, uint32_t warp) {
    Coordinates coordinates = layout.coordinates(reg, lane, warp);
    for (unsigned dim = 0; dim < layout.rank(); ++dim)
      ASSERT_TRUE(coordinates[dim] >= 0 && coordinates[dim] < layout.covered(dim)) << layout.str();
    ++held[std::vector<int64_t>(coordinates.begin(), coordinates.end())];
  });
  uint64_t positions = 1;
  for (int64_t extent : layout.covered())
    positions *= extent;
  ASSERT_EQ(held.size(), positions) << layout.str();
  for (const auto &entry : held)
    ASSERT_EQ(entry.second, copies) << layout.str();
}

/// A random layout of `rank` dimensions over `numWarps` warps with at most `maxRegisters` registers; odd radices,
/// padding and replication occur.
inline Layout randomLayout(std::mt19937 &random, unsigned rank, uint32_t numWarps, uint32_t maxRegisters) {
  auto below = [&](uint32_t bound) { return static_cast<uint32_t>(random() % bound); };
  LayoutSpec spec;
  spec.dims.resize(rank);
  std::array<uint32_t, numOwners> next{};
  auto place = [&](Owner owner, uint32_t radix, bool mayReplicate) {
    DigitSpec digit{owner, next[static_cast<unsigned>(owner)]++, radix};
    uint32_t target = below(mayReplicate ? rank + 1 : rank);
    if (target == rank)
      spec.replicated.push_back(digit);
    else
      spec.dims[target].push_back(digit);
  };
  std::vector<Owner> bits(5, Owner::Lane);
  for (uint32_t warps = 1; warps < numWarps; warps *= 2)
    bits.push_back(Owner::Warp);
  uint32_t registers = 1;
  while (registers * 2 <= maxRegisters && below(8) != 0) {
    bits.push_back(Owner::Register);
    registers *= 2;
  }
  std::shuffle(bits.begin(), bits.end(), random);
  bool replicates = below(3) == 0;
  for (Owner owner : bits)
    place(owner, 2, replicates && owner != Owner::Register);
  if (registers * 3 <= maxRegisters && below(3) == 0)
    place(Owner::Register, 3, false);
  return *Layout::get(spec);
}

} // namespace tilec::test

#endif // TILEC_TEST_UNIT_LAYOUT_LAYOUTTESTSUPPORT_H
