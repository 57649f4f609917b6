// Integer instructions beyond arithmetic and logic: sad, 24-bit products, dot products, searches, masks, and arithmetic
// with carries (PTX ISA, "Integer Arithmetic Instructions", "Extended-Precision Integer Arithmetic Instructions").
#include "Lanes.h"

#include "llvm/Support/MathExtras.h"

using namespace tilec::simulator;

namespace {
//===----------------------------------------------------------------------===//
// sad, mul24, mad24
//===----------------------------------------------------------------------===//

template <typename T> struct SumOfDifferences {
  static T apply(T a, T b, T c) {
    uint64_t difference = a < b ? uint64_t(b) - uint64_t(a) : uint64_t(a) - uint64_t(b);
    return static_cast<T>(uint64_t(c) + difference);
  }
};

bool decodeSad(Decoder &d) {
  std::optional<PtxType> type = lastType(d);
  if (!type)
    return false;
  d.op->execute = forInteger<SumOfDifferences, 3>(*type);
  return d.op->execute && decodeMap(d, *type, 3);
}

enum Product24 : uint64_t { Low = 0, High = 1, Saturate = 2 };

template <bool isSigned> int64_t operand24(uint64_t bits) {
  return isSigned ? llvm::SignExtend64<24>(bits & 0xffffff) : static_cast<int64_t>(bits & 0xffffff);
}

// The product has 48 bits: .lo is its lower half word, .hi its upper one, which share 16 bits. data[0]: Product24.
template <bool isSigned, bool add> Flow multiply24(Warp &warp, const Op &op, LaneMask lanes) {
  uint64_t *d = warp.lanes(op.defs[0]);
  const uint64_t *a = warp.lanes(op.uses[0]), *b = warp.lanes(op.uses[1]), *c = warp.lanes(op.uses[add ? 2 : 0]);
  forLanes(lanes, [&](unsigned lane) {
    int64_t product = operand24<isSigned>(a[lane]) * operand24<isSigned>(b[lane]);
    uint32_t part = static_cast<uint32_t>(op.data[0] & High ? product >> 16 : product);
    if (!add) {
      d[lane] = part;
    } else if (op.data[0] & Saturate) {
      int64_t sum = int64_t(int32_t(part)) + int32_t(c[lane]);
      d[lane] = static_cast<uint32_t>(std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX));
    } else {
      d[lane] = static_cast<uint32_t>(part + c[lane]);
    }
  });
  return Flow::Next;
}

template <bool add> bool decodeMultiply24(Decoder &d) {
  llvm::StringRef part = d.oneOf({"lo", "hi"}), type = d.instruction->lastModifier();
  if (part.empty() || (type != "u32" && type != "s32"))
    return d.fail("expected .lo or .hi, and .u32 or .s32");
  bool isSigned = type == "s32", saturate = d.instruction->has("sat");
  if (saturate && (!add || !isSigned || part != "hi"))
    return d.fail(".sat belongs to mad24.hi.s32");
  d.op->data[0] = (part == "hi" ? High : Low) | (saturate ? Saturate : 0);
  d.op->execute = isSigned ? multiply24<true, add> : multiply24<false, add>;
  return decodeMap(d, {PtxType::Bits, 32, false}, add ? 3 : 2);
}

//===----------------------------------------------------------------------===//
// dp4a, dp2a
//===----------------------------------------------------------------------===//

int64_t part(uint64_t bits, unsigned index, unsigned width, bool isSigned) {
  uint64_t field = bits >> (index * width) & llvm::maskTrailingOnes<uint64_t>(width);
  return isSigned ? llvm::SignExtend64(field, width) : static_cast<int64_t>(field);
}

/// data[0]: bit 0: a is signed, bit 1: b is. data[1]: elements of a (4 or 2); of dp2a.hi the upper half of b, 6.
Flow dotProduct(Warp &warp, const Op &op, LaneMask lanes) {
  uint64_t *d = warp.lanes(op.defs[0]);
  const uint64_t *a = warp.lanes(op.uses[0]), *b = warp.lanes(op.uses[1]), *c = warp.lanes(op.uses[2]);
  unsigned count = op.data[1] == 4 ? 4 : 2, firstB = op.data[1] == 6 ? 2 : 0;
  forLanes(lanes, [&](unsigned lane) {
    int64_t sum = static_cast<int64_t>(c[lane]);
    for (unsigned i = 0; i < count; ++i)
      sum += part(a[lane], i, 32 / count, op.data[0] & 1) * part(b[lane], firstB + i, 8, op.data[0] & 2);
    d[lane] = static_cast<uint32_t>(sum);
  });
  return Flow::Next;
}

