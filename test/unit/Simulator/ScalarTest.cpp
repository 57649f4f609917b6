// Arithmetic, comparisons, moves and conversions of single lanes.
#include "PtxRunner.h"

using namespace tilec::simulator;

static uint64_t value(const std::string &body) {
  PtxResult result = runPtx(body);
  EXPECT_EQ(result.error + result.faults, "") << body;
  return result.values.empty() ? ~uint64_t(0) : result.values[0];
}

/// `instruction` with 32-bit operands a, b, c in %r1 to %r3 and the result in %r0.
static uint32_t value32(const std::string &instruction, uint32_t a, uint32_t b = 0, uint32_t c = 0) {
  return value("mov.b32 %r1, " + std::to_string(a) + ";\nmov.b32 %r2, " + std::to_string(b) + ";\nmov.b32 %r3, " +
               std::to_string(c) + ";\n" + instruction + "\ncvt.u64.u32 %out, %r0;");
}

static uint64_t value64(const std::string &instruction, uint64_t a, uint64_t b = 0) {
  return value("mov.b64 %rd1, " + std::to_string(a) + ";\nmov.b64 %rd2, " + std::to_string(b) + ";\n" + instruction +
               "\nmov.b64 %out, %rd0;");
}

TEST(Scalar, Integers) {
  EXPECT_EQ(value32("add.s32 %r0, %r1, %r2;", ~0u, 2), 1u);
  EXPECT_EQ(value32("add.sat.s32 %r0, %r1, %r2;", 0x7fffffff, 2), 0x7fffffffu);
  EXPECT_EQ(value32("sub.sat.s32 %r0, %r1, %r2;", 0x80000000, 1), 0x80000000u);
  EXPECT_EQ(value32("sub.sat.s32 %r0, %r1, %r2;", 0x7fffffff, ~0u), 0x7fffffffu);
  EXPECT_EQ(value32("mul.hi.u32 %r0, %r1, %r2;", 0x80000000, 6), 3u);
  EXPECT_EQ(value32("mul.hi.s32 %r0, %r1, %r2;", uint32_t(-3), 5), ~0u);
  EXPECT_EQ(value32("mad.lo.s32 %r0, %r1, %r2, %r3;", 3, 4, 5), 17u);
  EXPECT_EQ(value32("div.s32 %r0, %r1, %r2;", uint32_t(-7), 2), uint32_t(-3));
  EXPECT_EQ(value32("rem.s32 %r0, %r1, %r2;", uint32_t(-7), 2), uint32_t(-1));
  EXPECT_EQ(value32("div.u32 %r0, %r1, %r2;", 7, 0), ~0u);
  EXPECT_EQ(value32("div.s32 %r0, %r1, %r2;", 0x80000000, ~0u), 0x80000000u);
  EXPECT_EQ(value32("max.s32 %r0, %r1, %r2;", ~0u, 1), 1u);
  EXPECT_EQ(value32("max.u32 %r0, %r1, %r2;", ~0u, 1), ~0u);
  EXPECT_EQ(value64("mul.hi.s64 %rd0, %rd1, %rd2;", uint64_t(-1), 5), ~uint64_t(0));
  EXPECT_EQ(value64("mul.hi.u64 %rd0, %rd1, %rd2;", uint64_t(1) << 63, 6), 3u);
  EXPECT_EQ(value("mov.b32 %r1, -2;\nmul.wide.s32 %out, %r1, 3;"), uint64_t(-6));
}

TEST(Scalar, Bits) {
  EXPECT_EQ(value32("shl.b32 %r0, %r1, %r2;", 1, 32), 0u);
  EXPECT_EQ(value32("shr.s32 %r0, %r1, %r2;", 0x80000000, 40), ~0u);
  EXPECT_EQ(value32("shr.u32 %r0, %r1, %r2;", 0x80000000, 31), 1u);
  EXPECT_EQ(value32("shf.l.wrap.b32 %r0, %r1, %r2, %r3;", 0x80000000, 1, 33), 3u);
  EXPECT_EQ(value32("bfe.u32 %r0, %r1, %r2, %r3;", 0xabcd, 4, 8), 0xbcu);
  EXPECT_EQ(value32("bfe.s32 %r0, %r1, %r2, %r3;", 0xabcd, 4, 8), uint32_t(-68));
  EXPECT_EQ(value32("bfe.u32 %r0, %r1, %r2, %r3;", 0xabcd, 40, 8), 0u);
  EXPECT_EQ(value32("bfi.b32 %r0, %r1, %r2, 4, 8;", 0xff, 0), 0xff0u);
  EXPECT_EQ(value32("lop3.b32 %r0, %r1, %r2, %r3, 0xe8;", 0xc, 0xa, 0x6), 0xeu);
  EXPECT_EQ(value32("clz.b32 %r0, %r1;", 1), 31u);
  EXPECT_EQ(value32("popc.b32 %r0, %r1;", 0xf0f), 8u);
  EXPECT_EQ(value32("brev.b32 %r0, %r1;", 1), 0x80000000u);
  EXPECT_EQ(value32("prmt.b32 %r0, %r1, %r2, 0x5410;", 0x33221100, 0x77665544), 0x55441100u);
  EXPECT_EQ(value32("prmt.b32 %r0, %r1, %r2, 0x8888;", 0x80, 0), ~0u);
  EXPECT_EQ(value("mov.b32 %r1, 0x12345678;\nmov.b32 {%rs0, %rs1}, %r1;\nmov.b32 %r0, {%rs1, %rs0};\n"
                  "cvt.u64.u32 %out, %r0;"),
            0x56781234u);
}

