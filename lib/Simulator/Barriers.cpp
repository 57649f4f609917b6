// Named barriers and mbarriers: counting and phases.
#include "tilec/Simulator/Barriers.h"

#include "tilec/Simulator/Block.h"

using namespace tilec::simulator;

//===----------------------------------------------------------------------===//
// Named barriers
//===----------------------------------------------------------------------===//

void NamedBarriers::arrive(unsigned index, Warp &warp, unsigned threads) {
  NamedBarrier &barrier = barriers[index];
  barrier.arrived += threads;
  barrier.gathering.join(warp.knows);
  warp.advance();
  completeIfFull(index, warp);
}

void NamedBarriers::completeIfFull(unsigned index, Warp &warp) {
  NamedBarrier &barrier = barriers[index];
  unsigned expected = barrier.expected;
  if (expected == 0)
    for (const std::unique_ptr<Warp> &other : warp.block_.warps)
      expected += other->finished() ? 0 : laneCount;
  if (barrier.arrived == 0 || barrier.arrived < expected)
    return;
  barrier.completed = std::move(barrier.gathering);
  barrier.gathering = Knowledge();
  barrier.lastHolds = barrier.holds;
  barrier.lastAsked = barrier.asked;
  barrier.holds = barrier.asked = 0;
  barrier.arrived = 0;
  barrier.expected = 0;
  ++barrier.phase;
  warp.block_.cluster.noteProgress();
}

void NamedBarriers::leave(Warp &warp) {
  for (unsigned index = 0; index < count; ++index)
    if (barriers[index].expected == 0)
      completeIfFull(index, warp);
}

//===----------------------------------------------------------------------===//
// Mbarriers
//===----------------------------------------------------------------------===//

Mbarrier *MbarrierTable::find(uint32_t address) {
  auto found = table.find(address);
  return found == table.end() ? nullptr : &found->second;
}

Mbarrier &MbarrierTable::create(uint32_t address, Cluster &cluster) {
  Mbarrier &barrier = table[address];
  barrier = Mbarrier();
  barrier.channel = cluster.newActor();
  return barrier;
}

bool MbarrierTable::overlaps(uint32_t address, unsigned bytes) const {
  constexpr unsigned size = 8;
  auto after = table.lower_bound(address + bytes);
  return after != table.begin() && std::prev(after)->first + size > address;
}

// PTX ISA, "Phase of the mbarrier object": a phase completes when neither arrivals nor transactions are pending, and
// the next one expects the same arrivals.
bool MbarrierTable::arrive(Mbarrier &barrier, Cluster &cluster, int64_t arrivals, int64_t bytes,
                           const Knowledge &knows) {
  barrier.pendingArrivals -= arrivals;
  barrier.pendingBytes -= bytes;
  barrier.gathering.join(knows);
  if (barrier.pendingArrivals < 0)
    return false;
  if (barrier.pendingArrivals == 0 && barrier.pendingBytes == 0) {
    barrier.completed = std::move(barrier.gathering);
    barrier.gathering = Knowledge();
    barrier.pendingArrivals = barrier.expected;
    ++barrier.phase;
    cluster.noteProgress();
  }
  return true;
}
