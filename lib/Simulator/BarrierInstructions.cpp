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
  warp.meet();
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

/// data[0]: one of these, data[1]: 1 if uses[1] is the number of threads, 2 more if the predicate of .red is negated.
enum BarrierForm : uint64_t { SyncOnly, ArriveOnly, CountHolds, AllHold, AnyHolds };
constexpr uint64_t namesThreads = 1, negatesPredicate = 2;

// Results of bar.red.
void storeReduction(Warp &warp, const Op &op, const NamedBarrier &barrier, LaneMask lanes) {
  if (op.data[0] == CountHolds) {
    uint64_t *d = warp.lanes(op.defs[0]);
    forLanes(lanes, [&](unsigned lane) { d[lane] = barrier.lastHolds; });
  } else if (op.data[0] >= AllHold) {
    bool result = op.data[0] == AllHold ? barrier.lastHolds == barrier.lastAsked : barrier.lastHolds > 0;
    uint32_t &d = warp.predicate(op.predicateDefs[0]);
    d = (d & ~lanes) | (result ? lanes : 0);
  }
}

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
  if (op.data[1] & namesThreads && (threads == 0 || threads % laneCount || threads > warp.block_.numWarps * laneCount))
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
    warp.meet();
    storeReduction(warp, op, barrier, lanes);
    return Flow::Next;
  }
  if (!warp.converged(op, lanes, ~0u))
    return Flow::Block;
  uint64_t index = uniform(warp, op, op.uses[0], lanes);
  uint64_t threads = op.data[1] & namesThreads ? uniform(warp, op, op.uses[1], lanes) : 0;
  if (!checkBarrier(warp, op, index, threads))
    return Flow::Next;
  NamedBarrier &barrier = warp.block_.barriers[index];
  barrier.expected = threads;
  uint64_t phase = barrier.phase;
  if (op.data[0] >= CountHolds) {
    uint32_t holds = warp.predicate(op.predicateUses[0]);
    barrier.asked += llvm::popcount(lanes);
    barrier.holds += llvm::popcount((op.data[1] & negatesPredicate ? ~holds : holds) & lanes);
  }
  warp.block_.barriers.arrive(index, warp, laneCount);
  if (op.data[0] == ArriveOnly)
    return Flow::Next;
  fragment.barrier = static_cast<int>(index);
  fragment.barrierPhase = phase;
  return syncBlock(warp, op, lanes);
}

// bar.sync a{, b}; bar.arrive a, b; bar.red.op d, a{, b}, {!}p
bool decodeSyncBlock(Decoder &d) {
  llvm::StringRef reduction = d.instruction->has("red") ? d.oneOf({"popc", "and", "or"}) : "";
  bool reduces = d.instruction->has("red");
  d.op->data[0] = d.instruction->has("arrive") ? ArriveOnly
                  : reduction == "popc"        ? CountHolds
                  : reduction == "and"         ? AllHold
                  : reduction == "or"          ? AnyHolds
                                               : SyncOnly;
  unsigned first = 0, last = d.numOperands();
  if (reduces) {
    if (reduction.empty() || last < 3)
      return d.fail("expected .popc, .and or .or, a result, a barrier and a predicate");
    const Operand &holds = d.operand(--last);
    reduction == "popc" ? d.define(d.operand(first++)) : d.definePredicate(d.operand(first++));
    d.usePredicate(holds);
    d.op->data[1] = holds.negated ? negatesPredicate : 0;
  }
  if (last - first > 1)
    d.op->data[1] |= namesThreads;
  for (unsigned i = first; i < last; ++i)
    d.use(d.operand(i), {PtxType::Bits, 32, false});
  d.op->execute = syncBlock;
  return !d.failed() && last > first;
}

//===----------------------------------------------------------------------===//
// barrier.cluster
//===----------------------------------------------------------------------===//

// data[0]: .relaxed, data[1]: .aligned. A relaxed arrival orders only what lies before the warp's last fence.
Flow arriveCluster(Warp &warp, const Op &op, LaneMask lanes) {
  if (op.data[1] && !warp.converged(op, lanes, ~0u))
    return Flow::Block;
  Cluster &cluster = warp.block_.cluster;
  ClusterBarrier &barrier = cluster.barrier;
  forLanes(lanes, [&](unsigned lane) {
    if (warp.clusterPhase[lane])
      warp.fault(FaultKind::BarrierMisuse, op, lane,
                 "arrives again at the barrier of the cluster without a wait between");
    warp.clusterPhase[lane] = barrier.phase + 1;
  });
  barrier.gathering.join(op.data[0] ? warp.fenced[static_cast<unsigned>(Scope::Cluster)] : warp.knows);
  // That the warp has begun is known in any case.
  barrier.gathering.generic.raise(warp.actor, 1);
  warp.advance();
  barrier.arrived += llvm::popcount(lanes);
  cluster.completeBarrier();
  return Flow::Next;
}

Flow waitCluster(Warp &warp, const Op &op, LaneMask lanes) {
  if (op.data[1] && !warp.converged(op, lanes, ~0u))
    return Flow::Block;
  ClusterBarrier &barrier = warp.block_.cluster.barrier;
  LaneMask early = 0, waits = 0;
  forLanes(lanes, [&](unsigned lane) {
    early |= LaneMask(warp.clusterPhase[lane] == 0) << lane;
    waits |= LaneMask(warp.clusterPhase[lane] == barrier.phase + 1) << lane;
  });
  if (early)
    warp.fault(FaultKind::BarrierMisuse, op, llvm::countr_zero(early),
               "waits at the barrier of the cluster without having arrived");
  if (waits)
    return warp.block("waits at the barrier of the cluster, where " + std::to_string(barrier.arrived) +
                      " threads have arrived");
  forLanes(lanes, [&](unsigned lane) { warp.clusterPhase[lane] = 0; });
  warp.knows.join(barrier.completed);
  warp.meet();
  return Flow::Next;
}

bool decodeCluster(Decoder &d) {
  bool arrive = d.instruction->has("arrive");
  d.op->data[0] = d.instruction->has("relaxed");
  d.op->data[1] = d.instruction->has("aligned");
  d.op->execute = arrive ? arriveCluster : waitCluster;
  return arrive || d.instruction->has("wait");
}

//===----------------------------------------------------------------------===//
// Fences
//===----------------------------------------------------------------------===//

Flow orderMemory(Warp &warp, const Op &op, LaneMask) {
  fence(warp, static_cast<Scope>(op.data[0]));
  return Flow::Next;
}

Flow fenceProxy(Warp &warp, const Op &, LaneMask) {
  warp.knows.fenceProxy();
  return Flow::Next;
}

// fence.mbarrier_init.release.cluster: initialised mbarriers become visible to the asynchronous proxy, and, by a
// relaxed arrival at the cluster's barrier behind it, to the other blocks.
Flow fenceInitialization(Warp &warp, const Op &, LaneMask) {
  warp.knows.fenceProxy();
  fence(warp, Scope::Cluster);
  return Flow::Next;
}

Flow nothing(Warp &, const Op &, LaneMask) { return Flow::Next; }

// membar.cta, .gl and .sys are fences of those scopes.
bool decodeFence(Decoder &d) {
  bool proxy = d.instruction->has("proxy"),
       async = !d.oneOf({"async", "async::generic"}).empty() || !d.oneOf({"async.global", "async.shared::cta"}).empty();
  d.op->data[0] = static_cast<uint64_t>(scopeOf(*d.instruction));
  if (d.instruction->has("mbarrier_init"))
    d.op->execute = fenceInitialization;
  else if (proxy && async)
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
