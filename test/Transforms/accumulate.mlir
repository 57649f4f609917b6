// RUN: %tile_opt %s --pass-pipeline='builtin.module(tilegpu.kernel(accumulate))' | FileCheck %s

!v2 = !tile.view<2, f32>

// Both sums leave the loop, the inner one through two reductions; absent positions keep what was there.
// CHECK-LABEL: @sums
// CHECK: %[[R:.*]]:3 = scf.for {{.*}} iter_args(%[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}}, %{{.*}} = %{{.*}}) -> (tensor<8x64xf32>, tensor<8x64xf32>, f32)
// CHECK: %[[X:.*]] = tile.load
// CHECK: %[[S:.*]] = arith.addf %[[A]], %[[X]] : tensor<8x64xf32>
// CHECK: arith.cmpi slt
// CHECK: %[[N:.*]] = arith.select %{{.*}}, %[[S]], %[[A]]
// CHECK: %[[M:.*]] = arith.maximumf %[[B]], %[[X]] : tensor<8x64xf32>
// CHECK: arith.andi
// CHECK: %[[P:.*]] = arith.select %{{.*}}, %[[M]], %[[B]]
// What is scaled as well stays.
// CHECK: tile.reduce add {{.*}} -> tensor<64xf32>
// CHECK: tile.reduce add {{.*}} -> f32
// CHECK: scf.yield %[[N]], %[[P]], %{{.*}} : tensor<8x64xf32>, tensor<8x64xf32>, f32
// CHECK-DAG: %[[T:.*]] = tile.reduce add %[[R]]#0 over %{{.*}} dim 0 {full} : tensor<8x64xf32>, <8> -> tensor<64xf32>
// CHECK-DAG: %[[U:.*]] = arith.addf %{{.*}}, %[[T]] : tensor<64xf32>
// CHECK-DAG: %[[V:.*]] = tile.reduce maxf %[[R]]#1 over %{{.*}} dim 0 {full} : tensor<8x64xf32>, <8> -> tensor<64xf32>
// CHECK-DAG: %[[W:.*]] = tile.reduce maxf %[[V]] over %{{.*}} dim 0 {full} : tensor<64xf32>, <64> -> f32
// CHECK-DAG: arith.maximumf %{{.*}}, %[[W]] : f32
// CHECK: tile.store %[[U]]
tilegpu.kernel @sums attributes {kernel = "sums", arguments = [], contracts = [], when = [], stage = 0 : i64, grid = [1, 1, 1], warps = 2 : i64, groups = 1 : i64, plan = {}} {
  %x = tile.arg "X" : !tile.ptr
  %M = tile.arg "M" : index
  %N = tile.arg "N" : index
  %f = tile.arg "f" : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %X = tile.view "X" in %x [%M, %N] strides [%N, %c1] : !v2
  %Y = tile.view "Y" out %x [%N] strides [%c1] : !tile.view<1, f32>
  %n = tile.axis "n" %c0 to %N : !tile.axis<64>
  %pn = tile.pos %n : !tile.axis<64> -> tensor<64xindex>
  %z = arith.constant dense<0.0> : tensor<64xf32>
  %r:3 = scf.for %k = %c0 to %M step %c8 iter_args(%a = %z, %b = %f, %c = %f) -> (tensor<64xf32>, f32, f32) {
    %k1 = arith.addi %k, %c8 : index
    %k2 = arith.minsi %k1, %M : index
    %m = tile.axis "m" %k to %k2 : !tile.axis<8>
    %pm = tile.pos %m : !tile.axis<8> -> tensor<8xindex>
    %t = tile.load %X[%pm, %pn] dims [[0], [1]] : !v2, (tensor<8xindex>, tensor<64xindex>) -> tensor<8x64xf32>
    %s = tile.reduce add %t over %m dim 0 : tensor<8x64xf32>, !tile.axis<8> -> tensor<64xf32>
    %a1 = arith.addf %a, %s : tensor<64xf32>
    %u = tile.reduce maxf %t over %m dim 0 : tensor<8x64xf32>, !tile.axis<8> -> tensor<64xf32>
    %w = tile.reduce maxf %u over %n dim 0 : tensor<64xf32>, !tile.axis<64> -> f32
    %b1 = arith.maximumf %b, %w : f32
    %o = tile.reduce add %t over %m dim 0 : tensor<8x64xf32>, !tile.axis<8> -> tensor<64xf32>
    %p = tile.reduce add %o over %n dim 0 : tensor<64xf32>, !tile.axis<64> -> f32
    %q = arith.mulf %c, %f : f32
    %c2 = arith.addf %q, %p : f32
    scf.yield %a1, %b1, %c2 : tensor<64xf32>, f32, f32
  }
  tile.store %r#0, %Y[%pn] dims [[0]] axes(%n) : tensor<64xf32>, !tile.view<1, f32>, (tensor<64xindex>), (!tile.axis<64>)
}

// A tile of more registers than the loop may keep stays reduced.
// CHECK-LABEL: @large
// CHECK: scf.for {{.*}} -> (f32)
// CHECK: tile.reduce
tilegpu.kernel @large attributes {kernel = "large", arguments = [], contracts = [], when = [], stage = 0 : i64, grid = [1, 1, 1], warps = 1 : i64, groups = 1 : i64, plan = {}} {
  %x = tile.arg "X" : !tile.ptr
  %M = tile.arg "M" : index
  %f = tile.arg "f" : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %X = tile.view "X" in %x [%M] strides [%c1] : !tile.view<1, f32>
  %n = tile.axis "n" %c0 to %M : !tile.axis<4096>
  %pn = tile.pos %n : !tile.axis<4096> -> tensor<4096xindex>
  %r = scf.for %k = %c0 to %M step %c1 iter_args(%a = %f) -> (f32) {
    %t = tile.load %X[%pn] dims [[0]] : !tile.view<1, f32>, (tensor<4096xindex>) -> tensor<4096xf32>
    %s = tile.reduce add %t over %n dim 0 : tensor<4096xf32>, !tile.axis<4096> -> f32
    %a1 = arith.addf %a, %s : f32
    scf.yield %a1 : f32
  }
}
