// Kernels that do nothing but multiply, to measure what a card's Tensor Cores give.
#include "tilec/Runner/Benchmark.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace tilec::runner;

std::optional<std::string> tilec::runner::peakOf(StringRef operandType) {
  return StringSwitch<std::optional<std::string>>(operandType)
      .Cases("bf16", "f16", "tf32", "f32", operandType.str())
      .Cases("f8e4m3", "f8e5m2", "f8")
      .Cases("i8", "u8", "i8")
      .Default(std::nullopt);
}

namespace {
struct Operands {
  const char *ptx;
  const char *accumulator;
  /// Of one instruction of 32 bytes along the contraction.
  unsigned depth;
};
} // namespace

static std::optional<Operands> operandsOf(StringRef kind) {
  return StringSwitch<std::optional<Operands>>(kind)
      .Case("bf16", Operands{"bf16", "f32", 16})
      .Case("f16", Operands{"f16", "f32", 16})
      .Case("tf32", Operands{"tf32", "f32", 8})
      .Case("f8", Operands{"e4m3", "f32", 32})
      .Case("i8", Operands{"s8", "s32", 32})
      .Default(std::nullopt);
}

static std::string list(StringRef prefix, unsigned first, unsigned count) {
  std::string text;
  for (unsigned i = 0; i < count; ++i)
    text += (i ? ", " : "") + prefix.str() + std::to_string(first + i);
  return text;
}

// Random operands: zeros would draw less power, and a card that draws less clocks higher. `%w` becomes a word of two
// 16-bit floats, or of any other format's numbers, between 1 and 2 in size with random signs.
static std::string randomWord(StringRef kind) {
  StringRef keep = kind == "f8"    ? "0x87878787"
                   : kind == "i8"  ? "0xffffffff"
                   : kind == "f16" ? "0x83ff83ff"
                                   : "0x807f807f";
  StringRef set = kind == "f8" ? "0x38383838" : kind == "i8" ? "0" : kind == "f16" ? "0x3c003c00" : "0x3f803f80";
  return ("  mad.lo.u32 %seed, %seed, 1664525, 1013904223;\n  shr.u32 %w, %seed, 7;\n  xor.b32 %w, %w, %seed;\n"
          "  and.b32 %w, %w, " +
          keep + ";\n  or.b32 %w, %w, " + set + ";\n")
      .str();
}

static std::string head(StringRef architecture, unsigned accumulators, StringRef accumulatorType) {
  StringRef target = architecture;
  return (".version 8.4\n.target " + target +
          "\n.address_size 64\n.visible .entry peak(.param .u64 target, .param .u32 turns)\n.reqntid 256, 1, 1\n{\n"
          "  .reg .pred %more, %never;\n  .reg .b32 %seed, %w, %i, %n, %at, %thread, %base;\n  .reg .b64 %p, %a, %b;\n"
          "  .reg ." +
          (accumulatorType == "s32" ? "b32" : "f32") + " %d<" + Twine(accumulators) +
          ">;\n  .reg .b32 %x<8>;\n"
          "  ld.param.u64 %p, [target];\n  ld.param.u32 %n, [turns];\n  mov.u32 %thread, %tid.x;\n"
          "  mov.u32 %seed, %ctaid.x;\n  mad.lo.u32 %seed, %seed, 256, %thread;\n")
      .str();
}

// The results are stored under a condition that the caller never fulfils, so that they are computed.
static std::string tail(unsigned accumulators, StringRef accumulatorType) {
  std::string type = accumulatorType == "s32" ? "u32" : "f32";
  std::string text = "  setp.eq.u32 %never, %n, 0xffffffff;\n";
  for (unsigned i = 0; i < accumulators; ++i)
    text += "  @%never st.global." + type + " [%p+" + std::to_string(4 * i) + "], %d" + std::to_string(i) + ";\n";
  return text + "  ret;\n}\n";
}

static std::string zeros(unsigned count, StringRef accumulatorType) {
  std::string text;
  for (unsigned i = 0; i < count; ++i)
    text += "  mov." + (accumulatorType == "s32" ? std::string("b32") : std::string("f32")) + " %d" +
            std::to_string(i) + ", " + (accumulatorType == "s32" ? "0" : "0f00000000") + ";\n";
  return text;
}

