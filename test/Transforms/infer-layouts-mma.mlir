// RUN: %tile_opt %s --pass-pipeline='builtin.module(tilegpu.kernel(infer-layouts))' | FileCheck %s
// Layouts that instructions demand.

!v2 = !tile.view<2, bf16>
!f2 = !tile.view<2, f32>
!a = !tilegpu.smem<[64, 64], bf16, <span = 128>, alloc = [64, 64]>
!b = !tilegpu.smem<[256, 64], bf16, <span = 128>, alloc = [256, 64]>
!k = !tilegpu.smem<[128, 128], bf16, <span = 128>, alloc = [128, 128]>
!q = !tilegpu.smem<[64, 128], bf16, <span = 128>, alloc = [64, 128]>
!ring = !tilegpu.chan<[!a, !b], 4>
!kv = !tilegpu.chan<[!k, !k], 2>

// The accumulator's layout from the zeros to the store.
// CHECK-LABEL: @gemm_wgmma
// CHECK: arith.constant dense<0.000000e+00> : tensor<64x256xf32, #tilegpu.layout<"{{\[\[}}l1:8, r1:2, w0:4], [r0:2, l0:4, r2:32]]">>
// CHECK-NOT: tilegpu.convert
// CHECK: tilegpu.mma {{.*}} -> tensor<64x256xf32, #tilegpu.layout<"{{\[\[}}l1:8, r1:2, w0:4], [r0:2, l0:4, r2:32]]">>
// CHECK-NOT: tilegpu.convert
// CHECK: tile.store {{.*}} (tensor<64xindex, #tilegpu.layout<"{{\[\[}}l1:8, r0:2, w0:4]] rep [l0:4]">>, tensor<256xindex, #tilegpu.layout<"{{\[\[}}r0:2, l0:4, r1:32]] rep [l1:8, w0:4]">>)
tilegpu.kernel @gemm_wgmma attributes {kernel = "gemm", arguments = [], contracts = [], when = [], stage = 0 : i64, grid = [1, 1, 1], warps = 4 : i64, groups = 2 : i64, plan = {}} {
  %pa = tile.arg "A" {align = 16 : i64} : !tile.ptr
  %pb = tile.arg "B" {align = 16 : i64} : !tile.ptr
  %pc = tile.arg "C" {align = 16 : i64} : !tile.ptr
  %M = tile.arg "M" : index
  %N = tile.arg "N" {divisible = 8 : i64} : index
  %K = tile.arg "K" {divisible = 8 : i64} : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %A = tile.view "A" in %pa [%M, %K] strides [%K, %c1] {align = 16 : i64} : !v2
  %B = tile.view "B" in %pb [%N, %K] strides [%K, %c1] {align = 16 : i64} : !v2
  %C = tile.view "C" out %pc [%M, %N] strides [%N, %c1] {align = 16 : i64} : !v2
  %ab = tilegpu.chan "AB" "tma" : !ring
  %zero = arith.constant dense<0.0> : tensor<64x256xf32>
  %nk = arith.ceildivsi %K, %c64 : index
  %acc = scf.for %i = %c0 to %nk step %c1 iter_args(%s = %zero) -> (tensor<64x256xf32>) {
    %k0 = arith.muli %i, %c64 : index
    %w = tilegpu.acquire %ab : !ring
    tilegpu.fill %w of %ab[0], %A[%c0, %k0] box [64, 64] kept [0, 1] : !ring, !v2
    tilegpu.fill %w of %ab[1], %B[%c0, %k0] box [256, 64] kept [0, 1] : !ring, !v2
    tilegpu.commit %w of %ab : !ring
    %r = tilegpu.receive %ab : !ring
    %sa = tilegpu.slot_view %r of %ab[0] : !ring -> !a
    %sb = tilegpu.slot_view %r of %ab[1] : !ring -> !b
    %d = tilegpu.mma %sa, %sb, %s <"wgmma", shape = [64, 256, 16], warps = [4, 1]> : !a, !b -> tensor<64x256xf32>
    tilegpu.release %r of %ab : !ring
    scf.yield %d : tensor<64x256xf32>
  }
  %c = arith.truncf %acc : tensor<64x256xf32> to tensor<64x256xbf16>
  %m = tile.axis "m" %c0 to %c64 : !tile.axis<64>
  %n = tile.axis "n" %c0 to %N : !tile.axis<256>
  %pm = tile.pos %m : !tile.axis<64> -> tensor<64xindex>
  %pn = tile.pos %n : !tile.axis<256> -> tensor<256xindex>
  tile.store %c, %C[%pm, %pn] dims [[0], [1]] axes(%m, %n) : tensor<64x256xbf16>, !v2, (tensor<64xindex>, tensor<256xindex>), (!tile.axis<64>, !tile.axis<256>)
}