bool decodeDotProduct(Decoder &d) {
  llvm::ArrayRef<std::string> modifiers = d.instruction->modifiers;
  if (modifiers.size() < 2)
    return d.fail("expected the types of both factors");
  llvm::StringRef a = modifiers[modifiers.size() - 2], b = modifiers.back();
  bool known = (a == "u32" || a == "s32") && (b == "u32" || b == "s32");
  llvm::StringRef half = d.oneOf({"lo", "hi"});
  bool pairs = d.instruction->name == "dp2a";
  if (!known || pairs == half.empty())
    return d.fail("expected .u32 or .s32 twice, and .lo or .hi for dp2a");
  d.op->data[0] = (a == "s32") | (b == "s32") << 1;
  d.op->data[1] = !pairs ? 4 : half == "lo" ? 2 : 6;
  d.op->execute = dotProduct;
  return decodeMap(d, {PtxType::Bits, 32, false}, 3);
}

//===----------------------------------------------------------------------===//
// bfind, fns, bmsk, szext
//===----------------------------------------------------------------------===//

// The highest bit that is not the sign, or all ones. data[0]: .shiftamt.
template <typename T> Flow findBit(Warp &warp, const Op &op, LaneMask lanes) {
  uint64_t *d = warp.lanes(op.defs[0]);
  const uint64_t *a = warp.lanes(op.uses[0]);
  constexpr uint32_t width = 8 * sizeof(T);
  forLanes(lanes, [&](unsigned lane) {
    T value = fromBits<T>(a[lane]);
    auto bits = static_cast<std::make_unsigned_t<T>>(value < 0 ? ~value : value);
    uint32_t position = width - 1 - static_cast<uint32_t>(llvm::countl_zero(bits));
    d[lane] = bits == 0 ? ~uint32_t(0) : op.data[0] ? width - 1 - position : position;
  });
  return Flow::Next;
}

bool decodeFindBit(Decoder &d) {
  std::optional<PtxType> type = lastType(d);
  if (!type || isFloat(*type) || type->bits < 32)
    return d.fail("expected an integer of 32 or 64 bits");
  bool isSigned = type->kind == PtxType::Signed;
  d.op->data[0] = d.instruction->has("shiftamt");
  d.op->execute = type->bits == 32 ? isSigned ? findBit<int32_t> : findBit<uint32_t>
                  : isSigned       ? findBit<int64_t>
                                   : findBit<uint64_t>;
  return decodeMap(d, *type, 1);
}

// PTX ISA, "fns": the position of the offset-th set bit from base on, upwards or downwards.
uint32_t findNthSet(uint32_t mask, uint32_t base, int32_t offset) {
  int64_t step = offset < 0 ? -1 : 1, left = offset < 0 ? -int64_t(offset) : offset;
  if (offset == 0)
    return base < 32 && mask >> base & 1 ? base : ~uint32_t(0);
  for (int64_t at = base; at >= 0 && at < 32; at += step)
    if ((mask >> at & 1) && --left == 0)
      return static_cast<uint32_t>(at);
  return ~uint32_t(0);
}

Flow findNth(Warp &warp, const Op &op, LaneMask lanes) {
  uint64_t *d = warp.lanes(op.defs[0]);
  const uint64_t *a = warp.lanes(op.uses[0]), *b = warp.lanes(op.uses[1]), *c = warp.lanes(op.uses[2]);
  forLanes(lanes, [&](unsigned lane) { d[lane] = findNthSet(a[lane], b[lane], static_cast<int32_t>(c[lane])); });
  return Flow::Next;
}

bool decodeFindNth(Decoder &d) {
  d.op->execute = findNth;
  return decodeMap(d, {PtxType::Bits, 32, false}, 3);
}

// b ones from position a on. data[0]: .clamp.
Flow makeMask(Warp &warp, const Op &op, LaneMask lanes) {
  uint64_t *d = warp.lanes(op.defs[0]);
  const uint64_t *a = warp.lanes(op.uses[0]), *b = warp.lanes(op.uses[1]);
  forLanes(lanes, [&](unsigned lane) {
    uint32_t position = a[lane], count = b[lane];
    if (!op.data[0])
      position &= 31, count &= 31;
    uint64_t ones = llvm::maskTrailingOnes<uint64_t>(std::min(count, 32u));
    d[lane] = position > 31 ? 0 : static_cast<uint32_t>(ones << position);
  });
  return Flow::Next;
}

