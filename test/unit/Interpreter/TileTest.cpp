// The tile level: presence, observers, memory and the rules of stores.
#include "Support.h"

using namespace tilec::interpreter;

namespace {

TEST(Tile, absentPositionsAreSkipped) {
  Program run;
  run.arguments.integers = {{"M", 5}, {"K", 3}};
  run.tensor<float>("X", {1, 2, 3, 4, 5, 6, 7, 8, 9, -1, -2, -3, 2, 2, 2});
  run.tensor<float>("Y", std::vector<float>(5, -7));
  EXPECT_EQ(run(rowKernel(R"(
        %s = tile.reduce mul %v over %k dim 1 : tensor<4x8xf32>, !tile.axis<8> -> tensor<4xf32>
        tile.store %s, %Y[%pm] dims [[0]] axes(%m) : tensor<4xf32>, !tile.view<1, f32>, (tensor<4xindex>), (!tile.axis<4>))")),
            "");
  EXPECT_EQ(run.values<float>("Y"), (std::vector<float>{6, 120, 504, -6, 8}));
}

TEST(Tile, observingAnAbsentPositionIsAnError) {
  Program run;
  run.arguments.integers = {{"M", 4}, {"K", 3}};
  run.tensor<float>("X", std::vector<float>(12, 1));
  run.tensor<float>("Y", std::vector<float>(4, 0));
  // The sum runs over eight positions although three are present.
  std::string message = run(rowKernel(R"(
        %c8 = arith.constant 8 : index
        %all = tile.axis "all" %c0 to %c8 : !tile.axis<8>
        %s = tile.reduce add %v over %all dim 1 : tensor<4x8xf32>, !tile.axis<8> -> tensor<4xf32>
        tile.store %s, %Y[%pm] dims [[0]] axes(%m) : tensor<4xf32>, !tile.view<1, f32>, (tensor<4xindex>), (!tile.axis<4>))"));
  EXPECT_NE(message.find("stores an element of an absent position to 'Y'"), std::string::npos) << message;
}

TEST(Tile, selectHidesPoison) {
  Program run;
  run.arguments.integers = {{"M", 4}, {"K", 3}};
  run.tensor<float>("X", std::vector<float>(12, 1));
  run.tensor<float>("Y", std::vector<float>(4, 0));
  EXPECT_EQ(run(rowKernel(R"(
        %c8 = arith.constant 8 : index
        %all = tile.axis "all" %c0 to %c8 : !tile.axis<8>
        %pa = tile.pos %all : !tile.axis<8> -> tensor<8xindex>
        %bk = tile.broadcast %K dims [] : index -> tensor<8xindex>
        %in = arith.cmpi slt, %pa, %bk : tensor<8xindex>
        %in2 = tile.broadcast %in dims [1] : tensor<8xi1> -> tensor<4x8xi1>
        %ten = arith.constant dense<10.0> : tensor<4x8xf32>
        %w = arith.select %in2, %v, %ten : tensor<4x8xi1>, tensor<4x8xf32>
        %s = tile.reduce add %w over %all dim 1 : tensor<4x8xf32>, !tile.axis<8> -> tensor<4xf32>
        tile.store %s, %Y[%pm] dims [[0]] axes(%m) : tensor<4xf32>, !tile.view<1, f32>, (tensor<4xindex>), (!tile.axis<4>))")),
            "");
  EXPECT_EQ(run.values<float>("Y"), std::vector<float>(4, 53));
}

TEST(Tile, outsideReadsTheElseValueAndStoresNothing) {
  Program run;
  run.arguments.integers = {{"M", 3}, {"K", 1}};
  run.tensor<float>("X", {1, 2, 3});
  run.tensor<float>("Y", std::vector<float>(3, 0));
  EXPECT_EQ(run(rowKernel(R"(
        %one = arith.constant dense<1> : tensor<4xindex>
        %next = arith.addi %pm, %one : tensor<4xindex>
        %e = arith.constant 9.0 : f32
        %u = tile.load %X[%next, %c0] dims [[0], []] else %e : f32 : !tile.view<2, f32>, (tensor<4xindex>, index) -> tensor<4xf32>
        %p = arith.subi %pm, %one : tensor<4xindex>
        tile.store %u, %Y[%p] dims [[0]] axes(%m) : tensor<4xf32>, !tile.view<1, f32>, (tensor<4xindex>), (!tile.axis<4>))")),
            "");
  EXPECT_EQ(run.values<float>("Y"), (std::vector<float>{3, 9, 0}));
}

TEST(Tile, twoIterationsMayNotStoreOneElement) {
  for (const char *unique : {"", " {unique}"}) {
    Program run;
    run.arguments.integers = {{"M", 8}, {"K", 1}};
    run.tensor<float>("X", std::vector<float>(8, 1));
    run.tensor<float>("Y", std::vector<float>(8, 0));
    std::string message = run(rowKernel(std::string(R"(
        %f = arith.constant 1.0 : f32
        tile.store %f, %Y[%c0] dims [[]] axes())") +
                                        unique + " : f32, !tile.view<1, f32>, (index), ()"));
    EXPECT_EQ(message.empty(), *unique != 0) << message;
  }
}

TEST(Tile, loopsCarryValues) {
  Program run;
  run.arguments.integers = {{"M", 2}, {"K", 3}};
  run.tensor<float>("X", {1, 2, 3, 4, 5, 6});
  run.tensor<float>("Y", std::vector<float>(2, 0));
  EXPECT_EQ(run(rowKernel(R"(
        %zero = arith.constant dense<0.0> : tensor<4xf32>
        %s = scf.for %j = %c0 to %K step %c1 iter_args(%a = %zero) -> (tensor<4xf32>) {
          %u = tile.load %X[%pm, %j] dims [[0], []] : !tile.view<2, f32>, (tensor<4xindex>, index) -> tensor<4xf32>
          %odd = arith.cmpi eq, %j, %c1 : index
          %b = scf.if %odd -> tensor<4xf32> {
            %d = arith.subf %a, %u : tensor<4xf32>
            scf.yield %d : tensor<4xf32>
          } else {
            %p = arith.addf %a, %u : tensor<4xf32>
            scf.yield %p : tensor<4xf32>
          }
          scf.yield %b : tensor<4xf32>
        }
        tile.store %s, %Y[%pm] dims [[0]] axes(%m) : tensor<4xf32>, !tile.view<1, f32>, (tensor<4xindex>), (!tile.axis<4>))")),
            "");
  EXPECT_EQ(run.values<float>("Y"), (std::vector<float>{2, 5}));
}

TEST(Tile, dotSkipsAbsentPositions) {
  Program run;
  run.arguments.integers = {{"M", 3}, {"K", 2}};
  run.tensor<float>("X", {1, 2, 3, 4, 5, 6});
  run.tensor<float>("Y", std::vector<float>(3, 0));
  EXPECT_EQ(run(rowKernel(R"(
        %w = tile.load %X[%c1, %pk] dims [[], [0]] : !tile.view<2, f32>, (index, tensor<8xindex>) -> tensor<8xf32>
        %s = tile.dot %v, %w over(%k) lhs [1] rhs [0] : tensor<4x8xf32>, tensor<8xf32>, (!tile.axis<8>) -> tensor<4xf32>
        tile.store %s, %Y[%pm] dims [[0]] axes(%m) : tensor<4xf32>, !tile.view<1, f32>, (tensor<4xindex>), (!tile.axis<4>))")),
            "");
  EXPECT_EQ(run.values<float>("Y"), (std::vector<float>{11, 25, 39}));
}

} // namespace
