// Launches from reflection: refusals, variants, grids, parameters, with a device that only counts.
#include "tilec/Runner/Launcher.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace tilec::runner;
namespace json = llvm::json;

namespace {

class CountingDevice : public Device {
public:
  int64_t smCount() const override { return 4; }
  llvm::Expected<uint64_t> allocate(size_t bytes, llvm::StringRef) override {
    allocated += bytes;
    return uint64_t(1) << 20;
  }
  void free(uint64_t) override {}
  llvm::Error poison(uint64_t, size_t) override { return llvm::Error::success(); }
  llvm::Error upload(uint64_t, llvm::ArrayRef<uint8_t>) override { return llvm::Error::success(); }
  llvm::Error download(uint64_t, llvm::MutableArrayRef<uint8_t>) override { return llvm::Error::success(); }
  llvm::Expected<std::array<uint8_t, 128>> encodeTensorMap(const TensorMapRequest &request) override {
    maps.push_back(request);
    return std::array<uint8_t, 128>{};
  }
  llvm::Error launch(const ReadyLaunch &) override { return llvm::Error::success(); }

  size_t allocated = 0;
  std::vector<TensorMapRequest> maps;
};

constexpr const char *kernelText = R"({
  "name": "k",
  "arguments": [
    {"kind": "tensor", "name": "A", "type": "f32", "access": "in", "shape": ["M", 8], "strides": [8, 1],
     "dynamic_strides": false},
    {"kind": "scalar", "name": "s", "type": "bf16"},
    {"kind": "tensor", "name": "C", "type": "f32", "access": "out", "shape": ["M"], "strides": [1],
     "dynamic_strides": true},
    {"kind": "dim", "name": "M"}],
  "contracts": [{"condition": ["lt", "M", 100], "text": "M < 100"}],
  "workspaces": [{"name": "w", "bytes": ["mul", "M", 4], "clear": true}],
  "variants": [
    {"name": "fast", "when": [["aligned", "A", 16], ["eq", ["rem", "M", 4], 0]], "launches": [
      {"entry": "k_fast", "grid": ["sm_count", 1, 1], "block": 64, "cluster": [1, 1, 1], "shared": 1024, "params": [
        {"kind": "tensormap", "tensor": "A", "type": "f32", "dims": [8, "M"], "strides": [32], "box": [8, 16],
         "swizzle": 32, "l2": 128},
        {"kind": "pointer", "tensor": "w"}, {"kind": "scalar", "name": "s", "type": "bf16"},
        {"kind": "int", "value": "C.stride0", "type": "i64"}]}]},
    {"name": "general", "when": [], "launches": [
      {"entry": "k_general", "grid": [["ceil_div", "M", 2], 1, 1], "block": 32, "cluster": [1, 1, 1], "shared": 0,
       "params": [{"kind": "int", "value": ["add", "M", 1], "type": "i32"}]}]}]})";

class LauncherTest : public testing::Test {
protected:
  json::Value kernel = llvm::cantFail(json::parse(kernelText));
  CountingDevice device;
  std::map<std::string, TensorArgument> tensors = {{"A", {4096, {4, 8}, std::nullopt}},
                                                   {"C", {8192, {4}, std::nullopt}}};
  std::map<std::string, Number> numbers = {{"s", Number::ofReal(1)}};

  llvm::Expected<LaunchPlan> plan() { return Launcher(*kernel.getAsObject(), device).plan(tensors, numbers); }
  std::string refusal() {
    llvm::Expected<LaunchPlan> result = plan();
    return result ? "" : llvm::toString(result.takeError());
  }
};

TEST_F(LauncherTest, FirstVariantThatFits) {
  LaunchPlan fast = llvm::cantFail(plan());
  EXPECT_EQ(fast.variant, "fast");
  ASSERT_EQ(fast.launches.size(), 1u);
  const ReadyLaunch &launch = fast.launches[0];
  EXPECT_EQ(launch.entry, "k_fast");
  EXPECT_EQ(launch.grid[0], 4);
  EXPECT_EQ(launch.block, 64);
  EXPECT_EQ(launch.shared, 1024);
  ASSERT_EQ(launch.params.size(), 4u);
  EXPECT_EQ(launch.params[0].size(), 128u);
  EXPECT_EQ(launch.params[1], (std::vector<uint8_t>{0, 0, 16, 0, 0, 0, 0, 0}));
  EXPECT_EQ(launch.params[2], (std::vector<uint8_t>{0x80, 0x3f}));
  EXPECT_EQ(launch.params[3][0], 1);
  ASSERT_EQ(device.maps.size(), 1u);
  EXPECT_EQ(device.maps[0].dims, (std::vector<uint64_t>{8, 4}));
  ASSERT_EQ(fast.workspaces.size(), 1u);
  EXPECT_EQ(fast.workspaces[0].bytes, 16);

  tensors["A"].address = 4100;
  LaunchPlan general = llvm::cantFail(plan());
  EXPECT_EQ(general.variant, "general");
  EXPECT_EQ(general.launches[0].grid[0], 2);
  EXPECT_EQ(general.launches[0].params[0], (std::vector<uint8_t>{5, 0, 0, 0}));
}

