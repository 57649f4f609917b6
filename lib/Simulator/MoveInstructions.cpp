// Moves, selects, comparisons and permutations (PTX ISA, "Data Movement and Conversion Instructions", "Comparison and
// Selection Instructions").
#include "Lanes.h"

#include "tilec/Simulator/FloatFormat.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

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
// selp, setp
//===----------------------------------------------------------------------===//

Flow select(Warp &warp, const Op &op, LaneMask lanes) {
  uint64_t *d = warp.lanes(op.defs[0]);
  const uint64_t *a = warp.lanes(op.uses[0]), *b = warp.lanes(op.uses[1]);
  uint32_t condition = warp.predicate(op.predicateUses[0]);
  bool defined = (warp.defined(op.uses[0]) & warp.defined(op.uses[1]) & warp.defined(op.defs[0]) & lanes) == lanes;
  forLanes(lanes, [&, condition](unsigned lane) {
    bool first = condition >> lane & 1;
    d[lane] = first ? a[lane] : b[lane];
    if (!defined)
      warp.setUndefinedBits(op.defs[0], lane, warp.undefinedBits(op.uses[first ? 0 : 1], lane));
  });
  if (LaneMask missing = lanes & ~warp.definedPredicate(op.predicateUses[0]))
    warp.fault(FaultKind::UninitializedRegister, op, llvm::countr_zero(missing), "selects by an unwritten predicate");
  return Flow::Next;
}

bool decodeSelect(Decoder &d) {
  std::optional<PtxType> type = lastType(d);
  if (!type || !decodeMap(d, *type, 2))
    return false;
  d.usePredicate(d.operand(3));
  d.op->execute = select;
  d.op->manualChecks = true;
  return !d.failed();
}

struct Equal {
  template <typename T> static bool apply(T a, T b) { return a == b; }
};
struct NotEqual {
  template <typename T> static bool apply(T a, T b) { return a < b || a > b; }
};
struct Less {
  template <typename T> static bool apply(T a, T b) { return a < b; }
};
struct LessOrEqual {
  template <typename T> static bool apply(T a, T b) { return a <= b; }
};
struct Greater {
  template <typename T> static bool apply(T a, T b) { return a > b; }
};
struct GreaterOrEqual {
  template <typename T> static bool apply(T a, T b) { return a >= b; }
};
struct Ordered {
  template <typename T> static bool apply(T a, T b) { return a == a && b == b; }
};
/// The forms with u are true where an operand is NaN.
template <typename Negated> struct Not {
  template <typename T> static bool apply(T a, T b) { return !Negated::apply(a, b); }
};

/// How setp combines the comparison with a predicate, and its results.
enum Combination : uint64_t { None, CombineAnd, CombineOr, CombineXor };

void storePredicates(Warp &warp, const Op &op, LaneMask lanes, uint32_t value) {
  auto combine = [&](uint32_t comparison) {
    uint32_t other = op.data[0] == None ? 0 : warp.predicate(op.predicateUses[0]);
    other = op.data[1] ? ~other : other;
    switch (op.data[0]) {
    case CombineAnd:
      return comparison & other;
    case CombineOr:
      return comparison | other;
    case CombineXor:
      return comparison ^ other;
    default:
      return comparison;
    }
  };
  uint32_t results[2] = {combine(value), combine(~value)};
  for (unsigned i = 0; i < op.predicateDefs.size(); ++i) {
    uint32_t &d = warp.predicate(op.predicateDefs[i]);
    d = (d & ~lanes) | (results[i] & lanes);
  }
}

template <typename Operation, typename T> Flow compare(Warp &warp, const Op &op, LaneMask lanes) {
  const uint64_t *a = warp.lanes(op.uses[0]), *b = warp.lanes(op.uses[1]);
  uint32_t value = 0;
  for (unsigned lane = 0; lane < laneCount; ++lane)
    value |= uint32_t(Operation::apply(fromBits<T>(a[lane]), fromBits<T>(b[lane]))) << lane;
  storePredicates(warp, op, lanes, value);
  return Flow::Next;
}