// mma.sync: fragments come straight from shared memory; a bias follows the accumulator.
// CHECK-LABEL: @gemm_mma
// CHECK-NOT: tilegpu.convert
// CHECK: tilegpu.local_load %{{.*}}[0, 1] {{.*}} -> tensor<64x32xbf16, #tilegpu.layout<"{{\[\[}}l1:8, r1:2, w0:2, r3:2], [r0:2, l0:4, r2:4]] rep [w1:2]">>
// CHECK: tilegpu.local_load %{{.*}}[1, 0] {{.*}} -> tensor<48x32xbf16, #tilegpu.layout<"{{\[\[}}l1:8, w1:2, r2:3], [r0:2, l0:4, r1:4]] rep [w0:2]">>
// CHECK: tilegpu.mma {{.*}} -> tensor<64x48xf32, #tilegpu.layout<"{{\[\[}}l1:8, r1:2, w0:2, r3:2], [r0:2, l0:4, w1:2, r2:3]]">>
// CHECK: tile.load {{.*}} -> tensor<48xf32, #tilegpu.layout<"{{\[\[}}r0:2, l0:4, w1:2, r1:3]] rep [l1:8, w0:2]">>
// CHECK-NOT: tilegpu.convert
// CHECK: tile.store
tilegpu.kernel @gemm_mma attributes {kernel = "gemm", arguments = [], contracts = [], when = [], stage = 0 : i64, grid = [1, 1, 1], warps = 4 : i64, groups = 1 : i64, plan = {}} {
  %pb = tile.arg "bias" {align = 16 : i64} : !tile.ptr
  %pc = tile.arg "C" {align = 16 : i64} : !tile.ptr
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c48 = arith.constant 48 : index
  %c64 = arith.constant 64 : index
  %bias = tile.view "bias" in %pb [%c48] strides [%c1] {align = 16 : i64} : !tile.view<1, f32>
  %C = tile.view "C" out %pc [%c64, %c48] strides [%c48, %c1] {align = 16 : i64} : !f2
  %sa = tilegpu.alloc : !tilegpu.smem<[64, 32], bf16, <span = 64>, alloc = [64, 32]>
  %sb = tilegpu.alloc : !tilegpu.smem<[32, 48], bf16, <span = 32>, alloc = [32, 48]>
  %zero = arith.constant dense<0.0> : tensor<64x48xf32>
  %acc = scf.for %i = %c0 to %c48 step %c1 iter_args(%s = %zero) -> (tensor<64x48xf32>) {
    %a = tilegpu.local_load %sa [0, 1] : !tilegpu.smem<[64, 32], bf16, <span = 64>, alloc = [64, 32]> -> tensor<64x32xbf16>
    %b = tilegpu.local_load %sb [1, 0] : !tilegpu.smem<[32, 48], bf16, <span = 32>, alloc = [32, 48]> -> tensor<48x32xbf16>
    %d = tilegpu.mma %a, %b, %s <"mma", shape = [16, 8, 16], warps = [2, 2]> : tensor<64x32xbf16>, tensor<48x32xbf16> -> tensor<64x48xf32>
    scf.yield %d : tensor<64x48xf32>
  }
  %m = tile.axis "m" %c0 to %c64 : !tile.axis<64>
  %n = tile.axis "n" %c0 to %c48 : !tile.axis<48>
  %pm = tile.pos %m : !tile.axis<64> -> tensor<64xindex>
  %pn = tile.pos %n : !tile.axis<48> -> tensor<48xindex>
  %v = tile.load %bias[%pn] dims [[0]] : !tile.view<1, f32>, (tensor<48xindex>) -> tensor<48xf32>
  %bv = tile.broadcast %v dims [1] : tensor<48xf32> -> tensor<64x48xf32>
  %o = arith.addf %acc, %bv : tensor<64x48xf32>
  tile.store %o, %C[%pm, %pn] dims [[0], [1]] axes(%m, %n) : tensor<64x48xf32>, !f2, (tensor<64xindex>, tensor<48xindex>), (!tile.axis<64>, !tile.axis<48>)
}

