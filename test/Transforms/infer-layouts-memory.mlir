// RUN: %tile_opt %s --pass-pipeline='builtin.module(tilegpu.kernel(infer-layouts))' | FileCheck %s
// Kernels without matrix products: layouts come from coalesced accesses.

!v1 = !tile.view<1, f32>
!v2 = !tile.view<2, f32>
!b2 = !tile.view<2, bf16>

// One vector of 16 bytes a thread, eight times; nothing is converted.
// CHECK-LABEL: @saxpy
// CHECK: tile.load {{.*}} -> tensor<4096xf32, #tilegpu.layout<"{{\[\[}}r0:4, l0:32, w0:4, r1:8]]">>
// CHECK-NOT: tilegpu.convert
// CHECK: tile.store {{.*}} : tensor<4096xf32, #tilegpu.layout<"{{\[\[}}r0:4, l0:32, w0:4, r1:8]]">>
tilegpu.kernel @saxpy attributes {kernel = "saxpy", arguments = [], contracts = [], when = [], stage = 0 : i64, grid = [1, 1, 1], warps = 4 : i64, groups = 1 : i64, plan = {}} {
  %x = tile.arg "X" {align = 16 : i64} : !tile.ptr
  %y = tile.arg "Y" {align = 16 : i64} : !tile.ptr
  %a = tile.arg "a" : f32
  %N = tile.arg "N" {divisible = 4 : i64} : index
  %c1 = arith.constant 1 : index
  %X = tile.view "X" in %x [%N] strides [%c1] {align = 16 : i64} : !v1
  %Y = tile.view "Y" inout %y [%N] strides [%c1] {align = 16 : i64} : !v1
  %b = tilegpu.block_id : index
  %c4096 = arith.constant 4096 : index
  %start = arith.muli %b, %c4096 : index
  %stop = arith.addi %start, %c4096 : index
  %end = arith.minsi %stop, %N : index
  %i = tile.axis "i" %start to %end : !tile.axis<4096>
  %p = tile.pos %i : !tile.axis<4096> -> tensor<4096xindex>
  %tx = tile.load %X[%p] dims [[0]] : !v1, (tensor<4096xindex>) -> tensor<4096xf32>
  %ty = tile.load %Y[%p] dims [[0]] : !v1, (tensor<4096xindex>) -> tensor<4096xf32>
  %ba = tile.broadcast %a dims [] : f32 -> tensor<4096xf32>
  %m = arith.mulf %ba, %tx : tensor<4096xf32>
  %s = arith.addf %m, %ty : tensor<4096xf32>
  tile.store %s, %Y[%p] dims [[0]] axes(%i) : tensor<4096xf32>, !v1, (tensor<4096xindex>), (!tile.axis<4096>)
}

// Without facts about N: single elements, neighbours in neighbouring lanes.
// CHECK-LABEL: @unaligned
// CHECK: tile.load {{.*}} -> tensor<1000xf32, #tilegpu.layout<"{{\[\[}}l0:32, w0:4, r0:8]]">>
tilegpu.kernel @unaligned attributes {kernel = "unaligned", arguments = [], contracts = [], when = [], stage = 0 : i64, grid = [1, 1, 1], warps = 4 : i64, groups = 1 : i64, plan = {}} {
  %x = tile.arg "X" : !tile.ptr
  %N = tile.arg "N" : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %X = tile.view "X" inout %x [%N] strides [%c1] : !v1
  %i = tile.axis "i" %c0 to %N : !tile.axis<1000>
  %p = tile.pos %i : !tile.axis<1000> -> tensor<1000xindex>
  %tx = tile.load %X[%p] dims [[0]] : !v1, (tensor<1000xindex>) -> tensor<1000xf32>
  %s = arith.addf %tx, %tx : tensor<1000xf32>
  tile.store %s, %X[%p] dims [[0]] axes(%i) : tensor<1000xf32>, !v1, (tensor<1000xindex>), (!tile.axis<1000>)
}

