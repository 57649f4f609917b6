// Tests of the layout algebra against brute-force enumeration.
#include "LayoutTestSupport.h"

using namespace tilec;
using namespace tilec::test;

static std::string errorOf(llvm::StringRef text) {
  std::string error;
  EXPECT_FALSE(Layout::parse(text, &error)) << text.str();
  return error;
}

TEST(LayoutText, RoundTripsAndIsCanonical) {
  for (const char *text :
       {"[[l1:8, r1:2, w0:4], [r0:2, l0:4, r2:32]]", "[[l1:8, r0:2, w0:4]] rep [l0:4]", "[[r0:8, l0:32, w0:8, r1:4]]",
        "[[l1:8, r0:2, w0:4]] part(add) [l0:4]", "[[l0:32], []] rep [w0:2] part(max) [w1:2]", "[] rep [l0:32, w0:4]",
        "[[l0:32, w0:2, r0:11]] part(add) [w1:2] part(max) [w2:2]"})
    EXPECT_EQ(parsed(text).str(), text);
  EXPECT_EQ(parsed("[[l1:8,r1:2,w0:4],[r0:2,l0:4,r2:2,r3:5,r4:1]]").str(), "[[l1:8, r1:2, w0:4], [r0:2, l0:4, r2:10]]");
  EXPECT_EQ(parsed("[[l7:32, r9:2, r11:3]]").str(), "[[l0:32, r0:6]]");
  EXPECT_EQ(Layout().str(), "[] rep [l0:32]");
}

TEST(LayoutText, Errors) {
  EXPECT_EQ(errorOf("[[l0:16]]"), "the lane digits multiply to 16, not 32");
  EXPECT_EQ(errorOf("[[l0:32, r0:3, r2:2], [r1:2]]"),
            "radix 3 is not a power of two; only the outermost digit of a dimension may be that, in registers");
  EXPECT_EQ(errorOf("[[l0:32, w0:3]]"),
            "radix 3 is not a power of two; only the outermost digit of a dimension may be that, in registers");
  EXPECT_EQ(errorOf("[[l0:32]] rep [r0:2]"), "register digits cannot be replicated or partial");
  EXPECT_EQ(errorOf("[[l0:32, l0:1]]"), "digit `l0` is used twice");
  EXPECT_EQ(errorOf("[[l0:32, r0:0]]"), "a radix is 0");
  EXPECT_EQ(errorOf("[[l0:32, r0:1073741824, r1:2]]"), "the radices multiply to more than 2^30");
  EXPECT_EQ(errorOf("[[l0:32] rep"), "expected `]` at column 10");
  EXPECT_EQ(errorOf("[[x0:32]]"),
            "expected a digit such as `r0:2`, whose owner is one of `r`, `l`, `w`, `g`, `c`, `b` at column 3");
  EXPECT_EQ(errorOf("[[l0:32]] part(avg) [w0:2]"),
            "expected one of `add`, `mul`, `max`, `min`, `and`, `or`, `xor` at column 16");
  EXPECT_EQ(errorOf("[[l0:32]] x"), "unexpected text at column 11");
  EXPECT_EQ(errorOf("[[l:32]]"), "expected a number at column 4");
  EXPECT_EQ(errorOf("[[l99999999999:32]]"), "the number is too large at column 4");
}

TEST(Layout, WorkedExampleOfTheHeader) {
  Layout layout = parsed("[[l1:8, r1:2, w0:4], [r0:2, l0:4, r2:2]]");
  EXPECT_EQ(layout.coordinates(5, 6, 3), (Coordinates{49, 13}));
  EXPECT_EQ(layout.registerOffset(5), (Coordinates{0, 9}));
  auto rows = layout.terms(0);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_TRUE(rows[0].owner == Owner::Lane && rows[0].divisor == 4 && rows[0].radix == 8 && rows[0].stride == 1);
  EXPECT_TRUE(rows[1].owner == Owner::Warp && rows[1].divisor == 1 && rows[1].radix == 4 && rows[1].stride == 16);
  EXPECT_EQ(layout.numRegisters(), 8u);
  EXPECT_EQ(layout.numThreads(), 128u);
  EXPECT_TRUE(layout.covers({64, 15}));
  EXPECT_FALSE(layout.covers({65, 15}));
}