// Of the variants whose conditions hold the one of least cost, the first of equals; none costs 0.
TEST_F(LauncherTest, LeastCost) {
  json::Array *variants = kernel.getAsObject()->getArray("variants");
  auto setCost = [&](size_t i, json::Value cost) { (*(*variants)[i].getAsObject())["cost"] = std::move(cost); };
  setCost(0, json::Array{"mul", "M", 3});
  EXPECT_EQ(llvm::cantFail(plan()).variant, "general");
  setCost(1, json::Array{"mul", "M", "sm_count"});
  EXPECT_EQ(llvm::cantFail(plan()).variant, "fast");
  setCost(1, 12);
  EXPECT_EQ(llvm::cantFail(plan()).variant, "fast");
  setCost(1, 11);
  EXPECT_EQ(llvm::cantFail(plan()).variant, "general");
}

TEST_F(LauncherTest, RangesOfScalars) {
  json::Array *when = (*kernel.getAsObject()->getArray("variants"))[0].getAsObject()->getArray("when");
  when->push_back(json::Array{"ge", "s", 0x1p-40});
  when->push_back(json::Array{"le", "s", 0x1p40});
  for (double inside : {1.0, 0x1p-40, 0x1p40}) {
    numbers["s"] = Number::ofReal(inside);
    EXPECT_EQ(llvm::cantFail(plan()).variant, "fast") << inside;
  }
  for (double outside : {0.0, -0.0, -1.0, 0x1p-41, 0x1p41, HUGE_VAL, -HUGE_VAL, std::nan("")}) {
    numbers["s"] = Number::ofReal(outside);
    EXPECT_EQ(llvm::cantFail(plan()).variant, "general") << outside;
  }
}

TEST_F(LauncherTest, EmptyOutputsAndEmptyGrids) {
  tensors = {{"A", {4096, {0, 8}, std::nullopt}}, {"C", {8192, {0}, std::nullopt}}};
  LaunchPlan empty = llvm::cantFail(plan());
  EXPECT_TRUE(empty.launches.empty());
}

TEST_F(LauncherTest, Refusals) {
  tensors["C"].shape = {5};
  EXPECT_EQ(refusal(), "k: dimension 0 of `C` is 5, expected M = 4");
  tensors["C"].shape = {4, 1};
  EXPECT_EQ(refusal(), "k: `C` has 2 dimensions, expected 1");
  tensors["C"].shape = {4};
  tensors["C"].strides = std::vector<int64_t>{0};
  EXPECT_NE(refusal().find("stride of `C` is 0"), std::string::npos);
  tensors["C"].strides = std::nullopt;
  tensors["C"].address = 4098;
  EXPECT_NE(refusal().find("not a multiple"), std::string::npos);
  tensors["C"].address = 4096 + 124;
  EXPECT_NE(refusal().find("`A` and `C` overlap"), std::string::npos);
  tensors["C"].address = 8192;
  numbers.erase("s");
  EXPECT_EQ(refusal(), "k: argument `s` is missing; give s=NUMBER");
  numbers["s"] = Number::ofReal(1);
  tensors["A"].shape = {100, 8}, tensors["C"].shape = {100};
  EXPECT_EQ(refusal(), "k: contract `M < 100` does not hold");
}

TEST_F(LauncherTest, ForcedVariant) {
  Launcher launcher(*kernel.getAsObject(), device);
  launcher.forceVariant("general");
  EXPECT_EQ(llvm::cantFail(launcher.plan(tensors, numbers)).variant, "general");
  launcher.forceVariant("fast");
  tensors["A"].address = 4100;
  llvm::Expected<LaunchPlan> result = launcher.plan(tensors, numbers);
  EXPECT_NE(llvm::toString(result.takeError()).find("do not hold"), std::string::npos);
}

} // namespace
