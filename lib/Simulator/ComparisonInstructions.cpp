// Comparisons: setp, set, testp, and slct (PTX ISA, "Comparison and Selection Instructions", "testp").
#include "Lanes.h"

#include "tilec/Simulator/FloatFormat.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>

using namespace tilec::simulator;

namespace {
/// Op::offset of a comparison: subnormal operands are zeros.
constexpr int64_t flushes = 1;

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

void storePredicates(Warp &warp, const Op &op, LaneMask lanes, uint32_t value, uint32_t second) {
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
  uint32_t results[2] = {combine(value), combine(second)};
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
  storePredicates(warp, op, lanes, value, ~value);
  return Flow::Next;
}

double valueOf(const Op &op, FloatFormat format, uint64_t bits) {
  return toDouble(format, op.offset == flushes ? flushSubnormal(format, bits) : bits);
}

template <typename Operation> Flow compareFlushed(Warp &warp, const Op &op, LaneMask lanes) {
  const uint64_t *a = warp.lanes(op.uses[0]), *b = warp.lanes(op.uses[1]);
  uint32_t value = 0;
  for (unsigned lane = 0; lane < laneCount; ++lane)
    value |= uint32_t(Operation::apply(valueOf(op, FloatFormat::F32, a[lane]), valueOf(op, FloatFormat::F32, b[lane])))
             << lane;
  storePredicates(warp, op, lanes, value, ~value);
  return Flow::Next;
}

// Half types compare as floats; of two in a register the second gives the second predicate.
template <typename Operation, bool isBFloat, bool packed> Flow compareHalf(Warp &warp, const Op &op, LaneMask lanes) {
  const uint64_t *a = warp.lanes(op.uses[0]), *b = warp.lanes(op.uses[1]);
  FloatFormat format = isBFloat ? FloatFormat::BF16 : FloatFormat::F16;
  constexpr unsigned width = 16;
  uint32_t values[2] = {0, 0};
  for (unsigned lane = 0; lane < laneCount; ++lane)
    for (unsigned i = 0; i < (packed ? 2 : 1); ++i) {
      double first = valueOf(op, format, a[lane] >> (width * i) & 0xffff);
      double second = valueOf(op, format, b[lane] >> (width * i) & 0xffff);
      values[i] |= uint32_t(Operation::apply(first, second)) << lane;
    }
  storePredicates(warp, op, lanes, values[0], packed ? values[1] : ~values[0]);
  return Flow::Next;
}

template <typename Operation> Execute halfComparisonOf(PtxType type) {
  if (type.packed)
    return type.kind == PtxType::BFloat ? compareHalf<Operation, true, true> : compareHalf<Operation, false, true>;
  return type.kind == PtxType::BFloat ? compareHalf<Operation, true, false> : compareHalf<Operation, false, false>;
}

template <typename Operation> Execute comparisonOf(PtxType type, bool flush) {
  bool isSigned = type.kind == PtxType::Signed;
  if (isFloat(type))
    return type.bits == 64   ? compare<Operation, double>
           : type.bits == 16 ? halfComparisonOf<Operation>(type)
           : flush           ? compareFlushed<Operation>
                             : compare<Operation, float>;
  if (type.bits == 64)
    return isSigned ? compare<Operation, int64_t> : compare<Operation, uint64_t>;
  if (type.bits == 32)
    return isSigned ? compare<Operation, int32_t> : compare<Operation, uint32_t>;
  return isSigned ? compare<Operation, int16_t> : compare<Operation, uint16_t>;
}

Execute findComparison(llvm::StringRef name, PtxType type, bool flush) {
  using Finder = Execute (*)(PtxType, bool);
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
  return finder ? finder(type, flush) : nullptr;
}

// Asks for the operands from number `first` on.
bool decodeComparison(Decoder &d, PtxType type, unsigned first) {
  bool flush = d.instruction->has("ftz");
  d.op->offset = flush ? flushes : 0;
  d.op->execute = findComparison(d.instruction->modifiers[0], type, flush);
  d.use(d.operand(first), type);
  d.use(d.operand(first + 1), type);
  llvm::StringRef combination = d.oneOf({"and", "or", "xor"});
  if (!combination.empty()) {
    const Operand &other = d.operand(first + 2);
    d.op->data[0] = combination == "and" ? CombineAnd : combination == "or" ? CombineOr : CombineXor;
    d.op->data[1] = other.negated;
    d.usePredicate(other);
  }
  return d.op->execute ? !d.failed() : d.fail("no such comparison");
}

bool decodeSetPredicate(Decoder &d) {
  std::optional<PtxType> type = lastType(d);
  if (!type)
    return false;
  const Operand &result = d.operand(0);
  if (result.is(Operand::Kind::Pair)) {
    d.definePredicate(result.elements[0]);
    d.definePredicate(result.elements[1]);
  } else {
    d.definePredicate(result);
  }
  return decodeComparison(d, *type, 1);
}

//===----------------------------------------------------------------------===//
// set
//===----------------------------------------------------------------------===//

struct SetPayload : Payload {
  Execute compare = nullptr;
  /// The bits that stand for true.
  uint64_t yes = 0;
};

// The comparison goes to a predicate that nobody reads.
Flow setRegister(Warp &warp, const Op &op, LaneMask lanes) {
  const auto &info = op.as<SetPayload>();
  info.compare(warp, op, lanes);
  uint32_t value = warp.predicate(op.predicateDefs[0]);
  uint64_t *d = warp.lanes(op.defs[0]);
  forLanes(lanes, [&](unsigned lane) { d[lane] = value >> lane & 1 ? info.yes : 0; });
  return Flow::Next;
}

bool decodeSet(Decoder &d) {
  llvm::ArrayRef<std::string> modifiers = d.instruction->modifiers;
  std::optional<PtxType> type = lastType(d);
  std::optional<PtxType> result = modifiers.size() > 2 ? parseType(modifiers[modifiers.size() - 2]) : std::nullopt;
  if (!type || !result || result->packed || type->packed || (isFloat(*result) && result->bits != 32))
    return d.fail("only results of .u32, .s32 and .f32 are known");
  auto info = std::make_shared<SetPayload>();
  constexpr uint64_t one = 0x3f800000, ones = 0xffffffff;
  info->yes = isFloat(*result) ? one : ones;
  d.define(d.operand(0));
  d.op->predicateDefs.push_back(d.program.sinkPredicate);
  if (!decodeComparison(d, *type, 1))
    return false;
  info->compare = d.op->execute;
  d.op->payload = info;
  d.op->execute = setRegister;
  return true;
}

//===----------------------------------------------------------------------===//
// testp, slct
//===----------------------------------------------------------------------===//

template <typename T> Flow testProperty(Warp &warp, const Op &op, LaneMask lanes) {
  const uint64_t *a = warp.lanes(op.uses[0]);
  uint32_t value = 0;
  forLanes(lanes, [&](unsigned lane) {
    int kind = std::fpclassify(fromBits<T>(a[lane]));
    // data[0]: the classes that have the property, by their bits.
    unsigned bit = kind == FP_NAN ? 1 : kind == FP_INFINITE ? 2 : kind == FP_NORMAL ? 4 : kind == FP_SUBNORMAL ? 8 : 16;
    value |= LaneMask((op.data[0] & bit) != 0) << lane;
  });
  uint32_t &d = warp.predicate(op.predicateDefs[0]);
  d = (d & ~lanes) | value;
  return Flow::Next;
}

// PTX ISA, "testp": zeros are normal numbers.
bool decodeTestProperty(Decoder &d) {
  std::optional<PtxType> type = lastType(d);
  unsigned classes = llvm::StringSwitch<unsigned>(d.instruction->modifiers[0])
                         .Case("notanumber", 1)
                         .Case("infinite", 2)
                         .Case("normal", 4 | 16)
                         .Case("subnormal", 8)
                         .Case("finite", 4 | 8 | 16)
                         .Case("number", 2 | 4 | 8 | 16)
                         .Default(0);
  if (!type || !isFloat(*type) || type->bits < 32 || classes == 0)
    return d.fail("no such property or type");
  d.op->data[0] = classes;
  d.op->execute = type->bits == 32 ? testProperty<float> : testProperty<double>;
  d.definePredicate(d.operand(0));
  d.use(d.operand(1), *type);
  return !d.failed();
}

// d = c >= 0 ? a : b; data[0]: c is f32.
Flow selectBySign(Warp &warp, const Op &op, LaneMask lanes) {
  uint64_t *d = warp.lanes(op.defs[0]);
  const uint64_t *a = warp.lanes(op.uses[0]), *b = warp.lanes(op.uses[1]), *c = warp.lanes(op.uses[2]);
  forLanes(lanes, [&](unsigned lane) {
    bool first = op.data[0] ? valueOf(op, FloatFormat::F32, c[lane]) >= 0 : static_cast<int32_t>(c[lane]) >= 0;
    d[lane] = first ? a[lane] : b[lane];
  });
  return Flow::Next;
}

bool decodeSelectBySign(Decoder &d) {
  llvm::ArrayRef<std::string> modifiers = d.instruction->modifiers;
  std::optional<PtxType> type = modifiers.size() > 1 ? parseType(modifiers[modifiers.size() - 2]) : std::nullopt;
  llvm::StringRef condition = d.instruction->lastModifier();
  if (!type || (condition != "s32" && condition != "f32"))
    return d.fail("expected a type and .s32 or .f32");
  d.op->data[0] = condition == "f32";
  d.op->offset = d.instruction->has("ftz") ? flushes : 0;
  d.op->execute = selectBySign;
  d.define(d.operand(0));
  d.use(d.operand(1), *type);
  d.use(d.operand(2), *type);
  d.use(d.operand(3), {PtxType::Float, 32, false});
  return !d.failed();
}
} // namespace

void tilec::simulator::addComparisonInstructions(InstructionTable &table) {
  table["setp"] = decodeSetPredicate;
  table["set"] = decodeSet;
  table["testp"] = decodeTestProperty;
  table["slct"] = decodeSelectBySign;
}