TEST(Layout, TheRegisterOperandIsTheAccumulator) {
  Layout accumulator = parsed("[[l1:8, r1:2, w0:4], [r0:2, l0:4, r2:10]]");
  Layout operand = parsed("[[l1:8, r1:2, w0:4], [r0:2, l0:4, r2:2, r3:5]]");
  EXPECT_TRUE(equivalent(accumulator, operand));
  EXPECT_EQ(hash_value(accumulator), hash_value(operand));
  EXPECT_NE(accumulator, parsed("[[l1:8, r0:2, w0:4], [r1:2, l0:4, r2:10]]"));
}

TEST(Layout, RandomLayoutsAreBijectiveAndInvertible) {
  std::mt19937 random(1);
  for (unsigned i = 0; i < 300; ++i) {
    Layout layout = randomLayout(random, 1 + i % 3, 1u << (i % 4), 32);
    std::string error;
    ASSERT_TRUE(layout.verify(error)) << error;
    ASSERT_EQ(parsed(layout.str()), layout);
    expectBijective(layout);
    forEachPlace(layout, [&](uint32_t reg, uint32_t lane, uint32_t warp) {
      Coordinates coordinates = layout.coordinates(reg, lane, warp), sum = layout.registerOffset(reg);
      for (unsigned dim = 0; dim < layout.rank(); ++dim)
        for (const Term &term : layout.terms(dim))
          sum[dim] += (term.owner == Owner::Lane ? lane : warp) / term.divisor % term.radix * term.stride;
      ASSERT_EQ(sum, coordinates);
      auto places = layout.placesOf(coordinates);
      Place here{reg, lane, warp};
      ASSERT_EQ(std::count(places.begin(), places.end(), here), 1);
      ASSERT_EQ(layout.coordinates(*layout.placeOf(coordinates)), coordinates);
    });
    Coordinates outside = layout.covered();
    ASSERT_FALSE(layout.placeOf(outside));
  }
}

TEST(Layout, ContiguousRegisters) {
  std::mt19937 random(2);
  for (unsigned i = 0; i < 200; ++i) {
    Layout layout = randomLayout(random, 1 + i % 3, 4, 32);
    for (unsigned dim = 0; dim < layout.rank(); ++dim) {
      auto run = layout.contiguousRegisters(dim);
      // Brute force: the longest prefix of the dimension that thread 0 holds with all other coordinates 0.
      int64_t length = 0;
      for (Coordinates at(layout.rank(), 0); length < layout.covered(dim); ++length) {
        at[dim] = length;
        auto place = layout.placeOf(at);
        if (place->lane != 0 || place->warp != 0)
          break;
        ASSERT_EQ(run[length], place->reg);
      }
      ASSERT_EQ(static_cast<int64_t>(run.size()), length);
      ASSERT_EQ(run.size() % layout.vectorWidth(dim, 16), 0u);
    }
  }
  EXPECT_EQ(parsed("[[r0:57], [l0:32]]").vectorWidth(0, 4), 1u);
  EXPECT_EQ(parsed("[[r0:12], [l0:32]]").vectorWidth(0, 8), 4u);
}

TEST(Layout, SlicesPartialsAndBroadcasts) {
  Layout accumulator = parsed("[[l1:8, r1:2, w0:4], [r0:2, l0:4, r2:32]]");
  EXPECT_EQ(accumulator.sliceDim(1).str(), "[[l1:8, r0:2, w0:4]] rep [l0:4]");
  EXPECT_EQ(accumulator.sliceDim(0).str(), "[[r0:2, l0:4, r1:32]] rep [l1:8, w0:4]");
  EXPECT_EQ(accumulator.partialDim(1, CombineKind::Add).str(), "[[l1:8, r0:2, w0:4]] part(add) [l0:4]");
  EXPECT_EQ(accumulator.partialDim(1, CombineKind::Max).finished(), accumulator.sliceDim(1));
  std::mt19937 random(3);
  for (unsigned i = 0; i < 200; ++i) {
    Layout layout = randomLayout(random, 1 + i % 3, 2, 16);
    for (unsigned dim = 0; dim < layout.rank(); ++dim) {
      Layout slice = layout.sliceDim(dim);
      expectBijective(slice);
      // Every thread of the slice holds the element its register of the parent needs.
      forEachPlace(layout, [&](uint32_t reg, uint32_t lane, uint32_t warp) {
        Coordinates parent = layout.coordinates(reg, lane, warp);
        parent.erase(parent.begin() + dim);
        ASSERT_EQ(slice.coordinates(layout.sliceRegister(dim, reg), lane, warp), parent);
      });
    }
  }
}

