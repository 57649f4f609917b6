// Tests of conversions: every plan is executed on arrays and every element of the result is compared.
#include "LayoutTestSupport.h"

#include "tilec/Layout/BlockedLayout.h"
#include "tilec/Layout/ConversionPlan.h"
#include "tilec/Layout/FragmentLayouts.h"

using namespace tilec;
using namespace tilec::test;

namespace {
/// The registers of all threads: [thread][register].
using Registers = std::vector<std::vector<int64_t>>;
} // namespace

/// A number that tells elements, and addends of partial digits, apart.
static int64_t identify(const Layout &layout, const Coordinates &coordinates, uint32_t lane, uint32_t warp) {
  int64_t id = 0;
  for (int64_t coordinate : coordinates)
    id = id * 4096 + coordinate;
  for (const PartialDigit &partial : layout.partial())
    id = id * 64 + partial.digit.valueIn(partial.digit.owner == Owner::Lane ? lane : warp);
  return id;
}

static Registers fill(const Layout &layout) {
  Registers registers(layout.numThreads(), std::vector<int64_t>(layout.numRegisters()));
  forEachPlace(layout, [&](uint32_t reg, uint32_t lane, uint32_t warp) {
    registers[warp * 32 + lane][reg] = identify(layout, layout.coordinates(reg, lane, warp), lane, warp);
  });
  return registers;
}

static Registers run(const WarpProgram &program, const Registers &input, uint32_t outputs) {
  uint32_t width = program.elementsPerValue;
  using Unit = std::vector<int64_t>;
  Registers result(input.size(), std::vector<int64_t>(outputs, -1));
  for (size_t base = 0; base < input.size(); base += 32) {
    std::vector<std::vector<Unit>> values; // [value][lane]
    for (uint32_t i = 0; i < program.numInputs; ++i) {
      auto &value = values.emplace_back();
      for (uint32_t lane = 0; lane < 32; ++lane)
        value.emplace_back(input[base + lane].begin() + i * width, input[base + lane].begin() + (i + 1) * width);
    }
    for (const WarpStep &step : program.steps) {
      std::vector<Unit> value(32);
      for (uint32_t lane = 0; lane < 32; ++lane) {
        uint32_t warp = static_cast<uint32_t>(base / 32), source = 0;
        for (const Term &term : program.sourceLane)
          source += (term.owner == Owner::Lane ? lane : warp) / term.divisor % term.radix * term.stride;
        switch (step.kind) {
        case WarpStep::Kind::ShuffleXor:
          value[lane] = values.at(step.first)[lane ^ step.laneMask];
          break;
        case WarpStep::Kind::ShuffleIndex:
          value[lane] = values.at(step.first)[source];
          break;
        case WarpStep::Kind::Select:
          value[lane] = values.at((step.bit.owner == Owner::Lane ? lane : warp) & step.bit.weight ? step.first
                                                                                                  : step.second)[lane];
          break;
        }
      }
      values.push_back(value);
    }
    for (uint32_t lane = 0; lane < 32; ++lane)
      for (uint32_t i = 0; i < program.results.size(); ++i)
        if (program.results[i] != WarpProgram::undefined)
          for (uint32_t j = 0; j < width; ++j)
            result[base + lane][i * width + j] = values.at(program.results[i])[lane][j];
  }
  return result;
}

static Registers run(const ScratchPlan &plan, const Layout &from, const Layout &to, const Registers &input) {
  std::map<int64_t, int64_t> memory;
  auto addressOf = [&](const Layout &layout, const VectorRegisters &vector, unsigned i, uint32_t lane, uint32_t warp) {
    int64_t first = plan.address(layout.coordinates(vector.front(), lane, warp));
    int64_t address = plan.address(layout.coordinates(vector[i], lane, warp));
    EXPECT_EQ(address, first + i * plan.elementBytes);
    EXPECT_EQ(first % static_cast<int64_t>(vector.size() * plan.elementBytes), 0);
    EXPECT_TRUE(address >= 0 && address + plan.elementBytes <= plan.bytes);
    return address;
  };
  for (uint32_t thread = 0; thread < input.size(); ++thread) {
    uint32_t lane = thread % 32, warp = thread / 32;
    if (llvm::any_of(plan.writers,
                     [&](const Digit &digit) { return digit.valueIn(digit.owner == Owner::Lane ? lane : warp) != 0; }))
      continue;
    for (const VectorRegisters &vector : plan.writes)
      for (unsigned i = 0; i < vector.size(); ++i) {
        bool isNew = memory.emplace(addressOf(from, vector, i, lane, warp), input[thread][vector[i]]).second;
        EXPECT_TRUE(isNew) << "two threads write one address";
      }
  }
  Registers result(input.size(), std::vector<int64_t>(to.numRegisters(), -1));
  for (uint32_t thread = 0; thread < result.size(); ++thread)
    for (const VectorRegisters &vector : plan.reads)
      for (unsigned i = 0; i < vector.size(); ++i) {
        auto found = memory.find(addressOf(to, vector, i, thread % 32, thread / 32));
        result[thread][vector[i]] = found == memory.end() ? -1 : found->second;
      }
  return result;
}

