// Rings filled by threads: cp.async and loads with stores, on a machine without TMA and by a warp of producers.
// RUN: %tile_opt %s --lower-to-nvvm | FileCheck %s
// RUN: %if ptxas %{ %tile_opt %s --lower-to-nvvm --lower-to-llvm -o %t.mlir %}
// RUN: %if ptxas %{ %tilec %t.mlir --arch=sm_80 -o %t.cubin --no-header --resource-usage 2>&1 | FileCheck %s --check-prefix=PTXAS %}
// PTXAS: async {{ *[0-9]+ +}}0
// PTXAS: plain {{ *[0-9]+ +}}0
// PTXAS: warps {{ *[0-9]+ +}}0

module attributes {tilec.target = "sm_80"} {

// 8-byte pieces: 32 a row, 1024 in all, 8 a thread. Source bytes are 0 outside. The threads move 4 rows on at a time and
// the swizzle repeats after 8 (1024 bytes), so that two addresses and constants serve all copies. Every thread arrives
// once its copies are done; the parity is polled because sm_80 has no try_wait.
// CHECK-LABEL: llvm.func @async
// CHECK: mbarrier.init.shared::cta.b64 [$0], 128;
// CHECK-NOT: nvvm.fence.mbarrier.init
// CHECK: scf.for
// CHECK: nvvm.barrier0
// CHECK: cp.async.ca.shared.global [$0], [$1], 8, $2;{{.*}} [[EVEN:%[0-9]+]], %{{[0-9]+}}, %{{[0-9]+}} :
// CHECK: cp.async.ca.shared.global [$0], [$1], 8, $2;{{.*}} [[ODD:%[0-9]+]], %{{[0-9]+}}, %{{[0-9]+}} :
// CHECK: cp.async.ca.shared.global [$0 + 1024], [$1], 8, $2;{{.*}} [[EVEN]],
// CHECK: cp.async.ca.shared.global [$0 + 1024], [$1], 8, $2;{{.*}} [[ODD]],
// CHECK: cp.async.ca.shared.global [$0 + 2048], [$1], 8, $2;{{.*}} [[EVEN]],
// CHECK: cp.async.ca.shared.global [$0 + 2048], [$1], 8, $2;{{.*}} [[ODD]],
// CHECK: cp.async.ca.shared.global [$0 + 3072], [$1], 8, $2;{{.*}} [[EVEN]],
// CHECK: cp.async.ca.shared.global [$0 + 3072], [$1], 8, $2;{{.*}} [[ODD]],
// CHECK-NOT: cp.async.ca
// CHECK: cp.async.mbarrier.arrive.noinc.shared::cta.b64 [$0];
// CHECK: mbarrier.test_wait.parity
tilegpu.kernel @async attributes {kernel = "async", arguments = [], contracts = [], when = [], stage = 0 : i64,
    grid = [1, 1, 1], warps = 4 : i64, groups = 1 : i64, plan = {}, shared_bytes = 40000 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %M = tile.arg "M" : index
  %K = tile.arg "K" {divisible = 4 : i64} : index
  %pa = tile.arg "A" {align = 8 : i64} : !tile.ptr
  %A = tile.view "A" in %pa [%M, %K] strides [%K, %c1] {align = 8 : i64} : !tile.view<2, bf16>
  %a = tilegpu.chan "A" "cp_async" {width = 8 : i64, offset = 0 : i64, barriers = 16384 : i64}
    : !tilegpu.chan<[!tilegpu.smem<[32, 128], bf16, <span = 128>, alloc = [32, 128]>], 2>
  %out = tilegpu.alloc {offset = 17408 : i64} : !tilegpu.smem<[32, 128], bf16, <span = 128>, alloc = [32, 128]>
  %n = arith.ceildivsi %M, %c32 : index
  scf.for %i = %c0 to %n step %c1 {
    %m0 = arith.muli %i, %c32 : index
    %w = tilegpu.acquire %a : !tilegpu.chan<[!tilegpu.smem<[32, 128], bf16, <span = 128>, alloc = [32, 128]>], 2>
    tilegpu.fill %w of %a[0], %A[%m0, %c0] box [32, 128] kept [0, 1]
      : !tilegpu.chan<[!tilegpu.smem<[32, 128], bf16, <span = 128>, alloc = [32, 128]>], 2>, !tile.view<2, bf16>
    tilegpu.commit %w of %a : !tilegpu.chan<[!tilegpu.smem<[32, 128], bf16, <span = 128>, alloc = [32, 128]>], 2>
    %r = tilegpu.receive %a : !tilegpu.chan<[!tilegpu.smem<[32, 128], bf16, <span = 128>, alloc = [32, 128]>], 2>
    %s = tilegpu.slot_view %r of %a[0] : !tilegpu.chan<[!tilegpu.smem<[32, 128], bf16, <span = 128>, alloc = [32, 128]>], 2>
      -> !tilegpu.smem<[32, 128], bf16, <span = 128>, alloc = [32, 128]>
    %x = tilegpu.local_load %s [0, 1] : !tilegpu.smem<[32, 128], bf16, <span = 128>, alloc = [32, 128]>
      -> tensor<32x128xbf16, #tilegpu.layout<"[[l1:2, w0:4, r1:4], [r0:8, l0:16]]">>
    tilegpu.release %r of %a : !tilegpu.chan<[!tilegpu.smem<[32, 128], bf16, <span = 128>, alloc = [32, 128]>], 2>
    tilegpu.local_store %x, %out [0, 1] : tensor<32x128xbf16, #tilegpu.layout<"[[l1:2, w0:4, r1:4], [r0:8, l0:16]]">>,
      !tilegpu.smem<[32, 128], bf16, <span = 128>, alloc = [32, 128]>
  }
}

// Elements of one byte in rows of 5: 35 in all, so that a part of the threads copies. In one process a barrier before
// the read is enough.
// CHECK-LABEL: llvm.func @plain
// CHECK-NOT: mbarrier.init
// CHECK: nvvm.barrier0
// CHECK: nvvm.barrier0
// CHECK: scf.if
// CHECK: llvm.load {{.*}} : !llvm.ptr<1> -> i8
// CHECK: llvm.store {{.*}} : i8, !llvm.ptr<3>
// CHECK: nvvm.barrier0
// CHECK-NOT: test_wait
tilegpu.kernel @plain attributes {kernel = "plain", arguments = [], contracts = [], when = [], stage = 0 : i64,
    grid = [1, 1, 1], warps = 4 : i64, groups = 1 : i64, plan = {}, shared_bytes = 40000 : i64} {
  %c1 = arith.constant 1 : index
  %start = arith.constant -2 : index
  %M = tile.arg "M" : index
  %K = tile.arg "K" : index
  %pa = tile.arg "A" : !tile.ptr
  %A = tile.view "A" in %pa [%M, %K] strides [%K, %c1] : !tile.view<2, i8>
  %a = tilegpu.chan "A" "ldst" {offset = 0 : i64, barriers = 16384 : i64, width = 1 : i64}
    : !tilegpu.chan<[!tilegpu.smem<[7, 5], i8, <span = 0>, alloc = [7, 5]>], 1>
  %out = tilegpu.alloc {offset = 17408 : i64} : !tilegpu.smem<[7, 5], i8, <span = 0>, alloc = [7, 5]>
  %w = tilegpu.acquire %a : !tilegpu.chan<[!tilegpu.smem<[7, 5], i8, <span = 0>, alloc = [7, 5]>], 1>
  tilegpu.fill %w of %a[0], %A[%start, %start] box [7, 5] kept [0, 1]
    : !tilegpu.chan<[!tilegpu.smem<[7, 5], i8, <span = 0>, alloc = [7, 5]>], 1>, !tile.view<2, i8>
  tilegpu.commit %w of %a : !tilegpu.chan<[!tilegpu.smem<[7, 5], i8, <span = 0>, alloc = [7, 5]>], 1>
  %r = tilegpu.receive %a : !tilegpu.chan<[!tilegpu.smem<[7, 5], i8, <span = 0>, alloc = [7, 5]>], 1>
  %s = tilegpu.slot_view %r of %a[0] : !tilegpu.chan<[!tilegpu.smem<[7, 5], i8, <span = 0>, alloc = [7, 5]>], 1>
    -> !tilegpu.smem<[7, 5], i8, <span = 0>, alloc = [7, 5]>
  %x = tilegpu.local_load %s [0, 1] : !tilegpu.smem<[7, 5], i8, <span = 0>, alloc = [7, 5]>
    -> tensor<7x5xi8, #tilegpu.layout<"[[w0:4, r0:2], [l0:8]] rep [l1:4]">>
  tilegpu.release %r of %a : !tilegpu.chan<[!tilegpu.smem<[7, 5], i8, <span = 0>, alloc = [7, 5]>], 1>
  tilegpu.local_store %x, %out [0, 1] : tensor<7x5xi8, #tilegpu.layout<"[[w0:4, r0:2], [l0:8]] rep [l1:4]">>,
    !tilegpu.smem<[7, 5], i8, <span = 0>, alloc = [7, 5]>
}

// Producers that load and store: lane 0 of each of two warps arrives after the warp has met.
// CHECK-LABEL: llvm.func @warps
// CHECK: mbarrier.init.shared::cta.b64 [$0], 2;
// CHECK: mbarrier.init.shared::cta.b64 [$0], 4;
// CHECK: llvm.store {{.*}} : f32, !llvm.ptr<3>
// CHECK: nvvm.bar.warp.sync
// CHECK: @p mbarrier.arrive
tilegpu.kernel @warps attributes {kernel = "warps", arguments = [], contracts = [], when = [], stage = 0 : i64,
    grid = [1, 1, 1], warps = 4 : i64, groups = 1 : i64, plan = {}, shared_bytes = 40000 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %M = tile.arg "M" : index
  %pa = tile.arg "A" : !tile.ptr
  %A = tile.view "A" in %pa [%M] strides [%c1] : !tile.view<1, f32>
  %a = tilegpu.chan "A" "ldst" {offset = 0 : i64, barriers = 16384 : i64, width = 4 : i64}
    : !tilegpu.chan<[!tilegpu.smem<[64], f32, <span = 0>, alloc = [64]>], 1>
  %out = tilegpu.alloc {offset = 17408 : i64} : !tilegpu.smem<[64], f32, <span = 0>, alloc = [64]>
  tilegpu.process "consumer" warps(4) replicas(1) registers(0) {
    %r = tilegpu.receive %a : !tilegpu.chan<[!tilegpu.smem<[64], f32, <span = 0>, alloc = [64]>], 1>
    %s = tilegpu.slot_view %r of %a[0] : !tilegpu.chan<[!tilegpu.smem<[64], f32, <span = 0>, alloc = [64]>], 1>
      -> !tilegpu.smem<[64], f32, <span = 0>, alloc = [64]>
    %x = tilegpu.local_load %s [0] : !tilegpu.smem<[64], f32, <span = 0>, alloc = [64]>
      -> tensor<64xf32, #tilegpu.layout<"[[l0:32, w0:2]] rep [w1:2]">>
    tilegpu.release %r of %a : !tilegpu.chan<[!tilegpu.smem<[64], f32, <span = 0>, alloc = [64]>], 1>
    tilegpu.local_store %x, %out [0] : tensor<64xf32, #tilegpu.layout<"[[l0:32, w0:2]] rep [w1:2]">>,
      !tilegpu.smem<[64], f32, <span = 0>, alloc = [64]>
  }
  tilegpu.process "producer" warps(2) replicas(1) registers(0) {
    %w = tilegpu.acquire %a : !tilegpu.chan<[!tilegpu.smem<[64], f32, <span = 0>, alloc = [64]>], 1>
    tilegpu.fill %w of %a[0], %A[%c0] box [64] kept [0]
      : !tilegpu.chan<[!tilegpu.smem<[64], f32, <span = 0>, alloc = [64]>], 1>, !tile.view<1, f32>
    tilegpu.commit %w of %a : !tilegpu.chan<[!tilegpu.smem<[64], f32, <span = 0>, alloc = [64]>], 1>
  }
}
}
