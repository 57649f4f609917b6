// Comparisons of positions that must all hold take one comparison an element, with the least of their thresholds; the
// rows of a thread have one each.
// RUN: %tile_opt %s --lower-to-nvvm | FileCheck %s
#rows = #tilegpu.layout<"[[l1:8, r0:2, w0:4]] rep [l0:4]">
#columns = #tilegpu.layout<"[[r0:2, l0:4, r1:2]] rep [l1:8, w0:4]">
#tile = #tilegpu.layout<"[[l1:8, r1:2, w0:4], [r0:2, l0:4, r2:2]]">

// t <= q and t < end: 8 registers, two rows, so two minima and 8 comparisons.
// CHECK-LABEL: llvm.func @joined
// CHECK: arith.minsi {{.*}} : i32
// CHECK: arith.minsi {{.*}} : i32
// CHECK-NOT: arith.minsi {{.*}} : i32
// CHECK-COUNT-8: arith.cmpi sle, %{{.*}} : i32
// CHECK-NOT: arith.andi
// CHECK: llvm.return
tilegpu.kernel @joined attributes {kernel = "joined", arguments = [], contracts = [], when = [], stage = 0 : i64,
    grid = [1, 1, 1], warps = 4 : i64, groups = 1 : i64, plan = {}, shared_bytes = 32768 : i64} {
  %q0 = tile.arg "q" : index
  %end = tile.arg "end" : index
  %c0 = arith.constant 0 : index
  %q = tile.axis "q" %q0 to %end : <64>
  %t = tile.axis "t" %c0 to %end : <16>
  %qs = tile.pos %q : <64> -> tensor<64xindex, #rows>
  %ts = tile.pos %t : <16> -> tensor<16xindex, #columns>
  %qb = tile.broadcast %qs dims [0] : tensor<64xindex, #rows> -> tensor<64x16xindex, #tile>
  %tb = tile.broadcast %ts dims [1] : tensor<16xindex, #columns> -> tensor<64x16xindex, #tile>
  %causal = arith.cmpi sle, %tb, %qb : tensor<64x16xindex, #tile>
  %ends = tile.broadcast %end dims [] : index -> tensor<16xindex, #columns>
  %inside = arith.cmpi slt, %ts, %ends : tensor<16xindex, #columns>
  %present = tile.broadcast %inside dims [1] : tensor<16xi1, #columns> -> tensor<64x16xi1, #tile>
  %mask = arith.andi %causal, %present : tensor<64x16xi1, #tile>
  %one = arith.constant dense<1.0> : tensor<64x16xf32, #tile>
  %zero = arith.constant dense<0.0> : tensor<64x16xf32, #tile>
  %value = arith.select %mask, %one, %zero : tensor<64x16xi1, #tile>, tensor<64x16xf32, #tile>
  %buffer = tilegpu.alloc {offset = 0 : i64} : !tilegpu.smem<[64, 16], f32, <span = 0, pad = 16>, alloc = [64, 16]>
  tilegpu.local_store %value, %buffer [0, 1] : tensor<64x16xf32, #tile>, !tilegpu.smem<[64, 16], f32, <span = 0, pad = 16>, alloc = [64, 16]>
}
