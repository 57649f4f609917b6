// Tests of the makers: Tensor Core fragments against the PTX ISA's formulas, blocked layouts against enumeration.
#include "LayoutTestSupport.h"

#include "tilec/Layout/BlockedLayout.h"
#include "tilec/Layout/FragmentLayouts.h"

using namespace tilec;
using namespace tilec::test;

//===---------------------------------------------------------------------------------------------------------------===
// wgmma
//===---------------------------------------------------------------------------------------------------------------===

TEST(Wgmma, AccumulatorFollowsThePtxFormula) {
  for (int64_t n = 8; n <= 256; n += 8)
    for (int64_t blocks : {1, 2, 3}) {
      WgmmaTile tile{64 * blocks, n, 16, n, 16};
      Layout layout = tile.accumulator();
      ASSERT_EQ(layout.numRegisters(), blocks * n / 2);
      ASSERT_EQ(layout.covered(), (Coordinates{64 * blocks, n}));
      expectBijective(layout);
      for (int64_t block = 0; block < blocks; ++block) {
        RegisterRange range = tile.accumulatorRegisters(block, 0);
        ASSERT_EQ(range.count, n / 2);
        for (uint32_t thread = 0; thread < 128; ++thread)
          for (uint32_t i = 0; i < range.count; ++i) {
            // acc[4j + {0,1}] are row 16 warp + lane / 4, columns 8j + 2 (lane % 4) + {0,1}; acc[4j + {2,3}] row + 8.
            int64_t lane = thread % 32, warp = thread / 32, j = i / 4;
            int64_t row = 64 * block + 16 * warp + lane / 4 + (i % 4 >= 2 ? 8 : 0);
            int64_t column = 8 * j + 2 * (lane % 4) + i % 2;
            ASSERT_EQ(layout.coordinates(range.first + i, lane, warp), (Coordinates{row, column}));
          }
      }
    }
  EXPECT_EQ((WgmmaTile{64, 256, 64, 256, 16}.accumulator().str()), "[[l1:8, r1:2, w0:4], [r0:2, l0:4, r2:32]]");
}

TEST(Wgmma, SeveralInstructionsAlongN) {
  WgmmaTile tile{128, 160, 16, 80, 16};
  Layout layout = tile.accumulator();
  for (int64_t mi = 0; mi < 2; ++mi)
    for (int64_t ni = 0; ni < 2; ++ni) {
      RegisterRange range = tile.accumulatorRegisters(mi, ni);
      EXPECT_EQ(range.count, 40u);
      EXPECT_EQ(layout.registerOffset(range.first), (Coordinates{64 * mi, 80 * ni}));
    }
}

TEST(Wgmma, RegisterOperandFollowsThePtxFormula) {
  for (unsigned bits : {8u, 16u, 32u})
    for (int64_t steps : {1, 2, 5}) {
      WgmmaTile tile{128, 64, steps * 256 / bits, 64, bits};
      Layout layout = tile.operandA();
      expectBijective(layout);
      int64_t packed = 32 / bits;
      for (int64_t mi = 0; mi < 2; ++mi)
        for (int64_t ki = 0; ki < steps; ++ki) {
          RegisterRange range = tile.operandARegisters(mi, ki);
          ASSERT_EQ(range.count, 4 * packed);
          for (uint32_t thread = 0; thread < 128; ++thread)
            for (uint32_t i = 0; i < range.count; ++i) {
              // 32-bit register a[j]: row lane / 4 + 8 (j odd), elements packed * (lane % 4) + 0.., second half of k
              // for j >= 2.
              int64_t lane = thread % 32, warp = thread / 32, j = i / packed;
              int64_t row = 64 * mi + 16 * warp + lane / 4 + 8 * (j % 2);
              int64_t k = ki * 8 * packed + packed * (lane % 4) + i % packed + 4 * packed * (j / 2);
              ASSERT_EQ(layout.coordinates(range.first + i, lane, warp), (Coordinates{row, k}));
            }
        }
    }
}

TEST(Wgmma, ProbabilitiesAreTheNextOperandWithoutAMove) {
  for (int64_t keys = 16; keys <= 256; keys += 16)
    EXPECT_EQ((WgmmaTile{64, keys, 128, keys, 16}.accumulator()), (WgmmaTile{64, 128, keys, 128, 16}.operandA()));
}

//===---------------------------------------------------------------------------------------------------------------===
// mma.sync
//===---------------------------------------------------------------------------------------------------------------===

namespace {
struct Position {
  int64_t row, column;
};
} // namespace