// Two warpgroups of m64n256, four steps of 32 bytes a turn, operands in shared memory of rows of 128 bytes with the
// swizzle of 128 (PTX ISA, "Asynchronous Warpgroup Level Matrix Shared Memory Layout").
static PeakKernel makeWgmma(StringRef architecture, StringRef kind, const Operands &operands) {
  constexpr unsigned columns = 256, rows = 64, groups = 2, steps = 4, accumulators = columns / 2;
  constexpr unsigned tileBytes = (rows * groups + columns) * 128, threads = 256;
  PeakKernel result;
  std::string &text = result.ptx;
  text = head(architecture, accumulators, operands.accumulator);
  text += "  .shared .align 1024 .b8 tiles[" + std::to_string(tileBytes) + "];\n";
  text += "  mov.u32 %base, tiles;\n  shl.b32 %at, %thread, 2;\n  add.u32 %at, %at, %base;\n  mov.u32 %i, 0;\nfill:\n" +
          randomWord(kind) + "  st.shared.u32 [%at], %w;\n  add.u32 %at, %at, " + std::to_string(4 * threads) +
          ";\n  add.u32 %i, %i, 1;\n  setp.lt.u32 %more, %i, " + std::to_string(tileBytes / (4 * threads)) +
          ";\n  @%more bra fill;\n  fence.proxy.async;\n  bar.sync 0;\n";
  // Descriptors: address / 16, stride of 8 rows 1024 / 16 at bit 32, swizzle of 128 bytes at bit 62.
  text += "  shr.u32 %w, %thread, 7;\n  shl.b32 %w, %w, 13;\n  add.u32 %w, %w, %base;\n  shr.u32 %w, %w, 4;\n"
          "  cvt.u64.u32 %a, %w;\n  or.b64 %a, %a, 0x4000004000010000;\n"
          "  add.u32 %w, %base, " +
          std::to_string(rows * groups * 128) +
          ";\n  shr.u32 %w, %w, 4;\n  cvt.u64.u32 %b, %w;\n  or.b64 %b, %b, 0x4000004000010000;\n";
  text += zeros(accumulators, operands.accumulator) + "  mov.u32 %i, 0;\nturn:\n  wgmma.fence.sync.aligned;\n";
  bool isInteger = StringRef(operands.accumulator) == "s32";
  StringRef flags = isInteger ? "1" : operands.depth == 16 ? "1, 1, 1, 0, 0" : "1, 1, 1";
  for (unsigned step = 0; step < steps; ++step) {
    text += "  wgmma.mma_async.sync.aligned.m64n256k" + std::to_string(operands.depth) + "." + operands.accumulator +
            "." + operands.ptx + "." + operands.ptx + " {" + list("%d", 0, accumulators) + "}, %a, %b, " + flags.str() +
            ";\n";
    int next = step + 1 < steps ? 2 : -2 * static_cast<int>(steps - 1);
    for (const char *descriptor : {"%a", "%b"})
      text += std::string("  add.s64 ") + descriptor + ", " + descriptor + ", " + std::to_string(next) + ";\n";
  }
  text += "  wgmma.commit_group.sync.aligned;\n  wgmma.wait_group.sync.aligned 1;\n  add.u32 %i, %i, 1;\n  setp.lt.u32 "
          "%more, %i, %n;\n  @%more bra turn;\n"
          "  wgmma.wait_group.sync.aligned 0;\n";
  text += tail(accumulators, operands.accumulator);
  result.operationsOfTurn = 2.0 * rows * columns * operands.depth * groups * steps;
  return result;
}

// Eight warps with eight independent m16n8 each.
static PeakKernel makeMma(StringRef architecture, StringRef kind, const Operands &operands) {
  constexpr unsigned products = 8, ofProduct = 4, warps = 8;
  PeakKernel result;
  std::string &text = result.ptx;
  text = head(architecture, products * ofProduct, operands.accumulator) +
         zeros(products * ofProduct, operands.accumulator);
  for (unsigned i = 0; i < 6; ++i) {
    text += randomWord(kind);
    text += "  mov.b32 %x";
    text += std::to_string(i);
    text += ", %w;\n";
  }
  text += "  mov.u32 %i, 0;\nturn:\n";
  for (unsigned i = 0; i < products; ++i) {
    std::string d = "{" + list("%d", ofProduct * i, ofProduct) + "}";
    text +=
        llvm::formatv("  mma.sync.aligned.m16n8k{0}.row.col.{1}.{2}.{2}.{1} {3}, {{%x0, %x1, %x2, %x3}, {{%x4, %x5}, "
                      "{3};\n",
                      operands.depth, operands.accumulator, operands.ptx, d)
            .str();
  }
  text += "  add.u32 %i, %i, 1;\n  setp.lt.u32 %more, %i, %n;\n  @%more bra turn;\n";
  text += tail(products * ofProduct, operands.accumulator);
  result.operationsOfTurn = 2.0 * 16 * 8 * operands.depth * products * warps;
  return result;
}

// 32 independent sums a thread.
static PeakKernel makeFma(StringRef architecture) {
  constexpr unsigned sums = 32, threads = 256;
  PeakKernel result;
  std::string &text = result.ptx;
  text = head(architecture, sums, "f32") + zeros(sums, "f32") + "  .reg .f32 %f;\n" + randomWord("bf16") +
         "  mov.b32 %f, %w;\n  mov.u32 %i, 0;\nturn:\n";
  for (unsigned i = 0; i < sums; ++i)
    text += "  fma.rn.f32 %d" + std::to_string(i) + ", %f, %f, %d" + std::to_string(i) + ";\n";
  text += "  add.u32 %i, %i, 1;\n  setp.lt.u32 %more, %i, %n;\n  @%more bra turn;\n" + tail(sums, "f32");
  result.operationsOfTurn = 2.0 * sums * threads;
  return result;
}

Expected<PeakKernel> tilec::runner::makePeakKernel(StringRef architecture, StringRef kind) {
  if (kind == "f32")
    return makeFma(architecture);
  std::optional<Operands> operands = operandsOf(kind);
  StringRef number = architecture;
  unsigned capability = 0;
  if (!operands || !number.consume_front("sm_") || number.consumeInteger(10, capability))
    return createStringError("there is no peak of " + kind + " for " + architecture);
  if (capability == 90)
    return makeWgmma("sm_90a", kind, *operands);
  if (kind == "f8" && capability < 89)
    return createStringError(architecture + " has no Tensor Cores for f8");
  return makeMma(architecture, kind, *operands);
}
