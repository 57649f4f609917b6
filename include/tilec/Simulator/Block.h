// A block, its shared memory and barriers; the cluster it belongs to; the launch they are part of.
#ifndef TILEC_SIMULATOR_BLOCK_H
#define TILEC_SIMULATOR_BLOCK_H

#include "tilec/Simulator/Async.h"
#include "tilec/Simulator/Barriers.h"
#include "tilec/Simulator/Simulator.h"
#include "tilec/Simulator/Warp.h"

namespace tilec::simulator {

class Cluster;

/// What the instructions of wgmma keep for a warpgroup (WgmmaInstructions.cpp).
struct WarpgroupState {
  virtual ~WarpgroupState() = default;
};

/// What all blocks of a launch share.
struct LaunchState {
  const Program &program;
  const Launch &launch;
  const Options &options;
  DeviceMemory &memory;
  Report &report;
  AccessChecker checker;
  std::mt19937_64 random;
  /// What strong writes at an address have published, by the cluster that did: to everybody, to the cluster, and to
  /// single blocks of it.
  struct Publication {
    Knowledge device, cluster;
    std::map<uint32_t, Knowledge> blocks;
  };
  struct Publications {
    /// Grows with every strong write.
    uint64_t version = 0;
    std::map<uint32_t, Publication> clusters;
  };
  std::map<uint64_t, Publications> published;
  /// Instructions since something happened that others can see.
  uint64_t idle = 0;
  /// Reads of clocks, which are all different.
  uint64_t clock = 0;
};

class Block {
public:
  Block(Cluster &cluster, unsigned rank, uint32_t linear, std::array<uint32_t, 3> position);

  /// Reads or writes `bytes` bytes at `address` with every check: bounds, alignment, initialisation, races. False after
  /// reporting a fault that leaves no data. `space` Shared means shared::cluster addresses too; Generic is resolved.
  /// Parameter, Constant and Local are read and written by ld and st alone.
  bool read(const Access &access, Space space, uint64_t address, void *data, unsigned bytes, unsigned alignment);
  bool write(const Access &access, Space space, uint64_t address, const void *data, unsigned bytes, unsigned alignment);
  /// Checks an operation on an mbarrier, which touches its 8 bytes, and finds it. Null after reporting a fault.
  Mbarrier *findMbarrier(const Access &access, Space space, uint64_t address);
  /// A generic address becomes one of its space.
  static Space resolve(Space space, uint64_t &address);
  /// The 128 bytes of a tensor map at a generic address (parameter, constant or global memory); null if there are none.
  const uint8_t *tensorMapBytes(uint64_t address);
  /// A warp has ended. With the last one the block ends: whatever else touches its shared memory must be over.
  void leave(Warp &warp);

  Cluster &cluster;
  LaunchState &state;
  const unsigned rank;
  const uint32_t linear;
  const std::array<uint32_t, 3> position;
  const unsigned numWarps;
  MemoryRegion shared;
  std::vector<std::unique_ptr<Warp>> warps;
  /// One for each four warps; null until the first wgmma.
  std::vector<std::unique_ptr<WarpgroupState>> warpgroups;
  NamedBarriers barriers;
  MbarrierTable mbarriers;
  /// Registers that setmaxnreg.dec has given back and setmaxnreg.inc has not taken.
  int64_t registersFree = 0;

private:
  /// The last access of an actor that is no warp of the block.
  struct Visit {
    Time time = 0;
    Site site;
  };
  MemoryRegion *locate(const Access &access, Space &space, uint64_t &address, unsigned bytes, unsigned alignment);
  void noteVisit(const Access &access);
  void reportVisit(const Site &site, const char *what);

  Actor firstActor = 0;
  std::map<Actor, Visit> visits;
  /// What its warps knew when they ended.
  VectorClock knownAtEnd;
  bool ended = false;
};

/// Blocks of a cluster, with the clocks of their actors.
class Cluster {
public:
  Cluster(LaunchState &state, uint32_t index, std::array<uint32_t, 3> firstBlock);

  enum class Advance : uint8_t { Ran, Waits, Done };
  /// Lets every warp that can go on run for a while. Waits: none can, and nothing is in flight that could change that.
  Advance advance();
  /// Reports who waits for what; `outside` says what is to be known about the other clusters.
  void reportHang(const std::string &outside);
  /// Completes the phase of the barrier if all threads that have not ended have arrived.
  void completeBarrier();

  Actor newActor() { return nextActor++; }
  /// The block whose shared memory holds a shared::cluster address, or null.
  Block *owner(uint32_t sharedAddress);
  /// Something happened that may let a waiting fragment go on.
  void noteProgress() { ++progress; }

  LaunchState &state;
  const uint32_t index;
  std::vector<std::unique_ptr<Block>> blocks;
  AsyncEngine async;
  ClusterBarrier barrier;
  uint64_t progress = 1;

private:
  bool runRound();
  bool finished() const;
  std::string describeWait(const Warp &warp, const Fragment &fragment) const;
  Actor nextActor = 0;
};

} // namespace tilec::simulator

#endif // TILEC_SIMULATOR_BLOCK_H
