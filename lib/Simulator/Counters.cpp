// Counts of memory accesses.
#include "Counters.h"

#include "tilec/Simulator/Block.h"
#include <algorithm>

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

void tilec::simulator::countAccess(Warp &warp, const Op &op, LaneMask lanes, Space space, const uint64_t *addresses,
                                   unsigned bytes) {
  if (!warp.block_.state.options.count)
    return;
  LineCounts &counts = warp.block_.state.report.counts[op.source];
  if (space == Space::Shared)
    countShared(counts, lanes, addresses, bytes);
  else if (space == Space::Global)
    countGlobal(counts, lanes, addresses, bytes);
}
