// wgmma.mma_async, fence, commit_group and wait_group.
#include "Counters.h"
#include "WarpgroupQueue.h"
#include "tilec/Simulator/Decoder.h"

using namespace tilec::simulator;

static constexpr LaneMask allLanes = ~LaneMask(0);

static WarpgroupQueue &warpgroupOf(Warp &warp) {
  auto &all = warp.block_.warpgroups;
  unsigned index = warp.index / WarpgroupQueue::warpCount;
  if (all.size() <= index)
    all.resize(index + 1);
  if (!all[index])
    all[index] = std::make_unique<WarpgroupQueue>(warp.block_, index);
  return static_cast<WarpgroupQueue &>(*all[index]);
}

//===----------------------------------------------------------------------===//
// mma_async
//===----------------------------------------------------------------------===//

// Registers that the operation touches must be unchanged since the last wgmma.fence, and initialised.
static void checkRegisters(Warp &warp, const Op &op, const WgmmaPayload &payload, bool accumulate) {
  auto check = [&](Slot slot, bool isRead) {
    const std::string &name = warp.program.slotNames[slot];
    if (isRead && warp.defined(slot) != allLanes)
      warp.fault(FaultKind::UninitializedRegister, op, -1, name + " is not initialised");
    if (warp.stamp(slot) == warp.fenceEpoch)
      warp.fault(FaultKind::MissingWgmmaFence, op, -1, name + " was used after the last wgmma.fence");
  };
  for (Slot slot : llvm::ArrayRef(op.uses).take_front(payload.numRegistersA))
    check(slot, true);
  for (Slot slot : op.defs)
    check(slot, accumulate);
}

// The value that all lanes agree on.
static uint64_t uniform(Warp &warp, const Op &op, Slot slot) {
  const uint64_t *values = warp.lanes(slot);
  for (unsigned lane = 1; lane < laneCount; ++lane)
    if (values[lane] != values[0]) {
      warp.fault(FaultKind::BarrierMisuse, op, static_cast<int>(lane), "lanes give different matrix descriptors");
      break;
    }
  return values[0];
}

static Flow executeMmaAsync(Warp &warp, const Op &op, LaneMask lanes) {
  if (!warp.converged(op, lanes, allLanes))
    return Flow::Block;
  WarpgroupQueue &group = warpgroupOf(warp);
  if (!group.complete()) {
    warp.fault(FaultKind::BarrierMisuse, op, -1, "wgmma needs four warps, the first a multiple of four");
    return Flow::Next;
  }
  const auto &payload = op.as<WgmmaPayload>();
  WgmmaOperation operation;
  operation.instruction = payload.info;
  llvm::ArrayRef<Slot> descriptors = llvm::ArrayRef(op.uses).drop_front(payload.numRegistersA);
  for (Slot slot : descriptors)
    if (warp.defined(slot) != allLanes)
      warp.fault(FaultKind::UninitializedRegister, op, -1, warp.program.slotNames[slot] + " is not initialised");
  if (!payload.info.registersA)
    operation.descriptorA = uniform(warp, op, descriptors.front());
  operation.descriptorB = uniform(warp, op, descriptors.back());
  operation.accumulate = payload.scale;
  if (payload.scalePredicate) {
    uint32_t scale = warp.predicate(op.predicateUses[0]);
    if (scale != 0 && scale != allLanes)
      warp.fault(FaultKind::BarrierMisuse, op, -1, "lanes give different scale-d");
    operation.accumulate = scale != 0;
  }
  checkRegisters(warp, op, payload, operation.accumulate);
  for (Slot slot : op.defs)
    warp.defined(slot) = allLanes;
  group.issue(warp, op, operation);
  countProduct(warp, op, payload.info);
  return Flow::Next;
}

static bool decodeTypes(Decoder &decoder, WgmmaInstruction &info) {
  // wgmma.mma_async.sync.aligned.m64nNkK.D.A.B{.satfinite}
  llvm::ArrayRef<std::string> modifiers = decoder.instruction->modifiers;
  info.saturate = decoder.instruction->has("satfinite");
  llvm::StringRef shape = modifiers.size() >= 7 ? llvm::StringRef(modifiers[3]) : "";
  unsigned k = 0;
  if (!shape.consume_front("m64n") || shape.consumeInteger(10, info.n) || !shape.consume_front("k") ||
      shape.getAsInteger(10, k))
    return decoder.fail("only .sync.aligned.m64nNkK is known");
  std::optional<AccumulatorType> d = parseAccumulatorType(modifiers[4]);
  std::optional<MmaType> a = parseMmaType(modifiers[5]), b = parseMmaType(modifiers[6]);
  if (!d || !a || !b)
    return decoder.fail("these types are not known");
  info.accumulator = *d, info.a = *a, info.b = *b;
  if (info.check() || k != info.k())
    return decoder.fail(llvm::Twine("there is no wgmma with ") + (info.check() ? info.check() : "this K"));
  return true;
}

