// RUN: %tile_opt %s --pass-pipeline='builtin.module(tilegpu.kernel(infer-layouts))' | FileCheck %s
// Control flow, odd extents, gathers, cheap values.

!v1 = !tile.view<1, f32>
!v2 = !tile.view<2, f32>
!i1 = !tile.view<1, i32>

// CHECK-LABEL: @scalars
// CHECK-NOT: tilegpu.layout
// CHECK: tile.store
tilegpu.kernel @scalars attributes {kernel = "scalars", arguments = [], contracts = [], when = [], stage = 0 : i64, grid = [1, 1, 1], warps = 1 : i64, groups = 1 : i64, plan = {}} {
  %x = tile.arg "X" : !tile.ptr
  %N = tile.arg "N" : index
  %c1 = arith.constant 1 : index
  %X = tile.view "X" inout %x [%N] strides [%c1] : !v1
  %b = tilegpu.block_id : index
  %t = tile.load %X[%b] dims [[]] : !v1, (index) -> f32
  %s = arith.addf %t, %t : f32
  tile.store %s, %X[%b] dims [[]] axes() : f32, !v1, (index), ()
}

// What is carried keeps one layout, through loops, branches and while loops.
// CHECK-LABEL: @nested
// CHECK: scf.for {{.*}} -> (tensor<57x100xf32, #[[L:.*]]>)
// CHECK: scf.for {{.*}} -> (tensor<57x100xf32, #[[L]]>)
// CHECK: scf.if {{.*}} -> (tensor<57x100xf32, #[[L]]>)
// CHECK: scf.yield %{{.*}} : tensor<57x100xf32, #[[L]]>
// CHECK: else
// CHECK: scf.yield %{{.*}} : tensor<57x100xf32, #[[L]]>
// CHECK: scf.while {{.*}} : (tensor<57x100xf32, #[[L]]>, f32) -> (tensor<57x100xf32, #[[L]]>, f32)
// CHECK-NOT: tilegpu.convert
// CHECK: tile.store
tilegpu.kernel @nested attributes {kernel = "nested", arguments = [], contracts = [], when = [], stage = 0 : i64, grid = [1, 1, 1], warps = 4 : i64, groups = 1 : i64, plan = {}} {
  %x = tile.arg "X" : !tile.ptr
  %M = tile.arg "M" : index
  %N = tile.arg "N" : index
  %flag = tile.arg "flag" : i1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %X = tile.view "X" inout %x [%M, %N] strides [%N, %c1] : !v2
  %m = tile.axis "m" %c0 to %M : !tile.axis<57>
  %n = tile.axis "n" %c0 to %N : !tile.axis<100>
  %pm = tile.pos %m : !tile.axis<57> -> tensor<57xindex>
  %pn = tile.pos %n : !tile.axis<100> -> tensor<100xindex>
  %t = tile.load %X[%pm, %pn] dims [[0], [1]] : !v2, (tensor<57xindex>, tensor<100xindex>) -> tensor<57x100xf32>
  %zero = arith.constant dense<0.0> : tensor<57x100xf32>
  %f0 = arith.constant 0.0 : f32
  %a = scf.for %i = %c0 to %M step %c1 iter_args(%s = %zero) -> (tensor<57x100xf32>) {
    %b = scf.for %j = %c0 to %N step %c1 iter_args(%u = %s) -> (tensor<57x100xf32>) {
      %c = scf.if %flag -> (tensor<57x100xf32>) {
        %d = arith.addf %u, %t : tensor<57x100xf32>
        scf.yield %d : tensor<57x100xf32>
      } else {
        scf.yield %zero : tensor<57x100xf32>
      }
      scf.yield %c : tensor<57x100xf32>
    }
    scf.yield %b : tensor<57x100xf32>
  }
  %w:2 = scf.while (%v = %a, %g = %f0) : (tensor<57x100xf32>, f32) -> (tensor<57x100xf32>, f32) {
    %go = arith.cmpf olt, %g, %f0 : f32
    scf.condition(%go) %v, %g : tensor<57x100xf32>, f32
  } do {
  ^bb0(%v: tensor<57x100xf32>, %g: f32):
    %v1 = arith.mulf %v, %v : tensor<57x100xf32>
    %r = tile.reduce add %v1 over %n dim 1 : tensor<57x100xf32>, !tile.axis<100> -> tensor<57xf32>
    %q = tile.reduce add %r over %m dim 0 : tensor<57xf32>, !tile.axis<57> -> f32
    scf.yield %v1, %q : tensor<57x100xf32>, f32
  }
  tile.store %w#0, %X[%pm, %pn] dims [[0], [1]] axes(%m, %n) : tensor<57x100xf32>, !v2, (tensor<57xindex>, tensor<100xindex>), (!tile.axis<57>, !tile.axis<100>)
}

