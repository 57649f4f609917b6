// wgmma from shared memory and registers: descriptors, steps, flags, accumulators.
// RUN: %tile_opt %s --lower-to-nvvm | FileCheck %s
// RUN: %if ptxas %{ %tile_opt %s --lower-to-nvvm --lower-to-llvm -o %t.mlir %}
// RUN: %if ptxas %{ %tilec %t.mlir -o %t.cubin --no-header --resource-usage 2>&1 | FileCheck %s --check-prefix=PTXAS %}
// No spills, and no note that wgmma was serialised.
// PTXAS-NOT: warning
// PTXAS: blocks {{ *[0-9]+ +}}0
// PTXAS: transposed {{ *[0-9]+ +}}0
// PTXAS: registers {{ *[0-9]+ +}}0
// PTXAS: f8 {{ *[0-9]+ +}}0
// PTXAS: others {{ *[0-9]+ +}}0

!k64 = !tilegpu.smem<[128, 64], bf16, <span = 128>, alloc = [128, 64]>
!out = !tilegpu.smem<[128, 128], f32, <span = 0, pad = 16>, alloc = [128, 128]>
#acc128 = #tilegpu.layout<"[[l1:8, r1:2, w0:4, r3:2], [r0:2, l0:4, r2:16]]">

// Two blocks of 64 rows, four steps along k; the second block of A starts 8192 bytes (512 units) later. All of it is one
// group, which starts without accumulators because they are zero.
// Descriptor constants: 128-byte swizzle (1 << 62), 1024 bytes between groups of 8 rows (64 << 32), 1 << 16.
// CHECK-LABEL: llvm.func @blocks
// CHECK: llvm.mlir.constant(4611686293305360384 : i64)
// CHECK: %[[STEP:.*]] = arith.constant 512 : i64
// CHECK-NEXT: %[[NEXT:.*]] = arith.addi %[[FIRST:.*]], %[[STEP]] : i64
// CHECK: llvm.inline_asm has_side_effects asm_dialect = att "{
// CHECK-SAME: wgmma.fence.sync.aligned;
// CHECK-SAME: wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {$0,
// CHECK-SAME: $63}, $128, $129, 0, 1, 1, 0, 0;
// CHECK-SAME: {$64,
// CHECK-SAME: $127}, $130, $129, 0, 1, 1, 0, 0;
// CHECK-SAME: wgmma.commit_group.sync.aligned;
// CHECK-SAME: wgmma.wait_group.sync.aligned 0;
// CHECK-SAME: "=&f,
// CHECK-SAME: %[[FIRST]], %{{[0-9]+}}, %[[NEXT]],
tilegpu.kernel @blocks attributes {kernel = "blocks", arguments = [], contracts = [], when = [], stage = 0 : i64,
    grid = [1, 1, 1], warps = 4 : i64, groups = 1 : i64, plan = {}, shared_bytes = 120000 : i64} {
  %a = tilegpu.alloc {offset = 0 : i64} : !k64
  %b = tilegpu.alloc {offset = 16384 : i64} : !k64
  %c = tilegpu.alloc {offset = 32768 : i64} : !out
  %zero = arith.constant dense<0.0> : tensor<128x128xf32, #acc128>
  %d = tilegpu.mma %a, %b, %zero <"wgmma", shape = [64, 128, 16], warps = [4, 1]>
    : !k64, !k64 -> tensor<128x128xf32, #acc128>
  tilegpu.local_store %d, %c [0, 1] : tensor<128x128xf32, #acc128>, !out
}

