// mbarrier.*: initialising, arriving, waiting (PTX ISA, "Parallel Synchronization and Communication Instructions:
// mbarrier").
#include "Lanes.h"

#include "llvm/Support/MathExtras.h"

using namespace tilec::simulator;

namespace {
/// Largest counts (PTX ISA, "Contents of the mbarrier object").
constexpr int64_t mostArrivals = (1 << 20) - 1;

//===----------------------------------------------------------------------===//
// init, inval
//===----------------------------------------------------------------------===//

Flow initialize(Warp &warp, const Op &op, LaneMask lanes) {
  Block &block = warp.block_;
  forLanes(lanes, [&](unsigned lane) {
    uint64_t address = warp.address(op, 0, lane), count = warp.lanes(op.uses[1])[lane], zero = 0;
    Space space = Block::resolve(op.space, address);
    if (count == 0 || int64_t(count) > mostArrivals)
      warp.fault(FaultKind::BarrierMisuse, op, lane, std::to_string(count) + " expected arrivals");
    else if (block.write(warp.access(op, lane), space, address, &zero, sizeof(zero), sizeof(zero))) {
      Mbarrier &barrier = block.cluster.owner(address)->mbarriers.create(address, block.cluster);
      barrier.expected = count;
      barrier.pendingArrivals = count;
      barrier.creator = warp.actor;
      barrier.created = warp.time();
    }
  });
  return Flow::Next;
}

bool decodeInitialize(Decoder &d) {
  d.address(d.operand(0));
  d.use(d.operand(1), {PtxType::Bits, 32, false});
  d.op->execute = initialize;
  return !d.failed();
}

Flow invalidate(Warp &warp, const Op &op, LaneMask lanes) {
  Block &block = warp.block_;
  forLanes(lanes, [&](unsigned lane) {
    uint64_t address = warp.address(op, 0, lane), zero = 0;
    Space space = Block::resolve(op.space, address);
    if (!block.write(warp.access(op, lane), space, address, &zero, sizeof(zero), sizeof(zero)))
      return;
    if (!block.cluster.owner(address)->mbarriers.erase(address))
      warp.fault(FaultKind::BarrierMisuse, op, lane, "there is no mbarrier here");
  });
  return Flow::Next;
}

bool decodeInvalidate(Decoder &d) {
  d.address(d.operand(0));
  d.op->execute = invalidate;
  return !d.failed();
}

//===----------------------------------------------------------------------===//
// arrive, expect_tx, complete_tx
//===----------------------------------------------------------------------===//

struct ArrivePayload : Payload {
  bool arrives = true, expects = false, completes = false, drops = false, relaxed = false;
  /// Numbers of the uses; -1: none.
  int bytes = -1, count = -1;
};

// The opaque state that arrivals give: the phase, and the arrivals that it awaited before this one.
constexpr unsigned pendingBits = 20;
uint64_t stateOf(const Mbarrier &barrier) {
  return barrier.phase << pendingBits | static_cast<uint64_t>(std::max<int64_t>(barrier.pendingArrivals, 0));
}

void arriveLane(Warp &warp, const Op &op, const ArrivePayload &info, unsigned lane) {
  uint64_t address = warp.address(op, 0, lane);
  Space space = Block::resolve(op.space, address);
  Mbarrier *barrier = warp.block_.findMbarrier(warp.access(op, lane), space, address);
  if (!barrier)
    return;
  auto number = [&](int use, int64_t otherwise) {
    return use < 0 ? otherwise : int64_t(uint32_t(warp.lanes(op.uses[use])[lane]));
  };
  int64_t bytes = number(info.bytes, 0), arrivals = info.arrives ? number(info.count, 1) : 0;
  if (!op.defs.empty())
    warp.lanes(op.defs[0])[lane] = stateOf(*barrier);
  if (info.drops)
    barrier->expected -= arrivals;
  if (bytes > mostArrivals)
    warp.fault(FaultKind::BarrierMisuse, op, lane, std::to_string(bytes) + " bytes awaited at once");
  Cluster &cluster = warp.block_.cluster;
  if (!MbarrierTable::arrive(*barrier, cluster, arrivals, info.completes ? bytes : -bytes,
                             info.relaxed ? Knowledge() : warp.knows))
    warp.fault(FaultKind::BarrierMisuse, op, lane,
               "more arrivals than the " + std::to_string(barrier->expected) + " that this phase expects");
  cluster.noteProgress();
}

Flow arrive(Warp &warp, const Op &op, LaneMask lanes) {
  const auto &info = op.as<ArrivePayload>();
  forLanes(lanes, [&](unsigned lane) { arriveLane(warp, op, info, lane); });
  warp.advance();
  return Flow::Next;
}

// mbarrier.arrive{.expect_tx}{.noComplete} {state,} [addr] {, count or bytes}; mbarrier.expect_tx [addr], bytes
bool decodeArrive(Decoder &d) {
  auto info = std::make_shared<ArrivePayload>();
  llvm::StringRef first = d.instruction->modifiers[0];
  info->drops = first == "arrive_drop";
  info->arrives = first == "arrive" || info->drops;
  info->completes = first == "complete_tx";
  info->expects = d.instruction->has("expect_tx");
  info->relaxed = d.instruction->has("relaxed");
  unsigned next = 0;
  if (info->arrives && !d.operand(0).is(Operand::Kind::Address))
    d.define(d.operand(next++));
  d.address(d.operand(next++));
  if (next < d.numOperands()) {
    (info->expects || info->completes ? info->bytes : info->count) = static_cast<int>(d.op->uses.size());
    d.use(d.operand(next), {PtxType::Bits, 32, false});
  }
  d.op->payload = info;
  d.op->execute = arrive;
  return !d.failed();
}

//===----------------------------------------------------------------------===//
// test_wait, try_wait
//===----------------------------------------------------------------------===//

/// data[0]: try_wait, data[1]: .parity.
// A thread that waits in try_wait is suspended until the phase completes. One that polls with test_wait goes on with
// false; if it comes back before anything has happened, it is suspended too, so that polling ends in a deadlock's
// report.
Flow wait(Warp &warp, const Op &op, LaneMask lanes) {
  uint32_t done = 0;
  uint64_t waitingAt = 0;
  const Mbarrier *unfinished = nullptr;
  bool acquires = false;
  forLanes(lanes, [&](unsigned lane) {
    uint64_t address = warp.address(op, 0, lane), value = warp.lanes(op.uses[1])[lane];
    Space space = Block::resolve(op.space, address);
    if (space == Space::Shared && address / sharedBlockStride != warp.block_.rank)
      warp.fault(FaultKind::BarrierMisuse, op, lane,
                 "waits for an mbarrier of another block, which only its own can do");
    Mbarrier *barrier = warp.block_.findMbarrier(warp.access(op, lane), space, address);
    bool completed =
        !barrier || (op.data[1] ? (barrier->phase & 1) != (value & 1) : barrier->phase > value >> pendingBits);
    done |= uint32_t(completed) << lane;
    if (completed && barrier && !op.source->has("relaxed")) {
      warp.knows.join(barrier->completed);
      acquires = true;
    }
    if (!completed) {
      waitingAt = address;
      unfinished = barrier;
    }
  });
  Fragment &fragment = warp.current();
  if (unfinished && done == 0) {
    bool again = fragment.poll == fragment.pc && fragment.pollSeen == warp.block_.cluster.progress;
    if (op.data[0] || again)
      return warp.block("waits for the mbarrier at byte " + std::to_string(waitingAt % sharedBlockStride - sharedBase) +
                        " of shared memory, phase " + std::to_string(unfinished->phase) + ": " +
                        std::to_string(unfinished->pendingArrivals) + " arrivals and " +
                        std::to_string(unfinished->pendingBytes) + " bytes are pending");
    fragment.poll = fragment.pc;
    fragment.pollSeen = warp.block_.cluster.progress;
  }
  if (acquires)
    warp.meet();
  uint32_t &d = warp.predicate(op.predicateDefs[0]);
  d = (d & ~lanes) | done;
  return Flow::Next;
}

Flow pendingCount(Warp &warp, const Op &op, LaneMask lanes) {
  const uint64_t *state = warp.lanes(op.uses[0]);
  uint64_t *d = warp.lanes(op.defs[0]);
  forLanes(lanes, [&](unsigned lane) { d[lane] = state[lane] & llvm::maskTrailingOnes<uint64_t>(pendingBits); });
  return Flow::Next;
}

bool decodePendingCount(Decoder &d) {
  d.op->execute = pendingCount;
  return decodeMap(d, {PtxType::Bits, 64, false}, 1);
}

bool decodeWait(Decoder &d) {
  d.definePredicate(d.operand(0));
  d.address(d.operand(1));
  d.use(d.operand(2), {PtxType::Bits, 64, false});
  d.op->data[0] = d.instruction->has("try_wait");
  d.op->data[1] = d.instruction->has("parity");
  d.op->execute = wait;
  return !d.failed();
}
} // namespace

void tilec::simulator::addMbarrierInstructions(InstructionTable &table) {
  table["mbarrier.init"] = decodeInitialize;
  table["mbarrier.inval"] = decodeInvalidate;
  for (llvm::StringRef name : {"mbarrier.arrive", "mbarrier.arrive_drop", "mbarrier.expect_tx", "mbarrier.complete_tx"})
    table[name] = decodeArrive;
  table["mbarrier.pending_count"] = decodePendingCount;
  table["mbarrier.test_wait"] = decodeWait;
  table["mbarrier.try_wait"] = decodeWait;
}