// A row a block, in registers from the load to the store.
// CHECK-LABEL: @softmax
// CHECK: tile.load {{.*}} -> tensor<8192xbf16, #tilegpu.layout<"{{\[\[}}r0:8, l0:32, w0:8, r1:4]]">>
// CHECK-NOT: tilegpu.convert
// CHECK: tile.reduce maxf {{.*}} -> f32
// CHECK-NOT: tilegpu.convert
// CHECK: tile.store {{.*}} : tensor<8192xbf16, #tilegpu.layout<"{{\[\[}}r0:8, l0:32, w0:8, r1:4]]">>
tilegpu.kernel @softmax attributes {kernel = "softmax", arguments = [], contracts = [], when = [], stage = 0 : i64, grid = ["M", 1, 1], warps = 8 : i64, groups = 1 : i64, plan = {}} {
  %x = tile.arg "X" {align = 16 : i64} : !tile.ptr
  %y = tile.arg "Y" {align = 16 : i64} : !tile.ptr
  %M = tile.arg "M" : index
  %N = tile.arg "N" {divisible = 8 : i64} : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %X = tile.view "X" in %x [%M, %N] strides [%N, %c1] {align = 16 : i64} : !b2
  %Y = tile.view "Y" out %y [%M, %N] strides [%N, %c1] {align = 16 : i64} : !b2
  %m = tilegpu.block_id : index
  %n = tile.axis "n" %c0 to %N : !tile.axis<8192>
  %p = tile.pos %n : !tile.axis<8192> -> tensor<8192xindex>
  %t = tile.load %X[%m, %p] dims [[], [0]] : !b2, (index, tensor<8192xindex>) -> tensor<8192xbf16>
  %f = arith.extf %t : tensor<8192xbf16> to tensor<8192xf32>
  %mx = tile.reduce maxf %f over %n dim 0 : tensor<8192xf32>, !tile.axis<8192> -> f32
  %bm = tile.broadcast %mx dims [] : f32 -> tensor<8192xf32>
  %d = arith.subf %f, %bm : tensor<8192xf32>
  %e = math.exp2 %d : tensor<8192xf32>
  %s = tile.reduce add %e over %n dim 0 : tensor<8192xf32>, !tile.axis<8192> -> f32
  %bs = tile.broadcast %s dims [] : f32 -> tensor<8192xf32>
  %q = arith.divf %e, %bs : tensor<8192xf32>
  %r = arith.truncf %q : tensor<8192xf32> to tensor<8192xbf16>
  tile.store %r, %Y[%m, %p] dims [[], [0]] axes(%n) : tensor<8192xbf16>, !b2, (index, tensor<8192xindex>), (!tile.axis<8192>)
}

