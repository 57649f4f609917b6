// A whole GEMM: C = A * B^T, 128x256x64 tiles, two consumer groups of one warpgroup, one producer warp, a ring of four
// slots. It must assemble without spills and without performance notes of ptxas.
// RUN: %tile_opt %s --lower-to-nvvm | FileCheck %s
// RUN: %if ptxas %{ %tile_opt %s --lower-to-nvvm --lower-to-llvm -o %t.mlir %}
// RUN: %if ptxas %{ %tilec %t.mlir -o %t.cubin --no-header --resource-usage 2>&1 | FileCheck %s --check-prefix=PTXAS %}
// PTXAS-NOT: warning
// PTXAS: gemm {{ *[0-9]+ +}}0

// CHECK-LABEL: llvm.func @gemm
// CHECK: mbarrier.init.shared::cta.b64 [$0], 1;
// CHECK: mbarrier.init.shared::cta.b64 [$0], 8;
// CHECK: scf.for {{.*}} -> (f32,
// CHECK: mbarrier.try_wait.parity
// CHECK: wgmma.fence.sync.aligned
// CHECK-SAME: wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16
// CHECK-SAME: accumulate, 1, 1, 0, 0;
// CHECK-SAME: wgmma.wait_group.sync.aligned 0;
// CHECK: @p mbarrier.arrive
// CHECK: nvvm.elect.sync
// CHECK: mbarrier.try_wait.parity
// CHECK: mbarrier.arrive.expect_tx
// CHECK-COUNT-2: nvvm.cp.async.bulk.tensor.shared.cluster.global

#acc = #tilegpu.layout<"[[l1:8, r1:2, w0:4], [r0:2, l0:4, r2:32]]">
#rows = #tilegpu.layout<"[[l1:8, r0:2, w0:4]] rep [l0:4]">
#columns = #tilegpu.layout<"[[r0:2, l0:4, r1:32]] rep [l1:8, w0:4]">
!a = !tilegpu.smem<[128, 64], bf16, <span = 128>, alloc = [128, 64]>
!a64 = !tilegpu.smem<[64, 64], bf16, <span = 128>, alloc = [128, 64]>
!b = !tilegpu.smem<[256, 64], bf16, <span = 128>, alloc = [256, 64]>
!ring = !tilegpu.chan<[!a, !b], 4>
!view = !tile.view<2, bf16>

module attributes {tilec.target = "sm_90a"} {
tilegpu.kernel @gemm attributes {kernel = "gemm", arguments = [], contracts = [], when = [], stage = 0 : i64,
    grid = [["mul", ["ceil_div", "M", 128], ["ceil_div", "N", 256]], 1, 1], warps = 4 : i64, groups = 2 : i64,
    plan = {}, shared_bytes = 196672 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  %M = tile.arg "M" : index
  %N = tile.arg "N" {divisible = 8 : i64} : index
  %K = tile.arg "K" {divisible = 8 : i64} : index
  %pa = tile.arg "A" {align = 16 : i64} : !tile.ptr
  %pb = tile.arg "B" {align = 16 : i64} : !tile.ptr
  %pc = tile.arg "C" {align = 16 : i64} : !tile.ptr
  %A = tile.view "A" in %pa [%M, %K] strides [%K, %c1] {align = 16 : i64} : !view
  %B = tile.view "B" in %pb [%N, %K] strides [%K, %c1] {align = 16 : i64} : !view
  %C = tile.view "C" out %pc [%M, %N] strides [%N, %c1] {align = 16 : i64} : !view
  %ab = tilegpu.chan "AB" "tma" {offset = 0 : i64, barriers = 196608 : i64} : !ring
  %bid = tilegpu.block_id : index
  %tn = arith.ceildivsi %N, %c256 : index
  %i = arith.divui %bid, %tn : index
  %j = arith.remui %bid, %tn : index
  %m0 = arith.muli %i, %c128 : index
  %n0 = arith.muli %j, %c256 : index
  %nk = arith.ceildivsi %K, %c64 : index

  tilegpu.process "consumer" warps(4) replicas(2) registers(0) {
    %g = tilegpu.group : index
    %g64 = arith.muli %g, %c64 : index
    %zero = arith.constant dense<0.0> : tensor<64x256xf32, #acc>
    %acc = scf.for %k = %c0 to %nk step %c1 iter_args(%s = %zero) -> (tensor<64x256xf32, #acc>) {
      %r = tilegpu.receive %ab : !ring
      %sa = tilegpu.slot_view %r of %ab[0] : !ring -> !a
      %ga = tilegpu.subview %sa[%g64, %c0] : !a -> !a64
      %sb = tilegpu.slot_view %r of %ab[1] : !ring -> !b
      %first = arith.cmpi eq, %k, %c0 : index
      %d = tilegpu.mma %ga, %sb, %s first %first <"wgmma", shape = [64, 256, 16], warps = [4, 1]>
        : !a64, !b -> tensor<64x256xf32, #acc>
      tilegpu.release %r of %ab : !ring
      scf.yield %d : tensor<64x256xf32, #acc>
    }
    %c = arith.truncf %acc : tensor<64x256xf32, #acc> to tensor<64x256xbf16, #acc>
    %mg = arith.addi %m0, %g64 : index
    %mg1 = arith.addi %mg, %c64 : index
    %me = arith.minsi %mg1, %M : index
    %n1 = arith.addi %n0, %c256 : index
    %ne = arith.minsi %n1, %N : index
    %m = tile.axis "m" %mg to %me : !tile.axis<64>
    %n = tile.axis "n" %n0 to %ne : !tile.axis<256>
    %pm = tile.pos %m : !tile.axis<64> -> tensor<64xindex, #rows>
    %pn = tile.pos %n : !tile.axis<256> -> tensor<256xindex, #columns>
    tile.store %c, %C[%pm, %pn] dims [[0], [1]] axes(%m, %n) {vec = 2 : i64}
      : tensor<64x256xbf16, #acc>, !view, (tensor<64xindex, #rows>, tensor<256xindex, #columns>),
        (!tile.axis<64>, !tile.axis<256>)
  }
  tilegpu.process "producer" warps(1) replicas(1) registers(0) attributes {elected} {
    scf.for %k = %c0 to %nk step %c1 {
      %k0 = arith.muli %k, %c64 : index
      %w = tilegpu.acquire %ab : !ring
      tilegpu.fill %w of %ab[0], %A[%m0, %k0] box [128, 64] kept [0, 1] : !ring, !view
      tilegpu.fill %w of %ab[1], %B[%n0, %k0] box [256, 64] kept [0, 1] : !ring, !view
      tilegpu.commit %w of %ab : !ring
    }
  }
}
}
