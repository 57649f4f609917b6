// ld and st in every space (PTX ISA, "Data Movement and Conversion Instructions: ld, ld.global.nc, st").
#include "Counters.h"
#include "Lanes.h"
#include "Order.h"

#include "llvm/Support/MathExtras.h"

using namespace tilec::simulator;

namespace {
struct AccessPayload : Payload {
  /// Of an element; the vector has `count` of them.
  unsigned bytes = 4, count = 1;
  /// Loads extend the sign to this many bits.
  bool isSigned = false;
  unsigned resultBits = 64;
  /// .volatile, .relaxed, .acquire, .release: strong operations.
  bool strong = false, acquire = false, release = false;
  Scope scope = Scope::Device;
};

constexpr unsigned mostBytes = 32;

// Bytes of a space that is no shared state; null after reporting that they are outside.
uint8_t *privateBytes(Warp &warp, const Op &op, Space space, uint64_t address, unsigned bytes, unsigned lane) {
  LaunchState &state = warp.block_.state;
  uint8_t *begin = nullptr;
  uint64_t size = 0;
  if (space == Space::Local) {
    size = warp.program.localBytes;
    begin = warp.local.data() + lane * size;
  } else {
    // ld alone comes here for these two.
    const auto &source = space == Space::Parameter ? state.launch.parameters : state.program.constantBytes;
    begin = const_cast<uint8_t *>(source.data());
    size = source.size();
  }
  if (address <= size && size - address >= bytes && address % bytes == 0)
    return begin + address;
  bool outside = address > size || size - address < bytes;
  warp.fault(outside ? FaultKind::OutOfBounds : FaultKind::Misaligned, op, lane,
             std::to_string(bytes) + " bytes at " + std::to_string(address) + " of " + std::to_string(size));
  return nullptr;
}

bool isPrivate(Space space) { return space == Space::Local || space == Space::Parameter || space == Space::Constant; }

bool loadLane(Warp &warp, const Op &op, const AccessPayload &info, uint64_t address, unsigned lane, uint8_t *data) {
  unsigned bytes = info.bytes * info.count;
  Space space = Block::resolve(op.space, address);
  if (!isPrivate(space)) {
    Access access = warp.access(op, lane);
    access.atomic = info.strong;
    access.scope = info.scope;
    access.guess = op.data[0] == guessOfCompareAndSwap;
    if (info.strong)
      strongRead(warp, {address, info.scope, info.acquire, false});
    return warp.block_.read(access, space, address, data, bytes, bytes);
  }
  uint8_t *source = privateBytes(warp, op, space, address, bytes, lane);
  if (source)
    std::memcpy(data, source, bytes);
  return source;
}

Flow load(Warp &warp, const Op &op, LaneMask lanes) {
  const auto &info = op.as<AccessPayload>();
  uint64_t addresses[laneCount];
  uint64_t resultMask = llvm::maskTrailingOnes<uint64_t>(info.resultBits);
  forLanes(lanes, [&](unsigned lane) {
    addresses[lane] = warp.address(op, 0, lane);
    uint8_t data[mostBytes] = {};
    loadLane(warp, op, info, addresses[lane], lane, data);
    for (unsigned i = 0; i < info.count; ++i) {
      uint64_t value = 0;
      std::memcpy(&value, data + i * info.bytes, info.bytes);
      if (info.isSigned)
        value = llvm::SignExtend64(value, 8 * info.bytes) & resultMask;
      warp.lanes(op.defs[i])[lane] = value;
    }
  });
  if (!isPrivate(op.space)) {
    unsigned first = llvm::countr_zero(lanes);
    warp.notePoll(op, addresses[first], warp.lanes(op.defs[0])[first]);
  }
  countAccess(warp, op, lanes, op.space, addresses, info.bytes * info.count);
  return Flow::Next;
}

void storeLane(Warp &warp, const Op &op, const AccessPayload &info, uint64_t address, unsigned lane,
               const uint8_t *data) {
  unsigned bytes = info.bytes * info.count;
  Space space = Block::resolve(op.space, address);
  if (space == Space::Local) {
    if (uint8_t *target = privateBytes(warp, op, space, address, bytes, lane))
      std::memcpy(target, data, bytes);
    return;
  }
  Access access = warp.access(op, lane);
  access.atomic = info.strong;
  access.scope = info.scope;
  access.strongStore = info.strong;
  if (space == Space::Shared && warp.block_.mbarriers.overlaps(address, bytes))
    warp.fault(FaultKind::BarrierMisuse, op, lane, "writes to an mbarrier with an ordinary store");
  warp.block_.write(access, space, address, data, bytes, bytes);
  if (!info.strong)
    return;
  strongWrite(warp, {address, info.scope, false, info.release}, /*readModifyWrite=*/false);
  warp.block_.cluster.noteProgress();
}

Flow store(Warp &warp, const Op &op, LaneMask lanes) {
  const auto &info = op.as<AccessPayload>();
  uint64_t addresses[laneCount];
  forLanes(lanes, [&](unsigned lane) {
    addresses[lane] = warp.address(op, 0, lane);
    uint8_t data[mostBytes];
    for (unsigned i = 0; i < info.count; ++i)
      std::memcpy(data + i * info.bytes, &warp.lanes(op.uses[1 + i])[lane], info.bytes);
    storeLane(warp, op, info, addresses[lane], lane, data);
  });
  countAccess(warp, op, lanes, op.space, addresses, info.bytes * info.count);
  return Flow::Next;
}

std::shared_ptr<AccessPayload> decodeAccess(Decoder &d, PtxType type) {
  auto info = std::make_shared<AccessPayload>();
  info->bytes = type.bits / 8 * (type.packed ? 2 : 1);
  info->count = d.instruction->has("v2") ? 2 : d.instruction->has("v4") ? 4 : d.instruction->has("v8") ? 8 : 1;
  info->isSigned = type.kind == PtxType::Signed;
  info->acquire = d.instruction->has("acquire");
  info->release = d.instruction->has("release");
  info->scope = scopeOf(*d.instruction);
  info->strong = info->acquire || info->release || !d.oneOf({"relaxed", "volatile", "mmio"}).empty();
  if (info->bytes * info->count > mostBytes || info->bytes > 8)
    d.fail("more than 32 bytes for a thread, or elements of more than 8");
  return info;
}

unsigned resultBits(const Decoder &d, const Operand &operand) {
  const Operand &first = operand.is(Operand::Kind::Vector) ? operand.elements.front() : operand;
  return first.is(Operand::Kind::Register) ? d.program.kernel->registers[first.index].bits : 64;
}

bool decodeLoad(Decoder &d) {
  std::optional<PtxType> type = lastType(d);
  if (!type)
    return false;
  auto info = decodeAccess(d, *type);
  info->resultBits = resultBits(d, d.operand(0));
  d.define(d.operand(0));
  d.address(d.operand(1));
  d.op->payload = info;
  d.op->execute = load;
  return !d.failed() && (d.op->defs.size() == info->count || d.fail("the vector's length differs"));
}

bool decodeStore(Decoder &d) {
  std::optional<PtxType> type = lastType(d);
  if (!type)
    return false;
  auto info = decodeAccess(d, *type);
  d.address(d.operand(0));
  d.op->narrowFrom = d.op->uses.size();
  d.op->readBits = 8 * info->bytes;
  d.use(d.operand(1), *type);
  d.op->payload = info;
  d.op->execute = store;
  if (d.op->space == Space::Parameter || d.op->space == Space::Constant)
    return d.fail("stores to this space");
  return !d.failed() && (d.op->uses.size() == 1 + info->count || d.fail("the vector's length differs"));
}
} // namespace

void tilec::simulator::addMemoryInstructions(InstructionTable &table) {
  table["ld"] = decodeLoad;
  table["ldu"] = decodeLoad;
  table["st"] = decodeStore;
}
