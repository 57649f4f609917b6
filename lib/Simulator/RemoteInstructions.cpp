// st.async and red.async: stores into shared memory of another block of the cluster that count bytes at an mbarrier
// there (PTX ISA, "st.async", "red.async").
#include "CopyInstructions.h"
#include "Lanes.h"

#include "tilec/Simulator/BulkCopy.h"
#include <cstring>

using namespace tilec::simulator;

namespace {
struct RemotePayload : Payload {
  /// Of an element, and elements of a lane.
  unsigned bytes = 4, count = 1;
  std::optional<BulkReduction> reduction;
  ReductionType type = ReductionType::U32;
  /// Offset of the target; the mbarrier's is Op::offset.
  int64_t targetOffset = 0;
};

// Of one lane. The store is weak, the count at the mbarrier releases it to those who wait there.
class RemoteOperation : public AsyncOperation {
public:
  RemoteOperation(Block &block, const RemotePayload &info, int lane, uint32_t target, uint32_t mbarrier,
                  std::array<uint64_t, 4> values)
      : block(block), info(info), lane(lane), target(target), mbarrier(mbarrier), values(values) {}

  void complete(const Access &access) override {
    Access own = access;
    own.site.lane = lane;
    own.atomic = info.reduction.has_value();
    own.scope = Scope::Cluster;
    for (unsigned i = 0; i < info.count; ++i) {
      uint32_t address = target + i * info.bytes;
      uint64_t value = values[i];
      if (info.reduction) {
        uint64_t old = 0;
        if (!block.read(own, Space::Shared, address, &old, info.bytes, info.bytes))
          return;
        reduceElement(*info.reduction, info.type, reinterpret_cast<uint8_t *>(&old),
                      reinterpret_cast<const uint8_t *>(&value));
        value = old;
      }
      block.write(own, Space::Shared, address, &value, info.bytes, info.bytes);
    }
    Access signal = access;
    signal.site.lane = lane;
    signalMbarrier(block.cluster, mbarrier, signal, 0, static_cast<int64_t>(info.bytes) * info.count);
  }

private:
  Block &block;
  const RemotePayload &info;
  int lane;
  uint32_t target, mbarrier;
  std::array<uint64_t, 4> values;
};

// uses: the target, the values, the mbarrier.
Flow storeRemotely(Warp &warp, const Op &op, LaneMask lanes) {
  const auto &info = op.as<RemotePayload>();
  Cluster &cluster = warp.block_.cluster;
  forLanes(lanes, [&](unsigned lane) {
    auto target = static_cast<uint32_t>(warp.lanes(op.uses[0])[lane] + static_cast<uint64_t>(info.targetOffset));
    auto mbarrier = static_cast<uint32_t>(warp.lanes(op.uses.back())[lane] + static_cast<uint64_t>(op.offset));
    std::array<uint64_t, 4> values{};
    for (unsigned i = 0; i < info.count; ++i)
      values[i] = warp.lanes(op.uses[1 + i])[lane];
    if (target / sharedBlockStride != mbarrier / sharedBlockStride)
      warp.fault(FaultKind::BarrierMisuse, op, static_cast<int>(lane),
                 "the mbarrier lies in another block than the target");
    Block *owner = cluster.owner(mbarrier);
    Mbarrier *barrier = owner ? owner->mbarriers.find(mbarrier) : nullptr;
    if (!barrier) {
      warp.fault(FaultKind::BarrierMisuse, op, static_cast<int>(lane),
                 "there is no mbarrier at the address that the store names");
      return;
    }
    cluster.async.submit(
        warp, op, {AsyncQueue::Transaction, LaneMask(1) << lane, Proxy::Generic, /*ordered=*/false, barrier->channel},
        std::make_unique<RemoteOperation>(warp.block_, info, static_cast<int>(lane), target, mbarrier, values));
  });
  warp.advance();
  return Flow::Next;
}

bool decodeRemote(Decoder &d) {
  std::optional<PtxType> type = lastType(d);
  if (!type || type->packed || type->bits < 32)
    return d.fail("expected a type of 32 or 64 bits");
  if (!d.instruction->has("mbarrier::complete_tx::bytes"))
    return d.fail("only .mbarrier::complete_tx::bytes is known");
  auto info = std::make_shared<RemotePayload>();
  info->bytes = type->bits / 8;
  info->count = d.instruction->has("v2") ? 2 : d.instruction->has("v4") ? 4 : 1;
  if (d.instruction->name == "red") {
    llvm::StringRef operation = d.oneOf({"inc", "dec", "min", "max", "add", "and", "or", "xor"});
    info->reduction = reductionNamed(operation);
    if (!info->reduction || isFloat(*type))
      return d.fail("this reduction is not known");
    bool isSigned = type->kind == PtxType::Signed;
    info->type = type->bits == 32 ? isSigned ? ReductionType::S32 : ReductionType::U32
                 : isSigned       ? ReductionType::S64
                                  : ReductionType::U64;
  }
  d.op->space = Space::Shared;
  d.address(d.operand(0));
  info->targetOffset = d.op->offset;
  d.op->offset = 0;
  d.use(d.operand(1), *type);
  d.address(d.operand(2));
  d.op->payload = info;
  d.op->execute = storeRemotely;
  return !d.failed() && (d.op->uses.size() == 2 + info->count || d.fail("the vector's length differs"));
}
} // namespace

void tilec::simulator::addRemoteInstructions(InstructionTable &table) {
  table["st.async"] = decodeRemote;
  table["red.async"] = decodeRemote;
}