static void expectHolds(const Layout &layout, llvm::ArrayRef<int64_t> shape, const Registers &registers,
                        const std::string &what) {
  forEachPlace(layout, [&](uint32_t reg, uint32_t lane, uint32_t warp) {
    Coordinates coordinates = layout.coordinates(reg, lane, warp);
    for (unsigned dim = 0; dim < shape.size(); ++dim)
      if (coordinates[dim] >= shape[dim])
        return;
    ASSERT_EQ(registers[warp * 32 + lane][reg], identify(layout, coordinates, lane, warp))
        << what << " register " << reg << " lane " << lane << " warp " << warp;
  });
}

static std::optional<ConversionKind> check(const Layout &from, const Layout &to, llvm::ArrayRef<int64_t> shape,
                                           unsigned bits) {
  std::string what = from.str() + " -> " + to.str();
  auto plan = planConversion(from, to, shape, bits);
  if (!plan)
    return std::nullopt;
  Registers input = fill(from);
  if (auto program = buildWarpProgram(from, to, bits))
    expectHolds(to, shape, run(*program, input, to.numRegisters()), what);
  if (!from.isPartial())
    expectHolds(to, shape, run(planScratch(from, to, shape, bits), from, to, input), what);
  if (plan->kind == ConversionKind::Identity) {
    EXPECT_EQ(from.numRegisters(), to.numRegisters());
  }
  return plan->kind;
}

TEST(Conversion, Kinds) {
  Layout accumulator = WgmmaTile{64, 128, 16, 128, 16}.accumulator();
  EXPECT_EQ(check(accumulator, WgmmaTile{64, 64, 128, 64, 16}.operandA(), {64, 128}, 16), ConversionKind::Identity);
  // Registers in another order.
  EXPECT_EQ(check(accumulator, parsed("[[l1:8, r0:2, w0:4], [r1:2, l0:4, r2:16]]"), {64, 128}, 32),
            ConversionKind::RegisterPermutation);
  // Eight neighbouring columns in a thread: two lane bits, one shuffle a register, half of that for packed pairs.
  Layout rows = parsed("[[l1:8, r3:2, w0:4], [r0:8, l0:4, r1:4]]");
  EXPECT_EQ(check(accumulator, rows, {64, 128}, 32), ConversionKind::Shuffle);
  EXPECT_EQ(planConversion(accumulator, rows, {64, 128}, 32)->program.shuffles(), 64u);
  EXPECT_EQ(planConversion(accumulator, rows, {64, 128}, 16)->program.elementsPerValue, 2u);
  EXPECT_EQ(planConversion(accumulator, rows, {64, 128}, 16)->program.shuffles(), 32u);
  // Warps change.
  EXPECT_EQ(check(accumulator, blocked({64, 128}, {1, 0}, 4, 4), {64, 128}, 32), ConversionKind::SharedMemory);
  // fp8 operands take four neighbours of a row: one lane bit moves.
  EXPECT_EQ(check(accumulator, WgmmaTile{64, 64, 128, 64, 8}.operandA(), {64, 128}, 8), ConversionKind::Shuffle);
  EXPECT_EQ(check(Layout(), Layout(), {}, 32), ConversionKind::Identity);
}

