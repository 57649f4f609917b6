// cvt: scalar and packed conversions (PTX ISA, "Data Movement and Conversion Instructions: cvt").
#include "tilec/Simulator/Convert.h"
#include "tilec/Simulator/Decoder.h"
#include "tilec/Simulator/Warp.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace tilec::simulator;

namespace {
/// A type of cvt: an integer, or one or two floats.
struct ConversionType {
  bool isFloat = false;
  FloatFormat format = FloatFormat::F32;
  IntegerType integer;
  unsigned count = 1;

  unsigned bits() const { return isFloat ? formatInfo(format).bits * count : integer.bits; }
};

struct ConversionPayload : Payload {
  ConversionType to, from;
  FloatConversion options;
  Rounding integerRounding = Rounding::Zero;
  bool saturate = false;
  /// Of the result's register: narrower integers are extended to it.
  unsigned registerBits = 32;
};
} // namespace

static std::optional<ConversionType> parseConversionType(llvm::StringRef name) {
  auto ofFloat = [](FloatFormat format, unsigned count) {
    ConversionType type;
    type.isFloat = true;
    type.format = format;
    type.count = count;
    return type;
  };
  auto ofInteger = [](unsigned bits, bool isSigned) {
    ConversionType type;
    type.integer = {bits, isSigned};
    return type;
  };
  return llvm::StringSwitch<std::optional<ConversionType>>(name)
      .Case("f64", ofFloat(FloatFormat::F64, 1))
      .Case("f32", ofFloat(FloatFormat::F32, 1))
      .Case("f16", ofFloat(FloatFormat::F16, 1))
      .Case("bf16", ofFloat(FloatFormat::BF16, 1))
      .Case("tf32", ofFloat(FloatFormat::TF32, 1))
      .Case("f16x2", ofFloat(FloatFormat::F16, 2))
      .Case("bf16x2", ofFloat(FloatFormat::BF16, 2))
      .Case("e4m3x2", ofFloat(FloatFormat::E4M3, 2))
      .Case("e5m2x2", ofFloat(FloatFormat::E5M2, 2))
      .Case("s8", ofInteger(8, true))
      .Case("s16", ofInteger(16, true))
      .Case("s32", ofInteger(32, true))
      .Case("s64", ofInteger(64, true))
      .Case("u8", ofInteger(8, false))
      .Case("u16", ofInteger(16, false))
      .Case("u32", ofInteger(32, false))
      .Case("u64", ofInteger(64, false))
      .Default(std::nullopt);
}

template <typename F> static void forEachLane(LaneMask lanes, F use) {
  for (unsigned lane = 0; lane < laneCount; ++lane)
    if (lanes >> lane & 1)
      use(lane);
}

// One operand, which may hold two elements.
static Flow executeConversion(Warp &warp, const Op &op, LaneMask lanes) {
  const auto &info = op.as<ConversionPayload>();
  const uint64_t *source = warp.lanes(op.uses[0]);
  uint64_t *result = warp.lanes(op.defs[0]);
  forEachLane(lanes, [&](unsigned lane) {
    uint64_t bits = source[lane] & llvm::maskTrailingOnes<uint64_t>(info.from.bits());
    if (info.to.isFloat && info.from.isFloat) {
      result[lane] = convertPacked(info.to.format, info.from.format, info.from.count, bits, info.options);
      return;
    }
    if (info.to.isFloat) {
      result[lane] =
          convertIntegerToFloat(info.to.format, info.from.integer, bits, info.options.rounding, info.saturate);
      return;
    }
    uint64_t value = info.from.isFloat ? convertFloatToInteger(info.to.integer, info.from.format, bits,
                                                               info.integerRounding, info.options.flush)
                                       : convertInteger(info.to.integer, info.from.integer, bits, info.saturate);
    result[lane] = convertInteger({info.registerBits, info.to.integer.isSigned}, info.to.integer, value);
  });
  return Flow::Next;
}

// Two operands become one packed result, the first the upper element.
static Flow executePacking(Warp &warp, const Op &op, LaneMask lanes) {
  const auto &info = op.as<ConversionPayload>();
  const uint64_t *high = warp.lanes(op.uses[0]), *low = warp.lanes(op.uses[1]);
  uint64_t *result = warp.lanes(op.defs[0]);
  unsigned width = formatInfo(info.to.format).bits;
  forEachLane(lanes, [&](unsigned lane) {
    result[lane] = convertFloat(info.to.format, info.from.format, low[lane], info.options) |
                   convertFloat(info.to.format, info.from.format, high[lane], info.options) << width;
  });
  return Flow::Next;
}

