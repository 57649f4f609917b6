// cp.async of sm_80: copies of 4, 8 or 16 bytes by each thread, their groups, and arrivals on mbarriers behind them
// (PTX ISA, "Non-bulk copy").
#include "CopyInstructions.h"

#include "Counters.h"
#include <cstring>

using namespace tilec::simulator;

void tilec::simulator::signalMbarrier(Cluster &cluster, uint32_t address, const Access &access, int64_t arrivals,
                                      int64_t bytes) {
  Block *owner = cluster.owner(address);
  Mbarrier *barrier = (owner ? *owner : *cluster.blocks[0]).findMbarrier(access, Space::Shared, address);
  if (!barrier || MbarrierTable::arrive(*barrier, cluster, arrivals, bytes, knowledgeAfter(access)))
    return;
  const char *what = arrivals ? "more arrivals than the mbarrier expects" : "more bytes than the mbarrier expects";
  cluster.state.report.add({FaultKind::BarrierMisuse, access.site, {}, what});
}

namespace {
// The copies of one instruction.
class CopyOperation : public AsyncOperation {
public:
  struct Lane {
    unsigned lane;
    uint64_t source;
    uint32_t target;
    unsigned sourceBytes;
  };

  CopyOperation(Block &block, unsigned bytes) : block(block), bytes(bytes) {}

  void complete(const Access &access) override {
    Access own = access;
    for (const Lane &lane : lanes) {
      uint8_t data[16] = {};
      own.site.lane = static_cast<int>(lane.lane);
      if (lane.sourceBytes && !block.read(own, Space::Global, lane.source, data, lane.sourceBytes, alignment(lane)))
        continue;
      block.write(own, Space::Shared, lane.target, data, bytes, bytes);
    }
  }

  std::vector<Lane> lanes;

private:
  // The address is aligned to the size of the copy even where less is read.
  unsigned alignment(const Lane &lane) const { return bytes; }

  Block &block;
  unsigned bytes;
};

// An arrival that counts when the copies before it are done.
class ArriveOperation : public AsyncOperation {
public:
  ArriveOperation(Cluster &cluster, std::vector<uint32_t> addresses)
      : cluster(cluster), addresses(std::move(addresses)) {}

  void complete(const Access &access) override {
    for (uint32_t address : addresses)
      signalMbarrier(cluster, address, access, 1, 0);
  }

private:
  Cluster &cluster;
  std::vector<uint32_t> addresses;
};

enum SourceSize : uint64_t { WholeSource, SizeOperand, IgnoreOperand };
} // namespace

template <typename F> static void forEachLane(LaneMask lanes, F use) {
  for (unsigned lane = 0; lane < laneCount; ++lane)
    if (lanes >> lane & 1)
      use(lane);
}

// Op: uses[0] target, uses[1] source, uses[2] bytes of the source; data[0] the target's offset, data[1] the size of the
// copy and, in the upper half, SourceSize.
static Flow executeCopy(Warp &warp, const Op &op, LaneMask lanes) {
  unsigned bytes = static_cast<uint32_t>(op.data[1]);
  auto operation = std::make_unique<CopyOperation>(warp.block_, bytes);
  uint64_t sources[laneCount], targets[laneCount];
  forEachLane(lanes, [&](unsigned lane) {
    unsigned sourceBytes = bytes;
    if (op.data[1] >> 32 == SizeOperand)
      sourceBytes = static_cast<uint32_t>(warp.lanes(op.uses[2])[lane]);
    if (op.data[1] >> 32 == IgnoreOperand && (warp.predicate(op.predicateUses[0]) >> lane & 1))
      sourceBytes = 0;
    if (sourceBytes > bytes) {
      warp.fault(FaultKind::OutOfBounds, op, static_cast<int>(lane), "the source has more bytes than the copy");
      sourceBytes = bytes;
    }
    uint32_t target = static_cast<uint32_t>(warp.lanes(op.uses[0])[lane] + op.data[0]);
    uint64_t source = warp.lanes(op.uses[1])[lane] + static_cast<uint64_t>(op.offset);
    operation->lanes.push_back({lane, source, target, sourceBytes});
    sources[lane] = source;
    targets[lane] = target;
  });
  countAccess(warp, op, lanes, Space::Global, sources, bytes);
  countAccess(warp, op, lanes, Space::Shared, targets, bytes);
  warp.block_.cluster.async.submit(warp, op, {AsyncQueue::CopyAsync, lanes, Proxy::Generic, /*ordered=*/false, {}},
                                   std::move(operation));
  return Flow::Next;
}

