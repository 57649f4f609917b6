// A block: its threads, and checked access to memory.
#include "tilec/Simulator/Block.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>

using namespace tilec::simulator;

static unsigned threadsOf(const Launch &launch) { return launch.block[0] * launch.block[1] * launch.block[2]; }

static uint64_t sharedBytes(const LaunchState &state) {
  uint64_t end = state.launch.dynamicShared ? state.program.dynamicShared + uint64_t(state.launch.dynamicShared)
                                            : sharedBase + uint64_t(state.program.staticShared);
  return end - sharedBase;
}

Block::Block(Cluster &cluster, unsigned rank, uint32_t linear, std::array<uint32_t, 3> position)
    : cluster(cluster), state(cluster.state), rank(rank), linear(linear), position(position),
      numWarps(llvm::divideCeil(threadsOf(cluster.state.launch), laneCount)),
      shared(uint64_t(rank) * sharedBlockStride + sharedBase, sharedBytes(cluster.state), "shared memory") {
  unsigned threads = threadsOf(state.launch);
  for (unsigned warp = 0; warp < numWarps; ++warp) {
    unsigned first = warp * laneCount, count = std::min(threads - first, laneCount);
    LaneMask lanes = static_cast<LaneMask>((uint64_t(1) << count) - 1);
    warps.push_back(std::make_unique<Warp>(*this, state.program, warp, lanes, first));
  }
  firstActor = warps.front()->actor;
  warpgroups.resize(llvm::divideCeil(numWarps, 4u));
}

Space Block::resolve(Space space, uint64_t &address) {
  if (space != Space::Generic)
    return space;
  uint64_t window = address / windowBytes * windowBytes;
  Space found = window == sharedWindow      ? Space::Shared
                : window == parameterWindow ? Space::Parameter
                : window == constantWindow  ? Space::Constant
                : window == localWindow     ? Space::Local
                                            : Space::Global;
  if (found != Space::Global)
    address -= window;
  return found;
}

//===----------------------------------------------------------------------===//
// The lifetime of shared memory
//===----------------------------------------------------------------------===//

void Block::reportVisit(const Site &site, const char *what) {
  Fault fault;
  fault.kind = FaultKind::SharedLifetime;
  fault.site = site;
  fault.message = "touches shared memory of block " + std::to_string(linear) + what;
  state.report.add(std::move(fault));
}

// Shared memory of a block may be touched from its start to its end (PTX ISA, "Shared State Space"). Those who are no
// warps of it must know that it has begun, and its warps must know at their ends that they are done.
void Block::noteVisit(const Access &access) {
  bool ownWarp = unsigned(access.actor - firstActor) < numWarps;
  bool remote = access.site.block != linear;
  if (ownWarp || (!remote && !access.mayOutlive) || !state.checker.checkRaces)
    return;
  auto isKnown = [&](const std::unique_ptr<Warp> &warp) { return access.knows->generic[warp->actor] > 0; };
  if (remote && llvm::none_of(warps, isKnown))
    reportVisit(access.site, ", which may not have begun: nothing orders it behind the block's start");
  if (ended && knownAtEnd[access.actor] < access.time)
    return reportVisit(access.site, ", which has ended");
  Visit &visit = visits[access.actor];
  if (access.time >= visit.time)
    visit = {access.time, access.site};
}

void Block::leave(Warp &warp) {
  knownAtEnd.join(warp.knows.generic);
  if (llvm::any_of(warps, [](const std::unique_ptr<Warp> &other) { return !other->finished(); }))
    return;
  ended = true;
  for (const auto &[actor, visit] : visits)
    if (knownAtEnd[actor] < visit.time)
      reportVisit(visit.site, ", which may have ended: nothing orders it before the block's end");
}