TEST(Conversion, RowVectors) {
  Layout accumulator = WgmmaTile{64, 128, 16, 128, 16}.accumulator(), row = accumulator.sliceDim(1);
  Layout other = parsed("[[l0:32, w0:2]] rep [w1:2]");
  EXPECT_EQ(check(row, row, {64}, 32), ConversionKind::Identity);
  EXPECT_EQ(check(row, other, {64}, 32), ConversionKind::SharedMemory);
  // Copies in the lanes of a quad become distinct elements without a shuffle, and back.
  Layout spread = parsed("[[l1:8, l0:2, w0:4]] rep [l2:2]");
  Layout packed = parsed("[[l1:8, r0:2, w0:4]] rep [l0:2, l2:2]");
  auto plan = planConversion(packed, spread, {64}, 32);
  EXPECT_EQ(plan->program.shuffles(), 0u);
  EXPECT_EQ(check(packed, spread, {64}, 32), ConversionKind::Shuffle);
  EXPECT_EQ(check(spread, packed, {64}, 32), ConversionKind::Shuffle);
  EXPECT_EQ(planConversion(spread, packed, {64}, 32)->program.shuffles(), 1u);
}

TEST(Conversion, PartialDigits) {
  Layout partial = parsed("[[l1:8, r0:2, w0:4]] part(add) [l0:4]");
  EXPECT_EQ(check(partial, partial, {64}, 32), ConversionKind::Identity);
  EXPECT_EQ(check(partial, parsed("[[l1:8, w0:4, r0:2]] part(add) [l0:4]"), {64}, 32), std::nullopt);
  EXPECT_EQ(check(partial, parsed("[[r0:2, l1:8, w0:4]] part(add) [l0:4]"), {64}, 32), ConversionKind::Shuffle);
  EXPECT_EQ(check(partial, partial.finished(), {64}, 32), std::nullopt);
  EXPECT_EQ(check(partial, parsed("[[l1:8, r0:2, w0:4]] part(max) [l0:4]"), {64}, 32), std::nullopt);
}

TEST(Conversion, GroupsDoNotMix) {
  Layout first = parsed("[[l0:32, g0:2, r0:2]]"), second = parsed("[[l0:32, r0:2, g0:2]]");
  EXPECT_TRUE(planConversion(first, first, {128}, 32));
  EXPECT_FALSE(planConversion(first, second, {128}, 32));
  EXPECT_FALSE(planConversion(first, parsed("[[l0:32, r0:4]]"), {128}, 32));
}

TEST(Conversion, TransposeIsConflictFree) {
  Layout load = parsed("[[l1:2, w0:8, r1:4], [r0:4, l0:16]]"),
         store = parsed("[[r0:4, l0:8, r1:2], [l1:4, w0:8, r2:2]]");
  EXPECT_EQ(check(load, store, {64, 64}, 32), ConversionKind::SharedMemory);
  ScratchPlan plan = planScratch(load, store, {64, 64}, 32);
  EXPECT_EQ(plan.bytes, 64 * 64 * 4);
  EXPECT_EQ(plan.wavefronts, plan.idealWavefronts);
  EXPECT_FALSE(plan.withinWarp);
}

TEST(Conversion, SingleElementsLieInRowsOfOddBanks) {
  Layout load = parsed("[[w0:32, r0:4], [l0:32, r1:4]]"), store = parsed("[[l0:32, r0:4], [w0:32, r1:4]]");
  for (unsigned bits : {8u, 16u, 32u}) {
    EXPECT_EQ(check(load, store, {128, 128}, bits), ConversionKind::SharedMemory);
    ScratchPlan plan = planScratch(load, store, {128, 128}, bits);
    EXPECT_EQ(plan.wavefronts, plan.idealWavefronts) << bits;
    EXPECT_EQ(plan.pitchBytes, 128 * bits / 8 + 4) << bits;
    EXPECT_EQ(plan.swizzleMask, 0u) << bits;
  }
}

TEST(Conversion, AccumulatorsToRowsAreConflictFree) {
  for (int64_t n : {32, 64, 128, 256})
    for (unsigned bits : {16u, 32u}) {
      Layout from = WgmmaTile{64, n, 16, n, 16}.accumulator(), to = blocked({64, n}, {1, 0}, 128 / bits, 4);
      EXPECT_NE(check(from, to, {64, n}, bits), std::nullopt);
      ScratchPlan plan = planScratch(from, to, {64, n}, bits);
      EXPECT_EQ(plan.wavefronts, plan.idealWavefronts) << n << " " << bits;
    }
}