// The row numbers of a gather take the layout of the rows; subscripts of two dimensions work.
// CHECK-LABEL: @gather
// CHECK: tile.load {{.*}} -> tensor<16xi32, #[[ROWS:.*]]>
// CHECK: tile.load {{.*}} (tensor<16xindex, #[[ROWS]]>, tensor<64xindex, {{.*}}>) -> tensor<16x64xf32, {{.*}}>
// CHECK: tile.load {{.*}} (tensor<16x64xindex, #[[TILE:.*]]>) -> tensor<16x64xf32, #[[TILE]]>
// CHECK-NOT: tilegpu.convert
// CHECK: tile.atomic add
tilegpu.kernel @gather attributes {kernel = "gather", arguments = [], contracts = [], when = [], stage = 0 : i64, grid = [1, 1, 1], warps = 2 : i64, groups = 1 : i64, plan = {}} {
  %w = tile.arg "W" {align = 16 : i64} : !tile.ptr
  %d = tile.arg "id" : !tile.ptr
  %M = tile.arg "M" : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %W = tile.view "W" in %w [%M, %c64] strides [%c64, %c1] {align = 16 : i64} : !v2
  %F = tile.view "W" in %w [%M] strides [%c1] {align = 16 : i64} : !v1
  %Y = tile.view "Y" inout %w [%c64] strides [%c1] {align = 16 : i64} : !v1
  %I = tile.view "id" in %d [%M] strides [%c1] : !i1
  %m = tile.axis "m" %c0 to %M : !tile.axis<16>
  %k = tile.axis "k" %c0 to %c64 : !tile.axis<64>
  %pm = tile.pos %m : !tile.axis<16> -> tensor<16xindex>
  %pk = tile.pos %k : !tile.axis<64> -> tensor<64xindex>
  %id = tile.load %I[%pm] dims [[0]] : !i1, (tensor<16xindex>) -> tensor<16xi32>
  %row = arith.index_cast %id : tensor<16xi32> to tensor<16xindex>
  %t = tile.load %W[%row, %pk] dims [[0], [1]] : !v2, (tensor<16xindex>, tensor<64xindex>) -> tensor<16x64xf32>
  %b64 = tile.broadcast %c64 dims [] : index -> tensor<16x64xindex>
  %bm = tile.broadcast %pm dims [0] : tensor<16xindex> -> tensor<16x64xindex>
  %bk = tile.broadcast %pk dims [1] : tensor<64xindex> -> tensor<16x64xindex>
  %mm = arith.muli %bm, %b64 : tensor<16x64xindex>
  %ix = arith.addi %mm, %bk : tensor<16x64xindex>
  %u = tile.load %F[%ix] dims [[0, 1]] : !v1, (tensor<16x64xindex>) -> tensor<16x64xf32>
  %s = arith.mulf %t, %u : tensor<16x64xf32>
  %r = tile.reduce add %s over %m dim 0 : tensor<16x64xf32>, !tile.axis<16> -> tensor<64xf32>
  tile.atomic add %r, %Y[%pk] dims [[0]] axes(%k) : tensor<64xf32>, !v1, (tensor<64xindex>), (!tile.axis<64>)
}

// Masks of positions are computed in both layouts; the count reduces a value that is only positions; dimensions of
// extent 1 and tiles of rank 3.
// CHECK-LABEL: @masks
// CHECK: tilegpu.convert
// CHECK-NOT: tilegpu.convert {{.*}}xi1
// CHECK-NOT: tilegpu.convert {{.*}}xindex
// CHECK: tile.reduce add {{.*}} -> i32
tilegpu.kernel @masks attributes {kernel = "masks", arguments = [], contracts = [], when = [], stage = 0 : i64, grid = [1, 1, 1], warps = 4 : i64, groups = 1 : i64, plan = {}} {
  %x = tile.arg "X" {align = 16 : i64} : !tile.ptr
  %M = tile.arg "M" {divisible = 4 : i64} : index
  %N = tile.arg "N" {divisible = 4 : i64} : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %X = tile.view "X" inout %x [%M, %N] strides [%N, %c1] {align = 16 : i64} : !v2
  %Y = tile.view "Y" inout %x [%N, %M] strides [%M, %c1] {align = 16 : i64} : !v2
  %m = tile.axis "m" %c0 to %M : !tile.axis<64>
  %n = tile.axis "n" %c0 to %N : !tile.axis<64>
  %o = tile.axis "o" %c0 to %c1 : !tile.axis<1>
  %pm = tile.pos %m : !tile.axis<64> -> tensor<64xindex>
  %pn = tile.pos %n : !tile.axis<64> -> tensor<64xindex>
  %bm = tile.broadcast %pm dims [0] : tensor<64xindex> -> tensor<64x64xindex>
  %bn = tile.broadcast %pn dims [1] : tensor<64xindex> -> tensor<64x64xindex>
  %le = arith.cmpi sle, %bn, %bm : tensor<64x64xindex>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %t = tile.load %X[%pm, %pn] dims [[0], [1]] : !v2, (tensor<64xindex>, tensor<64xindex>) -> tensor<64x64xf32>
  %s = arith.select %le, %t, %zero : tensor<64x64xi1>, tensor<64x64xf32>
  %p = tile.permute %s [1, 0] : tensor<64x64xf32> -> tensor<64x64xf32>
  %v = arith.select %le, %p, %zero : tensor<64x64xi1>, tensor<64x64xf32>
  tile.store %v, %Y[%pn, %pm] dims [[0], [1]] axes(%n, %m) : tensor<64x64xf32>, !v2, (tensor<64xindex>, tensor<64xindex>), (!tile.axis<64>, !tile.axis<64>)
  %cube = tile.broadcast %s dims [1, 2] : tensor<64x64xf32> -> tensor<1x64x64xf32>
  %flat = tile.reduce maxf %cube over %o dim 0 : tensor<1x64x64xf32>, !tile.axis<1> -> tensor<64x64xf32>
  tile.store %flat, %X[%pm, %pn] dims [[0], [1]] axes(%m, %n) : tensor<64x64xf32>, !v2, (tensor<64xindex>, tensor<64xindex>), (!tile.axis<64>, !tile.axis<64>)
  %one = arith.extui %le : tensor<64x64xi1> to tensor<64x64xi32>
  %count = tile.reduce add %one over %n dim 1 : tensor<64x64xi32>, !tile.axis<64> -> tensor<64xi32>
  %total = tile.reduce add %count over %m dim 0 : tensor<64xi32>, !tile.axis<64> -> i32
}