// Operands: D, A, B, scale-d, {scale-a, scale-b}, {transpose-a}, transpose-b.
static void decodeFlags(Decoder &decoder, WgmmaPayload &payload) {
  WgmmaInstruction &info = payload.info;
  const Operand &scale = decoder.operand(3);
  payload.scalePredicate = scale.is(Operand::Kind::Register);
  if (payload.scalePredicate)
    decoder.usePredicate(scale);
  else
    payload.scale = decoder.constant(scale) != 0;
  unsigned next = 4;
  auto flag = [&] {
    return next < decoder.numOperands() ? static_cast<int32_t>(decoder.constant(decoder.operand(next++))) : 0;
  };
  if (info.accumulator != AccumulatorType::S32) {
    info.negateA = flag() < 0;
    info.negateB = flag() < 0;
  }
  if (bitsOf(info.a) == 16) {
    info.transposeA = !info.registersA && flag() != 0;
    info.transposeB = flag() != 0;
  }
}

static bool decodeMmaAsync(Decoder &decoder) {
  auto payload = std::make_shared<WgmmaPayload>();
  WgmmaInstruction &info = payload->info;
  if (!decodeTypes(decoder, info))
    return false;
  info.registersA = decoder.operand(1).is(Operand::Kind::Vector);
  payload->numRegistersA = info.registersA ? 4 : 0;
  decoder.define(decoder.operand(0));
  decoder.use(decoder.operand(1));
  decoder.use(decoder.operand(2));
  decodeFlags(decoder, *payload);
  if (decoder.failed())
    return false;
  if (decoder.op->defs.size() != info.numAccumulators() || decoder.op->uses.size() != (info.registersA ? 5u : 2u))
    return decoder.fail("the number of registers does not fit the shape");
  if (const char *reason = info.check())
    return decoder.fail(llvm::Twine("there is no wgmma with ") + reason);
  decoder.op->manualChecks = true;
  decoder.op->handlesPending = true;
  decoder.op->payload = std::move(payload);
  decoder.op->execute = executeMmaAsync;
  return true;
}

//===----------------------------------------------------------------------===//
// fence, commit_group, wait_group
//===----------------------------------------------------------------------===//

static Flow executeFence(Warp &warp, const Op &op, LaneMask lanes) {
  if (!warp.converged(op, lanes, allLanes))
    return Flow::Block;
  ++warp.fenceEpoch;
  return Flow::Next;
}

static bool decodeFence(Decoder &decoder) {
  decoder.op->execute = executeFence;
  return true;
}

static Flow executeCommit(Warp &warp, const Op &op, LaneMask lanes) {
  if (!warp.converged(op, lanes, allLanes))
    return Flow::Block;
  warpgroupOf(warp).commit(warp);
  return Flow::Next;
}

static bool decodeCommit(Decoder &decoder) {
  decoder.op->execute = executeCommit;
  return true;
}

static Flow executeWait(Warp &warp, const Op &op, LaneMask lanes) {
  if (!warp.converged(op, lanes, allLanes))
    return Flow::Block;
  std::string waitsFor;
  if (!warpgroupOf(warp).wait(warp, static_cast<unsigned>(op.data[0]), waitsFor))
    return warp.block(std::move(waitsFor));
  return Flow::Next;
}

static bool decodeWait(Decoder &decoder) {
  decoder.op->data[0] = decoder.constant(decoder.operand(0));
  decoder.op->execute = executeWait;
  return !decoder.failed();
}

void tilec::simulator::addWgmmaInstructions(InstructionTable &table) {
  table["wgmma.mma_async"] = decodeMmaAsync;
  table["wgmma.fence"] = decodeFence;
  table["wgmma.commit_group"] = decodeCommit;
  table["wgmma.wait_group"] = decodeWait;
}
