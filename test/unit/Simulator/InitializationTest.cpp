// Uninitialised bits of registers: what may carry them and what must not read them.
#include "PtxRunner.h"

using namespace tilec::simulator;

static std::string faultsOf(const std::string &body) {
  PtxResult result = runPtx(body);
  EXPECT_EQ(result.error, "") << body;
  return result.faults;
}

static void expectClean(const std::string &body, uint64_t value) {
  PtxResult result = runPtx(body);
  EXPECT_EQ(result.error + result.faults, "") << body;
  EXPECT_EQ(result.values[0], value) << body;
}

static void expectFault(const std::string &body) {
  EXPECT_NE(faultsOf(body).find("uninitialized-register"), std::string::npos) << body;
}

// %r1: 0x1234 in the lower half, the upper one undefined.
static const std::string half = "mov.b16 %rs1, 0x1234;\nmov.b32 %r1, {%rs1, %rs2};\n";
static const std::string out = "\ncvt.u64.u32 %out, %r0;";

TEST(Initialization, UndefinedBitsThatAreReplaced) {
  expectClean(half + "mov.b32 %r2, 0x56;\nbfi.b32 %r0, %r2, %r1, 16, 16;" + out, 0x561234);
  expectClean(half + "prmt.b32 %r0, %r1, 0, 0x4410;" + out, 0x1234);
  expectClean(half + "and.b32 %r0, %r1, 0xff0f;" + out, 0x1204);
  expectClean(half + "or.b32 %r0, %r1, 0xffff0000;" + out, 0xffff1234);
  expectClean(half + "shl.b32 %r0, %r1, 16;" + out, 0x12340000);
  expectClean(half + "lop3.b32 %r0, %r1, 0xffff, 1, 0xea;" + out, 0x1235);
  expectClean(half + "bfe.u32 %r0, %r1, 4, 8;" + out, 0x23);
  expectClean(half + "mov.b32 {%rs3, %rs4}, %r1;\ncvt.u32.u16 %r0, %rs3;" + out, 0x1234);
  expectClean(half + "cvt.u16.u32 %rs3, %r1;\ncvt.u32.u16 %r0, %rs3;" + out, 0x1234);
  expectClean(half + "shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1;\nand.b32 %r0, %r2, 0xff;" + out, 0x34);
  expectClean(half + "setp.eq.u32 %p0, %t, %t;\nselp.b32 %r2, %r1, 0, %p0;\nand.b32 %r0, %r2, 0xff;" + out, 0x34);
}

TEST(Initialization, StoresOfTheWrittenPart) {
  std::string address = "mov.b32 %r5, memory;\nshl.b32 %r6, %t, 2;\nadd.u32 %r5, %r5, %r6;\n";
  expectClean(half + address + "st.shared.b16 [%r5], %r1;\nld.shared.u16 %r0, [%r5];" + out, 0x1234);
  expectFault(half + address + "st.shared.b32 [%r5], %r1;\nmov.b64 %out, 0;");
}

TEST(Initialization, UndefinedBitsThatCount) {
  expectFault(half + "add.u32 %r0, %r1, 1;" + out);
  expectFault(half + "setp.eq.u32 %p0, %r1, 0;\nmov.b64 %out, 0;");
  expectFault(half + "mov.b32 %r2, 0x56;\nbfi.b32 %r3, %r2, %r1, 16, 8;\nadd.u32 %r0, %r3, 0;" + out);
  expectFault(half + "shr.u32 %r2, %r1, 8;\nadd.u32 %r0, %r2, 0;" + out);
  expectFault(half + "prmt.b32 %r2, %r1, 0, 0x4420;\nadd.u32 %r0, %r2, 0;" + out);
  expectFault(half + "and.b32 %r2, %r1, 0x1ffff;\nadd.u32 %r0, %r2, 0;" + out);
  expectFault("mov.b32 %r2, 1;\nshl.b32 %r3, %r2, %r4;\nmov.b64 %out, 0;");
  expectFault(half +
              "mov.b32 %r3, memory;\nmov.b32 {%rs3, %rs4}, %r1;\ncvt.u32.u16 %r2, %rs4;\nadd.u32 %r3, %r3, %r2;\n"
              "ld.shared.u32 %r0, [%r3];" +
              out);
}
