// Exchanges through shared memory: choice of the inner dimension, the row pitch and the swizzle.
#include "tilec/Layout/ConversionPlan.h"
#include "tilec/Layout/SharedLayout.h"

#include "ElementBits.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <array>
#include <cmath>

using namespace tilec;

static constexpr int64_t unitBytes = 16, bankBytes = 4;
// A 4-byte access of 32 lanes can need sixteen 16-byte units apart; an 8-byte access needs pairs of units apart.
static constexpr uint32_t largestSwizzleMask = 15, largestSwizzleShift = 6, firstSwizzleBit = 4, lastSwizzleBit = 5;
// Accesses of different registers are shifted copies of each other; a few of them show the conflicts.
static constexpr unsigned sampledAccesses = 8;

int64_t ScratchPlan::rowOf(llvm::ArrayRef<int64_t> coordinates) const {
  int64_t row = 0;
  for (unsigned dim = 0; dim < coordinates.size(); ++dim)
    row += coordinates[dim] * rowStride[dim];
  return row;
}

int64_t ScratchPlan::address(llvm::ArrayRef<int64_t> coordinates) const {
  return address(rowOf(coordinates), coordinates.empty() ? 0 : coordinates[innerDim]);
}

/// The vectors of one side: registers grouped along `dim`, without those that only ever hold padding.
static llvm::SmallVector<VectorRegisters, 0> vectorsAlong(const Layout &layout, unsigned dim,
                                                          llvm::ArrayRef<int64_t> shape, uint32_t limit) {
  llvm::SmallVector<VectorRegisters, 0> result;
  if (shape.empty()) {
    result.push_back({0});
    return result;
  }
  uint32_t width = layout.vectorWidth(dim, limit);
  auto run = layout.contiguousRegisters(dim);
  for (uint32_t reg = 0; reg < layout.numRegisters(); ++reg) {
    Coordinates offset = layout.registerOffset(reg);
    bool inside = true;
    for (unsigned i = 0; i < shape.size(); ++i)
      inside &= offset[i] < std::max<int64_t>(shape[i], 1);
    if (!inside || offset[dim] % static_cast<int64_t>(run.size()) % width != 0)
      continue;
    VectorRegisters &vector = result.emplace_back();
    for (uint32_t i = 0; i < width; ++i)
      vector.push_back(reg + run[i]);
  }
  return result;
}

namespace {
/// Rows and inner coordinates of the elements that the lanes of warp 0 access first in one vector access.
struct SampledAccess {
  struct Element {
    bool active = true;
    int64_t row = 0;
    int64_t inner = 0;
  };
  std::array<Element, lanesPerWarp> lanes;
  unsigned bytes = 0;
  /// How many accesses of the plan this one stands for.
  double weight = 1;
};
using Samples = llvm::SmallVector<SampledAccess, 2 * sampledAccesses>;
} // namespace

static void sample(const ScratchPlan &plan, const Layout &layout, llvm::ArrayRef<VectorRegisters> accesses, bool writes,
                   Samples &samples) {
  unsigned count = std::min<unsigned>(accesses.size(), sampledAccesses);
  for (unsigned i = 0; i < count; ++i) {
    SampledAccess &access = samples.emplace_back();
    access.bytes = accesses[i].size() * plan.elementBytes;
    access.weight = static_cast<double>(accesses.size()) / count;
    for (uint32_t lane = 0; lane < lanesPerWarp; ++lane) {
      Coordinates coordinates = layout.coordinates(accesses[i].front(), lane, 0);
      bool active = !writes || llvm::all_of(plan.writers, [&](const Digit &digit) {
        return digit.owner != Owner::Lane || digit.valueIn(lane) == 0;
      });
      access.lanes[lane] = {active, plan.rowOf(coordinates), coordinates.empty() ? 0 : coordinates[plan.innerDim]};
    }
  }
}

static void countWavefronts(ScratchPlan &plan, const Samples &samples) {
  double wavefronts = 0, ideal = 0;
  for (const SampledAccess &access : samples) {
    std::array<int64_t, lanesPerWarp> addresses;
    for (uint32_t lane = 0; lane < lanesPerWarp; ++lane) {
      const SampledAccess::Element &element = access.lanes[lane];
      addresses[lane] = element.active ? plan.address(element.row, element.inner) : -1;
    }
    wavefronts += access.weight * sharedWavefronts(addresses, access.bytes);
    ideal += access.weight * idealWavefronts(access.bytes);
  }
  plan.wavefronts = static_cast<unsigned>(std::lround(wavefronts));
  plan.idealWavefronts = static_cast<unsigned>(std::lround(ideal));
}

