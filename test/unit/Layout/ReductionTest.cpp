// Tests of reductions: every plan is executed on arrays and compared with sums over the tensor.
#include "LayoutTestSupport.h"

#include "tilec/Layout/BlockedLayout.h"
#include "tilec/Layout/FragmentLayouts.h"
#include "tilec/Layout/ReductionPlan.h"

using namespace tilec;
using namespace tilec::test;

using Registers = std::vector<std::vector<int64_t>>;

static uint32_t valueIn(const Digit &digit, uint32_t thread) {
  return digit.valueIn(digit.owner == Owner::Lane ? thread % 32 : thread / 32);
}

static Registers combineInThread(const ReductionPlan &plan, const Registers &input) {
  Registers result(input.size(), std::vector<int64_t>(plan.inThread.size(), 0));
  for (size_t thread = 0; thread < input.size(); ++thread)
    for (size_t reg = 0; reg < plan.inThread.size(); ++reg)
      for (uint32_t source : plan.inThread[reg])
        result[thread][reg] += input[thread][source];
  return result;
}

static Registers combineThreads(const ReductionPlan &plan, Registers values) {
  for (uint32_t mask : plan.laneMasks) {
    Registers old = values;
    for (size_t thread = 0; thread < values.size(); ++thread)
      for (size_t reg = 0; reg < values[thread].size(); ++reg)
        values[thread][reg] += old[thread ^ mask][reg];
  }
  if (plan.warps.empty())
    return values;
  std::map<int64_t, int64_t> scratch;
  for (uint32_t thread = 0; thread < values.size(); ++thread) {
    if (llvm::any_of(plan.writers, [&](const Digit &digit) { return valueIn(digit, thread) != 0; }))
      continue;
    for (uint32_t reg = 0; reg < values[thread].size(); ++reg) {
      int64_t index = plan.scratchIndex(plan.slot(thread / 32), plan.result.coordinates(reg, thread % 32, thread / 32));
      EXPECT_TRUE(index >= 0 && index < plan.scratchElements());
      EXPECT_TRUE(scratch.emplace(index, values[thread][reg]).second) << "two threads write one element";
    }
  }
  for (uint32_t thread = 0; thread < values.size(); ++thread)
    for (uint32_t reg = 0; reg < values[thread].size(); ++reg) {
      values[thread][reg] = 0;
      for (uint32_t slot = 0; slot < plan.numSlots(); ++slot)
        values[thread][reg] +=
            scratch.at(plan.scratchIndex(slot, plan.result.coordinates(reg, thread % 32, thread / 32)));
    }
  return values;
}

static int64_t element(const Coordinates &coordinates) {
  int64_t value = 1;
  for (int64_t coordinate : coordinates)
    value = (value * 31 + coordinate) % 10007;
  return value;
}

