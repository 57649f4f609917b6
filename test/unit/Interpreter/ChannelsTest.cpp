// tilegpu: the discipline of channels in one sequential program and between processes.
#include "Support.h"

using namespace tilec::interpreter;

namespace {

/// A block copies X to Y through a ring of two slots, four elements an item.
std::string kernel(const std::string &body, int groups = 1) {
  return R"(
    tilegpu.kernel @k attributes {kernel = "k", arguments = [], contracts = [], when = [], stage = 0, warps = 4, groups = )" +
         std::to_string(groups) + R"(,
                                  plan = {}, grid = [1, 1, 1]} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %N = tile.arg "N" : index
      %n = arith.ceildivsi %N, %c4 : index
      %x = tile.arg "X" : !tile.ptr
      %y = tile.arg "Y" : !tile.ptr
      %X = tile.view "X" in %x [%N] strides [%c1] : !tile.view<1, f32>
      %Y = tile.view "Y" out %y [%N] strides [%c1] : !tile.view<1, f32>
      %ring = tilegpu.chan "ring" "tma" : <[!tilegpu.smem<[4], f32, <span = 0>, alloc = [4]>], 2>
)" + body +
         "}\n";
}

const char *const fill = R"(
        %s = tilegpu.acquire %ring : <[!tilegpu.smem<[4], f32, <span = 0>, alloc = [4]>], 2>
        %p0 = arith.muli %i, %c4 : index
        tilegpu.fill %s of %ring[0], %X[%p0] box [4] kept [0] : <[!tilegpu.smem<[4], f32, <span = 0>, alloc = [4]>], 2>, <1, f32>
        tilegpu.commit %s of %ring : <[!tilegpu.smem<[4], f32, <span = 0>, alloc = [4]>], 2>)";
const char *const drain = R"(
        %r = tilegpu.receive %ring : <[!tilegpu.smem<[4], f32, <span = 0>, alloc = [4]>], 2>
        %b = tilegpu.slot_view %r of %ring[0] : <[!tilegpu.smem<[4], f32, <span = 0>, alloc = [4]>], 2> -> <[4], f32, <span = 0>, alloc = [4]>
        %v = tilegpu.local_load %b [0] : <[4], f32, <span = 0>, alloc = [4]> -> tensor<4xf32>
        %q0 = arith.muli %i, %c4 : index
        %q4 = arith.addi %q0, %c4 : index
        %q1 = arith.minsi %q4, %N : index
        %a = tile.axis "q" %q0 to %q1 : !tile.axis<4>
        %q = tile.pos %a : !tile.axis<4> -> tensor<4xindex>
        tile.store %v, %Y[%q] dims [[0]] axes(%a) : tensor<4xf32>, !tile.view<1, f32>, (tensor<4xindex>), (!tile.axis<4>))";
const char *const release =
    "\n        tilegpu.release %r of %ring : <[!tilegpu.smem<[4], f32, <span = 0>, alloc = [4]>], 2>\n";

std::string loop(const std::string &body) { return "scf.for %i = %c0 to %n step %c1 {" + body + "}\n"; }

void prepare(Program &run) {
  run.arguments.integers = {{"N", 14}};
  run.tensor<float>("X", {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14});
  run.tensor<float>("Y", std::vector<float>(14, 0));
}

TEST(Channels, sequential) {
  Program run;
  prepare(run);
  EXPECT_EQ(run(kernel(loop(std::string(fill) + drain + release))), "");
  EXPECT_EQ(run.values<float>("Y"), run.values<float>("X"));
}

TEST(Channels, aMissingReleaseStops) {
  Program run;
  prepare(run);
  EXPECT_NE(run(kernel(loop(std::string(fill) + drain))).find("waits for ever"), std::string::npos);
}

TEST(Channels, aReadAfterReleaseStops) {
  Program run;
  prepare(run);
  std::string body = std::string(fill) + drain;
  body.insert(body.find("%v ="), release + 1);
  EXPECT_NE(run(kernel(loop(body))).find("does not hold"), std::string::npos);
}

TEST(Channels, processesInAnyOrder) {
  std::string body =
      "tilegpu.process \"consumer\" warps(4) replicas(1) registers(0) {" + loop(std::string(drain) + release) +
      "}\ntilegpu.process \"producer\" warps(1) replicas(1) registers(0) attributes {elected} {" + loop(fill) + "}\n";
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Program run;
    prepare(run);
    EXPECT_EQ(run(kernel(body), seed), "");
    EXPECT_EQ(run.values<float>("Y"), run.values<float>("X"));
  }
}

TEST(Channels, aConsumerThatKeepsSlotsStopsTheProducer) {
  std::string body = "tilegpu.process \"consumer\" warps(4) replicas(1) registers(0) {" + loop(drain) +
                     "}\ntilegpu.process \"producer\" warps(1) replicas(1) registers(0) attributes {elected} {" +
                     loop(fill) + "}\n";
  Program run;
  prepare(run);
  EXPECT_NE(run(kernel(body)).find("waits for ever"), std::string::npos);
}

/// Of two groups the first takes three items, the other one skips them and takes the rest, after `skip` and `turn`.
std::string dealtOut(const std::string &skip, bool inTurns) {
  std::string take = inTurns ? "tilegpu.turn_take\n" : "", pass = inTurns ? "tilegpu.turn_pass\n" : "";
  auto part = [&](const std::string &from, const std::string &to) {
    return take + "scf.for %i = " + from + " to " + to + " step %c1 {" + drain + release + "}\n" + pass;
  };
  return kernel("tilegpu.process \"consumer\" warps(4) replicas(2) registers(0) {\n%c3 = arith.constant 3 : index\n"
                "%g = tilegpu.group : index\n%first = arith.cmpi eq, %g, %c0 : index\nscf.if %first {" +
                    part("%c0", "%c3") + "} else {" + skip + part("%c3", "%n") +
                    "}\n}\ntilegpu.process \"producer\" warps(1) replicas(1) registers(0) attributes {elected} {" +
                    loop(fill) + "}\n",
                /*groups=*/2);
}

const std::string skipThree = "tilegpu.skip %ring, %c3 : <[!tilegpu.smem<[4], f32, <span = 0>, alloc = [4]>], 2>\n";

TEST(Channels, groupsSkipWhatOthersReceive) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Program run;
    prepare(run);
    EXPECT_EQ(run(dealtOut(skipThree, /*inTurns=*/true), seed), "");
    EXPECT_EQ(run.values<float>("Y"), run.values<float>("X"));
  }
}

TEST(Channels, aWaitALapAheadStops) {
  std::string messages;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Program run;
    prepare(run);
    messages += run(dealtOut(skipThree, /*inTurns=*/false), seed);
  }
  EXPECT_NE(messages.find("a lap ahead of its ring"), std::string::npos);
}

TEST(Channels, anItemIsReceivedOnce) {
  std::string none = "tilegpu.skip %ring, %c0 : <[!tilegpu.smem<[4], f32, <span = 0>, alloc = [4]>], 2>\n";
  Program run;
  prepare(run);
  EXPECT_NE(run(dealtOut(none, /*inTurns=*/true)).find("another group has received"), std::string::npos);
}

} // namespace
