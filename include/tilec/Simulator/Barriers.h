// Named barriers of a block, mbarriers in shared memory, the barrier of a cluster (PTX ISA, "Parallel Synchronization
// and Communication Instructions").
#ifndef TILEC_SIMULATOR_BARRIERS_H
#define TILEC_SIMULATOR_BARRIERS_H

#include "tilec/Simulator/Clock.h"
#include <array>
#include <map>

namespace tilec::simulator {

class Warp;

/// bar.sync and bar.arrive: 16 barriers that count threads. `expected` 0 stands for all threads that have not ended.
struct NamedBarrier {
  unsigned arrived = 0, expected = 0;
  uint64_t phase = 0;
  /// bar.red: threads of this phase whose predicate holds and all that were asked, then those of the last phase.
  unsigned holds = 0, asked = 0, lastHolds = 0, lastAsked = 0;
  /// What those who arrived in this phase know, and what was known when the last phase completed.
  Knowledge gathering, completed;
};
class NamedBarriers {
public:
  NamedBarrier &operator[](unsigned index) { return barriers[index]; }
  static constexpr unsigned count = 16;

  /// `threads` more have arrived, all of `warp`. Completes the phase if these were the last.
  void arrive(unsigned index, Warp &warp, unsigned threads);
  /// A warp has ended; barriers without a count no longer wait for it.
  void leave(Warp &warp);

private:
  void completeIfFull(unsigned index, Warp &warp);
  std::array<NamedBarrier, 16> barriers;
};

/// An mbarrier object (PTX ISA, "mbarrier object").
struct Mbarrier {
  uint32_t expected = 0;
  int64_t pendingArrivals = 0, pendingBytes = 0;
  uint64_t phase = 0;
  Knowledge gathering, completed;
  /// Operations that complete here.
  Actor channel = 0;
  /// Who initialised it and when.
  Actor creator = 0;
  Time created = 0;
};

class Cluster;
/// The mbarriers of a block by their offset in shared memory.
class MbarrierTable {
public:
  Mbarrier *find(uint32_t address);
  Mbarrier &create(uint32_t address, Cluster &cluster);
  bool erase(uint32_t address) { return table.erase(address) != 0; }
  /// Whether an mbarrier covers one of these bytes.
  bool overlaps(uint32_t address, unsigned bytes) const;
  bool empty() const { return table.empty(); }

  /// Counts `arrivals` and bytes that came in (complete_tx) or are awaited (expect_tx, negative); `knows` is what
  /// waiters learn. Completes the phase if nothing is pending. False if more arrived than was expected.
  static bool arrive(Mbarrier &barrier, Cluster &cluster, int64_t arrivals, int64_t bytes, const Knowledge &knows);

private:
  std::map<uint32_t, Mbarrier> table;
};

/// barrier.cluster; counts threads.
struct ClusterBarrier {
  unsigned arrived = 0;
  uint64_t phase = 0;
  Knowledge gathering, completed;
};

} // namespace tilec::simulator

#endif // TILEC_SIMULATOR_BARRIERS_H