// Eight rows a block: a warp has a row; its statistics and the weights follow that layout.
// CHECK-LABEL: @layernorm
// CHECK-NOT: tilegpu.convert
// CHECK-DAG: tile.load %{{.*}} -> tensor<8x1024xf32, #tilegpu.layout<"{{\[\[}}w0:8], [r0:4, l0:32, r1:8]]">>
// CHECK-DAG: tile.load %{{.*}} -> tensor<1024xf32, #tilegpu.layout<"{{\[\[}}r0:4, l0:32, r1:8]] rep [w0:8]">>
// CHECK: tile.reduce add {{.*}} -> tensor<8xf32, #tilegpu.layout<"{{\[\[}}w0:8]] rep [l0:32]">>
// CHECK-NOT: tilegpu.convert
// CHECK: tile.store
tilegpu.kernel @layernorm attributes {kernel = "layernorm", arguments = [], contracts = [], when = [], stage = 0 : i64, grid = ["M", 1, 1], warps = 8 : i64, groups = 1 : i64, plan = {}} {
  %x = tile.arg "X" {align = 16 : i64} : !tile.ptr
  %g = tile.arg "G" {align = 16 : i64} : !tile.ptr
  %y = tile.arg "Y" {align = 16 : i64} : !tile.ptr
  %M = tile.arg "M" : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c1024 = arith.constant 1024 : index
  %X = tile.view "X" in %x [%M, %c1024] strides [%c1024, %c1] {align = 16 : i64} : !v2
  %G = tile.view "G" in %g [%c1024] strides [%c1] {align = 16 : i64} : !v1
  %Y = tile.view "Y" out %y [%M, %c1024] strides [%c1024, %c1] {align = 16 : i64} : !v2
  %b = tilegpu.block_id : index
  %m0 = arith.muli %b, %c8 : index
  %m1 = arith.addi %m0, %c8 : index
  %m2 = arith.minsi %m1, %M : index
  %m = tile.axis "m" %m0 to %m2 : !tile.axis<8>
  %n = tile.axis "n" %c0 to %c1024 : !tile.axis<1024>
  %pm = tile.pos %m : !tile.axis<8> -> tensor<8xindex>
  %pn = tile.pos %n : !tile.axis<1024> -> tensor<1024xindex>
  %t = tile.load %X[%pm, %pn] dims [[0], [1]] : !v2, (tensor<8xindex>, tensor<1024xindex>) -> tensor<8x1024xf32>
  %w = tile.load %G[%pn] dims [[0]] : !v1, (tensor<1024xindex>) -> tensor<1024xf32>
  %sum = tile.reduce add %t over %n dim 1 {full} : tensor<8x1024xf32>, !tile.axis<1024> -> tensor<8xf32>
  %inv = arith.constant dense<9.765625e-4> : tensor<8xf32>
  %mean = arith.mulf %sum, %inv : tensor<8xf32>
  %bmean = tile.broadcast %mean dims [0] : tensor<8xf32> -> tensor<8x1024xf32>
  %d = arith.subf %t, %bmean : tensor<8x1024xf32>
  %sq = arith.mulf %d, %d : tensor<8x1024xf32>
  %var = tile.reduce add %sq over %n dim 1 {full} : tensor<8x1024xf32>, !tile.axis<1024> -> tensor<8xf32>
  %rs = math.rsqrt %var : tensor<8xf32>
  %brs = tile.broadcast %rs dims [0] : tensor<8xf32> -> tensor<8x1024xf32>
  %bw = tile.broadcast %w dims [1] : tensor<1024xf32> -> tensor<8x1024xf32>
  %o1 = arith.mulf %d, %brs : tensor<8x1024xf32>
  %o2 = arith.mulf %o1, %bw : tensor<8x1024xf32>
  tile.store %o2, %Y[%pm, %pn] dims [[0], [1]] axes(%m, %n) : tensor<8x1024xf32>, !v2, (tensor<8xindex>, tensor<1024xindex>), (!tile.axis<8>, !tile.axis<1024>)
}

// Exactly one conversion, from the layout of the load to that of the store.
// CHECK-LABEL: @transpose
// CHECK: %[[X:.*]] = tile.load {{.*}} -> tensor<64x64xf32, #tilegpu.layout<"{{\[\[}}l1:2, w0:8, r1:4], [r0:4, l0:16]]">>
// CHECK-NEXT: %[[C:.*]] = tilegpu.convert %[[X]]
// CHECK-NOT: tilegpu.convert
// CHECK: tile.permute %[[C]]
// CHECK: tile.store {{.*}} : tensor<64x64xf32, #tilegpu.layout<"{{\[\[}}l1:2, w0:8, r1:4], [r0:4, l0:16]]">>
// The same without `permute`: the store's subscripts are exchanged.
// CHECK: tilegpu.convert
// CHECK-NOT: tilegpu.convert
// CHECK: tile.store {{.*}} : tensor<64x64xf32, #tilegpu.layout<"{{\[\[}}r0:4, l0:16], [l1:2, w0:8, r1:4]]">>
tilegpu.kernel @transpose attributes {kernel = "transpose", arguments = [], contracts = [], when = [], stage = 0 : i64, grid = ["M", 1, 1], warps = 8 : i64, groups = 1 : i64, plan = {}} {
  %x = tile.arg "X" {align = 16 : i64} : !tile.ptr
  %y = tile.arg "Y" {align = 16 : i64} : !tile.ptr
  %M = tile.arg "M" {divisible = 4 : i64} : index
  %N = tile.arg "N" {divisible = 4 : i64} : index
  %c64 = arith.constant 64 : index
  %c1 = arith.constant 1 : index
  %X = tile.view "X" in %x [%M, %N] strides [%N, %c1] {align = 16 : i64} : !v2
  %Y = tile.view "Y" out %y [%N, %M] strides [%M, %c1] {align = 16 : i64} : !v2
  %i = tilegpu.block_id : index
  %j = tilegpu.block_id {dim = 1 : i64} : index
  %m0 = arith.muli %i, %c64 : index
  %m1 = arith.addi %m0, %c64 : index
  %m2 = arith.minsi %m1, %M : index
  %n0 = arith.muli %j, %c64 : index
  %n1 = arith.addi %n0, %c64 : index
  %n2 = arith.minsi %n1, %N : index
  %m = tile.axis "m" %m0 to %m2 : !tile.axis<64>
  %n = tile.axis "n" %n0 to %n2 : !tile.axis<64>
  %pm = tile.pos %m : !tile.axis<64> -> tensor<64xindex>
  %pn = tile.pos %n : !tile.axis<64> -> tensor<64xindex>
  %t = tile.load %X[%pm, %pn] dims [[0], [1]] : !v2, (tensor<64xindex>, tensor<64xindex>) -> tensor<64x64xf32>
  %u = tile.permute %t [1, 0] : tensor<64x64xf32> -> tensor<64x64xf32>
  tile.store %u, %Y[%pn, %pm] dims [[0], [1]] axes(%n, %m) : tensor<64x64xf32>, !v2, (tensor<64xindex>, tensor<64xindex>), (!tile.axis<64>, !tile.axis<64>)
  %s = tile.load %X[%pm, %pn] dims [[0], [1]] : !v2, (tensor<64xindex>, tensor<64xindex>) -> tensor<64x64xf32>
  tile.store %s, %Y[%pn, %pm] dims [[1], [0]] axes(%m, %n) : tensor<64x64xf32>, !v2, (tensor<64xindex>, tensor<64xindex>), (!tile.axis<64>, !tile.axis<64>)
}

