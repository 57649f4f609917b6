// Integer instructions beyond arithmetic, comparisons into registers, carries, reductions at barriers.
#include "PtxRunner.h"

#include "llvm/ADT/bit.h"
#include <cmath>

using namespace tilec::simulator;

namespace {
uint64_t f32(float value) { return llvm::bit_cast<uint32_t>(value); }

/// Runs instructions over 32-bit registers %r1, %r2, %r3, which give %r0; predicates %p0 and %p1 are free.
uint64_t run(const std::string &instructions, uint64_t a, uint64_t b = 0, uint64_t c = 0) {
  std::string body;
  uint64_t values[] = {a, b, c};
  for (unsigned i = 0; i < 3; ++i)
    body += "mov.b32 %r" + std::to_string(i + 1) + ", " + std::to_string(values[i]) + ";\n";
  PtxResult result = runPtx(body + instructions + "\ncvt.u64.u32 %out, %r0;");
  EXPECT_EQ(result.error + result.faults, "") << instructions;
  return result.values[0];
}

/// The same over 64-bit registers %rd0 to %rd3.
uint64_t runWide(const std::string &instructions, uint64_t a, uint64_t b = 0, uint64_t c = 0) {
  std::string body;
  uint64_t values[] = {a, b, c};
  for (unsigned i = 0; i < 3; ++i)
    body += "mov.b64 %rd" + std::to_string(i + 1) + ", " + std::to_string(values[i]) + ";\n";
  PtxResult result = runPtx(body + instructions + "\nmov.b64 %out, %rd0;");
  EXPECT_EQ(result.error + result.faults, "") << instructions;
  return result.values[0];
}

constexpr uint64_t ones = 0xffffffff;
} // namespace

TEST(ExtendedInteger, SumsOfDifferences) {
  EXPECT_EQ(run("sad.s32 %r0, %r1, %r2, %r3;", uint32_t(-5), 7, 100), 112u);
  EXPECT_EQ(run("sad.u32 %r0, %r1, %r2, %r3;", uint32_t(-5), 7, 0), uint32_t(-12));
  EXPECT_EQ(runWide("sad.s64 %rd0, %rd1, %rd2, %rd3;", uint64_t(1) << 63, ~(uint64_t(1) << 63), 1), 0u);
}

TEST(ExtendedInteger, ProductsOf24Bits) {
  EXPECT_EQ(run("mul24.lo.u32 %r0, %r1, %r2;", 0xff000003, 0x01000005), 15u);
  EXPECT_EQ(run("mul24.lo.s32 %r0, %r1, %r2;", 0xffffff, 5), uint32_t(-5));
  EXPECT_EQ(run("mul24.hi.u32 %r0, %r1, %r2;", 0xffffff, 0xffffff), 0xfffffe00u);
  EXPECT_EQ(run("mad24.hi.sat.s32 %r0, %r1, %r2, %r3;", 0x7fffff, 0x7fffff, 0x7fffffff), 0x7fffffffu);
  EXPECT_EQ(run("mad.hi.sat.s32 %r0, %r1, %r2, %r3;", 0x80000000, 0x40000000, 0x80000000), 0x80000000u);
}

TEST(ExtendedInteger, DotProducts) {
  EXPECT_EQ(run("dp4a.u32.u32 %r0, %r1, %r2, %r3;", 0x01020304, 0x01010101, 5), 15u);
  EXPECT_EQ(run("dp4a.s32.u32 %r0, %r1, %r2, %r3;", 0xff000000, 0xff000000, 0), uint32_t(-255));
  EXPECT_EQ(run("dp2a.lo.s32.u32 %r0, %r1, %r2, %r3;", 0x0001ffff, 0x07060504, 0), uint32_t(5 - 4));
  EXPECT_EQ(run("dp2a.hi.s32.u32 %r0, %r1, %r2, %r3;", 0x0001ffff, 0x07060504, 0), uint32_t(7 - 6));
}