// Written from the fragment tables of the PTX ISA: groupID = lane >> 2, threadID_in_group = lane % 4.
static Position fragmentA(const MmaInstruction &shape, uint32_t lane, uint32_t i) {
  int64_t group = lane >> 2, inGroup = lane % 4;
  if (shape.elementBits == 64)
    return {group, inGroup};
  if (shape.elementBits == 32) // a0 (g, t), a1 (g + 8, t), a2 (g, t + 4), a3 (g + 8, t + 4)
    return {i % 2 == 0 ? group : group + 8, i < 2 ? inGroup : inGroup + 4};
  if (shape.elementBits == 16) // a0 a1: row g; a2 a3: g + 8; a4 a5: g, k + 8; a6 a7: g + 8, k + 8
    return {i < 2 || (i >= 4 && i < 6) ? group : group + 8, inGroup * 2 + (i & 1) + (i >= 4 ? 8 : 0)};
  return {i < 4 || (i >= 8 && i < 12) ? group : group + 8, inGroup * 4 + (i & 3) + (i >= 8 ? 16 : 0)};
}

static Position fragmentB(const MmaInstruction &shape, uint32_t lane, uint32_t i) {
  int64_t group = lane >> 2, inGroup = lane % 4;
  if (shape.elementBits == 64)
    return {inGroup, group};
  if (shape.elementBits == 32)
    return {i == 0 ? inGroup : inGroup + 4, group};
  if (shape.elementBits == 16)
    return {i < 2 ? inGroup * 2 + (i & 1) : inGroup * 2 + (i & 1) + 8, group};
  return {i < 4 ? inGroup * 4 + (i & 3) : inGroup * 4 + (i & 3) + 16, group};
}

static Position fragmentC(uint32_t lane, uint32_t i) {
  int64_t group = lane >> 2;
  return {i < 2 ? group : group + 8, (lane % 4) * 2 + (i & 1)};
}

static const MmaInstruction instructions[] = {{16, 8, 16, 16}, {16, 8, 8, 16}, {16, 8, 8, 32}, {16, 8, 4, 32},
                                              {16, 8, 32, 8},  {16, 8, 16, 8}, {8, 8, 4, 64}};

static void checkMma(const MmaTile &tile) {
  Layout a = tile.operandA(), b = tile.operandB(), c = tile.accumulator();
  const MmaInstruction &shape = tile.instruction;
  uint32_t warps = tile.warpsM * tile.warpsN * tile.warpsK;
  for (const Layout *layout : {&a, &b, &c}) {
    ASSERT_EQ(layout->numWarps(), warps);
    expectBijective(*layout);
  }
  ASSERT_TRUE(a.covers({tile.m, tile.k}) && b.covers({tile.k, tile.n}) && c.covers({tile.m, tile.n}));
  auto check = [&](const Layout &layout, RegisterRange range, uint32_t lane, uint32_t warp, int64_t row, int64_t column,
                   auto fragment) {
    for (uint32_t i = 0; i < range.count; ++i) {
      Position at = fragment(lane, i);
      ASSERT_EQ(layout.coordinates(range.first + i, lane, warp), (Coordinates{row + at.row, column + at.column}));
    }
  };
  for (uint32_t warp = 0; warp < warps; ++warp)
    for (uint32_t lane = 0; lane < 32; ++lane) {
      int64_t wm = warp % tile.warpsM, wn = warp / tile.warpsM % tile.warpsN, wk = warp / tile.warpsM / tile.warpsN;
      auto row = [&](int64_t mi) { return (mi * tile.warpsM + wm) * shape.m; };
      auto column = [&](int64_t ni) { return (ni * tile.warpsN + wn) * shape.n; };
      auto depth = [&](int64_t ki) { return (ki * tile.warpsK + wk) * shape.k; };
      for (int64_t mi = 0; mi < tile.blocksM(); ++mi)
        for (int64_t ki = 0; ki < tile.blocksK(); ++ki)
          check(a, tile.operandARegisters(mi, ki), lane, warp, row(mi), depth(ki),
                [&](uint32_t at, uint32_t i) { return fragmentA(shape, at, i); });
      for (int64_t ni = 0; ni < tile.blocksN(); ++ni)
        for (int64_t ki = 0; ki < tile.blocksK(); ++ki)
          check(b, tile.operandBRegisters(ki, ni), lane, warp, depth(ki), column(ni),
                [&](uint32_t at, uint32_t i) { return fragmentB(shape, at, i); });
      for (int64_t mi = 0; mi < tile.blocksM(); ++mi)
        for (int64_t ni = 0; ni < tile.blocksN(); ++ni)
          check(c, tile.accumulatorRegisters(mi, ni), lane, warp, row(mi), column(ni), fragmentC);
    }
}