// The region that holds the range, or null after reporting why there is none.
MemoryRegion *Block::locate(const Access &access, Space &space, uint64_t &address, unsigned bytes, unsigned alignment) {
  space = resolve(space, address);
  Fault fault;
  fault.site = access.site;
  auto report = [&](FaultKind kind, std::string message) -> MemoryRegion * {
    fault.kind = kind;
    fault.message = std::move(message);
    state.report.add(std::move(fault));
    return nullptr;
  };
  if (address % alignment)
    return report(FaultKind::Misaligned, "the address " + std::to_string(address) + " of " + std::to_string(bytes) +
                                             " bytes is no multiple of " + std::to_string(alignment));
  if (space == Space::Shared) {
    Block *owner = cluster.owner(address);
    if (owner && owner->shared.contains(address, bytes)) {
      owner->noteVisit(access);
      return &owner->shared;
    }
    if (!owner)
      return report(FaultKind::OutOfBounds, "the address lies in block " + std::to_string(address / sharedBlockStride) +
                                                " of the cluster, which has " + std::to_string(cluster.blocks.size()));
    return report(FaultKind::OutOfBounds, "shared memory has " + std::to_string(shared.bytes.size()) +
                                              " bytes; this touches " + std::to_string(bytes) + " at " +
                                              std::to_string(int64_t(address) - int64_t(shared.base)));
  }
  if (space != Space::Global)
    return report(FaultKind::Unsupported, "this instruction cannot access this space");
  if (MemoryRegion *region = state.memory.find(address, bytes))
    return region;
  return report(FaultKind::OutOfBounds,
                std::to_string(bytes) + " bytes in global memory, " + state.memory.describe(address));
}

bool Block::read(const Access &access, Space space, uint64_t address, void *data, unsigned bytes, unsigned alignment) {
  MemoryRegion *region = locate(access, space, address, bytes, alignment);
  if (!region)
    return false;
  uint64_t offset = address - region->base;
  state.checker.read(*region, offset, bytes, access,
                     space == Space::Shared ? FaultKind::SharedRace : FaultKind::GlobalRace);
  std::memcpy(data, &region->bytes[offset], bytes);
  return true;
}

bool Block::write(const Access &access, Space space, uint64_t address, const void *data, unsigned bytes,
                  unsigned alignment) {
  MemoryRegion *region = locate(access, space, address, bytes, alignment);
  if (!region)
    return false;
  uint64_t offset = address - region->base;
  state.checker.write(*region, offset, bytes, static_cast<const uint8_t *>(data), access,
                      space == Space::Shared ? FaultKind::SharedRace : FaultKind::GlobalRace);
  std::memcpy(&region->bytes[offset], data, bytes);
  return true;
}

Mbarrier *Block::findMbarrier(const Access &access, Space space, uint64_t address) {
  MemoryRegion *region = locate(access, space, address, 8, 8);
  if (!region)
    return nullptr;
  // All operations touch the object, so that they are ordered after its initialisation and before its reuse.
  Access atomic = access;
  atomic.atomic = atomic.mbarrier = true;
  uint64_t offset = address - region->base;
  state.checker.write(*region, offset, 8, &region->bytes[offset], atomic, FaultKind::SharedRace);
  Mbarrier *found = space == Space::Shared ? cluster.owner(address)->mbarriers.find(address) : nullptr;
  bool fenced = !found || access.proxy == Proxy::Generic || access.knows->async[found->creator] >= found->created;
  if (found && (fenced || !state.checker.checkProxies))
    return found;
  Fault fault;
  fault.site = access.site;
  if (found) {
    fault.kind = FaultKind::MissingProxyFence;
    fault.message = "completes on an mbarrier that was initialised without fence.mbarrier_init behind it";
    state.report.add(std::move(fault));
    return found;
  }
  fault.kind = FaultKind::BarrierMisuse;
  fault.message = "there is no initialised mbarrier at byte " + std::to_string(offset) + " of shared memory";
  state.report.add(std::move(fault));
  return nullptr;
}

const uint8_t *Block::tensorMapBytes(uint64_t address) {
  constexpr unsigned mapBytes = 128;
  auto inside = [&](const std::vector<uint8_t> &bytes) {
    return address <= bytes.size() && bytes.size() - address >= mapBytes ? &bytes[address] : nullptr;
  };
  switch (resolve(Space::Generic, address)) {
  case Space::Parameter:
    return inside(state.launch.parameters);
  case Space::Constant:
    return inside(state.program.constantBytes);
  case Space::Global:
    if (MemoryRegion *region = state.memory.find(address, mapBytes))
      return &region->bytes[address - region->base];
    return nullptr;
  default:
    return nullptr;
  }
}
