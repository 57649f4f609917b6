// Barriers of warps, blocks and clusters, and fences (PTX ISA, "Parallel Synchronization and Communication
// Instructions: bar, barrier, bar.warp.sync, barrier.cluster, membar, fence").
#include "Lanes.h"
#include "Order.h"

using namespace tilec::simulator;

namespace {
// Fragment::barrier of lanes that wait at bar.warp.sync, and of those that have arrived at a cluster's barrier.
constexpr int warpBarrier = NamedBarriers::count;

//===----------------------------------------------------------------------===//
// bar.warp.sync
//===----------------------------------------------------------------------===//

// Lanes may stand at different instructions: all that arrived go on together with the last.
Flow syncWarp(Warp &warp, const Op &op, LaneMask lanes) {
  LaneMask members = warp.lanes(op.uses[0])[llvm::countr_zero(lanes)], wanted = members & warp.liveLanes();
  if (lanes & ~members)
    warp.fault(FaultKind::BarrierMisuse, op, llvm::countr_zero(lanes & ~members), "a lane that the mask does not name");
  LaneMask arrived = lanes;
  for (const Fragment &fragment : warp.allFragments())
    if (fragment.barrier == warpBarrier)
      arrived |= fragment.lanes;
  if ((arrived & wanted) != wanted) {
    warp.current().barrier = warpBarrier;
    return warp.block("waits at bar.warp.sync for lane " + std::to_string(llvm::countr_zero(wanted & ~arrived)));
  }
  Fragment *current = &warp.current();
  for (Fragment &fragment : warp.allFragments()) {
    if (fragment.barrier != warpBarrier)
      continue;
    fragment.barrier = -1;
    fragment.waiting.clear();
    if (&fragment != current)
      ++fragment.pc;
  }
  warp.advance();
  return Flow::Next;
}

bool decodeSyncWarp(Decoder &d) {
  d.use(d.operand(0), {PtxType::Bits, 32, false});
  d.op->execute = syncWarp;
  return !d.failed();
}

//===----------------------------------------------------------------------===//
// bar.sync, bar.arrive
//===----------------------------------------------------------------------===//

/// data[0]: 1 arrive, data[1]: 1 if uses[1] is the number of threads.
constexpr uint64_t arriveOnly = 1;

uint64_t uniform(Warp &warp, const Op &op, Slot slot, LaneMask lanes) {
  const uint64_t *values = warp.lanes(slot);
  uint64_t first = values[llvm::countr_zero(lanes)];
  forLanes(lanes, [&](unsigned lane) {
    if (values[lane] != first)
      warp.fault(FaultKind::BarrierMisuse, op, lane, "lanes name different barriers or numbers of threads");
  });
  return first;
}

// False after reporting what is wrong with the barrier's number or count.
bool checkBarrier(Warp &warp, const Op &op, uint64_t index, uint64_t threads) {
  auto fault = [&](const std::string &what) {
    warp.fault(FaultKind::BarrierMisuse, op, -1, what);
    return false;
  };
  if (index >= NamedBarriers::count)
    return fault("there is no barrier " + std::to_string(index));
  if (op.data[1] && (threads == 0 || threads % laneCount || threads > warp.block_.numWarps * laneCount))
    return fault("a barrier of " + std::to_string(threads) + " threads in a block of " +
                 std::to_string(warp.block_.numWarps * laneCount));
  const NamedBarrier &barrier = warp.block_.barriers[index];
  if (barrier.arrived && barrier.expected != threads)
    return fault("barrier " + std::to_string(index) + " waits for " + std::to_string(barrier.expected) +
                 " threads already, this names " + std::to_string(threads));
  return true;
}

Flow syncBlock(Warp &warp, const Op &op, LaneMask lanes) {
  Fragment &fragment = warp.current();
  if (fragment.barrier >= 0) {
    NamedBarrier &barrier = warp.block_.barriers[fragment.barrier];
    if (barrier.phase == fragment.barrierPhase)
      return warp.block("waits at barrier " + std::to_string(fragment.barrier) + ", where " +
                        std::to_string(barrier.arrived) + " threads have arrived");
    fragment.barrier = -1;
    warp.knows.join(barrier.completed);
    return Flow::Next;
  }
  if (!warp.converged(op, lanes, ~0u))
    return Flow::Block;
  uint64_t index = uniform(warp, op, op.uses[0], lanes);
  uint64_t threads = op.data[1] ? uniform(warp, op, op.uses[1], lanes) : 0;
  if (!checkBarrier(warp, op, index, threads))
    return Flow::Next;
  NamedBarrier &barrier = warp.block_.barriers[index];
  barrier.expected = threads;
  uint64_t phase = barrier.phase;
  warp.block_.barriers.arrive(index, warp, laneCount);
  if (op.data[0] == arriveOnly)
    return Flow::Next;
  fragment.barrier = static_cast<int>(index);
  fragment.barrierPhase = phase;
  return syncBlock(warp, op, lanes);
}

bool decodeSyncBlock(Decoder &d) {
  if (!d.oneOf({"red"}).empty())
    return d.fail("the simulator does not know reductions at barriers");
  d.op->data[0] = d.instruction->has("arrive");
  d.op->data[1] = d.numOperands() > 1;
  for (unsigned i = 0; i < d.numOperands(); ++i)
    d.use(d.operand(i), {PtxType::Bits, 32, false});
  d.op->execute = syncBlock;
  return !d.failed() && d.numOperands() > 0;
}

//===----------------------------------------------------------------------===//
// barrier.cluster
//===----------------------------------------------------------------------===//

Flow arriveCluster(Warp &warp, const Op &op, LaneMask lanes) {
  if (!warp.converged(op, lanes, ~0u))
    return Flow::Block;
  Cluster &cluster = warp.block_.cluster;
  ClusterBarrier &barrier = cluster.barrier;
  warp.clusterPhase = barrier.phase;
  if (!op.data[0])
    barrier.gathering.join(warp.knows);
  warp.advance();
  unsigned expected = 0;
  for (const std::unique_ptr<Block> &block : cluster.blocks)
    for (const std::unique_ptr<Warp> &other : block->warps)
      expected += !other->finished();
  if (++barrier.arrived >= expected) {
    barrier.arrived = 0;
    barrier.completed = std::move(barrier.gathering);
    barrier.gathering = Knowledge();
    ++barrier.phase;
    cluster.noteProgress();
  }
  return Flow::Next;
}

Flow waitCluster(Warp &warp, const Op &op, LaneMask lanes) {
  if (!warp.converged(op, lanes, ~0u))
    return Flow::Block;
  ClusterBarrier &barrier = warp.block_.cluster.barrier;
  if (barrier.phase == warp.clusterPhase)
    return warp.block("waits at the barrier of the cluster, where " + std::to_string(barrier.arrived) +
                      " warps have arrived");
  warp.knows.join(barrier.completed);
  return Flow::Next;
}

bool decodeCluster(Decoder &d) {
  bool arrive = d.instruction->has("arrive");
  d.op->data[0] = d.instruction->has("relaxed");
  d.op->execute = arrive ? arriveCluster : waitCluster;
  return arrive || d.instruction->has("wait");
}

//===----------------------------------------------------------------------===//
// Fences
//===----------------------------------------------------------------------===//

Flow orderMemory(Warp &warp, const Op &, LaneMask) {
  fence(warp);
  return Flow::Next;
}

Flow fenceProxy(Warp &warp, const Op &, LaneMask) {
  warp.knows.fenceProxy();
  return Flow::Next;
}

Flow nothing(Warp &, const Op &, LaneMask) { return Flow::Next; }

// fence.mbarrier_init makes initialised mbarriers visible to the asynchronous proxy.
bool decodeFence(Decoder &d) {
  bool proxy = d.instruction->has("proxy"),
       async = !d.oneOf({"async", "async::generic"}).empty() || !d.oneOf({"async.global", "async.shared::cta"}).empty();
  if (d.instruction->has("mbarrier_init") || (proxy && async))
    d.op->execute = fenceProxy;
  else
    d.op->execute = proxy ? nothing : orderMemory;
  return true;
}
} // namespace

void tilec::simulator::addBarrierInstructions(InstructionTable &table) {
  table["bar.warp.sync"] = decodeSyncWarp;
  table["bar"] = decodeSyncBlock;
  table["barrier"] = decodeSyncBlock;
  table["barrier.cluster"] = decodeCluster;
  table["fence"] = decodeFence;
  table["membar"] = decodeFence;
}
