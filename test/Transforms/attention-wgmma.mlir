// RUN: %tile_opt %s --pass-pipeline='builtin.module(canonicalize,cse,loop-invariant-code-motion,tile.kernel(simplify,plan),schedule,tilegpu.kernel(split,channels),canonicalize,cse,tilegpu.kernel(slice),canonicalize,cse)' | FileCheck %s
// Causal attention, 128 queries x 128 keys, head size 128: rings for Q (the next tile's comes meanwhile), K and
// V; P stays in registers.

// CHECK-LABEL: tilegpu.kernel @attention
// CHECK-DAG: tilegpu.chan "Q" "tma" {{.*}}[128, 128]{{.*}}, 2>
// CHECK-DAG: tilegpu.chan "K" "tma"
// CHECK-DAG: tilegpu.chan "V" "tma"
// CHECK: tilegpu.process "consumer" warps(4) replicas(2) registers(224)
// CHECK: scf.for
// CHECK: scf.for {{.*}} -> (tensor<64xf32>, tensor<64xf32>, tensor<64x128xf32>)
// CHECK: tilegpu.mma {{.*}} -> tensor<64x128xf32>
// CHECK: tile.reduce maxf
// CHECK: %[[KEPT:.*]] = arith.select {{.*}} : tensor<64x128xi1>, tensor<64x128xf32>
// CHECK: %[[P:.*]] = arith.truncf %[[KEPT]] : tensor<64x128xf32> to tensor<64x128xbf16>
// CHECK: tilegpu.zero_tail
// CHECK: tilegpu.mma %[[P]], {{.*}}trans_b
// CHECK: tilegpu.process "producer" warps(4) replicas(1) registers(56)
// CHECK-NOT: tensor<
tile.kernel @attention attributes {kernel = "attention", arguments = []} {
  %qp = tile.arg "Q" {align = 16 : i64} : !tile.ptr
  %kp = tile.arg "K" {align = 16 : i64} : !tile.ptr
  %vp = tile.arg "V" {align = 16 : i64} : !tile.ptr
  %op = tile.arg "O" {align = 16 : i64} : !tile.ptr
  %cc = tile.arg "scale" : f32
  %B = tile.arg "B" {min = 0 : i64} : index
  %H = tile.arg "H" {min = 0 : i64} : index
  %S = tile.arg "S" {min = 0 : i64} : index
  %T = tile.arg "T" {min = 0 : i64} : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %D = arith.constant 128 : index
  %SD = arith.muli %S, %D : index
  %HSD = arith.muli %H, %SD : index
  %TD = arith.muli %T, %D : index
  %HTD = arith.muli %H, %TD : index
  %Q = tile.view "Q" in %qp [%B, %H, %S, %D] strides [%HSD, %SD, %D, %c1] {align = 16 : i64} : !tile.view<4, bf16>
  %K = tile.view "K" in %kp [%B, %H, %T, %D] strides [%HTD, %TD, %D, %c1] {align = 16 : i64} : !tile.view<4, bf16>
  %V = tile.view "V" in %vp [%B, %H, %T, %D] strides [%HTD, %TD, %D, %c1] {align = 16 : i64} : !tile.view<4, bf16>
  %O = tile.view "O" out %op [%B, %H, %S, %D] strides [%HSD, %SD, %D, %c1] {align = 16 : i64} : !tile.view<4, bf16>
  %tq = arith.ceildivsi %S, %D : index
  tile.parallel [%c0, %c0, %c0] to [%B, %H, %tq] tiles [0, 0, 128] {
  ^bb0(%b: index, %h: index, %i: index):
    %q0 = arith.muli %i, %D : index
    %q1 = arith.addi %q0, %D : index
    %q2 = arith.minsi %q1, %S : index
    %q = tile.axis "q" %q0 to %q2 : !tile.axis<128>
    %d = tile.axis "d" %c0 to %D : !tile.axis<128>
    %pq = tile.pos %q : !tile.axis<128> -> tensor<128xindex>
    %pd = tile.pos %d : !tile.axis<128> -> tensor<128xindex>
    %top0 = arith.constant dense<-1.0e30> : tensor<128xf32>
    %tot0 = arith.constant dense<0.0> : tensor<128xf32>
    %acc0 = arith.constant dense<0.0> : tensor<128x128xf32>
    %limit = arith.minsi %T, %q2 : index
    %n = arith.ceildivsi %limit, %D : index
    %r:3 = scf.for %j = %c0 to %n step %c1 iter_args(%top = %top0, %tot = %tot0, %acc = %acc0) -> (tensor<128xf32>, tensor<128xf32>, tensor<128x128xf32>) {
      %t0 = arith.muli %j, %D : index
      %t1 = arith.addi %t0, %D : index
      %t2 = arith.minsi %t1, %limit : index
      %t = tile.axis "t" %t0 to %t2 : !tile.axis<128>
      %pt = tile.pos %t : !tile.axis<128> -> tensor<128xindex>
      %tQ = tile.load %Q[%b, %h, %pq, %pd] dims [[], [], [0], [1]] : !tile.view<4, bf16>, (index, index, tensor<128xindex>, tensor<128xindex>) -> tensor<128x128xbf16>
      %tK = tile.load %K[%b, %h, %pt, %pd] dims [[], [], [0], [1]] : !tile.view<4, bf16>, (index, index, tensor<128xindex>, tensor<128xindex>) -> tensor<128x128xbf16>
      %tV = tile.load %V[%b, %h, %pt, %pd] dims [[], [], [0], [1]] : !tile.view<4, bf16>, (index, index, tensor<128xindex>, tensor<128xindex>) -> tensor<128x128xbf16>
      %s0 = tile.dot %tQ, %tK over(%d) lhs [1] rhs [1] : tensor<128x128xbf16>, tensor<128x128xbf16>, (!tile.axis<128>) -> tensor<128x128xf32>
      %scale = tile.broadcast %cc dims [] : f32 -> tensor<128x128xf32>
      %s1 = arith.mulf %s0, %scale : tensor<128x128xf32>
      %bq = tile.broadcast %pq dims [0] : tensor<128xindex> -> tensor<128x128xindex>
      %bt = tile.broadcast %pt dims [1] : tensor<128xindex> -> tensor<128x128xindex>
      %le = arith.cmpi sle, %bt, %bq : tensor<128x128xindex>
      %ninf = arith.constant dense<0xFF800000> : tensor<128x128xf32>
      %s = arith.select %le, %s1, %ninf : tensor<128x128xi1>, tensor<128x128xf32>
      %mx = tile.reduce maxf %s over %t dim 1 : tensor<128x128xf32>, !tile.axis<128> -> tensor<128xf32>
      %new = arith.maximumf %top, %mx : tensor<128xf32>
      %bnew = tile.broadcast %new dims [0] : tensor<128xf32> -> tensor<128x128xf32>
      %sub = arith.subf %s, %bnew : tensor<128x128xf32>
      %p = math.exp2 %sub : tensor<128x128xf32>
      %dr = arith.subf %top, %new : tensor<128xf32>
      %rr = math.exp2 %dr : tensor<128xf32>
      %sum = tile.reduce add %p over %t dim 1 : tensor<128x128xf32>, !tile.axis<128> -> tensor<128xf32>
      %tr = arith.mulf %tot, %rr : tensor<128xf32>
      %tot1 = arith.addf %tr, %sum : tensor<128xf32>
      %pb = arith.truncf %p : tensor<128x128xf32> to tensor<128x128xbf16>
      %brr = tile.broadcast %rr dims [0] : tensor<128xf32> -> tensor<128x128xf32>
      %sc = arith.mulf %acc, %brr : tensor<128x128xf32>
      %pv = tile.dot %pb, %tV over(%t) lhs [1] rhs [0] : tensor<128x128xbf16>, tensor<128x128xbf16>, (!tile.axis<128>) -> tensor<128x128xf32>
      %acc1 = arith.addf %sc, %pv : tensor<128x128xf32>
      scf.yield %new, %tot1, %acc1 : tensor<128xf32>, tensor<128xf32>, tensor<128x128xf32>
    }
    %bl = tile.broadcast %r#1 dims [0] : tensor<128xf32> -> tensor<128x128xf32>
    %o0 = arith.divf %r#2, %bl : tensor<128x128xf32>
    %zero = arith.constant dense<0.0> : tensor<128x128xf32>
    %pos = arith.cmpf ogt, %bl, %zero : tensor<128x128xf32>
    %o1 = arith.select %pos, %o0, %zero : tensor<128x128xi1>, tensor<128x128xf32>
    %o = arith.truncf %o1 : tensor<128x128xf32> to tensor<128x128xbf16>
    tile.store %o, %O[%b, %h, %pq, %pd] dims [[], [], [0], [1]] axes(%q, %d) : tensor<128x128xbf16>, !tile.view<4, bf16>, (index, index, tensor<128xindex>, tensor<128xindex>), (!tile.axis<128>, !tile.axis<128>)
  }
}