static bool decodeCopy(Decoder &decoder) {
  if (decoder.oneOf({"ca", "cg"}).empty() || !decoder.instruction->has("global"))
    return decoder.fail("only cp.async.ca and .cg from .global to .shared are known");
  decoder.address(decoder.operand(0));
  decoder.op->data[0] = static_cast<uint64_t>(decoder.op->offset);
  decoder.address(decoder.operand(1));
  uint64_t bytes = decoder.constant(decoder.operand(2));
  uint64_t source = WholeSource;
  if (decoder.numOperands() > 3 && !decoder.instruction->has("L2::cache_hint")) {
    const Operand &size = decoder.operand(3);
    bool isPredicate = size.is(Operand::Kind::Register) && decoder.program.kernel->registers[size.index].bits == 1;
    source = isPredicate ? IgnoreOperand : SizeOperand;
    if (isPredicate)
      decoder.usePredicate(size);
    else
      decoder.use(size, {PtxType::Unsigned, 32, false});
  } else if (decoder.numOperands() > 4) {
    source = SizeOperand;
    decoder.use(decoder.operand(3), {PtxType::Unsigned, 32, false});
  }
  if (decoder.failed())
    return false;
  if (bytes != 16 && (decoder.instruction->has("cg") || (bytes != 4 && bytes != 8)))
    return decoder.fail(".ca copies 4, 8 or 16 bytes, .cg 16");
  decoder.op->data[1] = bytes | source << 32;
  decoder.op->execute = executeCopy;
  return true;
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

static Flow executeCommit(Warp &warp, const Op &op, LaneMask lanes) {
  warp.block_.cluster.async.commit(warp, AsyncQueue::CopyAsync, lanes);
  return Flow::Next;
}

static Flow executeWait(Warp &warp, const Op &op, LaneMask lanes) {
  warp.block_.cluster.async.wait(warp, AsyncQueue::CopyAsync, lanes, static_cast<int>(op.data[0]));
  return Flow::Next;
}

static bool decodeCommit(Decoder &decoder) {
  decoder.op->execute = executeCommit;
  return true;
}

static bool decodeWait(Decoder &decoder) {
  bool all = decoder.instruction->has("wait_all");
  decoder.op->data[0] = all ? static_cast<uint64_t>(-1) : decoder.constant(decoder.operand(0));
  decoder.op->execute = executeWait;
  return !decoder.failed();
}

// data[0]: .noinc. Without it the arrival is added to those that are expected first.
static Flow executeArrive(Warp &warp, const Op &op, LaneMask lanes) {
  Cluster &cluster = warp.block_.cluster;
  std::vector<uint32_t> addresses;
  forEachLane(lanes, [&](unsigned lane) {
    uint32_t address = static_cast<uint32_t>(warp.address(op, 0, lane));
    addresses.push_back(address);
    if (op.data[0])
      return;
    Block *owner = cluster.owner(address);
    if (Mbarrier *barrier = owner ? owner->mbarriers.find(address) : nullptr)
      ++barrier->pendingArrivals;
  });
  cluster.async.submit(warp, op, {AsyncQueue::CopyAsync, lanes, Proxy::Generic, /*ordered=*/true, {}},
                       std::make_unique<ArriveOperation>(cluster, std::move(addresses)));
  return Flow::Next;
}

static bool decodeArrive(Decoder &decoder) {
  decoder.op->data[0] = decoder.instruction->has("noinc");
  decoder.op->space = Space::Shared;
  decoder.address(decoder.operand(0));
  decoder.op->execute = executeArrive;
  return !decoder.failed();
}

void tilec::simulator::addCopyInstructions(InstructionTable &table) {
  table["cp.async"] = decodeCopy;
  table["cp.async.commit_group"] = decodeCommit;
  table["cp.async.wait_group"] = decodeWait;
  table["cp.async.wait_all"] = decodeWait;
  table["cp.async.mbarrier.arrive"] = decodeArrive;
  addBulkInstructions(table);
}
