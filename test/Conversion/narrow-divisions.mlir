// Quotients and remainders of numbers of 31 bits are computed in 32; by zero they are 0.
// RUN: %tile_opt %s --lower-to-nvvm | FileCheck %s

module attributes {tilec.target = "sm_90a"} {

// CHECK-LABEL: llvm.func @divisions
tilegpu.kernel @divisions attributes {kernel = "k", arguments = [], contracts = [], when = [], stage = 0 : i64,
    grid = [1, 1, 1], warps = 4 : i64, groups = 1 : i64, plan = {}, shared_bytes = 0 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %small = tile.arg "S" {max = 2147483647 : i64, min = 0 : i64} : index
  %other = tile.arg "T" {max = 2147483647 : i64, min = 0 : i64} : index
  %large = tile.arg "N" {min = 0 : i64} : index
  %p = tile.arg "C" {align = 4 : i64} : !tile.ptr
  %C = tile.view "C" out %p [%large] strides [%c1] {align = 4 : i64} : !tile.view<1, i64>
  // CHECK: %[[SAFE:.*]] = arith.maxui %[[T:.*]], %{{.*}} : i32
  // CHECK: %[[QUOTIENT:.*]] = arith.divui %{{.*}}, %[[SAFE]] : i32
  // CHECK: %[[EXISTS:.*]] = arith.minui %[[T]], %{{.*}} : i32
  // CHECK: arith.muli %[[QUOTIENT]], %[[EXISTS]] : i32
  %quotient = tile.div %small, %other : index
  // CHECK: arith.remui %{{.*}} : i32
  %rest = tile.rem %quotient, %other : index
  // A dividend that may be larger.
  // CHECK: arith.divsi %{{.*}} : index
  %long = tile.div %large, %other : index
  %sum = arith.addi %rest, %long : index
  %value = arith.index_cast %sum : index to i64
  tile.store %value, %C[%c0] dims [[]] axes() : i64, !tile.view<1, i64>, (index), ()
}

}
