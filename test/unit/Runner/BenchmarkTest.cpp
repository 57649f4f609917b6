// The kernels that measure peaks run, and compute what they say they do.
#include "tilec/Runner/Benchmark.h"
#include "tilec/Simulator/Simulator.h"
#include "gtest/gtest.h"

using namespace tilec;
using namespace tilec::runner;

namespace {

struct PeakCase {
  const char *architecture;
  const char *kind;
};

class PeakKernelTest : public testing::TestWithParam<PeakCase> {};

TEST_P(PeakKernelTest, RunsAndCountsItsOperations) {
  llvm::Expected<PeakKernel> kernel = makePeakKernel(GetParam().architecture, GetParam().kind);
  ASSERT_TRUE(bool(kernel)) << llvm::toString(kernel.takeError());
  auto module = simulator::Module::parse(kernel->ptx);
  ASSERT_TRUE(bool(module)) << llvm::toString(module.takeError());
  simulator::Device device;
  uint64_t target = device.memory.allocate(4096, "target");
  simulator::Launch launch;
  launch.kernel = "peak";
  launch.grid = {2, 1, 1};
  launch.block = {256, 1, 1};
  constexpr uint32_t turns = 3;
  launch.parameters.resize(12);
  std::memcpy(launch.parameters.data(), &target, sizeof(target));
  std::memcpy(&launch.parameters[8], &turns, sizeof(turns));
  simulator::Options options;
  options.count = true;
  auto report = (*module)->run(device, launch, options);
  ASSERT_TRUE(bool(report)) << llvm::toString(report.takeError());
  EXPECT_TRUE(report->clean()) << report->text((*module)->ptx());
  uint64_t operations = 0;
  for (const auto &[instruction, counts] : report->counts)
    operations += counts.tensorOperations + (instruction->name == "fma" ? 2 * 32 * counts.executed : 0);
  EXPECT_EQ(double(operations), kernel->operationsOfTurn * turns * 2);
}

INSTANTIATE_TEST_SUITE_P(All, PeakKernelTest,
                         testing::Values(PeakCase{"sm_90a", "bf16"}, PeakCase{"sm_90a", "f16"},
                                         PeakCase{"sm_90a", "tf32"}, PeakCase{"sm_90a", "f8"}, PeakCase{"sm_90a", "i8"},
                                         PeakCase{"sm_90a", "f32"}, PeakCase{"sm_80", "bf16"},
                                         PeakCase{"sm_80", "tf32"}, PeakCase{"sm_80", "i8"}, PeakCase{"sm_89", "f8"},
                                         PeakCase{"sm_86", "f32"}));

TEST(PeakKernel, RefusesWhatTheCardLacks) {
  EXPECT_FALSE(llvm::errorToBool(makePeakKernel("sm_90a", "bf16").takeError()));
  EXPECT_TRUE(llvm::errorToBool(makePeakKernel("sm_80", "f8").takeError()));
  EXPECT_TRUE(llvm::errorToBool(makePeakKernel("sm_90a", "f64").takeError()));
  EXPECT_EQ(peakOf("f8e5m2"), "f8");
  EXPECT_EQ(peakOf("f64"), std::nullopt);
}

TEST(Spread, TakesTheMiddleAndTenths) {
  std::vector<double> values;
  for (int i = 100; i >= 0; --i)
    values.push_back(i);
  Spread spread = Spread::of(values);
  EXPECT_EQ(spread.median, 50);
  EXPECT_EQ(spread.low, 10);
  EXPECT_EQ(spread.high, 90);
  EXPECT_EQ(Spread::of({3}).high, 3);
  EXPECT_EQ(Spread::of({}).count, 0u);
}

} // namespace
