// mma.sync: shapes, element types, fragments by ldmatrix.
// RUN: %tile_opt %s --lower-to-nvvm | FileCheck %s
// RUN: %if ptxas %{ %tile_opt %s --lower-to-nvvm --lower-to-llvm -o %t.mlir %}
// RUN: %if ptxas %{ %tilec %t.mlir --arch=sm_89 -o %t.cubin --no-header --resource-usage 2>&1 | FileCheck %s --check-prefix=PTXAS %}
// PTXAS: half {{ *[0-9]+ +}}0
// PTXAS: bytes {{ *[0-9]+ +}}0
// PTXAS: f8 {{ *[0-9]+ +}}0
// PTXAS: f8_as_half {{ *[0-9]+ +}}0
// PTXAS: tf32 {{ *[0-9]+ +}}0
// PTXAS: double {{ *[0-9]+ +}}0


#acc = #tilegpu.layout<"[[l1:8, r1:2, w0:2], [r0:2, l0:4, w1:2, r2:2]]">
!out = !tilegpu.smem<[32, 32], f32, <span = 0, pad = 16>, alloc = [32, 32]>
!outi = !tilegpu.smem<[32, 32], i32, <span = 0, pad = 16>, alloc = [32, 32]>

// B is [k, n] in memory: its fragments come by ldmatrix.trans. Two column blocks of a warp, one step of k = 16 and of 8.
// CHECK-LABEL: llvm.func @half
// CHECK: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
// CHECK-COUNT-2: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$10, $11, $12, $13};", "=f,=f,=f,=f,r,r,r,r,r,r,f,f,f,f"
// CHECK-COUNT-4: mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {$0, $1, $2, $3}, {$4, $5}, {$6}, {$7, $8, $9, $10};
// CHECK-NOT: mma.sync
!h = !tilegpu.smem<[32, 16], f16, <span = 32>, alloc = [32, 16]>
!hb = !tilegpu.smem<[16, 32], f16, <span = 64>, alloc = [16, 32]>
#ah = #tilegpu.layout<"[[l1:8, r1:2, w0:2], [r0:2, l0:4, r2:2]] rep [w1:2]">
#bh = #tilegpu.layout<"[[l1:8, w1:2, r2:2], [r0:2, l0:4, r1:2]] rep [w0:2]">
#a8 = #tilegpu.layout<"[[l1:8, r1:2, w0:2], [r0:2, l0:4, r2:2]] rep [w1:2]">
tilegpu.kernel @half attributes {kernel = "half", arguments = [], contracts = [], when = [], stage = 0 : i64,
    grid = [1, 1, 1], warps = 4 : i64, groups = 1 : i64, plan = {}, shared_bytes = 40000 : i64} {
  %a = tilegpu.alloc {offset = 0 : i64} : !h
  %b = tilegpu.alloc {offset = 8192 : i64} : !hb
  %c = tilegpu.alloc {offset = 16384 : i64} : !out
  %zero = arith.constant dense<0.0> : tensor<32x32xf32, #acc>
  %ra = tilegpu.local_load %a [0, 1] : !h -> tensor<32x16xf16, #ah>
  %rb = tilegpu.local_load %b [1, 0] : !hb -> tensor<32x16xf16, #bh>
  %d = tilegpu.mma %ra, %rb, %zero <"mma", shape = [16, 8, 16], warps = [2, 2]>
    : tensor<32x16xf16, #ah>, tensor<32x16xf16, #bh> -> tensor<32x32xf32, #acc>
  %e = tilegpu.mma %ra, %rb, %d <"mma", shape = [16, 8, 8], warps = [2, 2]>
    : tensor<32x16xf16, #ah>, tensor<32x16xf16, #bh> -> tensor<32x32xf32, #acc>
  tilegpu.local_store %e, %c [0, 1] : tensor<32x32xf32, #acc>, !out
}