TEST(ExtendedInteger, BitsAndMasks) {
  EXPECT_EQ(run("bfind.u32 %r0, %r1;", 0x00400000), 22u);
  EXPECT_EQ(run("bfind.s32 %r0, %r1;", ~uint32_t(0x100)), 8u);
  EXPECT_EQ(run("bfind.s32 %r0, %r1;", ones), ones);
  EXPECT_EQ(run("bfind.shiftamt.u32 %r0, %r1;", 0x00400000), 9u);
  EXPECT_EQ(run("fns.b32 %r0, %r1, %r2, %r3;", 0xaaaaaaaa, 3, 2), 5u);
  EXPECT_EQ(run("fns.b32 %r0, %r1, %r2, %r3;", 0xaaaaaaaa, 3, uint32_t(-2)), 1u);
  EXPECT_EQ(run("fns.b32 %r0, %r1, %r2, %r3;", 0xaaaaaaaa, 2, 0), ones);
  EXPECT_EQ(run("bmsk.clamp.b32 %r0, %r1, %r2;", 4, 8), 0xff0u);
  EXPECT_EQ(run("bmsk.clamp.b32 %r0, %r1, %r2;", 28, 40), 0xf0000000u);
  EXPECT_EQ(run("szext.clamp.s32 %r0, %r1, %r2;", 0x80, 8), 0xffffff80u);
  EXPECT_EQ(run("szext.wrap.u32 %r0, %r1, %r2;", 0x1ff, 40), 0xffu);
  EXPECT_EQ(run("cvt.pack.sat.s8.s32.b32 %r0, %r1, %r2, %r3;", 1000, uint32_t(-1000), 0x1234), 0x12347f80u);
}

TEST(ExtendedInteger, Carries) {
  // 64-bit arithmetic out of halves.
  EXPECT_EQ(run("add.cc.u32 %r4, %r1, %r2;\naddc.u32 %r0, %r3, 0;", ones, 1, 7), 8u);
  EXPECT_EQ(run("sub.cc.u32 %r4, %r1, %r2;\nsubc.u32 %r0, %r3, 0;", 0, 1, 7), 6u);
  EXPECT_EQ(run("mad.lo.cc.u32 %r4, %r1, %r2, %r3;\nmadc.hi.u32 %r0, %r1, %r2, 0;", ones, ones, ones), 0xffffffffu);
  EXPECT_EQ(runWide("add.cc.u64 %rd4, %rd1, %rd2;\naddc.u64 %rd0, %rd3, %rd3;", ~uint64_t(0), 1, 7), 15u);
}

TEST(Comparison, IntoRegistersAndBySign) {
  EXPECT_EQ(run("set.lt.u32.s32 %r0, %r1, %r2;", uint32_t(-1), 3), ones);
  EXPECT_EQ(run("set.gt.f32.s32 %r0, %r1, %r2;", 4, 3), f32(1));
  EXPECT_EQ(run("slct.b32.s32 %r0, %r1, %r2, %r3;", 10, 20, uint32_t(-1)), 20u);
  EXPECT_EQ(run("slct.b32.f32 %r0, %r1, %r2, %r3;", 10, 20, f32(-0.0f)), 10u);
  EXPECT_EQ(run("slct.b32.f32 %r0, %r1, %r2, %r3;", 10, 20, f32(NAN)), 20u);
  EXPECT_EQ(run("selp.u32 %r0, %r1, %r2, 1;", 10, 20), 10u);
  EXPECT_EQ(run("selp.u32 %r0, %r1, %r2, 0;", 10, 20), 20u);
}