static void setGeometry(ScratchPlan &plan, llvm::ArrayRef<int64_t> covered, int64_t pad) {
  int64_t rows = 1;
  plan.rowStride.assign(covered.size(), 0);
  for (int dim = static_cast<int>(covered.size()) - 1; dim >= 0; --dim)
    if (dim != static_cast<int>(plan.innerDim)) {
      plan.rowStride[dim] = rows;
      rows *= covered[dim];
    }
  int64_t rowBytes = covered.empty() ? plan.elementBytes : covered[plan.innerDim] * plan.elementBytes;
  plan.pitchBytes = static_cast<int64_t>(llvm::alignTo(rowBytes, unitBytes)) + pad;
  plan.bytes = rows * plan.pitchBytes;
}

/// Cycles of the pipe plus instructions to issue.
static size_t cost(const ScratchPlan &plan, unsigned wavefronts) {
  return wavefronts + plan.writes.size() + plan.reads.size();
}

/// Counts the conflicts of a plan with its present swizzle and keeps it if it is better than `best`.
static void consider(ScratchPlan &plan, const Samples &samples, std::optional<ScratchPlan> &best) {
  countWavefronts(plan, samples);
  if (!best || cost(plan, plan.wavefronts) < cost(*best, best->wavefronts))
    best = plan;
}

static void considerSwizzles(ScratchPlan &plan, const Samples &samples, std::optional<ScratchPlan> &best) {
  plan.swizzleShift = plan.swizzleMask = 0;
  plan.swizzleBit = firstSwizzleBit;
  consider(plan, samples, best);
  for (uint32_t bit = firstSwizzleBit; bit <= lastSwizzleBit; ++bit)
    for (uint32_t mask = 1; mask <= largestSwizzleMask; mask = 2 * mask + 1) {
      // The xor must not leave the row. A plan without conflicts cannot be improved.
      if (plan.pitchBytes % ((int64_t(mask) + 1) << bit) != 0 ||
          cost(*best, best->wavefronts) <= cost(plan, plan.idealWavefronts))
        break;
      for (uint32_t shift = 0; shift <= largestSwizzleShift; ++shift) {
        plan.swizzleShift = shift;
        plan.swizzleMask = mask;
        plan.swizzleBit = bit;
        consider(plan, samples, best);
      }
    }
}

/// Whether no element changes its warp and no warp holds copies of another's elements.
static bool staysWithinWarps(const Layout &from, const Layout &to) {
  bool copies = llvm::any_of(from.replicated(), [](const Digit &digit) { return digit.owner >= Owner::Warp; });
  return !copies && llvm::none_of(elementBits(from, to), [](const ElementBit &bit) {
    return bit.from && bit.from->owner >= Owner::Warp && bit.from != bit.to;
  });
}

/// What may lie between rows. Where both sides access single elements of at most a bank, rows of an odd number of banks
/// need no swizzle, so that the addresses of a thread differ by constants.
static llvm::SmallVector<int64_t, 3> padsFor(const ScratchPlan &plan) {
  auto isNarrow = [&](const VectorRegisters &vector) {
    return static_cast<int64_t>(vector.size() * plan.elementBytes) <= bankBytes;
  };
  if (llvm::all_of(plan.writes, isNarrow) && llvm::all_of(plan.reads, isNarrow))
    return {0, bankBytes, unitBytes};
  return {0, unitBytes};
}

ScratchPlan tilec::planScratch(const Layout &from, const Layout &to, llvm::ArrayRef<int64_t> shape,
                               unsigned elementBits) {
  std::optional<ScratchPlan> best;
  Coordinates covered = from.covered();
  for (unsigned dim = 0; dim < covered.size(); ++dim)
    covered[dim] = std::max(covered[dim], to.covered(dim));
  for (unsigned inner = 0; inner < std::max(1u, from.rank()); ++inner) {
    ScratchPlan plan;
    plan.innerDim = inner;
    plan.elementBytes = static_cast<unsigned>(llvm::divideCeil(elementBits, 8));
    uint32_t limit = std::max<uint32_t>(1, unitBytes / plan.elementBytes);
    plan.writes = vectorsAlong(from, inner, shape, limit);
    plan.reads = vectorsAlong(to, inner, shape, limit);
    plan.writers.assign(from.replicated().begin(), from.replicated().end());
    plan.withinWarp = staysWithinWarps(from, to);
    for (int64_t pad : padsFor(plan)) {
      setGeometry(plan, covered, pad);
      Samples samples;
      sample(plan, from, plan.writes, true, samples);
      sample(plan, to, plan.reads, false, samples);
      considerSwizzles(plan, samples, best);
    }
  }
  return *best;
}