// CHECK-LABEL: llvm.func @bytes
// CHECK: ldmatrix
// CHECK-COUNT-2: mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {{.*}}"=r,=r,=r,=r,r,
!i8 = !tilegpu.smem<[32, 32], i8, <span = 32>, alloc = [32, 32]>
#ai = #tilegpu.layout<"[[l1:8, r1:2, w0:2], [r0:4, l0:4, r2:2]] rep [w1:2]">
#bi = #tilegpu.layout<"[[l1:8, w1:2, r2:2], [r0:4, l0:4, r1:2]] rep [w0:2]">
tilegpu.kernel @bytes attributes {kernel = "bytes", arguments = [], contracts = [], when = [], stage = 0 : i64,
    grid = [1, 1, 1], warps = 4 : i64, groups = 1 : i64, plan = {}, shared_bytes = 40000 : i64} {
  %a = tilegpu.alloc {offset = 0 : i64} : !i8
  %b = tilegpu.alloc {offset = 8192 : i64} : !i8
  %c = tilegpu.alloc {offset = 16384 : i64} : !outi
  %zero = arith.constant dense<0> : tensor<32x32xi32, #acc>
  %ra = tilegpu.local_load %a [0, 1] : !i8 -> tensor<32x32xi8, #ai>
  %rb = tilegpu.local_load %b [0, 1] : !i8 -> tensor<32x32xi8, #bi>
  %d = tilegpu.mma %ra, %rb, %zero <"mma", shape = [16, 8, 32], warps = [2, 2]> {b_unsigned}
    : tensor<32x32xi8, #ai>, tensor<32x32xi8, #bi> -> tensor<32x32xi32, #acc>
  tilegpu.local_store %d, %c [0, 1] : tensor<32x32xi32, #acc>, !outi
}

// CHECK-LABEL: llvm.func @f8
// CHECK-COUNT-2: mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32
!f8a = !tilegpu.smem<[32, 32], f8E4M3FN, <span = 32>, alloc = [32, 32]>
!f8b = !tilegpu.smem<[32, 32], f8E5M2, <span = 32>, alloc = [32, 32]>
tilegpu.kernel @f8 attributes {kernel = "f8", arguments = [], contracts = [], when = [], stage = 0 : i64,
    grid = [1, 1, 1], warps = 4 : i64, groups = 1 : i64, plan = {}, shared_bytes = 40000 : i64} {
  %a = tilegpu.alloc {offset = 0 : i64} : !f8a
  %b = tilegpu.alloc {offset = 8192 : i64} : !f8b
  %c = tilegpu.alloc {offset = 16384 : i64} : !out
  %zero = arith.constant dense<0.0> : tensor<32x32xf32, #acc>
  %ra = tilegpu.local_load %a [0, 1] : !f8a -> tensor<32x32xf8E4M3FN, #ai>
  %rb = tilegpu.local_load %b [0, 1] : !f8b -> tensor<32x32xf8E5M2, #bi>
  %d = tilegpu.mma %ra, %rb, %zero <"mma", shape = [16, 8, 32], warps = [2, 2]> {fast}
    : tensor<32x32xf8E4M3FN, #ai>, tensor<32x32xf8E5M2, #bi> -> tensor<32x32xf32, #acc>
  tilegpu.local_store %d, %c [0, 1] : tensor<32x32xf32, #acc>, !out
}

// 8-bit floats with the 16-bit instruction become f16 first, which is exact.
// CHECK-LABEL: llvm.func @f8_as_half
// CHECK: arith.mulf {{.*}} : f16
// CHECK-COUNT-4: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
#ah2 = #tilegpu.layout<"[[l1:8, r1:2, w0:2], [r0:2, l0:4, r2:4]] rep [w1:2]">
#bh2 = #tilegpu.layout<"[[l1:8, w1:2, r3:2], [r0:2, l0:4, r1:4]] rep [w0:2]">
tilegpu.kernel @f8_as_half attributes {kernel = "f8_as_half", arguments = [], contracts = [], when = [],
    stage = 0 : i64, grid = [1, 1, 1], warps = 4 : i64, groups = 1 : i64, plan = {}, shared_bytes = 40000 : i64} {
  %a = tilegpu.alloc {offset = 0 : i64} : !f8a
  %b = tilegpu.alloc {offset = 8192 : i64} : !f8b
  %c = tilegpu.alloc {offset = 16384 : i64} : !out
  %zero = arith.constant dense<0.0> : tensor<32x32xf32, #acc>
  %ra = tilegpu.local_load %a [0, 1] : !f8a -> tensor<32x32xf8E4M3FN, #ah2>
  %rb = tilegpu.local_load %b [0, 1] : !f8b -> tensor<32x32xf8E5M2, #bh2>
  %d = tilegpu.mma %ra, %rb, %zero <"mma", shape = [16, 8, 16], warps = [2, 2]>
    : tensor<32x32xf8E4M3FN, #ah2>, tensor<32x32xf8E5M2, #bh2> -> tensor<32x32xf32, #acc>
  tilegpu.local_store %d, %c [0, 1] : tensor<32x32xf32, #acc>, !out
}

