// Counts of memory accesses.
#include "Counters.h"

#include "tilec/Simulator/Block.h"
#include "tilec/Simulator/TensorMap.h"
#include "tilec/Simulator/Wgmma.h"
#include <algorithm>
#include <utility>

using namespace tilec::simulator;

// Shared memory answers a warp in one cycle for each group of lanes that asks for at most 128 bytes; lanes that want
// different words of a bank take a cycle each.
static void countShared(LineCounts &counts, LaneMask lanes, const uint64_t *addresses, unsigned bytes) {
  constexpr unsigned wordBytes = 4, banks = 32, rowBytes = 128;
  unsigned group = std::min(laneCount, std::max(1u, rowBytes / std::max(bytes, wordBytes)));
  for (unsigned first = 0; first < laneCount; first += group) {
    std::vector<uint64_t> words;
    for (unsigned lane = first; lane < first + group; ++lane)
      for (unsigned byte = 0; lanes >> lane & 1 && byte < bytes; byte += wordBytes)
        words.push_back((addresses[lane] + byte) / wordBytes);
    if (words.empty())
      continue;
    std::sort(words.begin(), words.end());
    words.erase(std::unique(words.begin(), words.end()), words.end());
    unsigned perBank[banks] = {};
    for (uint64_t word : words)
      ++perBank[word % banks];
    ++counts.sharedAccesses;
    counts.bankConflicts += *std::max_element(perBank, perBank + banks) - 1;
  }
}

static void countGlobal(LineCounts &counts, LaneMask lanes, const uint64_t *addresses, unsigned bytes) {
  constexpr unsigned sectorBytes = 32;
  std::vector<uint64_t> sectors, wanted;
  for (unsigned lane = 0; lane < laneCount; ++lane)
    for (unsigned byte = 0; lanes >> lane & 1 && byte < bytes; ++byte)
      wanted.push_back(addresses[lane] + byte);
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  for (uint64_t byte : wanted)
    if (sectors.empty() || sectors.back() != byte / sectorBytes)
      sectors.push_back(byte / sectorBytes);
  counts.globalSectors += sectors.size();
  counts.wastedBytes += sectors.size() * sectorBytes - wanted.size();
}

// Null where the launch does not count.
static LineCounts *countsOf(Warp &warp, const Op &op) {
  LaunchState &state = warp.block_.state;
  return state.options.count ? &state.report.counts[op.source] : nullptr;
}

void tilec::simulator::countAccess(Warp &warp, const Op &op, LaneMask lanes, Space space, const uint64_t *addresses,
                                   unsigned bytes) {
  LineCounts *counts = countsOf(warp, op);
  if (counts && space == Space::Shared)
    countShared(*counts, lanes, addresses, bytes);
  else if (counts && space == Space::Global)
    countGlobal(*counts, lanes, addresses, bytes);
}

void tilec::simulator::countStep(Warp &warp, const Op &op, Flow flow) {
  LineCounts *counts = countsOf(warp, op);
  if (!counts)
    return;
  if (flow != Flow::Block) {
    ++counts->executed;
    return;
  }
  // Lanes that wait for the rest of their warp do not wait for others.
  Fragment &fragment = warp.current();
  if (!fragment.waiting.empty() && !std::exchange(fragment.waitCounted, true))
    ++counts->waits;
}

void tilec::simulator::countBulk(Warp &warp, const Op &op, uint64_t bytes, uint64_t clipped, unsigned blocks) {
  LineCounts *counts = countsOf(warp, op);
  if (!counts)
    return;
  ++counts->boxes;
  counts->bulkBytes += (bytes - clipped) * blocks;
  counts->clippedBytes += clipped * blocks;
}

uint64_t tilec::simulator::clippedBytes(const TensorMap &map, llvm::ArrayRef<int32_t> coordinates) {
  uint64_t inside = map.elementBytes();
  for (unsigned dimension = 0; dimension < map.rank(); ++dimension) {
    int64_t step = map.elementStrides.empty() ? 1 : map.elementStrides[dimension];
    uint64_t count = 0;
    for (uint32_t i = 0; i < map.boxElements(dimension); ++i) {
      int64_t at = int64_t(coordinates[dimension]) + int64_t(i) * step;
      count += at >= 0 && at < static_cast<int64_t>(map.sizes[dimension]);
    }
    inside *= count;
  }
  return map.boxBytes() - inside;
}

void tilec::simulator::countProduct(Warp &warp, const Op &op, const WgmmaInstruction &product) {
  LineCounts *counts = countsOf(warp, op);
  if (!counts)
    return;
  constexpr unsigned rows = 64, warps = 4, bitsOfByte = 8;
  counts->tensorOperations += uint64_t(2) * rows * product.n * product.k() / warps;
  uint64_t bits = uint64_t(product.n) * product.k() * bitsOf(product.b);
  if (!product.registersA)
    bits += uint64_t(rows) * product.k() * bitsOf(product.a);
  counts->operandBytes += bits / bitsOfByte / warps;
}

void tilec::simulator::countProduct(Warp &warp, const Op &op, const MmaInstruction &product) {
  if (LineCounts *counts = countsOf(warp, op))
    counts->tensorOperations += uint64_t(2) * product.m * product.n * product.k;
}
