// Decodes f16 and bf16 arithmetic; HalfArithmetic.h computes it.
#include "HalfInstructions.h"

#include "tilec/Simulator/HalfArithmetic.h"
#include "tilec/Simulator/Warp.h"
#include "llvm/ADT/StringSwitch.h"

using namespace tilec::simulator;

namespace {
struct HalfPayload : Payload {
  HalfOperation operation = HalfOperation::Add;
  FloatFormat format = FloatFormat::F16;
  HalfModifiers modifiers;
  bool packed = false;
};
} // namespace

bool tilec::simulator::isHalfInstruction(const Instruction &instruction) {
  llvm::StringRef type = instruction.lastModifier();
  return type == "f16" || type == "bf16" || type == "f16x2" || type == "bf16x2";
}

static Flow executeHalf(Warp &warp, const Op &op, LaneMask lanes) {
  const auto &info = op.as<HalfPayload>();
  uint64_t *result = warp.lanes(op.defs[0]);
  const uint64_t *operands[3] = {};
  for (unsigned i = 0; i < op.uses.size(); ++i)
    operands[i] = warp.lanes(op.uses[i]);
  for (unsigned lane = 0; lane < laneCount; ++lane) {
    if (!(lanes >> lane & 1))
      continue;
    uint32_t values[3] = {};
    for (unsigned i = 0; i < op.uses.size(); ++i)
      values[i] = static_cast<uint32_t>(operands[i][lane]);
    if (info.packed)
      result[lane] = computeHalf2(info.operation, info.format, values[0], values[1], values[2], info.modifiers);
    else
      result[lane] = computeHalf(info.operation, info.format, static_cast<uint16_t>(values[0]),
                                 static_cast<uint16_t>(values[1]), static_cast<uint16_t>(values[2]), info.modifiers);
  }
  return Flow::Next;
}

bool tilec::simulator::decodeHalf(Decoder &decoder) {
  const Instruction &instruction = *decoder.instruction;
  auto operation = llvm::StringSwitch<std::optional<HalfOperation>>(instruction.name)
                       .Case("add", HalfOperation::Add)
                       .Case("sub", HalfOperation::Subtract)
                       .Case("mul", HalfOperation::Multiply)
                       .Case("fma", HalfOperation::MultiplyAdd)
                       .Case("min", HalfOperation::Minimum)
                       .Case("max", HalfOperation::Maximum)
                       .Case("neg", HalfOperation::Negate)
                       .Case("abs", HalfOperation::Absolute)
                       .Case("ex2", HalfOperation::Exp2)
                       .Case("tanh", HalfOperation::Tanh)
                       .Default(std::nullopt);
  if (!operation)
    return decoder.fail("this form is not known");
  auto info = std::make_shared<HalfPayload>();
  info->operation = *operation;
  llvm::StringRef type = instruction.lastModifier();
  info->format = type.starts_with("bf16") ? FloatFormat::BF16 : FloatFormat::F16;
  info->packed = type.ends_with("x2");
  info->modifiers.flush = instruction.has("ftz");
  info->modifiers.saturate = instruction.has("sat");
  info->modifiers.relu = instruction.has("relu");
  info->modifiers.propagateNaN = instruction.has("NaN");
  info->modifiers.xorSign = instruction.has("xorsign");
  decoder.define(decoder.operand(0));
  for (unsigned i = 1; i < decoder.numOperands(); ++i)
    decoder.use(decoder.operand(i), {PtxType::Float, info->packed ? 32u : 16u, info->packed});
  decoder.op->payload = std::move(info);
  decoder.op->execute = executeHalf;
  return !decoder.failed() && decoder.op->uses.size() <= 3;
}
