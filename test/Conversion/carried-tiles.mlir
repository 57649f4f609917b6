// Tiles of 8-bit and 16-bit elements that cross the edges of loops and branches on their way to products are words there,
// as products take them; tiles with other uses are scalars.
// RUN: %tile_opt %s --lower-to-nvvm | FileCheck %s
// RUN: %tile_opt %s --lower-to-nvvm --lower-to-llvm -o %t.mlir
// RUN: %tilec %t.mlir -o - -S --no-header | FileCheck %s --check-prefix=PTX

#acc = #tilegpu.layout<"[[l1:8, r1:2, w0:4], [r0:2, l0:4, r2:8]]">
#rows = #tilegpu.layout<"[[l1:8, r0:2, w0:4]] rep [l0:4]">
#columns = #tilegpu.layout<"[[r0:2, l0:4, r1:8]] rep [l1:8, w0:4]">
#bytes = #tilegpu.layout<"[[l1:8, r1:2, w0:4], [r0:4, l0:4, r2:4]]">
!b = !tilegpu.smem<[64, 64], bf16, <span = 128>, alloc = [64, 64]>
!bf8 = !tilegpu.smem<[64, 64], f8E4M3FN, <span = 64>, alloc = [64, 64]>
!tile = tensor<64x64xbf16, #acc>
!tilef8 = tensor<64x64xf8E4M3FN, #bytes>
!sum = tensor<64x64xf32, #acc>

module attributes {tilec.target = "sm_90a"} {

// The operand of one iteration is made in the one before; after the loop it passes a branch. Each thread holds 32
// elements in 16 words, and pairs of accumulators are narrowed by one instruction.
// CHECK-LABEL: llvm.func @products
// CHECK: scf.for {{.*}} -> ({{(i32, ){16}(f32, ){31}f32}}) {
// CHECK: scf.yield {{.*}} : {{(i32, ){16}(f32, ){31}f32$}}
// CHECK: scf.if {{.*}} -> ({{(i32, ){15}i32}}) {
// CHECK: scf.yield {{.*}} : {{(i32, ){15}i32$}}
// PTX-LABEL: .entry products
// PTX-NOT: cvt.rn.bf16.f32
// PTX-NOT: mov.b32 {{.*}}, {
// PTX: ret;
tilegpu.kernel @products attributes {kernel = "k", arguments = [], contracts = [], when = [], stage = 0 : i64,
    grid = [1, 1, 1], warps = 4 : i64, groups = 1 : i64, plan = {}, shared_bytes = 8192 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tile.arg "N" : index
  %p = tile.arg "C" {align = 16 : i64} : !tile.ptr
  %c64 = arith.constant 64 : index
  %C = tile.view "C" out %p [%n, %c64] strides [%c64, %c1] {align = 16 : i64} : !tile.view<2, f32>
  %b = tilegpu.alloc {offset = 0 : i64} : !b
  %start = arith.constant dense<1.0> : !tile
  %zero = arith.constant dense<0.0> : !sum
  %loop:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %start, %s = %zero) -> (!tile, !sum) {
    %d = tilegpu.mma %a, %b, %s <"wgmma", shape = [64, 64, 16], warps = [4, 1]> : !tile, !b -> !sum
    %next = arith.truncf %d : !sum to !tile
    scf.yield %next, %d : !tile, !sum
  }
  %some = arith.cmpi sgt, %n, %c1 : index
  %last = scf.if %some -> (!tile) {
    scf.yield %loop#0 : !tile
  } else {
    %other = arith.truncf %loop#1 : !sum to !tile
    scf.yield %other : !tile
  }
  %d = tilegpu.mma %last, %b, %loop#1 <"wgmma", shape = [64, 64, 16], warps = [4, 1]> : !tile, !b -> !sum
  %m = tile.axis "m" %c0 to %c64 : <64>
  %k = tile.axis "k" %c0 to %c64 : <64>
  %rows = tile.pos %m : <64> -> tensor<64xindex, #rows>
  %columns = tile.pos %k : <64> -> tensor<64xindex, #columns>
  tile.store %d, %C[%rows, %columns] dims [[0], [1]] axes(%m, %k)
    : !sum, !tile.view<2, f32>, (tensor<64xindex, #rows>, tensor<64xindex, #columns>), (!tile.axis<64>, !tile.axis<64>)
}

// Four elements to a word, also in the two halves of a while loop.
// CHECK-LABEL: llvm.func @bytes
// CHECK: scf.while {{.*}} : ({{(i32, ){8}index}}) -> ({{(i32, ){8}index}}) {
// CHECK: scf.condition{{.*}} : {{(i32, ){8}index}}
// CHECK: scf.yield {{.*}} : {{(i32, ){8}index}}
tilegpu.kernel @bytes attributes {kernel = "k", arguments = [], contracts = [], when = [], stage = 0 : i64,
    grid = [1, 1, 1], warps = 4 : i64, groups = 1 : i64, plan = {}, shared_bytes = 4096 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tile.arg "N" : index
  %b = tilegpu.alloc {offset = 0 : i64} : !bf8
  %start = arith.constant dense<1.0> : !tilef8
  %zero = arith.constant dense<0.0> : !sum
  %loop:2 = scf.while (%a = %start, %i = %c0) : (!tilef8, index) -> (!tilef8, index) {
    %more = arith.cmpi slt, %i, %n : index
    scf.condition(%more) %a, %i : !tilef8, index
  } do {
  ^bb0(%a: !tilef8, %i: index):
    %d = tilegpu.mma %a, %b, %zero <"wgmma", shape = [64, 64, 32], warps = [4, 1]> : !tilef8, !bf8 -> !sum
    %next = arith.addi %i, %c1 : index
    scf.yield %a, %next : !tilef8, index
  }
}

// A use behind the loop that is no product.
// CHECK-LABEL: llvm.func @widened
// CHECK: scf.for {{.*}} -> ({{(bf16, ){31}bf16}}) {
tilegpu.kernel @widened attributes {kernel = "k", arguments = [], contracts = [], when = [], stage = 0 : i64,
    grid = [1, 1, 1], warps = 4 : i64, groups = 1 : i64, plan = {}, shared_bytes = 8192 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tile.arg "N" : index
  %b = tilegpu.alloc {offset = 0 : i64} : !b
  %start = arith.constant dense<1.0> : !tile
  %zero = arith.constant dense<0.0> : !sum
  %loop = scf.for %i = %c0 to %n step %c1 iter_args(%a = %start) -> (!tile) {
    %d = tilegpu.mma %a, %b, %zero <"wgmma", shape = [64, 64, 16], warps = [4, 1]> : !tile, !b -> !sum
    %next = arith.truncf %d : !sum to !tile
    scf.yield %next : !tile
  }
  %wide = arith.extf %loop : !tile to !sum
}
}
