// Integer arithmetic, logic and shifts (PTX ISA, "Integer Arithmetic Instructions", "Logic and Shift Instructions").
#include "Lanes.h"

#include "llvm/Support/MathExtras.h"

using namespace tilec::simulator;

namespace {
template <typename T> using Unsigned = std::make_unsigned_t<T>;
template <typename T> using Wide = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;

template <typename T> T wrap(uint64_t value) { return static_cast<T>(value); }
template <typename T> T multiplyHigh(T a, T b) { return static_cast<T>((Wide<T>(a) * Wide<T>(b)) >> (8 * sizeof(T))); }

template <typename T> struct Add {
  static T apply(T a, T b) { return wrap<T>(uint64_t(a) + uint64_t(b)); }
};
template <typename T> struct AddSaturated {
  static T apply(T a, T b) {
    T sum;
    return __builtin_add_overflow(a, b, &sum) ? (a < 0 ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max())
                                              : sum;
  }
};
template <typename T> struct Subtract {
  static T apply(T a, T b) { return wrap<T>(uint64_t(a) - uint64_t(b)); }
};
template <typename T> struct SubtractSaturated {
  static T apply(T a, T b) {
    T difference;
    return __builtin_sub_overflow(a, b, &difference)
               ? (a < 0 ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max())
               : difference;
  }
};
template <typename T> struct MultiplyLow {
  static T apply(T a, T b) { return wrap<T>(uint64_t(a) * uint64_t(b)); }
};
template <typename T> struct MultiplyHigh {
  static T apply(T a, T b) { return multiplyHigh(a, b); }
};
template <typename T> struct MultiplyAddLow {
  static T apply(T a, T b, T c) { return wrap<T>(uint64_t(a) * uint64_t(b) + uint64_t(c)); }
};
template <typename T> struct MultiplyAddHigh {
  static T apply(T a, T b, T c) { return wrap<T>(uint64_t(multiplyHigh(a, b)) + uint64_t(c)); }
};
// mad.hi.sat.s32
struct MultiplyAddHighSaturated {
  static int32_t apply(int32_t a, int32_t b, int32_t c) {
    return static_cast<int32_t>(std::clamp<int64_t>(int64_t(multiplyHigh(a, b)) + c, INT32_MIN, INT32_MAX));
  }
};
// Division by zero gives all ones, as the expansion of ptxas does; the quotient of the least number and -1 wraps.
template <typename T> struct Divide {
  static T apply(T a, T b) {
    if (b == 0)
      return wrap<T>(~uint64_t(0));
    return std::is_signed_v<T> && b == T(-1) ? wrap<T>(-uint64_t(a)) : a / b;
  }
};
template <typename T> struct Remainder {
  static T apply(T a, T b) {
    if (b == 0)
      return a;
    return std::is_signed_v<T> && b == T(-1) ? 0 : a % b;
  }
};
template <typename T> struct Absolute {
  static T apply(T a) { return a < 0 ? wrap<T>(-uint64_t(a)) : a; }
};
template <typename T> struct Negate {
  static T apply(T a) { return wrap<T>(-uint64_t(a)); }
};
template <typename T> struct Minimum {
  static T apply(T a, T b) { return std::min(a, b); }
};
template <typename T> struct Maximum {
  static T apply(T a, T b) { return std::max(a, b); }
};
template <typename T> struct And {
  static T apply(T a, T b) { return a & b; }
};
template <typename T> struct Or {
  static T apply(T a, T b) { return a | b; }
};
template <typename T> struct Xor {
  static T apply(T a, T b) { return a ^ b; }
};
template <typename T> struct Not {
  static T apply(T a) { return ~a; }
};
template <typename T> struct IsZero {
  static T apply(T a) { return a == 0; }
};
template <typename T> struct PopulationCount {
  static uint32_t apply(T a) { return llvm::popcount(Unsigned<T>(a)); }
};
template <typename T> struct LeadingZeros {
  static uint32_t apply(T a) { return llvm::countl_zero(Unsigned<T>(a)); }
};
template <typename T> struct Reverse {
  static T apply(T a) { return llvm::reverseBits(Unsigned<T>(a)); }
};
// Bits of a byte permutation's table: LOP3's immediate is indexed by the bits of a, b and c.
Flow lookup3(Warp &warp, const Op &op, LaneMask lanes) {
  uint64_t *d = warp.lanes(op.defs[0]);
  const uint64_t *a = warp.lanes(op.uses[0]), *b = warp.lanes(op.uses[1]), *c = warp.lanes(op.uses[2]);
  forLanes(lanes, [&](unsigned lane) {
    uint32_t result = 0;
    for (unsigned entry = 0; entry < 8; ++entry)
      if (op.data[0] >> entry & 1)
        result |= uint32_t((entry & 4 ? a[lane] : ~a[lane]) & (entry & 2 ? b[lane] : ~b[lane]) &
                           (entry & 1 ? c[lane] : ~c[lane]));
    d[lane] = result;
  });
  return Flow::Next;
}

// Shift amounts are 32 bits and clamp at the width.
template <typename T, bool left> Flow shift(Warp &warp, const Op &op, LaneMask lanes) {
  uint64_t *d = warp.lanes(op.defs[0]);
  const uint64_t *a = warp.lanes(op.uses[0]), *b = warp.lanes(op.uses[1]);
  constexpr uint32_t width = 8 * sizeof(T);
  forLanes(lanes, [=](unsigned lane) {
    uint32_t amount = std::min(uint32_t(b[lane]), width);
    T value = fromBits<T>(a[lane]);
    if constexpr (left)
      d[lane] = amount == width ? 0 : toBits(T(Unsigned<T>(value) << amount));
    else
      d[lane] = toBits(T(amount == width ? (value < 0 ? -1 : 0) : value >> amount));
  });
  return Flow::Next;
}

// Both operands and the result are of different widths.
template <typename T, typename Result, bool add> Flow multiplyWide(Warp &warp, const Op &op, LaneMask lanes) {
  uint64_t *d = warp.lanes(op.defs[0]);
  const uint64_t *a = warp.lanes(op.uses[0]), *b = warp.lanes(op.uses[1]), *c = warp.lanes(op.uses[add ? 2 : 0]);
  forLanes(lanes, [=](unsigned lane) {
    uint64_t product = uint64_t(Result(fromBits<T>(a[lane]))) * uint64_t(Result(fromBits<T>(b[lane])));
    d[lane] = toBits(wrap<Result>(product + (add ? c[lane] : 0)));
  });
  return Flow::Next;
}

// shf: the funnel of b (upper) and a (lower); data[0]: left, data[1]: clamp.
Flow funnelShift(Warp &warp, const Op &op, LaneMask lanes) {
  uint64_t *d = warp.lanes(op.defs[0]);
  const uint64_t *a = warp.lanes(op.uses[0]), *b = warp.lanes(op.uses[1]), *c = warp.lanes(op.uses[2]);
  bool left = op.data[0], clamp = op.data[1];
  forLanes(lanes, [=](unsigned lane) {
    uint32_t amount = clamp ? std::min(uint32_t(c[lane]), 32u) : uint32_t(c[lane]) & 31;
    uint64_t both = b[lane] << 32 | a[lane];
    d[lane] = left ? uint32_t(both << amount >> 32) : uint32_t(both >> amount);
  });
  return Flow::Next;
}

template <typename T> Flow extractBits(Warp &warp, const Op &op, LaneMask lanes) {
  uint64_t *d = warp.lanes(op.defs[0]);
  const uint64_t *a = warp.lanes(op.uses[0]), *b = warp.lanes(op.uses[1]), *c = warp.lanes(op.uses[2]);
  constexpr unsigned width = 8 * sizeof(T);
  forLanes(lanes, [=](unsigned lane) {
    unsigned position = b[lane] & 0xff, count = c[lane] & 0xff;
    uint64_t source = a[lane];
    // Bits beyond the operand are its sign for signed types.
    unsigned signPosition = std::min(position + count - 1, width - 1);
    bool negative = std::is_signed_v<T> && count != 0 && (source >> signPosition & 1);
    uint64_t field = position < 64 ? source >> position : 0;
    unsigned valid = position >= width ? 0 : std::min(count, width - position);
    field &= llvm::maskTrailingOnes<uint64_t>(std::min(valid, 64u));
    if (negative)
      field |= ~llvm::maskTrailingOnes<uint64_t>(std::min(valid, 64u));
    d[lane] = toBits(T(count == 0 ? 0 : field));
  });
  return Flow::Next;
}

template <typename T> Flow insertBits(Warp &warp, const Op &op, LaneMask lanes) {
  uint64_t *d = warp.lanes(op.defs[0]);
  const uint64_t *a = warp.lanes(op.uses[0]), *b = warp.lanes(op.uses[1]), *c = warp.lanes(op.uses[2]),
                 *e = warp.lanes(op.uses[3]);
  constexpr unsigned width = 8 * sizeof(T);
  forLanes(lanes, [=](unsigned lane) {
    unsigned position = c[lane] & 0xff, count = e[lane] & 0xff;
    unsigned valid = position >= width ? 0 : std::min(count, width - position);
    uint64_t mask = valid ? llvm::maskTrailingOnes<uint64_t>(valid) << position : 0;
    d[lane] = toBits(T((b[lane] & ~mask) | (valid ? a[lane] << position & mask : 0)));
  });
  return Flow::Next;
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

template <template <typename> class Operation, unsigned operands> bool decodeInteger(Decoder &d) {
  std::optional<PtxType> type = lastType(d);
  if (!type)
    return false;
  if (isFloat(*type))
    return decodeFloatArithmetic(d);
  d.op->execute = forInteger<Operation, operands>(*type);
  return decodeMap(d, *type, operands);
}

template <template <typename> class Operation, template <typename> class Saturated> bool decodeSum(Decoder &d) {
  if (d.instruction->has("sat") && d.instruction->lastModifier() == "s32") {
    d.op->execute = mapLanes<Saturated<int32_t>, int32_t, 2>;
    return decodeMap(d, {PtxType::Signed, 32, false}, 2);
  }
  return decodeInteger<Operation, 2>(d);
}

// Instructions that move bits of their first operands.
void movesBits(Decoder &d, unsigned operands) {
  d.op->propagates = true;
  d.op->moved = operands;
}

bool decodeReverse(Decoder &d) {
  movesBits(d, 1);
  return decodeInteger<Reverse, 1>(d);
}

template <bool add> Execute wideFunction(PtxType type) {
  bool isSigned = type.kind == PtxType::Signed;
  if (type.bits == 16)
    return isSigned ? multiplyWide<int16_t, int32_t, add> : multiplyWide<uint16_t, uint32_t, add>;
  if (type.bits == 32)
    return isSigned ? multiplyWide<int32_t, int64_t, add> : multiplyWide<uint32_t, uint64_t, add>;
  return nullptr;
}

template <bool add> bool decodeMultiply(Decoder &d) {
  std::optional<PtxType> type = lastType(d);
  if (!type)
    return false;
  if (isFloat(*type))
    return decodeFloatArithmetic(d);
  llvm::StringRef part = d.oneOf({"lo", "hi", "wide"});
  constexpr unsigned operands = add ? 3 : 2;
  if (part == "wide")
    d.op->execute = wideFunction<add>(*type);
  else if constexpr (add)
    d.op->execute = part == "lo" ? forInteger<MultiplyAddLow, 3>(*type) : forInteger<MultiplyAddHigh, 3>(*type);
  else
    d.op->execute = part == "lo" ? forInteger<MultiplyLow, 2>(*type) : forInteger<MultiplyHigh, 2>(*type);
  if (d.instruction->has("sat")) {
    if (!add || part != "hi" || d.instruction->lastModifier() != "s32")
      return d.fail(".sat belongs to mad.hi.s32");
    d.op->execute = mapLanes<MultiplyAddHighSaturated, int32_t, 3>;
  }
  if (part.empty())
    return d.fail("expected .lo, .hi or .wide");
  return decodeMap(d, *type, operands);
}

template <bool left> bool decodeShift(Decoder &d) {
  std::optional<PtxType> type = lastType(d);
  if (!type)
    return false;
  bool isSigned = type->kind == PtxType::Signed && !left;
  d.op->execute = type->bits == 16   ? isSigned ? shift<int16_t, left> : shift<uint16_t, left>
                  : type->bits == 32 ? isSigned ? shift<int32_t, left> : shift<uint32_t, left>
                  : isSigned         ? shift<int64_t, left>
                                     : shift<uint64_t, left>;
  movesBits(d, 1);
  return decodeMap(d, {PtxType::Bits, 64, false}, 2);
}

// Predicates as masks of lanes. data[0]: 0 and, 1 or, 2 xor, 3 not.
Flow predicateLogic(Warp &warp, const Op &op, LaneMask lanes) {
  uint32_t a = warp.predicate(op.predicateUses[0]), b = warp.predicate(op.predicateUses.back());
  uint32_t value = op.data[0] == 0 ? a & b : op.data[0] == 1 ? a | b : op.data[0] == 2 ? a ^ b : ~a;
  uint32_t &d = warp.predicate(op.predicateDefs[0]);
  d = (d & ~lanes) | (value & lanes);
  return Flow::Next;
}

template <template <typename> class Operation, unsigned operands, unsigned code> bool decodeLogic(Decoder &d) {
  if (d.instruction->lastModifier() != "pred") {
    constexpr uint8_t tables[] = {0xc0, 0xfc, 0x3c, 0x0f}; // of lop3, whose operands stand for 0xf0, 0xcc and 0xaa
    d.op->propagates = true;
    d.op->truthTable = tables[code];
    return decodeInteger<Operation, operands>(d);
  }
  d.op->execute = predicateLogic;
  d.op->data[0] = code;
  d.definePredicate(d.operand(0));
  for (unsigned i = 1; i <= operands; ++i)
    d.usePredicate(d.operand(i));
  return !d.failed();
}

bool decodeLookup3(Decoder &d) {
  d.op->execute = lookup3;
  d.op->data[0] = d.constant(d.operand(4));
  d.op->propagates = true;
  d.op->truthTable = d.op->data[0];
  return decodeMap(d, {PtxType::Bits, 32, false}, 3);
}

bool decodeFunnelShift(Decoder &d) {
  d.op->execute = funnelShift;
  d.op->data[0] = d.instruction->has("l");
  d.op->data[1] = d.instruction->has("clamp");
  movesBits(d, 2);
  return decodeMap(d, {PtxType::Bits, 32, false}, 3);
}

bool decodeExtractBits(Decoder &d) {
  std::optional<PtxType> type = lastType(d);
  if (!type)
    return false;
  bool isSigned = type->kind == PtxType::Signed;
  d.op->execute = type->bits == 32 ? isSigned ? extractBits<int32_t> : extractBits<uint32_t>
                  : isSigned       ? extractBits<int64_t>
                                   : extractBits<uint64_t>;
  movesBits(d, 1);
  return decodeMap(d, *type, 3);
}

bool decodeInsertBits(Decoder &d) {
  d.op->execute = d.instruction->lastModifier() == "b32" ? insertBits<uint32_t> : insertBits<uint64_t>;
  movesBits(d, 2);
  return decodeMap(d, {PtxType::Bits, 64, false}, 4);
}
} // namespace

void tilec::simulator::addIntegerInstructions(InstructionTable &table) {
  table["add"] = decodeSum<Add, AddSaturated>;
  table["sub"] = decodeSum<Subtract, SubtractSaturated>;
  table["mul"] = decodeMultiply<false>;
  table["mad"] = decodeMultiply<true>;
  table["div"] = decodeInteger<Divide, 2>;
  table["rem"] = decodeInteger<Remainder, 2>;
  table["abs"] = decodeInteger<Absolute, 1>;
  table["neg"] = decodeInteger<Negate, 1>;
  table["min"] = decodeInteger<Minimum, 2>;
  table["max"] = decodeInteger<Maximum, 2>;
  table["and"] = decodeLogic<And, 2, 0>;
  table["or"] = decodeLogic<Or, 2, 1>;
  table["xor"] = decodeLogic<Xor, 2, 2>;
  table["not"] = decodeLogic<Not, 1, 3>;
  table["cnot"] = decodeInteger<IsZero, 1>;
  table["popc"] = decodeInteger<PopulationCount, 1>;
  table["clz"] = decodeInteger<LeadingZeros, 1>;
  table["brev"] = decodeReverse;
  table["shl"] = decodeShift<true>;
  table["shr"] = decodeShift<false>;
  table["shf"] = decodeFunnelShift;
  table["bfe"] = decodeExtractBits;
  table["bfi"] = decodeInsertBits;
  table["lop3"] = decodeLookup3;
}