/// The input with the neutral element at padding, and the sums along `dim` by result coordinates.
static void check(const Layout &layout, llvm::ArrayRef<int64_t> shape, unsigned dim) {
  auto plan = planReduction(layout, dim);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->result, layout.sliceDim(dim));
  std::map<std::vector<int64_t>, int64_t> sums;
  forEachElement(shape, [&](const Coordinates &at) {
    std::vector<int64_t> key(at.begin(), at.end());
    key.erase(key.begin() + dim);
    sums[key] += element(at);
  });
  Registers input(layout.numThreads(), std::vector<int64_t>(layout.numRegisters(), 0));
  forEachPlace(layout, [&](uint32_t reg, uint32_t lane, uint32_t warp) {
    Coordinates at = layout.coordinates(reg, lane, warp);
    bool inside = true;
    for (unsigned i = 0; i < shape.size(); ++i)
      inside &= at[i] < shape[i];
    input[warp * 32 + lane][reg] = inside ? element(at) : 0;
  });
  auto expectSums = [&](const Layout &result, const Registers &values) {
    forEachPlace(result, [&](uint32_t reg, uint32_t lane, uint32_t warp) {
      Coordinates at = result.coordinates(reg, lane, warp);
      auto found = sums.find(std::vector<int64_t>(at.begin(), at.end()));
      if (found != sums.end()) {
        ASSERT_EQ(values[warp * 32 + lane][reg], found->second) << layout.str() << " dim " << dim;
      }
    });
  };
  Registers inThread = combineInThread(*plan, input);
  expectSums(plan->result, combineThreads(*plan, inThread));

  // A partial reduction that is finished later gives the same.
  Layout partial = layout.partialDim(dim, CombineKind::Add);
  ASSERT_EQ(partial.numRegisters(), plan->inThread.size());
  auto finish = planFinish(partial);
  ASSERT_TRUE(finish);
  EXPECT_EQ(finish->result, plan->result);
  expectSums(finish->result, combineThreads(*finish, combineInThread(*finish, inThread)));

  // So do parts kept as a dimension.
  ReductionPlan parts = planParts(layout, dim);
  EXPECT_EQ(parts.result, keepThreadDigits(layout, dim));
  EXPECT_EQ(parts.result.sliceDim(dim), plan->result);
  auto whole = planReduction(parts.result, dim);
  ASSERT_TRUE(whole);
  expectSums(whole->result, combineThreads(*whole, combineInThread(*whole, combineInThread(parts, input))));
}

TEST(Reduction, RowsOfAnAccumulator) {
  Layout accumulator = WgmmaTile{64, 80, 16, 80, 16}.accumulator();
  auto rows = planReduction(accumulator, 1);
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows->laneMasks, (llvm::SmallVector<uint32_t, 5>{1, 2}));
  EXPECT_TRUE(rows->warps.empty());
  EXPECT_EQ(rows->inThread.size(), 2u);
  EXPECT_EQ(rows->inThread[0].size(), 20u);
  EXPECT_EQ(rows->inThread[1][1], 3u);
  EXPECT_EQ(keepThreadDigits(accumulator, 1).str(), "[[l1:8, r0:2, w0:4], [l0:4]]");
  auto columns = planReduction(accumulator, 0);
  EXPECT_EQ(columns->laneMasks, (llvm::SmallVector<uint32_t, 5>{4, 8, 16}));
  EXPECT_EQ(columns->numSlots(), 4u);
  EXPECT_EQ(columns->scratchElements(), 4 * 80);
  for (int64_t n = 8; n <= 256; n += 24)
    for (unsigned dim : {0u, 1u})
      check(WgmmaTile{64, n, 16, n, 16}.accumulator(), {64, n}, dim);
}

TEST(Reduction, BlockedShapesOfAnyExtent) {
  for (int64_t rows : {1, 3, 57, 100})
    for (int64_t columns : {1, 3, 57, 100, 176})
      for (uint32_t warps : {1u, 4u, 8u})
        for (unsigned dim : {0u, 1u})
          check(blocked({rows, columns}, {1, 0}, 4, warps), {rows, columns}, dim);
  for (int64_t extent : {1, 31, 1000, 8192})
    check(blocked({extent}, {0}, 8, 8), {extent}, 0);
}

TEST(Reduction, RandomLayouts) {
  std::mt19937 random(7);
  for (unsigned i = 0; i < 200; ++i) {
    Layout layout = randomLayout(random, 1 + i % 3, 1u << (i % 4), 16);
    for (unsigned dim = 0; dim < layout.rank(); ++dim)
      check(layout, layout.covered(), dim);
  }
}

TEST(Reduction, WhatThePlanDoesNotCover) {
  EXPECT_FALSE(planReduction(parsed("[[l0:32, g0:2]]"), 0));
  EXPECT_FALSE(planFinish(parsed("[[l0:32]] part(add) [b0:4]")));
  EXPECT_FALSE(planReduction(parsed("[[l1:8, w0:4]] part(add) [l0:4]"), 0));
  EXPECT_TRUE(planReduction(parsed("[[l1:8], [w0:4]] part(add) [l0:4]"), 0));
}