bool decodeMakeMask(Decoder &d) {
  d.op->data[0] = d.instruction->has("clamp");
  d.op->execute = makeMask;
  return decodeMap(d, {PtxType::Bits, 32, false}, 2);
}

// The lower b bits, extended. data[0]: .clamp, data[1]: signed.
Flow extendBits(Warp &warp, const Op &op, LaneMask lanes) {
  uint64_t *d = warp.lanes(op.defs[0]);
  const uint64_t *a = warp.lanes(op.uses[0]), *b = warp.lanes(op.uses[1]);
  forLanes(lanes, [&](unsigned lane) {
    uint32_t count = op.data[0] ? static_cast<uint32_t>(b[lane]) : b[lane] & 31;
    uint64_t field = a[lane] & llvm::maskTrailingOnes<uint64_t>(std::min(count, 32u));
    if (op.data[1] && count > 0 && count < 32)
      field = llvm::SignExtend64(field, count);
    d[lane] = static_cast<uint32_t>(field);
  });
  return Flow::Next;
}

bool decodeExtendBits(Decoder &d) {
  d.op->data[0] = d.instruction->has("clamp");
  d.op->data[1] = d.instruction->lastModifier() == "s32";
  d.op->execute = extendBits;
  return decodeMap(d, {PtxType::Bits, 32, false}, 2);
}

//===----------------------------------------------------------------------===//
// Carries
//===----------------------------------------------------------------------===//

/// data[0]: these.
enum Carry : uint64_t { ReadsCarry = 1, WritesCarry = 2, Subtracts = 4, Multiplies = 8, UpperHalf = 16 };

template <typename T> Flow withCarry(Warp &warp, const Op &op, LaneMask lanes) {
  uint64_t *d = warp.lanes(op.defs[0]);
  const uint64_t *a = warp.lanes(op.uses[0]), *b = warp.lanes(op.uses[1]), *c = warp.lanes(op.uses.back());
  using Wide = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
  using Bits = std::make_unsigned_t<T>;
  constexpr unsigned width = 8 * sizeof(T);
  forLanes(lanes, [&](unsigned lane) {
    unsigned __int128 first = Bits(a[lane]), second = Bits(b[lane]),
                      in = op.data[0] & ReadsCarry ? warp.carry >> lane & 1 : 0;
    if (op.data[0] & Multiplies) {
      Wide product = Wide(fromBits<T>(a[lane])) * Wide(fromBits<T>(b[lane]));
      first = Bits(op.data[0] & UpperHalf ? product >> width : product);
      second = Bits(c[lane]);
    }
    unsigned __int128 result = op.data[0] & Subtracts ? first - second - in : first + second + in;
    d[lane] = Bits(result);
    if (op.data[0] & WritesCarry)
      warp.carry = (warp.carry & ~(LaneMask(1) << lane)) | LaneMask(result >> width & 1) << lane;
  });
  return Flow::Next;
}

bool decodeCarry(Decoder &d) {
  std::optional<PtxType> type = lastType(d);
  if (!type || isFloat(*type) || type->bits < 32)
    return d.fail("expected an integer of 32 or 64 bits");
  llvm::StringRef name = d.instruction->name;
  bool multiplies = name.starts_with("mad");
  d.op->data[0] = (name.ends_with("c") ? ReadsCarry : 0) | (d.instruction->has("cc") ? WritesCarry : 0) |
                  (name.starts_with("sub") ? Subtracts : 0) | (multiplies ? Multiplies : 0) |
                  (d.instruction->has("hi") ? UpperHalf : 0);
  bool isSigned = type->kind == PtxType::Signed;
  d.op->execute = type->bits == 32 ? isSigned ? withCarry<int32_t> : withCarry<uint32_t>
                  : isSigned       ? withCarry<int64_t>
                                   : withCarry<uint64_t>;
  return decodeMap(d, *type, multiplies ? 3 : 2);
}
} // namespace

void tilec::simulator::addExtendedIntegerInstructions(InstructionTable &table) {
  table["sad"] = decodeSad;
  table["mul24"] = decodeMultiply24<false>;
  table["mad24"] = decodeMultiply24<true>;
  table["dp4a"] = decodeDotProduct;
  table["dp2a"] = decodeDotProduct;
  table["bfind"] = decodeFindBit;
  table["fns"] = decodeFindNth;
  table["bmsk"] = decodeMakeMask;
  table["szext"] = decodeExtendBits;
  for (llvm::StringRef name : {"add.cc", "sub.cc", "addc", "subc", "mad.lo.cc", "mad.hi.cc", "madc"})
    table[name] = decodeCarry;
}
