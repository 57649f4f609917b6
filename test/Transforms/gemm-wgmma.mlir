// RUN: %tile_opt %s --pass-pipeline='builtin.module(tile.kernel(simplify,plan),schedule,tilegpu.kernel(split,channels),canonicalize,cse)' | FileCheck %s
// A GEMM of 128x256x64 tiles: two consumer groups, one ring for both operands, wgmma from shared memory.

// CHECK-LABEL: tilegpu.kernel @gemm
// CHECK-SAME: groups = 2
// CHECK-SAME: warps = 4
// CHECK: %[[RING:.*]] = tilegpu.chan "A,B" "tma" : <[!tilegpu.smem<[128, 64], bf16, {{.*}}>, !tilegpu.smem<[256, 64], bf16, {{.*}}>], 4>
// CHECK: scf.for
// CHECK: %[[PUT:.*]] = tilegpu.acquire %[[RING]]
// CHECK: tilegpu.fill %[[PUT]] of %[[RING]][0], {{.*}} box [128, 64] kept [0, 1]
// CHECK: tilegpu.fill %[[PUT]] of %[[RING]][1], {{.*}} box [256, 64] kept [0, 1]
// CHECK: tilegpu.commit
// CHECK: %[[GOT:.*]] = tilegpu.receive
// CHECK: tilegpu.subview {{.*}} -> <[64, 64], bf16, <span = 128>, alloc = [128, 64]>
// CHECK: tilegpu.mma {{.*}}<"wgmma", shape = [64, 256, 16], warps = [4, 1]>{{.*}} -> tensor<64x256xf32>
// CHECK: tilegpu.release %[[GOT]]
tile.kernel @gemm attributes {kernel = "gemm", arguments = [{kind = "tensor", name = "A"}, {kind = "tensor", name = "B"}, {kind = "tensor", name = "C"}]} {
  %a = tile.arg "A" {align = 16 : i64} : !tile.ptr
  %b = tile.arg "B" {align = 16 : i64} : !tile.ptr
  %c = tile.arg "C" {align = 16 : i64} : !tile.ptr
  %M = tile.arg "M" {min = 0 : i64} : index
  %N = tile.arg "N" {min = 0 : i64, divisible = 8 : i64} : index
  %K = tile.arg "K" {min = 0 : i64, divisible = 8 : i64} : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  %A = tile.view "A" in %a [%M, %K] strides [%K, %c1] {align = 16 : i64} : !tile.view<2, bf16>
  %B = tile.view "B" in %b [%N, %K] strides [%K, %c1] {align = 16 : i64} : !tile.view<2, bf16>
  %C = tile.view "C" out %c [%M, %N] strides [%N, %c1] {align = 16 : i64} : !tile.view<2, bf16>
  %tm = arith.ceildivsi %M, %c128 : index
  %tn = arith.ceildivsi %N, %c256 : index
  tile.parallel [%c0, %c0] to [%tm, %tn] tiles [128, 256] {
  ^bb0(%i: index, %j: index):
    %m0 = arith.muli %i, %c128 : index
    %m1 = arith.addi %m0, %c128 : index
    %m2 = arith.minsi %m1, %M : index
    %m = tile.axis "m" %m0 to %m2 : !tile.axis<128>
    %n0 = arith.muli %j, %c256 : index
    %n1 = arith.addi %n0, %c256 : index
    %n2 = arith.minsi %n1, %N : index
    %n = tile.axis "n" %n0 to %n2 : !tile.axis<256>
    %zero = arith.constant dense<0.0> : tensor<128x256xf32>
    %nk = arith.ceildivsi %K, %c64 : index
    %acc = scf.for %kk = %c0 to %nk step %c1 iter_args(%s = %zero) -> (tensor<128x256xf32>) {
      %k0 = arith.muli %kk, %c64 : index
      %k1 = arith.addi %k0, %c64 : index
      %k2 = arith.minsi %k1, %K : index
      %k = tile.axis "k" %k0 to %k2 : !tile.axis<64>
      %pm = tile.pos %m : !tile.axis<128> -> tensor<128xindex>
      %pk = tile.pos %k : !tile.axis<64> -> tensor<64xindex>
      %pn = tile.pos %n : !tile.axis<256> -> tensor<256xindex>
      %ta = tile.load %A[%pm, %pk] dims [[0], [1]] : !tile.view<2, bf16>, (tensor<128xindex>, tensor<64xindex>) -> tensor<128x64xbf16>
      %tb = tile.load %B[%pn, %pk] dims [[0], [1]] : !tile.view<2, bf16>, (tensor<256xindex>, tensor<64xindex>) -> tensor<256x64xbf16>
      %d = tile.dot %ta, %tb over(%k) lhs [1] rhs [1] : tensor<128x64xbf16>, tensor<256x64xbf16>, (!tile.axis<64>) -> tensor<128x256xf32>
      %e = arith.addf %s, %d : tensor<128x256xf32>
      scf.yield %e : tensor<128x256xf32>
    }
    %r = arith.truncf %acc : tensor<128x256xf32> to tensor<128x256xbf16>
    %pm = tile.pos %m : !tile.axis<128> -> tensor<128xindex>
    %pn = tile.pos %n : !tile.axis<256> -> tensor<256xindex>
    tile.store %r, %C[%pm, %pn] dims [[0], [1]] axes(%m, %n) : tensor<128x256xbf16>, !tile.view<2, bf16>, (tensor<128xindex>, tensor<256xindex>), (!tile.axis<128>, !tile.axis<256>)
  }
}
