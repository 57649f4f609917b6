// Single instructions through the whole simulator: conversions, half arithmetic, directed rounding.
#include "PtxRunner.h"

#include "llvm/ADT/bit.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace tilec::simulator;

namespace {

uint64_t f32(float value) { return llvm::bit_cast<uint32_t>(value); }
uint64_t f64(double value) { return llvm::bit_cast<uint64_t>(value); }

// Runs an instruction over %d, %a, %b, %c, which are registers of these widths (of %d, and of the operands).
uint64_t run(const std::string &instruction, unsigned resultBits, unsigned bits, uint64_t a, uint64_t b = 0,
             uint64_t c = 0) {
  std::string width = std::to_string(bits), resultWidth = std::to_string(resultBits);
  std::string body = ".reg .b" + resultWidth + " %d;\n.reg .b" + width + " %a, %b, %c;\n";
  const char *names[] = {"%a", "%b", "%c"};
  uint64_t values[] = {a, b, c};
  for (unsigned i = 0; i < 3; ++i)
    body += "mov.b" + width + " " + names[i] + ", " + std::to_string(values[i]) + ";\n";
  body += instruction + "\n";
  body += resultBits == 64 ? "mov.b64 %out, %d;" : "cvt.u64.u" + resultWidth + " %out, %d;";
  PtxResult result = runPtx(body);
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.faults, "");
  return result.values[0];
}

TEST(InstructionForms, DirectedRounding) {
  uint64_t one = f32(1), tiny = f32(0x1p-30f), above = f32(1 + 0x1p-23f), below = f32(1 - 0x1p-24f);
  EXPECT_EQ(run("add.rz.f32 %d, %a, %b;", 32, 32, one, tiny), one);
  EXPECT_EQ(run("add.rp.f32 %d, %a, %b;", 32, 32, one, tiny), above);
  EXPECT_EQ(run("sub.rm.f32 %d, %a, %b;", 32, 32, one, tiny), below);
  EXPECT_EQ(run("sub.rz.f32 %d, %a, %b;", 32, 32, one, tiny), below);
  EXPECT_EQ(run("sub.rp.f32 %d, %a, %b;", 32, 32, one, tiny), one);
  EXPECT_EQ(run("mul.rp.sat.f32 %d, %a, %b;", 32, 32, above, above), one);
  EXPECT_EQ(run("fma.rp.f32 %d, %a, %b, %c;", 32, 32, one, tiny, one), above);
  EXPECT_EQ(run("fma.rm.f32 %d, %a, %b, %c;", 32, 32, one, tiny, one), one);
  EXPECT_EQ(run("div.rp.f32 %d, %a, %b;", 32, 32, one, f32(3)), f32(std::nextafter(1.0f / 3, 0.0f)) + 1);
  EXPECT_EQ(run("rcp.rm.f32 %d, %a;", 32, 32, f32(3)) + 1, run("rcp.rp.f32 %d, %a;", 32, 32, f32(3)));
  EXPECT_EQ(run("sqrt.rz.f32 %d, %a;", 32, 32, f32(2)) + 1, run("sqrt.rp.f32 %d, %a;", 32, 32, f32(2)));
  EXPECT_EQ(run("mul.rz.ftz.f32 %d, %a, %b;", 32, 32, f32(-0x1p-100f), f32(0x1p-40f)), f32(-0.0f));
  EXPECT_EQ(run("add.rz.f32 %d, %a, %b;", 32, 32, f32(NAN), one), 0x7fffffffu);
  EXPECT_EQ(run("add.rp.f64 %d, %a, %b;", 64, 64, f64(1), f64(0x1p-80)), f64(1) + 1);
  EXPECT_EQ(run("div.rm.f64 %d, %a, %b;", 64, 64, f64(1), f64(3)) + 1,
            run("div.rp.f64 %d, %a, %b;", 64, 64, f64(1), f64(3)));
}