TEST(Scalar, Floats) {
  EXPECT_EQ(value32("add.rz.f32 %r0, %r1, %r2;", 0x3f800000, 0x33800001), 0x3f800000u);
  EXPECT_EQ(value32("add.rp.f32 %r0, %r1, %r2;", 0x3f800000, 1), 0x3f800001u);
  EXPECT_EQ(value32("add.rm.f32 %r0, %r1, %r2;", 0x3f800000, 0x80000001), 0x3f7fffffu);
  EXPECT_EQ(value32("fma.rn.f32 %r0, %r1, %r2, %r3;", 0x3f800001, 0x3f800001, 0xbf800002), 0x28800000u);
  EXPECT_EQ(value32("mul.ftz.f32 %r0, %r1, %r2;", 1, 0x3f800000), 0u);
  EXPECT_EQ(value32("mul.f32 %r0, %r1, %r2;", 1, 0x3f800000), 1u);
  EXPECT_EQ(value32("add.sat.f32 %r0, %r1, %r2;", 0x3f800000, 0x3f800000), 0x3f800000u);
  EXPECT_EQ(value32("max.f32 %r0, %r1, %r2;", 0x7fc00000, 0x3f800000), 0x3f800000u);
  EXPECT_EQ(value32("max.NaN.f32 %r0, %r1, %r2;", 0x7fc00000, 0x3f800000), 0x7fffffffu);
  EXPECT_EQ(value32("min.f32 %r0, %r1, %r2;", 0, 0x80000000), 0x80000000u);
  EXPECT_EQ(value32("sub.f32 %r0, %r1, %r2;", 0x7f800000, 0x7f800000), 0x7fffffffu);
  EXPECT_EQ(value32("copysign.f32 %r0, %r1, %r2;", 0x80000000, 0x3f800000), 0xbf800000u);
  EXPECT_EQ(value32("neg.f32 %r0, %r1;", 0x7f800000), 0xff800000u);
  EXPECT_EQ(value32("ex2.approx.ftz.f32 %r0, %r1;", 0x40400000), 0x41000000u);
  EXPECT_EQ(value32("rsqrt.approx.f32 %r0, %r1;", 0x40800000), 0x3f000000u);
  EXPECT_EQ(value64("div.rn.f64 %rd0, %rd1, %rd2;", 0x3ff0000000000000, 0x4008000000000000), 0x3fd5555555555555u);
}

TEST(Scalar, Comparisons) {
  auto compare = [](const std::string &comparison, uint32_t a, uint32_t b) {
    return value32("setp." + comparison + " %p0, %r1, %r2;\nselp.b32 %r0, 1, 0, %p0;", a, b);
  };
  constexpr uint32_t nan = 0x7fc00000, one = 0x3f800000;
  EXPECT_EQ(compare("lt.s32", ~0u, 0), 1u);
  EXPECT_EQ(compare("lt.u32", ~0u, 0), 0u);
  EXPECT_EQ(compare("ne.f32", nan, one), 0u);
  EXPECT_EQ(compare("neu.f32", nan, one), 1u);
  EXPECT_EQ(compare("geu.f32", nan, one), 1u);
  EXPECT_EQ(compare("ge.f32", nan, one), 0u);
  EXPECT_EQ(compare("equ.f32", nan, one), 1u);
  EXPECT_EQ(compare("equ.f32", 0, one), 0u);
  EXPECT_EQ(compare("nan.f32", nan, one), 1u);
  EXPECT_EQ(compare("eq.f32", 0, 0x80000000), 1u);
  EXPECT_EQ(value32("setp.lt.u32 %p1, %r1, 5;\nsetp.gt.and.u32 %p0|%p2, %r1, %r2, !%p1;\n"
                    "selp.b32 %r0, 1, 0, %p0;\n@%p2 add.s32 %r0, %r0, 2;",
                    7, 6),
            1u);
}

TEST(Scalar, UnknownInstructionsAreNamed) {
  EXPECT_EQ(runPtx("frobnicate.sync.b32 %r0, %r1;\nmov.b64 %out, 0;").error,
            "line 15: the simulator does not know `frobnicate.sync.b32`; docs/simulator.md, \"Adding an instruction\", "
            "says how to add it");
  EXPECT_NE(runPtx("add.s32 %r0, %r1;\nmov.b64 %out, 0;").error, "");
  EXPECT_NE(runPtx("mov.u32 %r0, %nosuch;\nmov.b64 %out, 0;").error, "");
}
