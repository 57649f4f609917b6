// Divergence, warp-wide instructions, barriers and the report of hangs.
#include "PtxRunner.h"

using namespace tilec::simulator;

static std::vector<uint64_t> values(const std::string &body, unsigned threads = 32, uint64_t seed = 0) {
  Options options;
  options.seed = seed;
  PtxResult result = runPtx(body, threads, options);
  EXPECT_EQ(result.error + result.faults, "") << body;
  result.values.resize(threads);
  return result.values;
}

TEST(Warp, LanesMeetBehindBranches) {
  // Each lane runs its own number of iterations; all of them are together behind the loop.
  auto result = values("mov.b32 %r0, 0;\nmov.b32 %r1, 0;\nLOOP:\nadd.s32 %r1, %r1, %r0;\nadd.s32 %r0, %r0, 1;\n"
                       "setp.le.u32 %p0, %r0, %t;\n@%p0 bra LOOP;\nactivemask.b32 %r2;\nmov.b64 %out, {%r1, %r2};");
  for (unsigned lane = 0; lane < 32; ++lane)
    EXPECT_EQ(result[lane], uint64_t(~0u) << 32 | lane * (lane + 1) / 2);
}

TEST(Warp, ShufflesWaitForTheirMembers) {
  auto result =
      values("setp.ge.u32 %p0, %t, 16;\nmov.b32 %r0, %t;\n@%p0 bra UPPER;\nadd.s32 %r0, %r0, 100;\nbra JOIN;\n"
             "UPPER: add.s32 %r0, %r0, 200;\nJOIN: shfl.sync.bfly.b32 %r1, %r0, 16, 31, -1;\n"
             "cvt.u64.u32 %out, %r1;");
  for (unsigned lane = 0; lane < 32; ++lane)
    EXPECT_EQ(result[lane], (lane ^ 16) + (lane < 16 ? 200u : 100u));
}

TEST(Warp, ShuffleModes) {
  auto shuffle = [](const std::string &rest) {
    return values("shfl.sync." + rest + ", -1;\nselp.b32 %r1, 1, 0, %p0;\nmov.b64 %out, {%r0, %r1};");
  };
  auto up = shuffle("up.b32 %r0|%p0, %t, 1, 0");
  auto down = shuffle("down.b32 %r0|%p0, %t, 8, 31");
  auto segments = shuffle("idx.b32 %r0|%p0, %t, 1, 0x181f");
  for (uint64_t lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(up[lane], lane ? (lane - 1) | uint64_t(1) << 32 : 0);
    EXPECT_EQ(down[lane], lane < 24 ? (lane + 8) | uint64_t(1) << 32 : lane);
    EXPECT_EQ(segments[lane], (lane / 8 * 8 + 1) | uint64_t(1) << 32);
  }
}

TEST(Warp, VotesAndReductions) {
  auto result =
      values("setp.lt.u32 %p0, %t, 4;\nvote.sync.ballot.b32 %r0, %p0, -1;\nredux.sync.add.s32 %r1, %t, -1;\n"
             "vote.sync.any.pred %p1, %p0, -1;\nvote.sync.all.pred %p2, !%p0, -1;\n@%p1 add.s32 %r1, %r1, 1000;\n"
             "@%p2 add.s32 %r1, %r1, 2000;\nmov.b64 %out, {%r0, %r1};");
  EXPECT_EQ(result[9], 15 | uint64_t(496 + 1000) << 32);
  auto elected = values("elect.sync %r0|%p0, -1;\nselp.b64 %out, 1, 0, %p0;");
  EXPECT_EQ(elected[0], 1u);
  EXPECT_EQ(elected[1], 0u);
}

TEST(Warp, LanesWaitForEachOtherAtDifferentInstructions) {
  values("setp.ge.u32 %p0, %t, 16;\n@%p0 bra UPPER;\nbar.warp.sync -1;\nbra JOIN;\nUPPER: bar.warp.sync -1;\n"
         "JOIN: mov.b64 %out, 0;");
}

TEST(Block, ResultsDoNotDependOnTheOrderOfWarps) {
  std::string body = "mov.u32 %r0, memory;\nmad.lo.s32 %r1, %t, 4, %r0;\nst.shared.u32 [%r1], %t;\nbar.sync 0;\n"
                     "xor.b32 %r2, %t, 96;\nmad.lo.s32 %r1, %r2, 4, %r0;\nld.shared.u32 %r3, [%r1];\n"
                     "cvt.u64.u32 %out, %r3;";
  for (uint64_t seed = 0; seed < 20; ++seed) {
    auto result = values(body, 128, seed);
    for (unsigned thread = 0; thread < 128; ++thread)
      ASSERT_EQ(result[thread], thread ^ 96);
  }
}

TEST(Block, ProducersArriveAtNamedBarriers) {
  // Warp 0 writes and arrives, warp 1 waits and reads.
  values("mov.u32 %r0, memory;\nmov.b64 %out, 0;\nsetp.ge.u32 %p0, %t, 32;\n@%p0 bra CONSUMER;\n"
         "mad.lo.s32 %r1, %t, 4, %r0;\nst.shared.u32 [%r1], %t;\nbar.arrive 3, 64;\nbra DONE;\n"
         "CONSUMER: bar.sync 3, 64;\nld.shared.u32 %r2, [%r0+4];\ncvt.u64.u32 %out, %r2;\nDONE:",
         64);
}

TEST(Block, HangsAreReported) {
  PtxResult result = runPtx("mov.b64 %out, 0;\nsetp.ge.u32 %p0, %t, 32;\n@%p0 bra SKIP;\nbar.sync 1, 64;\nSKIP:", 64);
  EXPECT_TRUE(result.report.contains(FaultKind::Deadlock)) << result.faults;
  Options options;
  options.maximumInstructions = 10000;
  result = runPtx("mov.b64 %out, 0;\nFOREVER: bra FOREVER;", 32, options);
  EXPECT_TRUE(result.report.contains(FaultKind::Deadlock)) << result.faults;
}

TEST(Block, CountsConflictsAndSectors) {
  Options options;
  options.count = true;
  PtxResult result = runPtx(
      "mov.u32 %r0, memory;\nmad.lo.s32 %r1, %t, 128, %r0;\nst.shared.u32 [%r1], %t;\nmov.b64 %out, 0;", 32, options);
  LineCounts total;
  for (const auto &[instruction, counts] : result.report.counts) {
    total.bankConflicts += counts.bankConflicts;
    total.globalSectors += counts.globalSectors;
    total.wastedBytes += counts.wastedBytes;
  }
  EXPECT_EQ(total.bankConflicts, 31u);
  EXPECT_EQ(total.globalSectors, 8u);
  EXPECT_EQ(total.wastedBytes, 0u);
}
