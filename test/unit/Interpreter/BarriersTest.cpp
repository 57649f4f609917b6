// tilegpu: threads of a group meet between accesses to a buffer that concern each other.
#include "Support.h"

using namespace tilec::interpreter;

namespace {

/// A block copies X through a buffer to Y, four elements at a time; `before` and `between` stand around the store.
std::string copy(const std::string &before, const std::string &between) {
  return R"(
    tilegpu.kernel @k attributes {kernel = "k", arguments = [], contracts = [], when = [], stage = 0, warps = 4, groups = 1,
                                  plan = {}, grid = [1, 1, 1]} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %c8 = arith.constant 8 : index
      %x = tile.arg "X" : !tile.ptr
      %y = tile.arg "Y" : !tile.ptr
      %X = tile.view "X" in %x [%c8] strides [%c1] : !tile.view<1, f32>
      %Y = tile.view "Y" out %y [%c8] strides [%c1] : !tile.view<1, f32>
      %buffer = tilegpu.alloc : !tilegpu.smem<[4], f32, <span = 0>, alloc = [4]>
      scf.for %i = %c0 to %c8 step %c4 {
        %e = arith.addi %i, %c4 : index
        %a = tile.axis "q" %i to %e : !tile.axis<4>
        %q = tile.pos %a : !tile.axis<4> -> tensor<4xindex>
        %v = tile.load %X[%q] dims [[0]] : !tile.view<1, f32>, (tensor<4xindex>) -> tensor<4xf32>
        )" +
         before +
         "\n        tilegpu.local_store %v, %buffer [0] : tensor<4xf32>, !tilegpu.smem<[4], f32, <span = 0>, alloc = "
         "[4]>\n" +
         between + R"(
        %w = tilegpu.local_load %buffer [0] : <[4], f32, <span = 0>, alloc = [4]> -> tensor<4xf32>
        tile.store %w, %Y[%q] dims [[0]] axes(%a) : tensor<4xf32>, !tile.view<1, f32>, (tensor<4xindex>), (!tile.axis<4>)
      }
    })";
}

std::string fault(const std::string &source) {
  Program run;
  run.tensor<float>("X", {1, 2, 3, 4, 5, 6, 7, 8});
  run.tensor<float>("Y", std::vector<float>(8, 0));
  std::string result = run(source);
  if (result.empty()) {
    EXPECT_EQ(run.values<float>("Y"), run.values<float>("X"));
  }
  return result;
}

TEST(Barriers, betweenAllAccesses) { EXPECT_EQ(fault(copy("tilegpu.barrier", "tilegpu.barrier")), ""); }

TEST(Barriers, aReadOfWhatOthersWrite) {
  EXPECT_NE(fault(copy("tilegpu.barrier", "")).find("reads a buffer that other threads write"), std::string::npos);
}

TEST(Barriers, aWriteOfWhatOthersRead) {
  EXPECT_NE(fault(copy("", "tilegpu.barrier")).find("overwrites a buffer that other threads read"), std::string::npos);
}

/// The sum over one product of X, a row of 16 ones, through wgmma.
std::string product(const std::string &between) {
  return R"(
    tilegpu.kernel @k attributes {kernel = "k", arguments = [], contracts = [], when = [], stage = 0, warps = 4, groups = 1,
                                  plan = {}, grid = [1, 1, 1]} {
      %one = arith.constant dense<1.0> : tensor<64x16xbf16>
      %small = arith.constant dense<1.0> : tensor<8x16xbf16>
      %zero = arith.constant dense<0.0> : tensor<64x8xf32>
      %a = tilegpu.alloc : !tilegpu.smem<[64, 16], bf16, <span = 32>, alloc = [64, 16]>
      %b = tilegpu.alloc : !tilegpu.smem<[8, 16], bf16, <span = 32>, alloc = [8, 16]>
      tilegpu.local_store %one, %a [0, 1] : tensor<64x16xbf16>, !tilegpu.smem<[64, 16], bf16, <span = 32>, alloc = [64, 16]>
      tilegpu.local_store %small, %b [0, 1] : tensor<8x16xbf16>, !tilegpu.smem<[8, 16], bf16, <span = 32>, alloc = [8, 16]>
      )" +
         between + R"(
      %d = tilegpu.mma %a, %b, %zero <"wgmma", shape = [64, 8, 16], warps = [4, 1]>
        : !tilegpu.smem<[64, 16], bf16, <span = 32>, alloc = [64, 16]>, !tilegpu.smem<[8, 16], bf16, <span = 32>, alloc = [8, 16]>
        -> tensor<64x8xf32>
    })";
}

TEST(Barriers, wgmmaReadsBehindAFence) {
  Program run;
  EXPECT_EQ(run(product("tilegpu.barrier {async_proxy}")), "");
  EXPECT_EQ(run(product("tilegpu.barrier {async_proxy}\ntilegpu.barrier")), "");
  EXPECT_NE(run(product("tilegpu.barrier")).find("without a fence"), std::string::npos);
}

} // namespace