TEST(Comparison, SubnormalsAndHalves) {
  std::string result = "\nselp.u32 %r0, 1, 0, %p0;";
  EXPECT_EQ(run("setp.eq.ftz.f32 %p0, %r1, %r2;" + result, 1, 0), 1u);
  EXPECT_EQ(run("setp.eq.f32 %p0, %r1, %r2;" + result, 1, 0), 0u);
  EXPECT_EQ(run("setp.lt.f16x2 %p0|%p1, %r1, %r2;\nselp.u32 %r4, 2, 0, %p1;\nselp.u32 %r0, 1, 0, %p0;\n"
                "or.b32 %r0, %r0, %r4;",
                0x3c004000, 0x40003c00),
            2u);
  for (auto [property, value, holds] : {std::tuple("normal", f32(0), 1u),
                                        {"subnormal", 1, 1u},
                                        {"finite", f32(INFINITY), 0u},
                                        {"number", f32(INFINITY), 1u},
                                        {"notanumber", f32(NAN), 1u},
                                        {"infinite", f32(-INFINITY), 1u},
                                        {"normal", 1, 0u}})
    EXPECT_EQ(run("testp." + std::string(property) + ".f32 %p0, %r1;" + result, value), holds) << property;
}

TEST(Comparison, SpacesAndClocks) {
  EXPECT_EQ(run("mov.u64 %rd1, memory;\ncvta.shared.u64 %rd1, %rd1;\nisspacep.shared::cta %p0, %rd1;\n"
                "isspacep.global %p1, %rd1;\nselp.u32 %r0, 1, 0, %p0;\n@%p1 add.u32 %r0, %r0, 2;",
                0),
            1u);
  EXPECT_EQ(
      run("mov.u64 %rd1, %clock64;\nmov.u64 %rd2, %clock64;\nsetp.lt.u64 %p0, %rd1, %rd2;\nselp.u32 %r0, 1, 0, %p0;",
          0),
      1u);
}

TEST(Warp, MatricesAreTransposed) {
  PtxResult result = runPtx("shl.b32 %r0, %t, 1;\nadd.u32 %r1, %r0, 1;\nshl.b32 %r1, %r1, 16;\nor.b32 %r0, %r0, %r1;\n"
                            "movmatrix.sync.aligned.m8n8.trans.b16 %r2, %r0;\ncvt.u64.u32 %out, %r2;");
  EXPECT_EQ(result.error + result.faults, "");
  for (unsigned lane = 0; lane < 32; ++lane) {
    // Element (r, c) holds 8 r + c.
    unsigned first = 8 * (2 * (lane % 4)) + lane / 4, second = first + 8;
    EXPECT_EQ(result.values[lane], first | second << 16);
  }
}

TEST(Block, BarriersReduce) {
  PtxResult result =
      runPtx("setp.lt.u32 %p0, %t, 40;\nbar.red.popc.u32 %r0, 0, %p0;\nbar.red.and.pred %p1, 0, %p0;\n"
             "bar.red.or.pred %p2, 0, !%p0;\n@%p1 add.u32 %r0, %r0, 1000;\n@%p2 add.u32 %r0, %r0, 2000;\n"
             "cvt.u64.u32 %out, %r0;",
             64);
  EXPECT_EQ(result.error + result.faults, "");
  for (uint64_t value : result.values)
    EXPECT_EQ(value, 2040u);
}

TEST(Decoder, UnknownInstructionsSayHowToAddThem) {
  for (const char *text :
       {"frobnicate.b32 %r0, %r1;", "shfl.idx.b32 %r0, %r1, 0, 31;", "mul24.mid.u32 %r0, %r1, %r2;"}) {
    PtxResult result = runPtx(std::string("mov.b32 %r1, 0;\n") + text + "\nmov.b64 %out, 0;");
    EXPECT_NE(result.error.find("line 1"), std::string::npos) << result.error;
    EXPECT_NE(result.error.find(std::string(text).substr(0, std::string(text).find(' '))), std::string::npos)
        << result.error;
    EXPECT_NE(result.error.find("docs/simulator.md, \"Adding an instruction\""), std::string::npos) << result.error;
  }
}
