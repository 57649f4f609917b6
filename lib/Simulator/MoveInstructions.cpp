// Moves, selects, permutations and addresses (PTX ISA, "Data Movement and Conversion Instructions", "Comparison and
// Selection Instructions: selp").
#include "Lanes.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace tilec::simulator;

namespace {
//===----------------------------------------------------------------------===//
// mov
//===----------------------------------------------------------------------===//

Flow move(Warp &warp, const Op &op, LaneMask lanes) {
  uint64_t *d = warp.lanes(op.defs[0]);
  const uint64_t *a = warp.lanes(op.uses[0]);
  forLanes(lanes, [=](unsigned lane) { d[lane] = a[lane]; });
  return Flow::Next;
}

// data[0]: bits of an element of the vector.
Flow pack(Warp &warp, const Op &op, LaneMask lanes) {
  uint64_t *d = warp.lanes(op.defs[0]);
  forLanes(lanes, [&](unsigned lane) {
    uint64_t value = 0;
    for (unsigned i = 0; i < op.uses.size(); ++i)
      value |= warp.lanes(op.uses[i])[lane] << (i * op.data[0]);
    d[lane] = value;
  });
  return Flow::Next;
}

Flow unpack(Warp &warp, const Op &op, LaneMask lanes) {
  const uint64_t *a = warp.lanes(op.uses[0]);
  uint64_t mask = llvm::maskTrailingOnes<uint64_t>(op.data[0]);
  forLanes(lanes, [&](unsigned lane) {
    uint64_t value = a[lane];
    for (unsigned i = 0; i < op.defs.size(); ++i)
      warp.lanes(op.defs[i])[lane] = value >> (i * op.data[0]) & mask;
  });
  return Flow::Next;
}

// data[0]: 1 if the value is in data[1].
Flow movePredicate(Warp &warp, const Op &op, LaneMask lanes) {
  uint32_t value = op.data[0] ? (op.data[1] ? ~0u : 0) : warp.predicate(op.predicateUses[0]);
  LaneMask defined = op.data[0] ? ~0u : warp.definedPredicate(op.predicateUses[0]);
  uint32_t &d = warp.predicate(op.predicateDefs[0]);
  LaneMask &definedResult = warp.definedPredicate(op.predicateDefs[0]);
  d = (d & ~lanes) | (value & lanes);
  definedResult = (definedResult & ~lanes) | (defined & lanes);
  return Flow::Next;
}

bool decodeMovePredicate(Decoder &d) {
  d.op->execute = movePredicate;
  d.op->manualChecks = true;
  d.definePredicate(d.operand(0));
  const Operand &source = d.operand(1);
  if (source.is(Operand::Kind::Integer)) {
    d.op->data[0] = 1;
    d.op->data[1] = source.bits != 0;
  } else {
    d.usePredicate(source);
  }
  return !d.failed();
}

bool decodeMove(Decoder &d) {
  std::optional<PtxType> type = lastType(d);
  if (!type)
    return false;
  if (type->kind == PtxType::Predicate)
    return decodeMovePredicate(d);
  const Operand &result = d.operand(0), &source = d.operand(1);
  bool unpacks = result.is(Operand::Kind::Vector), packs = source.is(Operand::Kind::Vector);
  d.op->propagates = true;
  d.define(result);
  unsigned elements = packs ? source.elements.size() : unpacks ? result.elements.size() : 1;
  unsigned width = type->packed ? 2 * type->bits : type->bits;
  d.op->data[0] = width / std::max(elements, 1u);
  d.use(source, packs ? PtxType{PtxType::Bits, static_cast<unsigned>(d.op->data[0]), false} : *type);
  d.op->execute = packs ? pack : unpacks ? unpack : move;
  return packs && unpacks ? d.fail("vectors on both sides") : !d.failed();
}

//===----------------------------------------------------------------------===//
// selp
//===----------------------------------------------------------------------===//

Flow select(Warp &warp, const Op &op, LaneMask lanes) {
  uint64_t *d = warp.lanes(op.defs[0]);
  const uint64_t *a = warp.lanes(op.uses[0]), *b = warp.lanes(op.uses[1]);
  // data[0]: the predicate is the number in data[1].
  uint32_t condition = op.data[0] ? static_cast<uint32_t>(op.data[1]) : warp.predicate(op.predicateUses[0]);
  bool defined = (warp.defined(op.uses[0]) & warp.defined(op.uses[1]) & warp.defined(op.defs[0]) & lanes) == lanes;
  forLanes(lanes, [&, condition](unsigned lane) {
    bool first = condition >> lane & 1;
    d[lane] = first ? a[lane] : b[lane];
    if (!defined)
      warp.setUndefinedBits(op.defs[0], lane, warp.undefinedBits(op.uses[first ? 0 : 1], lane));
  });
  if (LaneMask missing = op.data[0] ? 0 : lanes & ~warp.definedPredicate(op.predicateUses[0]))
    warp.fault(FaultKind::UninitializedRegister, op, llvm::countr_zero(missing), "selects by an unwritten predicate");
  return Flow::Next;
}

bool decodeSelect(Decoder &d) {
  std::optional<PtxType> type = lastType(d);
  if (!type || !decodeMap(d, *type, 2))
    return false;
  const Operand &condition = d.operand(3);
  if (condition.is(Operand::Kind::Integer)) {
    d.op->data[0] = 1;
    d.op->data[1] = condition.bits ? ~uint32_t(0) : 0;
  } else {
    d.usePredicate(condition);
  }
  d.op->execute = select;
  d.op->manualChecks = true;
  return !d.failed();
}

//===----------------------------------------------------------------------===//
// prmt, cvta
//===----------------------------------------------------------------------===//

// The selector of the modes of prmt, or c itself.
uint32_t permuteSelector(unsigned mode, uint32_t c) {
  unsigned n = c & 3;
  static const uint32_t tables[][4] = {{0x3210, 0x4321, 0x5432, 0x6543},  // f4e
                                       {0x5670, 0x6701, 0x7012, 0x0123},  // b4e
                                       {0x0000, 0x1111, 0x2222, 0x3333},  // rc8
                                       {0x3210, 0x3211, 0x3222, 0x3333},  // ecl
                                       {0x0000, 0x1110, 0x2210, 0x3210},  // ecr
                                       {0x1010, 0x3232, 0x1010, 0x3232}}; // rc16
  return mode ? tables[mode - 1][n] : c;
}

Flow permute(Warp &warp, const Op &op, LaneMask lanes) {
  uint64_t *d = warp.lanes(op.defs[0]);
  const uint64_t *a = warp.lanes(op.uses[0]), *b = warp.lanes(op.uses[1]), *c = warp.lanes(op.uses[2]);
  forLanes(lanes, [&](unsigned lane) {
    uint32_t selector = permuteSelector(op.data[0], c[lane]), result = 0;
    uint64_t source = b[lane] << 32 | a[lane];
    for (unsigned i = 0; i < 4; ++i) {
      uint32_t select = selector >> (4 * i) & 0xf;
      uint32_t byte = source >> (8 * (select & 7)) & 0xff;
      if (op.data[0] == 0 && (select & 8))
        byte = byte & 0x80 ? 0xff : 0;
      result |= byte << (8 * i);
    }
    d[lane] = result;
  });
  return Flow::Next;
}

bool decodePermute(Decoder &d) {
  d.op->execute = permute;
  d.op->propagates = true;
  d.op->moved = 2;
  d.op->data[0] = llvm::StringSwitch<unsigned>(d.instruction->lastModifier())
                      .Case("f4e", 1)
                      .Case("b4e", 2)
                      .Case("rc8", 3)
                      .Case("ecl", 4)
                      .Case("ecr", 5)
                      .Case("rc16", 6)
                      .Default(0);
  return decodeMap(d, {PtxType::Bits, 32, false}, 3);
}

Flow convertAddress(Warp &warp, const Op &op, LaneMask lanes) {
  uint64_t *d = warp.lanes(op.defs[0]);
  const uint64_t *a = warp.lanes(op.uses[0]);
  forLanes(lanes, [&](unsigned lane) { d[lane] = a[lane] + op.data[0]; });
  return Flow::Next;
}

bool decodeConvertAddress(Decoder &d) {
  Space space = d.space();
  uint64_t window = space == Space::Shared      ? sharedWindow
                    : space == Space::Parameter ? parameterWindow
                    : space == Space::Constant  ? constantWindow
                    : space == Space::Local     ? localWindow
                                                : 0;
  d.op->data[0] = d.instruction->has("to") ? -window : window;
  d.op->execute = convertAddress;
  return decodeMap(d, {PtxType::Bits, 64, false}, 1);
}

// mapa.shared::cluster: the address of the same variable in another block of the cluster.
Flow mapAddress(Warp &warp, const Op &op, LaneMask lanes) {
  uint64_t *d = warp.lanes(op.defs[0]);
  const uint64_t *a = warp.lanes(op.uses[0]), *b = warp.lanes(op.uses[1]);
  uint64_t window = op.space == Space::Generic ? sharedWindow : 0;
  forLanes(lanes, [&](unsigned lane) {
    d[lane] = window + (a[lane] - window) % sharedBlockStride + uint64_t(uint32_t(b[lane])) * sharedBlockStride;
  });
  return Flow::Next;
}

bool decodeMapAddress(Decoder &d) {
  d.op->execute = mapAddress;
  return decodeMap(d, {PtxType::Bits, 64, false}, 2);
}

Flow isSpace(Warp &warp, const Op &op, LaneMask lanes) {
  const uint64_t *a = warp.lanes(op.uses[0]);
  uint32_t value = 0;
  forLanes(lanes, [&](unsigned lane) {
    uint64_t address = a[lane];
    bool same = Block::resolve(Space::Generic, address) == op.space;
    // data[0]: shared::cta, the block's own shared memory.
    same &= !op.data[0] || address / sharedBlockStride == warp.block_.rank;
    value |= LaneMask(same) << lane;
  });
  uint32_t &d = warp.predicate(op.predicateDefs[0]);
  d = (d & ~lanes) | value;
  return Flow::Next;
}

bool decodeIsSpace(Decoder &d) {
  d.definePredicate(d.operand(0));
  d.use(d.operand(1));
  d.op->data[0] = !d.oneOf({"shared", "shared::cta"}).empty();
  d.op->execute = isSpace;
  return !d.failed() && (d.op->space != Space::Generic || d.fail("expected a space"));
}

// The block of the cluster in whose shared memory an address lies.
Flow blockRank(Warp &warp, const Op &op, LaneMask lanes) {
  uint64_t *d = warp.lanes(op.defs[0]);
  const uint64_t *a = warp.lanes(op.uses[0]);
  forLanes(lanes, [&](unsigned lane) {
    uint64_t address = a[lane];
    if (op.space == Space::Generic)
      Block::resolve(Space::Generic, address);
    d[lane] = address / sharedBlockStride;
  });
  return Flow::Next;
}

bool decodeBlockRank(Decoder &d) {
  d.op->execute = blockRank;
  return decodeMap(d, {PtxType::Bits, 64, false}, 1);
}

// Clocks count the instructions of all warps; data[0]: the upper half.
Flow readClock(Warp &warp, const Op &op, LaneMask lanes) {
  uint64_t *d = warp.lanes(op.defs[0]);
  uint64_t now = ++warp.block_.state.clock + warp.block_.state.report.instructions;
  forLanes(lanes, [&](unsigned lane) { d[lane] = op.data[0] == 2 ? now : uint32_t(op.data[0] ? now >> 32 : now); });
  return Flow::Next;
}

// Special registers that change while a warp runs; others are slots. Nothing if it is none of them.
std::optional<uint64_t> clockForm(const Operand &operand) {
  if (!operand.is(Operand::Kind::Special))
    return std::nullopt;
  return llvm::StringSwitch<std::optional<uint64_t>>(operand.name)
      .Cases({"%clock", "%globaltimer_lo"}, 0)
      .Cases({"%clock_hi", "%globaltimer_hi"}, 1)
      .Cases({"%clock64", "%globaltimer"}, 2)
      .Default(std::nullopt);
}

bool decodeClock(Decoder &d, uint64_t form) {
  d.define(d.operand(0));
  d.op->data[0] = form;
  d.op->execute = readClock;
  return !d.failed();
}

bool decodeAnyMove(Decoder &d) {
  std::optional<uint64_t> clock = clockForm(d.operand(1));
  return clock ? decodeClock(d, *clock) : decodeMove(d);
}
} // namespace

void tilec::simulator::addMoveInstructions(InstructionTable &table) {
  table["mov"] = decodeAnyMove;
  table["isspacep"] = decodeIsSpace;
  table["getctarank"] = decodeBlockRank;
  table["selp"] = decodeSelect;
  table["prmt"] = decodePermute;
  table["cvta"] = decodeConvertAddress;
  table["mapa"] = decodeMapAddress;
}
