// atom and red (PTX ISA, "Parallel Synchronization and Communication Instructions: atom, red").
#include "Counters.h"
#include "Lanes.h"
#include "Order.h"

#include "tilec/Simulator/BulkCopy.h"
#include "llvm/ADT/STLExtras.h"

using namespace tilec::simulator;

namespace {
enum class Change : uint8_t { Reduce, Exchange, CompareAndSwap };

struct AtomicPayload : Payload {
  Change change = Change::Reduce;
  BulkReduction reduction = BulkReduction::Add;
  ReductionType type = ReductionType::U32;
  unsigned bytes = 4, count = 1;
  bool acquire = false, release = false;
  Scope scope = Scope::Device;
  /// atom.add.f32 in global memory flushes subnormals.
  bool flush = false;
  bool returns = true;
};

uint64_t flushed(uint64_t bits) {
  float value = fromBits<float>(bits);
  return value == 0 || std::abs(value) >= std::numeric_limits<float>::min() || value != value ? bits
                                                                                              : bits & 0x80000000;
}

// One element of one lane; returns what was there.
uint64_t update(Warp &warp, const Op &op, const AtomicPayload &info, uint64_t address, unsigned lane, uint64_t b,
                uint64_t c) {
  Access access = warp.access(op, lane);
  access.atomic = true;
  access.scope = info.scope;
  Space space = Block::resolve(op.space, address);
  uint64_t old = 0;
  StrongOperation strong = {address, info.scope, info.acquire, info.release};
  // red gives no value to the thread, so that it learns nothing.
  if (info.returns)
    strongRead(warp, strong);
  if (!warp.block_.read(access, space, address, &old, info.bytes, info.bytes))
    return 0;
  uint64_t value = old;
  switch (info.change) {
  case Change::Reduce:
    if (info.flush)
      value = flushed(value), b = flushed(b);
    // Elements of f16x2 and bf16x2 follow each other.
    for (unsigned byte = 0; byte < info.bytes; byte += bytesOf(info.type))
      reduceElement(info.reduction, info.type, reinterpret_cast<uint8_t *>(&value) + byte,
                    reinterpret_cast<uint8_t *>(&b) + byte);
    if (info.flush)
      value = flushed(value);
    break;
  case Change::Exchange:
    value = b;
    break;
  case Change::CompareAndSwap:
    value = old == b ? c : old;
    break;
  }
  warp.notePoll(op, address, old);
  // A compare-and-swap that fails is a read.
  if (info.change == Change::CompareAndSwap && old != b)
    return old;
  warp.block_.write(access, space, address, &value, info.bytes, info.bytes);
  strongWrite(warp, strong, /*readModifyWrite=*/true);
  if (value != old)
    warp.block_.cluster.noteProgress();
  return old;
}

Flow atomic(Warp &warp, const Op &op, LaneMask lanes) {
  const auto &info = op.as<AtomicPayload>();
  uint64_t addresses[laneCount];
  forLanes(lanes, [&](unsigned lane) {
    addresses[lane] = warp.address(op, 0, lane);
    for (unsigned i = 0; i < info.count; ++i) {
      uint64_t b = warp.lanes(op.uses[1 + i])[lane];
      uint64_t c = info.change == Change::CompareAndSwap ? warp.lanes(op.uses[2])[lane] : 0;
      uint64_t old = update(warp, op, info, addresses[lane] + i * info.bytes, lane, b, c);
      if (info.returns)
        warp.lanes(op.defs[i])[lane] = old;
    }
  });
  countAccess(warp, op, lanes, op.space, addresses, info.bytes * info.count);
  return Flow::Next;
}

std::optional<ReductionType> reductionTypeOf(PtxType type) {
  unsigned bits = type.bits;
  switch (type.kind) {
  case PtxType::Float:
    return bits == 16 ? ReductionType::F16 : bits == 32 ? ReductionType::F32 : ReductionType::F64;
  case PtxType::BFloat:
    return ReductionType::BF16;
  case PtxType::Signed:
    return bits == 64 ? ReductionType::S64 : ReductionType::S32;
  case PtxType::Unsigned:
    return bits == 64 ? ReductionType::U64 : ReductionType::U32;
  case PtxType::Bits:
    return bits == 64 ? ReductionType::B64 : ReductionType::B32;
  default:
    return std::nullopt;
  }
}

// The type is the last modifier, or stands before the operation: red.global.v4.f32.add.
std::optional<PtxType> atomicType(const Instruction &instruction) {
  for (const std::string &modifier : llvm::reverse(instruction.modifiers))
    if (std::optional<PtxType> type = parseType(modifier))
      return type;
  return std::nullopt;
}

bool decodeAtomic(Decoder &d) {
  std::optional<PtxType> type = atomicType(*d.instruction);
  if (!type)
    return d.fail("there is no type");
  auto info = std::make_shared<AtomicPayload>();
  llvm::StringRef operation = d.oneOf({"add", "min", "max", "inc", "dec", "and", "or", "xor", "exch", "cas"});
  info->change = operation == "exch" ? Change::Exchange : operation == "cas" ? Change::CompareAndSwap : Change::Reduce;
  info->reduction = reductionNamed(operation).value_or(BulkReduction::Add);
  std::optional<ReductionType> reduction = reductionTypeOf(*type);
  if (operation.empty() || !reduction || type->bits > 64)
    return d.fail("no such operation");
  info->type = *reduction;
  info->bytes = type->bits / 8 * (type->packed ? 2 : 1);
  info->count = d.instruction->has("v2") ? 2 : d.instruction->has("v4") ? 4 : d.instruction->has("v8") ? 8 : 1;
  bool both = d.instruction->has("acq_rel");
  info->acquire = both || d.instruction->has("acquire");
  info->release = both || d.instruction->has("release");
  info->scope = scopeOf(*d.instruction);
  info->flush = info->type == ReductionType::F32 && d.space() != Space::Shared;
  info->returns = d.instruction->name == "atom";
  unsigned next = 0;
  if (info->returns)
    d.define(d.operand(next++));
  d.address(d.operand(next++));
  d.use(d.operand(next++), *type);
  if (info->change == Change::CompareAndSwap)
    d.use(d.operand(next), *type);
  // A result that nobody wants need not be a vector of sinks.
  if (info->returns && d.op->defs.size() != info->count)
    d.op->defs.resize(info->count, d.program.sinkSlot);
  d.op->payload = info;
  d.op->execute = atomic;
  return !d.failed();
}
} // namespace

void tilec::simulator::addAtomicInstructions(InstructionTable &table) {
  table["atom"] = decodeAtomic;
  table["red"] = decodeAtomic;
}
