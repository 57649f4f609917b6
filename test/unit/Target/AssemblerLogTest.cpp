// What is read from the log of ptxas.
#include "tilec/Target/Assembler.h"
#include "gtest/gtest.h"

using namespace tilec;

TEST(AssemblerLog, ReadsTheFiguresOfEveryKernel) {
  AssemblerReport report = parseAssemblerLog(R"(ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'second' for 'sm_90a'
ptxas info    : Function properties for second
    16 bytes stack frame, 24 bytes spill stores, 32 bytes spill loads
ptxas info    : Used 168 registers, used 3 barriers, 16 bytes cumulative stack size, 1024 bytes smem, 400 bytes cmem[0]
ptxas info    : Compile time = 1.519 ms
ptxas info    : Function properties for helper
    8 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads
ptxas info    : Compiling entry function 'first' for 'sm_90a'
ptxas info    : Function properties for first
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 10 registers, used 0 barriers
)");
  ASSERT_EQ(report.kernels.size(), 2u);
  EXPECT_EQ(report.kernels[0].entry, "second");
  EXPECT_EQ(report.kernels[0].registers, 168u);
  EXPECT_EQ(report.kernels[0].barriers, 3u);
  EXPECT_EQ(report.kernels[0].stack, 16u);
  EXPECT_EQ(report.kernels[0].spillStores, 24u);
  EXPECT_EQ(report.kernels[0].spillLoads, 32u);
  EXPECT_EQ(report.kernels[0].staticShared, 1024u);
  EXPECT_EQ(report.kernels[0].constant, 400u);
  EXPECT_TRUE(report.kernels[0].spills());
  EXPECT_EQ(report.kernels[1].registers, 10u);
  EXPECT_FALSE(report.kernels[1].spills());
  EXPECT_TRUE(report.notes.empty());
}

TEST(AssemblerLog, ClassifiesPerformanceNotes) {
  AssemblerReport report = parseAssemblerLog(
      "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized due to "
      "insufficient register resources for the wgmma pipeline in the function 'gemm'\n"
      "ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' ignored to maintain minimum register "
      "requirements.\n"
      "ptxas warning : Something else\n");
  ASSERT_EQ(report.notes.size(), 3u);
  EXPECT_EQ(report.notes[0].kind, AssemblerNote::Kind::SerializedProducts);
  EXPECT_EQ(report.notes[0].code, 7510u);
  EXPECT_EQ(report.notes[0].entry, "gemm");
  EXPECT_EQ(report.notes[1].kind, AssemblerNote::Kind::IgnoredRegisterSplit);
  EXPECT_EQ(report.notes[1].entry, "");
  EXPECT_EQ(report.notes[2].kind, AssemblerNote::Kind::Other);
  EXPECT_EQ(report.notes[2].code, 0u);
}