// Half types compare as floats.
template <typename Operation, bool isBFloat> Flow compareHalf(Warp &warp, const Op &op, LaneMask lanes) {
  const uint64_t *a = warp.lanes(op.uses[0]), *b = warp.lanes(op.uses[1]);
  FloatFormat format = isBFloat ? FloatFormat::BF16 : FloatFormat::F16;
  uint32_t value = 0;
  for (unsigned lane = 0; lane < laneCount; ++lane)
    value |= uint32_t(Operation::apply(toDouble(format, a[lane]), toDouble(format, b[lane]))) << lane;
  storePredicates(warp, op, lanes, value);
  return Flow::Next;
}

template <typename Operation> Execute comparisonOf(PtxType type) {
  bool isSigned = type.kind == PtxType::Signed;
  if (isFloat(type))
    return type.bits == 64                ? compare<Operation, double>
           : type.bits == 32              ? compare<Operation, float>
           : type.kind == PtxType::BFloat ? compareHalf<Operation, true>
                                          : compareHalf<Operation, false>;
  if (type.bits == 64)
    return isSigned ? compare<Operation, int64_t> : compare<Operation, uint64_t>;
  if (type.bits == 32)
    return isSigned ? compare<Operation, int32_t> : compare<Operation, uint32_t>;
  return isSigned ? compare<Operation, int16_t> : compare<Operation, uint16_t>;
}

Execute findComparison(llvm::StringRef name, PtxType type) {
  using Finder = Execute (*)(PtxType);
  Finder finder = llvm::StringSwitch<Finder>(name)
                      .Case("eq", comparisonOf<Equal>)
                      .Case("ne", isFloat(type) ? comparisonOf<NotEqual> : comparisonOf<Not<Equal>>)
                      .Cases({"lt", "lo"}, comparisonOf<Less>)
                      .Cases({"le", "ls"}, comparisonOf<LessOrEqual>)
                      .Cases({"gt", "hi"}, comparisonOf<Greater>)
                      .Cases({"ge", "hs"}, comparisonOf<GreaterOrEqual>)
                      .Case("equ", comparisonOf<Not<NotEqual>>)
                      .Case("neu", comparisonOf<Not<Equal>>)
                      .Case("ltu", comparisonOf<Not<GreaterOrEqual>>)
                      .Case("leu", comparisonOf<Not<Greater>>)
                      .Case("gtu", comparisonOf<Not<LessOrEqual>>)
                      .Case("geu", comparisonOf<Not<Less>>)
                      .Case("num", comparisonOf<Ordered>)
                      .Case("nan", comparisonOf<Not<Ordered>>)
                      .Default(nullptr);
  return finder ? finder(type) : nullptr;
}

bool decodeCompare(Decoder &d) {
  std::optional<PtxType> type = lastType(d);
  if (!type)
    return false;
  if (d.instruction->has("ftz") || type->packed)
    return d.fail("the simulator does not know this form");
  d.op->execute = findComparison(d.instruction->modifiers[0], *type);
  const Operand &result = d.operand(0);
  if (result.is(Operand::Kind::Pair)) {
    d.definePredicate(result.elements[0]);
    d.definePredicate(result.elements[1]);
  } else {
    d.definePredicate(result);
  }
  d.use(d.operand(1), *type);
  d.use(d.operand(2), *type);
  llvm::StringRef combination = d.oneOf({"and", "or", "xor"});
  if (!combination.empty()) {
    d.op->data[0] = combination == "and" ? CombineAnd : combination == "or" ? CombineOr : CombineXor;
    d.op->data[1] = d.operand(3).negated;
    d.usePredicate(d.operand(3));
  }
  return d.op->execute ? !d.failed() : d.fail("no such comparison");
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
} // namespace

void tilec::simulator::addMoveInstructions(InstructionTable &table) {
  table["mov"] = decodeMove;
  table["selp"] = decodeSelect;
  table["setp"] = decodeCompare;
  table["prmt"] = decodePermute;
  table["cvta"] = decodeConvertAddress;
  table["mapa"] = decodeMapAddress;
}