// Attention: the scores' accumulator is register A of the second product; the row vectors are slices of both.
// CHECK-LABEL: @attention
// CHECK-NOT: tilegpu.convert
// CHECK: scf.for {{.*}} -> (tensor<64xf32, #tilegpu.layout<"{{\[\[}}l1:8, r0:2, w0:4]] rep [l0:4]">>, tensor<64xf32, {{.*}}>, tensor<64x128xf32, #tilegpu.layout<"{{\[\[}}l1:8, r1:2, w0:4], [r0:2, l0:4, r2:16]]">>)
// CHECK-NOT: tilegpu.convert
// CHECK: arith.truncf {{.*}} to tensor<64x128xbf16, #tilegpu.layout<"{{\[\[}}l1:8, r1:2, w0:4], [r0:2, l0:4, r2:16]]">>
// CHECK-NOT: tilegpu.convert
// CHECK: tile.store
// CHECK-NOT: tilegpu.convert
tilegpu.kernel @attention attributes {kernel = "attention", arguments = [], contracts = [], when = [], stage = 0 : i64, grid = [1, 1, 1], warps = 4 : i64, groups = 2 : i64, plan = {}} {
  %po = tile.arg "O" {align = 16 : i64} : !tile.ptr
  %S = tile.arg "S" : index
  %n = tile.arg "n" : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %O = tile.view "O" out %po [%S, %c128] strides [%c128, %c1] {align = 16 : i64} : !v2
  %ch = tilegpu.chan "KV" "tma" : !kv
  %sq = tilegpu.alloc : !q
  %q = tile.axis "q" %c0 to %c64 : !tile.axis<64>
  %d = tile.axis "d" %c0 to %c128 : !tile.axis<128>
  %pq = tile.pos %q : !tile.axis<64> -> tensor<64xindex>
  %pd = tile.pos %d : !tile.axis<128> -> tensor<128xindex>
  %low = arith.constant dense<-1.0e30> : tensor<64xf32>
  %z1 = arith.constant dense<0.0> : tensor<64xf32>
  %z2 = arith.constant dense<0.0> : tensor<64x128xf32>
  %ninf = arith.constant dense<0xFF800000> : tensor<64x128xf32>
  %true = arith.constant true
  %r:3 = scf.for %j = %c0 to %n step %c1 iter_args(%top = %low, %tot = %z1, %acc = %z2) -> (tensor<64xf32>, tensor<64xf32>, tensor<64x128xf32>) {
    %t0 = arith.muli %j, %c128 : index
    %t1 = arith.addi %t0, %c128 : index
    %t = tile.axis "t" %t0 to %t1 : !tile.axis<128>
    %pt = tile.pos %t : !tile.axis<128> -> tensor<128xindex>
    %it = tilegpu.receive %ch : !kv
    %sk = tilegpu.slot_view %it of %ch[0] : !kv -> !k
    %sv = tilegpu.slot_view %it of %ch[1] : !kv -> !k
    %s0 = tilegpu.mma %sq, %sk, %z2 first %true <"wgmma", shape = [64, 128, 16], warps = [4, 1]> : !q, !k -> tensor<64x128xf32>
    %bq = tile.broadcast %pq dims [0] : tensor<64xindex> -> tensor<64x128xindex>
    %bt = tile.broadcast %pt dims [1] : tensor<128xindex> -> tensor<64x128xindex>
    %le = arith.cmpi sle, %bt, %bq : tensor<64x128xindex>
    %s = arith.select %le, %s0, %ninf : tensor<64x128xi1>, tensor<64x128xf32>
    %mx = tile.reduce maxf %s over %t dim 1 {full} : tensor<64x128xf32>, !tile.axis<128> -> tensor<64xf32>
    %new = arith.maximumf %top, %mx : tensor<64xf32>
    %bnew = tile.broadcast %new dims [0] : tensor<64xf32> -> tensor<64x128xf32>
    %sub = arith.subf %s, %bnew : tensor<64x128xf32>
    %p = math.exp2 %sub : tensor<64x128xf32>
    %dr = arith.subf %top, %new : tensor<64xf32>
    %rr = math.exp2 %dr : tensor<64xf32>
    %sum = tile.reduce add %p over %t dim 1 {full} : tensor<64x128xf32>, !tile.axis<128> -> tensor<64xf32>
    %tr = arith.mulf %tot, %rr : tensor<64xf32>
    %tot1 = arith.addf %tr, %sum : tensor<64xf32>
    %pb = arith.truncf %p : tensor<64x128xf32> to tensor<64x128xbf16>
    %brr = tile.broadcast %rr dims [0] : tensor<64xf32> -> tensor<64x128xf32>
    %sc = arith.mulf %acc, %brr : tensor<64x128xf32>
    %acc1 = tilegpu.mma %pb, %sv, %sc <"wgmma", shape = [64, 128, 16], warps = [4, 1]> {trans_b} : tensor<64x128xbf16>, !k -> tensor<64x128xf32>
    tilegpu.release %it of %ch : !kv
    scf.yield %new, %tot1, %acc1 : tensor<64xf32>, tensor<64xf32>, tensor<64x128xf32>
  }
  %bl = tile.broadcast %r#1 dims [0] : tensor<64xf32> -> tensor<64x128xf32>
  %o0 = arith.divf %r#2, %bl : tensor<64x128xf32>
  %o = arith.truncf %o0 : tensor<64x128xf32> to tensor<64x128xbf16>
  tile.store %o, %O[%pq, %pd] dims [[0], [1]] axes(%q, %d) : tensor<64x128xbf16>, !v2, (tensor<64xindex>, tensor<128xindex>), (!tile.axis<64>, !tile.axis<128>)
}