TEST(Conversion, Makers) {
  for (int64_t n = 8; n <= 256; n += n < 64 ? 8 : 24) {
    Layout accumulator = WgmmaTile{64, n, 16, n, 16}.accumulator();
    for (unsigned bits : {8u, 16u, 32u})
      for (const Layout &to :
           {blocked({64, n}, {1, 0}, 128 / bits, 4), blocked({64, n}, {0, 1}, 4, 4),
            WgmmaTile{64, 64, n, 64, bits}.operandA(), MmaTile{{16, 8, 16, 16}, 64, n, 16, 2, 2}.accumulator()}) {
        EXPECT_NE(check(accumulator, to, {64, n}, bits), std::nullopt);
        EXPECT_NE(check(to, accumulator, {64, n}, bits), std::nullopt);
      }
  }
}

TEST(Conversion, BlockedShapesOfAnyExtent) {
  for (int64_t rows : {1, 3, 57, 100})
    for (int64_t columns : {1, 3, 57, 100, 176})
      for (unsigned bits : {8u, 32u, 64u}) {
        Layout byRows = blocked({rows, columns}, {1, 0}, 4, 4), byColumns = blocked({rows, columns}, {0, 1}, 2, 4);
        EXPECT_NE(check(byRows, byColumns, {rows, columns}, bits), std::nullopt);
        EXPECT_NE(check(byColumns, byRows, {rows, columns}, bits), std::nullopt);
      }
}

/// The same tile in another arrangement: the digits of `layout` shuffled between its dimensions' lists.
static Layout rearranged(const Layout &layout, std::mt19937 &random, bool keepWarps) {
  LayoutSpec spec;
  spec.dims.resize(layout.rank());
  struct Bit {
    unsigned dim;
    Owner owner;
  };
  std::vector<Bit> bits;
  std::vector<Owner> owners;
  for (unsigned dim = 0; dim < layout.rank(); ++dim)
    for (const Digit &digit : layout.digits(dim))
      for (uint32_t radix = 2; digit.radix % radix == 0; radix *= 2) {
        bits.push_back({dim, digit.owner});
        if (!keepWarps || digit.owner != Owner::Warp)
          owners.push_back(digit.owner);
      }
  std::shuffle(owners.begin(), owners.end(), random);
  std::array<uint32_t, numOwners> next{};
  size_t taken = 0;
  for (const Bit &bit : bits) {
    Owner owner = keepWarps && bit.owner == Owner::Warp ? Owner::Warp : owners[taken++];
    spec.dims[bit.dim].push_back({owner, next[static_cast<unsigned>(owner)]++, 2});
  }
  for (unsigned dim = 0; dim < layout.rank(); ++dim)
    if (layout.covered(dim) % 3 == 0)
      spec.dims[dim].push_back({Owner::Register, 1000, 3});
  for (const Digit &digit : layout.replicated())
    for (uint32_t radix = 2; digit.radix % radix == 0; radix *= 2)
      spec.replicated.push_back({digit.owner, next[static_cast<unsigned>(digit.owner)]++, 2});
  return *Layout::get(spec);
}

TEST(Conversion, RandomLayouts) {
  std::mt19937 random(6);
  unsigned shuffles = 0;
  for (unsigned i = 0; i < 400; ++i) {
    Layout from = randomLayout(random, 1 + i % 3, 1u << (i % 3), 16);
    Layout to = rearranged(from, random, i % 2 == 0);
    unsigned bits = 8u << (i % 4);
    ASSERT_NE(check(from, to, from.covered(), bits), std::nullopt);
    shuffles += buildWarpProgram(from, to, bits).has_value();
    // Unrelated layouts: the tensor is what both cover.
    Layout other = randomLayout(random, 1 + i % 3, 1u << (i % 3), 16);
    Coordinates shape = from.covered();
    for (unsigned dim = 0; dim < shape.size(); ++dim)
      shape[dim] = std::min(shape[dim], other.covered(dim));
    ASSERT_NE(check(from, other, shape, bits), std::nullopt);
    ASSERT_NE(check(other, from, shape, bits), std::nullopt);
  }
  EXPECT_GT(shuffles, 100u);
}