TEST(Layout, PermuteExpandReshape) {
  std::mt19937 random(4);
  for (unsigned i = 0; i < 200; ++i) {
    Layout layout = randomLayout(random, 3, 2, 16);
    Layout permuted = layout.permuteDims({2, 0, 1}), expanded = layout.expandDim(i % 4);
    Coordinates shape = layout.covered();
    Coordinates merged{shape[0], shape[1] * shape[2]}, flat{shape[0] * shape[1] * shape[2]};
    auto two = layout.reshape(shape, merged), one = layout.reshape(shape, flat);
    forEachPlace(layout, [&](uint32_t reg, uint32_t lane, uint32_t warp) {
      Coordinates at = layout.coordinates(reg, lane, warp);
      ASSERT_EQ(permuted.coordinates(reg, lane, warp), (Coordinates{at[2], at[0], at[1]}));
      Coordinates wider = at;
      wider.insert(wider.begin() + i % 4, 0);
      ASSERT_EQ(expanded.coordinates(reg, lane, warp), wider);
      if (two) {
        ASSERT_EQ(two->coordinates(reg, lane, warp), (Coordinates{at[0], at[1] * shape[2] + at[2]}));
      }
      if (one) {
        ASSERT_EQ(one->coordinates(reg, lane, warp), (Coordinates{(at[0] * shape[1] + at[1]) * shape[2] + at[2]}));
      }
    });
    bool middleIsOdd = llvm::any_of(shape, [](int64_t extent) { return extent % 3 == 0; });
    ASSERT_TRUE(middleIsOdd || (two && one));
    if (two) {
      ASSERT_EQ(two->reshape(merged, shape), layout);
    }
    if (one) {
      ASSERT_EQ(one->reshape(flat, shape), layout);
    }
  }
  Layout padded = parsed("[[l0:32, w0:2, r0:2], [r1:8]]");
  EXPECT_EQ(padded.reshape({100, 8}, {100, 2, 4})->str(), "[[l0:32, w0:2, r0:2], [r2:2], [r1:4]]");
  EXPECT_FALSE(padded.reshape({100, 8}, {800}));
  EXPECT_FALSE(padded.reshape({128, 8}, {128, 3}));
  EXPECT_EQ(padded.reshape({128, 8}, {1, 128, 1, 8, 1})->rank(), 5u);
  EXPECT_FALSE(parsed("[[l0:32], [r0:3]]").reshape({32, 3}, {96}));
}

TEST(Layout, RefinementAgreesWithBothLayouts) {
  std::mt19937 random(5);
  for (unsigned i = 0; i < 300; ++i) {
    Layout first = randomLayout(random, 1, 4, 32), second = randomLayout(random, 1, 4, 32);
    auto refined = refineDim(first, second, 0);
    auto check = [&](const Layout &layout, auto side) {
      forEachPlace(layout, [&](uint32_t reg, uint32_t lane, uint32_t warp) {
        int64_t coordinate = 0;
        Place place{reg, lane, warp};
        for (const RefinedDigit &digit : refined)
          if (const std::optional<Digit> &mine = side(digit))
            coordinate += mine->valueIn(place.get(mine->owner)) * digit.stride;
        ASSERT_EQ(coordinate, layout.coordinates(reg, lane, warp)[0]) << first.str() << " / " << second.str();
      });
    };
    check(first, [](const RefinedDigit &digit) { return digit.first; });
    check(second, [](const RefinedDigit &digit) { return digit.second; });
    for (unsigned j = 0; j + 1 < refined.size(); ++j)
      if (refined[j].first && refined[j].second && refined[j].first->owner != Owner::Register &&
          refined[j].second->owner != Owner::Register) {
        ASSERT_EQ(refined[j].first->radix, refined[j].second->radix);
      }
  }
}