// B is [k, n]: 160 columns in panels of 32 (64-byte swizzle), 64 * 64 bytes from panel to panel (LBO 4096), 512 bytes
// between groups of 8 rows; the next 16 rows are 1024 bytes (64 units) on. A is [k, m].
// CHECK-LABEL: llvm.func @transposed
// CHECK-DAG: llvm.mlir.constant(-9223371899399045120 : i64)
// CHECK-DAG: llvm.mlir.constant(4611686293338849280 : i64)
// CHECK: %[[A1:.*]] = arith.addi %[[A:.*]], %c128_i64{{.*}} : i64
// CHECK: %[[B1:.*]] = arith.addi %[[B:.*]], %c64_i64{{.*}} : i64
// CHECK: m64n160k16.f32.f16.f16
// CHECK-SAME: $80, $81, accumulate, 1, 1, 1, 1;
// CHECK-SAME: $82, $83, 1, 1, 1, 1, 1;
// CHECK-SAME: %[[A]], %[[B]], %[[A1]], %[[B1]]
!ka = !tilegpu.smem<[64, 64], f16, <span = 128>, alloc = [64, 64]>
!kb = !tilegpu.smem<[64, 160], f16, <span = 64>, alloc = [64, 160]>
!out160 = !tilegpu.smem<[64, 160], f32, <span = 0, pad = 16>, alloc = [64, 160]>
#acc160 = #tilegpu.layout<"[[l1:8, r1:2, w0:4], [r0:2, l0:4, r2:20]]">
tilegpu.kernel @transposed attributes {kernel = "transposed", arguments = [], contracts = [], when = [],
    stage = 0 : i64, grid = [1, 1, 1], warps = 4 : i64, groups = 1 : i64, plan = {}, shared_bytes = 120000 : i64} {
  %n = tile.arg "N" : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = tilegpu.alloc {offset = 0 : i64} : !ka
  %b = tilegpu.alloc {offset = 8192 : i64} : !kb
  %c = tilegpu.alloc {offset = 32768 : i64} : !out160
  %zero = arith.constant dense<0.0> : tensor<64x160xf32, #acc160>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> (tensor<64x160xf32, #acc160>) {
    %first = arith.cmpi eq, %i, %c0 : index
    %d = tilegpu.mma %a, %b, %s first %first <"wgmma", shape = [64, 160, 16], warps = [4, 1]> {trans_a, trans_b}
      : !ka, !kb -> tensor<64x160xf32, #acc160>
    scf.yield %d : tensor<64x160xf32, #acc160>
  }
  tilegpu.local_store %sum, %c [0, 1] : tensor<64x160xf32, #acc160>, !out160
}

// A in registers: four 32-bit operands a step, one transpose flag.
// CHECK-LABEL: llvm.func @registers
// CHECK: m64n64k16.f32.bf16.bf16
// CHECK-SAME: {$32, $33, $34, $35}, $36, 1, 1, 1, 1;
// CHECK-SAME: {$37, $38, $39, $40}, $41, 1, 1, 1, 1;
!r = !tilegpu.smem<[32, 64], bf16, <span = 128>, alloc = [32, 64]>
!in = !tilegpu.smem<[64, 32], bf16, <span = 64>, alloc = [64, 32]>
!out64 = !tilegpu.smem<[64, 64], f32, <span = 0, pad = 16>, alloc = [64, 64]>
#acc64 = #tilegpu.layout<"[[l1:8, r1:2, w0:4], [r0:2, l0:4, r2:8]]">
#opa = #tilegpu.layout<"[[l1:8, r1:2, w0:4], [r0:2, l0:4, r2:4]]">
tilegpu.kernel @registers attributes {kernel = "registers", arguments = [], contracts = [], when = [],
    stage = 0 : i64, grid = [1, 1, 1], warps = 4 : i64, groups = 1 : i64, plan = {}, shared_bytes = 120000 : i64} {
  %a = tilegpu.alloc {offset = 0 : i64} : !in
  %b = tilegpu.alloc {offset = 8192 : i64} : !r
  %c = tilegpu.alloc {offset = 32768 : i64} : !out64
  %ra = tilegpu.local_load %a [0, 1] : !in -> tensor<64x32xbf16, #opa>
  %one = arith.constant dense<1.0> : tensor<64x64xf32, #acc64>
  %d = tilegpu.mma %ra, %b, %one <"wgmma", shape = [64, 64, 16], warps = [4, 1]> {trans_b}
    : tensor<64x32xbf16, #opa>, !r -> tensor<64x64xf32, #acc64>
  tilegpu.local_store %d, %c [0, 1] : tensor<64x64xf32, #acc64>, !out64
}