// Multiply-adds: each thread has a rectangle; 24 x 40 results on 32 lanes take exactly 30 registers.
// CHECK-LABEL: @fma
// CHECK: tilegpu.mma {{.*}} -> tensor<24x40xf32, #tilegpu.layout<"{{\[\[}}l1:4, r1:6], [l0:8, r0:5]]">>
// CHECK-NOT: tilegpu.convert
// CHECK: tile.store
tilegpu.kernel @fma attributes {kernel = "fma", arguments = [], contracts = [], when = [], stage = 0 : i64, grid = [1, 1, 1], warps = 1 : i64, groups = 1 : i64, plan = {}} {
  %pc = tile.arg "C" {align = 16 : i64} : !tile.ptr
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c24 = arith.constant 24 : index
  %c40 = arith.constant 40 : index
  %C = tile.view "C" out %pc [%c24, %c40] strides [%c40, %c1] {align = 16 : i64} : !f2
  %sa = tilegpu.alloc : !tilegpu.smem<[24, 7], f32, <span = 0, pad = 16>, alloc = [24, 7]>
  %sb = tilegpu.alloc : !tilegpu.smem<[40, 7], f32, <span = 0, pad = 16>, alloc = [40, 7]>
  %zero = arith.constant dense<0.0> : tensor<24x40xf32>
  %d = tilegpu.mma %sa, %sb, %zero <"fma", shape = [1, 1, 1], warps = [1, 1]> : !tilegpu.smem<[24, 7], f32, <span = 0, pad = 16>, alloc = [24, 7]>, !tilegpu.smem<[40, 7], f32, <span = 0, pad = 16>, alloc = [40, 7]> -> tensor<24x40xf32>
  %m = tile.axis "m" %c0 to %c24 : !tile.axis<24>
  %n = tile.axis "n" %c0 to %c40 : !tile.axis<40>
  %pm = tile.pos %m : !tile.axis<24> -> tensor<24xindex>
  %pn = tile.pos %n : !tile.axis<40> -> tensor<40xindex>
  tile.store %d, %C[%pm, %pn] dims [[0], [1]] axes(%m, %n) : tensor<24x40xf32>, !f2, (tensor<24xindex>, tensor<40xindex>), (!tile.axis<24>, !tile.axis<40>)
}

// Weights of eight bits that are widened for a product: what has to be converted is converted while it is narrow.
// CHECK-LABEL: @dequantised
// CHECK: %[[W:.*]] = tile.load {{.*}} -> tensor<64x64xi8, {{.*}}>
// CHECK-NEXT: %[[C:.*]] = tilegpu.convert %[[W]] : tensor<64x64xi8, {{.*}}> -> tensor<64x64xi8, #tilegpu.layout<"{{\[\[}}l1:8, r1:2, w0:4], [r0:2, l0:4, r2:8]]">>
// CHECK-NEXT: arith.sitofp %[[C]]
// CHECK-NOT: tilegpu.convert
tilegpu.kernel @dequantised attributes {kernel = "dequantised", arguments = [], contracts = [], when = [], stage = 0 : i64, grid = [1, 1, 1], warps = 4 : i64, groups = 1 : i64, plan = {}} {
  %pw = tile.arg "W" {align = 16 : i64} : !tile.ptr
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %W = tile.view "W" in %pw [%c64, %c64] strides [%c64, %c1] {align = 16 : i64} : !tile.view<2, i8>
  %sb = tilegpu.alloc : !b
  %z = arith.constant dense<0.0> : tensor<64x256xf32>
  %m = tile.axis "m" %c0 to %c64 : !tile.axis<64>
  %p = tile.pos %m : !tile.axis<64> -> tensor<64xindex>
  %w = tile.load %W[%p, %p] dims [[0], [1]] : !tile.view<2, i8>, (tensor<64xindex>, tensor<64xindex>) -> tensor<64x64xi8>
  %f = arith.sitofp %w : tensor<64x64xi8> to tensor<64x64xbf16>
  %d = tilegpu.mma %f, %sb, %z <"wgmma", shape = [64, 256, 16], warps = [4, 1]> : tensor<64x64xbf16>, !b -> tensor<64x256xf32>
}