// cvt.pack: two s32 saturated to narrow integers, the first the upper one, below what c holds already. data[0]: bits of
// an element, data[1]: signed.
static Flow executeIntegerPacking(Warp &warp, const Op &op, LaneMask lanes) {
  const uint64_t *high = warp.lanes(op.uses[0]), *low = warp.lanes(op.uses[1]);
  uint64_t *result = warp.lanes(op.defs[0]);
  auto bits = static_cast<unsigned>(op.data[0]);
  IntegerType to = {bits, op.data[1] != 0};
  uint64_t mask = llvm::maskTrailingOnes<uint64_t>(bits);
  forEachLane(lanes, [&](unsigned lane) {
    auto narrow = [&](uint64_t value) {
      int64_t wide = static_cast<int32_t>(value);
      int64_t least = to.isSigned ? -(int64_t(1) << (bits - 1)) : 0, most = static_cast<int64_t>(mask >> to.isSigned);
      return static_cast<uint64_t>(std::clamp(wide, least, most)) & mask;
    };
    uint64_t above = op.uses.size() > 2 ? warp.lanes(op.uses[2])[lane] << (2 * bits) : 0;
    result[lane] = static_cast<uint32_t>(above | narrow(high[lane]) << bits | narrow(low[lane]));
  });
  return Flow::Next;
}

static bool decodeIntegerPacking(Decoder &decoder) {
  llvm::ArrayRef<std::string> modifiers = decoder.instruction->modifiers;
  unsigned bits = 0;
  llvm::StringRef to = modifiers.size() > 2 ? llvm::StringRef(modifiers[2]) : "";
  bool isSigned = to.starts_with("s");
  if (to.drop_front(!to.empty()).getAsInteger(10, bits) || bits > 16 || modifiers[3] != "s32")
    return decoder.fail("expected .sat, a type of at most 16 bits and .s32");
  decoder.op->data[0] = bits;
  decoder.op->data[1] = isSigned;
  decoder.define(decoder.operand(0));
  for (unsigned i = 1; i < decoder.numOperands(); ++i)
    decoder.use(decoder.operand(i), {PtxType::Bits, 32, false});
  decoder.op->execute = executeIntegerPacking;
  return !decoder.failed() && decoder.op->uses.size() == (bits == 16 ? 2u : 3u);
}

static void parseRounding(const Instruction &instruction, ConversionPayload &info) {
  for (const std::string &modifier : instruction.modifiers) {
    auto rounding = llvm::StringSwitch<std::optional<Rounding>>(modifier)
                        .Cases("rn", "rni", Rounding::NearestEven)
                        .Case("rna", Rounding::NearestAway)
                        .Cases("rz", "rzi", Rounding::Zero)
                        .Cases("rp", "rpi", Rounding::Up)
                        .Cases("rm", "rmi", Rounding::Down)
                        .Default(std::nullopt);
    if (!rounding)
      continue;
    info.options.rounding = info.integerRounding = *rounding;
    info.options.integral = modifier.back() == 'i';
  }
}

static bool decodeConversion(Decoder &decoder) {
  const Instruction &instruction = *decoder.instruction;
  size_t count = instruction.modifiers.size();
  auto info = std::make_shared<ConversionPayload>();
  std::optional<ConversionType> to, from;
  if (count >= 2) {
    to = parseConversionType(instruction.modifiers[count - 2]);
    from = parseConversionType(instruction.modifiers[count - 1]);
  }
  if (!to || !from || instruction.has("pack") || instruction.has("rs") || instruction.has("scaled::n2::ue8m0"))
    return decoder.fail("this conversion is not known");
  info->to = *to, info->from = *from;
  parseRounding(instruction, *info);
  info->saturate = info->options.saturate = instruction.has("sat");
  info->options.saturateFinite = instruction.has("satfinite");
  info->options.relu = instruction.has("relu");
  info->options.flush = instruction.has("ftz");
  const Operand &result = decoder.operand(0);
  if (result.is(Operand::Kind::Register))
    info->registerBits = decoder.program.kernel->registers[result.index].bits;
  PtxType type = {from->isFloat ? PtxType::Float : PtxType::Bits, from->bits(), false};
  decoder.define(result);
  for (unsigned i = 1; i < decoder.numOperands(); ++i)
    decoder.use(decoder.operand(i), type);
  if (decoder.failed())
    return false;
  bool packs = to->count == 2 && from->count == 1;
  if (decoder.op->uses.size() != (packs ? 2u : 1u) || (!packs && to->count != from->count))
    return decoder.fail("the number of operands does not fit the types");
  decoder.op->readBits = from->bits();
  // Extending and cutting off move bits.
  decoder.op->propagates = !to->isFloat && !from->isFloat && !info->saturate;
  decoder.op->payload = std::move(info);
  decoder.op->execute = packs ? executePacking : executeConversion;
  return true;
}

void tilec::simulator::addConversionInstructions(InstructionTable &table) {
  table["cvt"] = decodeConversion;
  table["cvt.pack"] = decodeIntegerPacking;
}