// Exact sums of 8-bit floats leave the Tensor Core after 128 products; `fast` lets them stay. Types may differ.
// CHECK-LABEL: llvm.func @f8
// CHECK-COUNT-4: m64n64k32.f32.e4m3.e5m2
// CHECK-NOT: wgmma.mma_async
// CHECK-COUNT-32: arith.addf
// CHECK-COUNT-4: m64n64k32.f32.e4m3.e5m2
// CHECK-COUNT-32: arith.addf
// CHECK: m64n64k32.f32.e4m3.e5m2
// CHECK-NOT: arith.addf
// CHECK: llvm.return
!f8 = !tilegpu.smem<[64, 256], f8E4M3FN, <span = 128>, alloc = [64, 256]>
!f8b = !tilegpu.smem<[64, 256], f8E5M2, <span = 128>, alloc = [64, 256]>
tilegpu.kernel @f8 attributes {kernel = "f8", arguments = [], contracts = [], when = [],
    stage = 0 : i64, grid = [1, 1, 1], warps = 4 : i64, groups = 1 : i64, plan = {}, shared_bytes = 120000 : i64} {
  %a = tilegpu.alloc {offset = 0 : i64} : !f8
  %b = tilegpu.alloc {offset = 16384 : i64} : !f8b
  %c = tilegpu.alloc {offset = 32768 : i64} : !out64
  %one = arith.constant dense<1.0> : tensor<64x64xf32, #acc64>
  %d = tilegpu.mma %a, %b, %one <"wgmma", shape = [64, 64, 32], warps = [4, 1]>
    : !f8, !f8b -> tensor<64x64xf32, #acc64>
  %e = tilegpu.mma %a, %b, %d <"wgmma", shape = [64, 64, 32], warps = [4, 1]> {fast}
    : !f8, !f8b -> tensor<64x64xf32, #acc64>
  tilegpu.local_store %e, %c [0, 1] : tensor<64x64xf32, #acc64>, !out64
}

// Integers take no scales and no transpose flags; f32 words are read as tf32.
// CHECK-LABEL: llvm.func @others
// CHECK: m64n64k32.s32.s8.u8
// CHECK-SAME: $32, $33, 1;
// CHECK-SAME: =r,=r
// CHECK: m64n64k8.f32.tf32.tf32
// CHECK-SAME: $32, $33, 1, 1, 1;
!i8 = !tilegpu.smem<[64, 64], i8, <span = 64>, alloc = [64, 64]>
!f32 = !tilegpu.smem<[64, 32], f32, <span = 128>, alloc = [64, 32]>
!outi = !tilegpu.smem<[64, 64], i32, <span = 0, pad = 16>, alloc = [64, 64]>
tilegpu.kernel @others attributes {kernel = "others", arguments = [], contracts = [], when = [],
    stage = 0 : i64, grid = [1, 1, 1], warps = 4 : i64, groups = 1 : i64, plan = {}, shared_bytes = 120000 : i64} {
  %a = tilegpu.alloc {offset = 0 : i64} : !i8
  %f = tilegpu.alloc {offset = 16384 : i64} : !f32
  %c = tilegpu.alloc {offset = 32768 : i64} : !outi
  %g = tilegpu.alloc {offset = 65536 : i64} : !out64
  %one = arith.constant dense<1> : tensor<64x64xi32, #acc64>
  %d = tilegpu.mma %a, %a, %one <"wgmma", shape = [64, 64, 32], warps = [4, 1]> {b_unsigned}
    : !i8, !i8 -> tensor<64x64xi32, #acc64>
  %half = arith.constant dense<0.5> : tensor<64x64xf32, #acc64>
  %e = tilegpu.mma %f, %f, %half <"wgmma", shape = [64, 64, 8], warps = [4, 1]>
    : !f32, !f32 -> tensor<64x64xf32, #acc64>
  tilegpu.local_store %d, %c [0, 1] : tensor<64x64xi32, #acc64>, !outi
  tilegpu.local_store %e, %g [0, 1] : tensor<64x64xf32, #acc64>, !out64
}