TEST(Mma, FragmentsFollowThePtxFormulas) {
  for (const MmaInstruction &shape : instructions) {
    checkMma({shape, shape.m, shape.n, shape.k});
    checkMma({shape, 3 * shape.m, 5 * shape.n, 2 * shape.k});
    checkMma({shape, 64, 64, 32, 2, 2});
    checkMma({shape, 96, 80, 64, 2, 4});
    checkMma({shape, 16, 24, 128, 1, 1, 4});
    checkMma({shape, 40, 20, 72, 2, 2, 2});
  }
}

TEST(Mma, TextForms) {
  MmaTile tile{{16, 8, 16, 16}, 64, 64, 32, 2, 2};
  EXPECT_EQ(tile.operandA().str(), "[[l1:8, r1:2, w0:2, r3:2], [r0:2, l0:4, r2:4]] rep [w1:2]");
  EXPECT_EQ(tile.operandB().str(), "[[r0:2, l0:4, r1:4], [l1:8, w1:2, r2:4]] rep [w0:2]");
  EXPECT_EQ(tile.accumulator().str(), "[[l1:8, r1:2, w0:2, r3:2], [r0:2, l0:4, w1:2, r2:4]]");
  tile.warpsK = 2;
  EXPECT_EQ(tile.accumulator().str(), "[[l1:8, r1:2, w0:2, r3:2], [r0:2, l0:4, w1:2, r2:4]] part(add) [w2:2]");
}

//===---------------------------------------------------------------------------------------------------------------===
// blocked
//===---------------------------------------------------------------------------------------------------------------===

TEST(Blocked, KnownLayouts) {
  EXPECT_EQ(blocked({64, 64}, {1, 0}, 4, 8).str(), "[[l1:2, w0:8, r1:4], [r0:4, l0:16]]");
  EXPECT_EQ(blocked({64, 64}, {0, 1}, 4, 8).str(), "[[r0:4, l0:16], [l1:2, w0:8, r1:4]]");
  EXPECT_EQ(blocked({8192}, {0}, 8, 8).str(), "[[r0:8, l0:32, w0:8, r1:4]]");
  EXPECT_EQ(blocked({8, 1024}, {1, 0}, 8, 8).str(), "[[w0:8], [r0:8, l0:32, r1:4]]");
  EXPECT_EQ(blocked({1}, {0}, 4, 4).str(), "[[]] rep [l0:32, w0:4]");
  EXPECT_EQ(blocked({3}, {0}, 4, 4).str(), "[[r0:2, l0:2]] rep [l1:16, w0:4]");
  EXPECT_EQ(blocked({}, {}, 4, 4).str(), "[] rep [l0:32, w0:4]");
  EXPECT_EQ(blocked({64, 176}, {1, 0}, 4, 4).str(), "[[l1:2, w0:4, r2:8], [r0:4, l0:16, r1:3]]");
}

TEST(Blocked, AnyShapeIsCoveredWithLittlePadding) {
  for (int64_t rows : {1, 2, 3, 7, 8, 16, 57, 64, 100, 176})
    for (int64_t columns = 1; columns <= 260; columns += columns < 40 ? 1 : 11)
      for (uint32_t vector : {1u, 4u, 8u})
        for (uint32_t warps : {1u, 4u, 8u}) {
          Layout layout = blocked({rows, columns}, {1, 0}, vector, warps);
          ASSERT_TRUE(layout.covers({rows, columns})) << layout.str();
          ASSERT_EQ(layout.numWarps(), warps);
          // A dimension is padded by less than one step over its threads.
          for (unsigned dim : {0u, 1u}) {
            int64_t threads = dim == 1 ? layout.vectorWidth(1, vector) : 1;
            for (const Term &term : layout.terms(dim))
              threads *= term.radix;
            int64_t extent = dim == 0 ? rows : columns;
            ASSERT_LT(layout.covered(dim) - extent, threads) << layout.str();
            ASSERT_TRUE(layout.covered(dim) == extent || threads < 2 * extent) << layout.str() << " " << extent;
          }
          if (columns % vector == 0) {
            ASSERT_EQ(layout.vectorWidth(1, vector), vector);
          }
          // Threads are replicated only when they outnumber the vectors, rounded up to powers of two.
          if (!layout.replicated().empty()) {
            ASSERT_EQ(layout.numRegisters(), layout.vectorWidth(1, vector)) << layout.str();
          }
        }
}

TEST(Blocked, Bijective) {
  for (int64_t rows : {1, 3, 57, 100})
    for (int64_t columns : {1, 3, 57, 100, 176})
      for (uint32_t warps : {1u, 4u, 8u}) {
        expectBijective(blocked({rows, columns}, {1, 0}, 4, warps));
        expectBijective(blocked({rows, columns}, {0, 1}, 2, warps));
        expectBijective(blocked({3, rows, columns}, {2, 0, 1}, 4, warps));
      }
}