// Sums over the slow axis: every thread keeps its columns, so that no barrier is in the loop.
// CHECK-LABEL: @column_sum
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (tensor<256xf32, #tilegpu.layout<"{{\[\[}}r0:2, l0:32, w0:4]]">>)
// CHECK: tile.load {{.*}} -> tensor<32x256xf32, #tilegpu.layout<"{{\[\[}}r1:32], [r0:2, l0:32, w0:4]]">>
// CHECK: tile.reduce add
// CHECK-NOT: tilegpu.convert
// CHECK: tile.store {{.*}} : tensor<256xf32, #tilegpu.layout<"{{\[\[}}r0:2, l0:32, w0:4]]">>
tilegpu.kernel @column_sum attributes {kernel = "column_sum", arguments = [], contracts = [], when = [], stage = 0 : i64, grid = ["N", 1, 1], warps = 4 : i64, groups = 1 : i64, plan = {}} {
  %x = tile.arg "X" {align = 16 : i64} : !tile.ptr
  %y = tile.arg "Y" {align = 16 : i64} : !tile.ptr
  %M = tile.arg "M" : index
  %N = tile.arg "N" {divisible = 4 : i64} : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c256 = arith.constant 256 : index
  %X = tile.view "X" in %x [%M, %N] strides [%N, %c1] {align = 16 : i64} : !v2
  %Y = tile.view "Y" out %y [%N] strides [%c1] {align = 16 : i64} : !v1
  %b = tilegpu.block_id : index
  %n0 = arith.muli %b, %c256 : index
  %n1 = arith.addi %n0, %c256 : index
  %n2 = arith.minsi %n1, %N : index
  %n = tile.axis "n" %n0 to %n2 : !tile.axis<256>
  %pn = tile.pos %n : !tile.axis<256> -> tensor<256xindex>
  %zero = arith.constant dense<0.0> : tensor<256xf32>
  %sum = scf.for %k = %c0 to %M step %c32 iter_args(%a = %zero) -> (tensor<256xf32>) {
    %k1 = arith.addi %k, %c32 : index
    %k2 = arith.minsi %k1, %M : index
    %m = tile.axis "m" %k to %k2 : !tile.axis<32>
    %pm = tile.pos %m : !tile.axis<32> -> tensor<32xindex>
    %t = tile.load %X[%pm, %pn] dims [[0], [1]] : !v2, (tensor<32xindex>, tensor<256xindex>) -> tensor<32x256xf32>
    %r = tile.reduce add %t over %m dim 0 : tensor<32x256xf32>, !tile.axis<32> -> tensor<256xf32>
    %a1 = arith.addf %a, %r : tensor<256xf32>
    scf.yield %a1 : tensor<256xf32>
  }
  tile.store %sum, %Y[%pn] dims [[0]] axes(%n) : tensor<256xf32>, !v1, (tensor<256xindex>), (!tile.axis<256>)
}