// CHECK-LABEL: llvm.func @tf32
// CHECK: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK-COUNT-2: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9},
!t = !tilegpu.smem<[32, 8], f32, <span = 32>, alloc = [32, 8]>
#at = #tilegpu.layout<"[[l1:8, r1:2, w0:2], [l0:4, r2:2]] rep [w1:2]">
#bt = #tilegpu.layout<"[[l1:8, w1:2, r2:2], [l0:4, r1:2]] rep [w0:2]">
tilegpu.kernel @tf32 attributes {kernel = "tf32", arguments = [], contracts = [], when = [], stage = 0 : i64,
    grid = [1, 1, 1], warps = 4 : i64, groups = 1 : i64, plan = {}, shared_bytes = 40000 : i64} {
  %a = tilegpu.alloc {offset = 0 : i64} : !t
  %c = tilegpu.alloc {offset = 16384 : i64} : !out
  %zero = arith.constant dense<0.0> : tensor<32x32xf32, #acc>
  %ra = tilegpu.local_load %a [0, 1] : !t -> tensor<32x8xf32, #at>
  %rb = tilegpu.local_load %a [0, 1] : !t -> tensor<32x8xf32, #bt>
  %d = tilegpu.mma %ra, %rb, %zero <"mma", shape = [16, 8, 8], warps = [2, 2]>
    : tensor<32x8xf32, #at>, tensor<32x8xf32, #bt> -> tensor<32x32xf32, #acc>
  tilegpu.local_store %d, %c [0, 1] : tensor<32x32xf32, #acc>, !out
}

// CHECK-LABEL: llvm.func @double
// CHECK-COUNT-4: mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {$0, $1}, {$2}, {$3}, {$4, $5};", "=d,=d,d,d,d,d"
!d = !tilegpu.smem<[16, 8], f64, <span = 0, pad = 16>, alloc = [16, 8]>
!outd = !tilegpu.smem<[16, 16], f64, <span = 0, pad = 16>, alloc = [16, 16]>
#ad = #tilegpu.layout<"[[l1:8, w0:2], [l0:4, r1:2]] rep [w1:2]">
#accd = #tilegpu.layout<"[[l1:8, w0:2], [r0:2, l0:4, w1:2]]">
#bd = #tilegpu.layout<"[[l1:8, w1:2], [l0:4, r0:2]] rep [w0:2]">
tilegpu.kernel @double attributes {kernel = "double", arguments = [], contracts = [], when = [], stage = 0 : i64,
    grid = [1, 1, 1], warps = 4 : i64, groups = 1 : i64, plan = {}, shared_bytes = 40000 : i64} {
  %n = tile.arg "N" : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = tilegpu.alloc {offset = 0 : i64} : !d
  %c = tilegpu.alloc {offset = 16384 : i64} : !outd
  %zero = arith.constant dense<0.0> : tensor<16x16xf64, #accd>
  %ra = tilegpu.local_load %a [0, 1] : !d -> tensor<16x8xf64, #ad>
  %rb = tilegpu.local_load %a [0, 1] : !d -> tensor<16x8xf64, #bd>
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%x = %zero) -> (tensor<16x16xf64, #accd>) {
    %first = arith.cmpi eq, %i, %c0 : index
    %p = tilegpu.mma %ra, %rb, %x first %first <"mma", shape = [8, 8, 4], warps = [2, 2]>
      : tensor<16x8xf64, #ad>, tensor<16x8xf64, #bd> -> tensor<16x16xf64, #accd>
    %q = tilegpu.mma %ra, %rb, %p <"mma", shape = [8, 8, 4], warps = [2, 2]>
      : tensor<16x8xf64, #ad>, tensor<16x8xf64, #bd> -> tensor<16x16xf64, #accd>
    scf.yield %q : tensor<16x16xf64, #accd>
  }
  tilegpu.local_store %s, %c [0, 1] : tensor<16x16xf64, #accd>, !outd
}