// What an H200 gives where PTX leaves it open.
TEST(InstructionForms, AsTheHardware) {
  EXPECT_EQ(run("div.rp.ftz.f32 %d, %a, %b;", 32, 32, 0x800000, 0x3f800001), 0u);
  EXPECT_EQ(run("div.approx.f32 %d, %a, %b;", 32, 32, f32(1), 0x7f7fffff), 0u);
  EXPECT_EQ(run("div.approx.ftz.f32 %d, %a, %b;", 32, 32, 0x7f7fffff, 0x7f7fffff), 0u);
  EXPECT_EQ(run("rcp.approx.ftz.f64 %d, %a;", 64, 64, 0xfffffffffffff), 0x7ff0000000000000u);
  EXPECT_EQ(run("rcp.approx.ftz.f64 %d, %a;", 64, 64, 0x7ff0000000000001), 0u);
  EXPECT_EQ(run("cvt.rm.ftz.f16.f32 %d, %a;", 16, 32, 0x80000001), 0x8001u);
  EXPECT_EQ(run("cvt.rp.ftz.f16.f32 %d, %a;", 16, 32, 1), 1u);
  EXPECT_EQ(run("cvt.rna.tf32.f32 %d, %a;", 32, 32, 0x7f800001), 0x7f800000u);
  EXPECT_EQ(run("cvt.rna.satfinite.tf32.f32 %d, %a;", 32, 32, 0x7f800001), 0x7f7fe000u);
  EXPECT_EQ(run("cvt.rna.tf32.f32 %d, %a;", 32, 32, 0x7fc00001), 0x7fc00000u);
}

TEST(InstructionForms, ExtremaWithSigns) {
  EXPECT_EQ(run("max.xorsign.abs.f32 %d, %a, %b;", 32, 32, f32(-2), f32(1)), f32(-2));
  EXPECT_EQ(run("min.xorsign.abs.f32 %d, %a, %b;", 32, 32, f32(-2), f32(-1)), f32(1));
  EXPECT_EQ(run("max.f32 %d, %a, %b;", 32, 32, f32(-0.0f), f32(0)), f32(0));
  EXPECT_EQ(run("max.NaN.f32 %d, %a, %b;", 32, 32, f32(NAN), f32(1)), 0x7fffffffu);
}

TEST(InstructionForms, Conversions) {
  EXPECT_EQ(run("cvt.rn.bf16x2.f32 %d, %a, %b;", 32, 32, f32(1), f32(2)), 0x3f804000u);
  EXPECT_EQ(run("cvt.rn.satfinite.e4m3x2.f32 %d, %a, %b;", 16, 32, f32(1000), f32(-1)), 0x7eb8u);
  EXPECT_EQ(run("cvt.rn.f16x2.e4m3x2 %d, %a;", 32, 16, 0x3840), 0x3c004000u);
  EXPECT_EQ(run("cvt.rna.tf32.f32 %d, %a;", 32, 32, 0x3f801000), 0x3f802000u);
  EXPECT_EQ(run("cvt.rzi.s32.f32 %d, %a;", 32, 32, f32(-2.7f)), uint32_t(-2));
  EXPECT_EQ(run("cvt.rni.ftz.u8.f32 %d, %a;", 16, 32, f32(300)), 255u);
  EXPECT_EQ(run("cvt.s8.s32 %d, %a;", 16, 32, 0x180), 0xff80u);
  EXPECT_EQ(run("cvt.s64.s8 %d, %a;", 64, 16, 0x1ff), ~uint64_t(0));
  EXPECT_EQ(run("cvt.sat.u8.s32 %d, %a;", 16, 32, uint32_t(-5)), 0u);
  EXPECT_EQ(run("cvt.rn.f32.s64 %d, %a;", 32, 64, uint64_t(-3)), f32(-3));
  EXPECT_EQ(run("cvt.rmi.f64.f64 %d, %a;", 64, 64, f64(-1.5)), f64(-2));
}

TEST(InstructionForms, HalfArithmetic) {
  EXPECT_EQ(run("fma.rn.bf16x2 %d, %a, %b, %c;", 32, 32, 0x40003f80, 0x40404040, 0x3f803f80), 0x40e04080u);
  EXPECT_EQ(run("add.rn.sat.f16 %d, %a, %b;", 16, 16, 0x3c00, 0x3c00), 0x3c00u);
  EXPECT_EQ(run("max.NaN.f16x2 %d, %a, %b;", 32, 32, 0x7e003c00, 0x40004000), 0x7fff4000u);
  EXPECT_EQ(run("neg.bf16 %d, %a;", 16, 16, 0x3f80), 0xbf80u);
}

} // namespace
