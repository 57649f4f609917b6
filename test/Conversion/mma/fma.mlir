// Products without Tensor Cores: vectors from shared memory, outer products in registers.
// RUN: %tile_opt %s --lower-to-nvvm | FileCheck %s
// RUN: %if ptxas %{ %tile_opt %s --lower-to-nvvm --lower-to-llvm -o %t.mlir %}
// RUN: %if ptxas %{ %tilec %t.mlir --arch=sm_80 -o %t.cubin --no-header --resource-usage 2>&1 | FileCheck %s --check-prefix=PTXAS %}
// PTXAS: single {{ *[0-9]+ +}}0
// PTXAS: integers {{ *[0-9]+ +}}0
// PTXAS: ragged {{ *[0-9]+ +}}0

#acc = #tilegpu.layout<"[[r1:4, l1:8, w0:2], [r0:4, l0:4, w1:2]]">
!out = !tilegpu.smem<[64, 32], f32, <span = 0, pad = 16>, alloc = [64, 32]>

// A is [m, k]: vectors of 4 along k. B is [k, n]: vectors of 4 along n. 16 sums a thread, 16 positions of k: no loop.
// CHECK-LABEL: llvm.func @single
// CHECK-COUNT-8: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
// CHECK-COUNT-64: llvm.intr.fma
// CHECK-NOT: scf.for
!a = !tilegpu.smem<[64, 16], f32, <span = 0, pad = 16>, alloc = [64, 16]>
!b = !tilegpu.smem<[16, 32], f32, <span = 0, pad = 16>, alloc = [16, 32]>
tilegpu.kernel @single attributes {kernel = "single", arguments = [], contracts = [], when = [], stage = 0 : i64,
    grid = [1, 1, 1], warps = 4 : i64, groups = 1 : i64, plan = {}, shared_bytes = 40000 : i64} {
  %a = tilegpu.alloc {offset = 0 : i64} : !a
  %b = tilegpu.alloc {offset = 8192 : i64} : !b
  %c = tilegpu.alloc {offset = 16384 : i64} : !out
  %zero = arith.constant dense<0.0> : tensor<64x32xf32, #acc>
  %d = tilegpu.mma %a, %b, %zero <"fma", shape = [1, 1, 1], warps = [2, 2]> {trans_b}
    : !a, !b -> tensor<64x32xf32, #acc>
  tilegpu.local_store %d, %c [0, 1] : tensor<64x32xf32, #acc>, !out
}

// 16-bit integers with sums of 32 bits; a long contraction is a loop.
// CHECK-LABEL: llvm.func @integers
// CHECK: scf.for
// CHECK: arith.extsi {{.*}} : i16 to i32
// CHECK: arith.extui {{.*}} : i16 to i32
// CHECK: arith.muli {{.*}} : i32
// CHECK: scf.yield
!i = !tilegpu.smem<[64, 256], i16, <span = 0, pad = 16>, alloc = [64, 256]>
!j = !tilegpu.smem<[32, 256], i16, <span = 0, pad = 16>, alloc = [32, 256]>
!outi = !tilegpu.smem<[64, 32], i32, <span = 0, pad = 16>, alloc = [64, 32]>
tilegpu.kernel @integers attributes {kernel = "integers", arguments = [], contracts = [], when = [], stage = 0 : i64,
    grid = [1, 1, 1], warps = 4 : i64, groups = 1 : i64, plan = {}, shared_bytes = 80000 : i64} {
  %a = tilegpu.alloc {offset = 0 : i64} : !i
  %b = tilegpu.alloc {offset = 40960 : i64} : !j
  %c = tilegpu.alloc {offset = 65536 : i64} : !outi
  %zero = arith.constant dense<0> : tensor<64x32xi32, #acc>
  %d = tilegpu.mma %a, %b, %zero <"fma", shape = [1, 1, 1], warps = [2, 2]> {b_unsigned}
    : !i, !j -> tensor<64x32xi32, #acc>
  tilegpu.local_store %d, %c [0, 1] : tensor<64x32xi32, #acc>, !outi
}

// Padding of the layout (rows 5 to 7) reads the last row; f16 products are summed in f32.
// CHECK-LABEL: llvm.func @ragged
// CHECK: arith.minui
// CHECK: arith.extf {{.*}} : f16 to f32
// CHECK: llvm.intr.fma
!r = !tilegpu.smem<[5, 3], f16, <span = 0>, alloc = [5, 3]>
!s = !tilegpu.smem<[16, 3], f16, <span = 0>, alloc = [16, 3]>
!outr = !tilegpu.smem<[5, 16], f32, <span = 0>, alloc = [5, 16]>
#ragged = #tilegpu.layout<"[[l1:8], [r0:4, l0:4]] rep [w0:4]">
tilegpu.kernel @ragged attributes {kernel = "ragged", arguments = [], contracts = [], when = [], stage = 0 : i64,
    grid = [1, 1, 1], warps = 4 : i64, groups = 1 : i64, plan = {}, shared_bytes = 40000 : i64} {
  %a = tilegpu.alloc {offset = 0 : i64} : !r
  %b = tilegpu.alloc {offset = 8192 : i64} : !s
  %c = tilegpu.alloc {offset = 16384 : i64} : !outr
  %zero = arith.constant dense<0.0> : tensor<5x16xf32, #ragged>
  %d = tilegpu.mma %a, %b, %zero <"fma", shape = [1, 1, 1], warps = [2, 2]>
    : !r, !s -> tensor<5x16xf32, #ragged>
  tilegpu.local_store %d, %c [0, 1] : tensor<5x16xf32, #ragged>, !outr
}
