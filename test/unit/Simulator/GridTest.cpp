// Blocks that wait for each other: how many run at once, and what is said where that is not enough.
#include "PtxRunner.h"

using namespace tilec::simulator;

namespace {
struct GridResult : Outcome {
  std::vector<uint32_t> flags;
};

// Runs kernel `k` of one array of 4 numbers.
GridResult runGrid(const char *ptx, unsigned blocks, unsigned cluster, const Options &options) {
  Device device;
  std::vector<uint32_t> flags(4);
  uint64_t address = device.memory.allocate(16, "flags");
  device.memory.copyIn(address, flags.data(), 16);
  Launch launch;
  launch.grid = {blocks, 1, 1};
  launch.block = {32, 1, 1};
  launch.cluster = {cluster, 1, 1};
  GridResult result{runKernel(ptx, device, launch, address, options), std::move(flags)};
  device.memory.copyOut(result.flags.data(), address, 16);
  return result;
}

// All blocks count at flags[0] and wait until all have come.
GridResult meet(unsigned blocks, const Options &options) {
  const char *ptx =
      ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 flags)\n.reqntid 32\n{\n"
      ".reg .b32 %t, %n, %v;\n.reg .b64 %f;\n.reg .pred %p;\nmov.u32 %t, %tid.x;\nsetp.ne.u32 %p, %t, 0;\n"
      "@%p ret;\nmov.u32 %n, %nctaid.x;\nld.param.u64 %f, [flags];\nred.release.gpu.global.add.u32 [%f], 1;\n"
      "SPIN: ld.acquire.gpu.global.u32 %v, [%f];\nsetp.lt.u32 %p, %v, %n;\n@%p bra SPIN;\nret;\n}\n";
  return runGrid(ptx, blocks, 1, options);
}
} // namespace

TEST(Grid, BlocksMeet) {
  for (unsigned blocks : {1u, 2u, 7u, 40u})
    for (Schedule schedule : {Schedule::Late, Schedule::Early, Schedule::Random}) {
      Options options;
      options.schedule = schedule;
      GridResult result = meet(blocks, options);
      EXPECT_EQ(result.error + result.faults, "");
      EXPECT_EQ(result.flags[0], blocks);
    }
}

TEST(Grid, MoreBlocksThanRunAtOnce) {
  Options options;
  options.residentBlocks = 4;
  options.maximumInstructions = 2000000;
  GridResult result = meet(6, options);
  EXPECT_NE(result.faults.find("deadlock"), std::string::npos);
  EXPECT_NE(result.faults.find("polls byte 0 of `flags`"), std::string::npos) << result.faults;
  EXPECT_NE(result.faults.find("`ld.acquire.gpu.global.u32` in line"), std::string::npos) << result.faults;
  EXPECT_NE(result.faults.find("reads 4"), std::string::npos) << result.faults;
  EXPECT_NE(result.faults.find("2 blocks have not begun, since at most 4 run at once"), std::string::npos)
      << result.faults;
}

// Special registers are filled while the cluster is being built.
TEST(Grid, PlacesInClusters) {
  const char *ptx =
      ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 flags)\n.reqntid 32\n{\n"
      ".reg .b32 %t, %a, %b;\n.reg .b64 %f;\n.reg .pred %p;\nmov.u32 %t, %tid.x;\nsetp.ne.u32 %p, %t, 0;\n"
      "@%p ret;\nmov.u32 %a, %ctaid.x;\nld.param.u64 %f, [flags];\nmad.wide.u32 %f, %a, 4, %f;\n"
      "mov.u32 %a, %cluster_nctarank;\nmov.u32 %b, %cluster_ctarank;\nmad.lo.u32 %a, %a, 10, %b;\n"
      "mov.u32 %b, %nclusterid.x;\nmad.lo.u32 %a, %a, 10, %b;\nmov.u32 %b, %clusterid.x;\n"
      "mad.lo.u32 %a, %a, 10, %b;\nst.global.u32 [%f], %a;\nret;\n}\n";
  GridResult result = runGrid(ptx, 4, 2, {});
  EXPECT_EQ(result.error + result.faults, "");
  EXPECT_EQ(result.flags, (std::vector<uint32_t>{2020, 2120, 2021, 2121}));
}
