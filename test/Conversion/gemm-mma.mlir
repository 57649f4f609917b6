// A whole GEMM for sm_80: C = A * B^T, 128x128x32 tiles, eight warps (2x4), a ring of three slots filled by cp.async in
// one process. It must assemble without spills.
// RUN: %tile_opt %s --lower-to-nvvm | FileCheck %s
// RUN: %if ptxas %{ %tile_opt %s --lower-to-nvvm --lower-to-llvm -o %t.mlir %}
// RUN: %if ptxas %{ %tilec %t.mlir --arch=sm_80 -o %t.cubin --no-header --resource-usage 2>&1 | FileCheck %s --check-prefix=PTXAS %}

// CHECK-LABEL: llvm.func @gemm
// One block barrier and one parity wait an item, no barrier elsewhere in the loop.
// CHECK: mbarrier.init.shared::cta.b64 [$0], 256;
// CHECK: cp.async.cg.shared.global
// CHECK: cp.async.mbarrier.arrive.noinc
// CHECK: scf.for
// CHECK: mbarrier.test_wait.parity
// CHECK: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// PTXAS: gemm {{ *[0-9]+ +}}0

#acc = #tilegpu.layout<"[[l1:8, r1:2, w0:2, r3:4], [r0:2, l0:4, w1:4, r2:4]]">
#opa = #tilegpu.layout<"[[l1:8, r1:2, w0:2, r4:4], [r0:2, l0:4, r2:2, r3:2]] rep [w1:4]">
#opb = #tilegpu.layout<"[[l1:8, w1:4, r3:4], [r0:2, l0:4, r1:2, r2:2]] rep [w0:2]">
#rows = #tilegpu.layout<"[[l1:8, r1:2, w0:2, r3:4]] rep [l0:4, w1:4]">
#columns = #tilegpu.layout<"[[r0:2, l0:4, w1:4, r2:4]] rep [l1:8, w0:2]">
!a = !tilegpu.smem<[128, 32], bf16, <span = 64>, alloc = [128, 32]>
!ring = !tilegpu.chan<[!a, !a], 3>
!view = !tile.view<2, bf16>

module attributes {tilec.target = "sm_80"} {
tilegpu.kernel @gemm attributes {kernel = "gemm", arguments = [], contracts = [], when = [], stage = 0 : i64,
    grid = [["mul", ["ceil_div", "M", 128], ["ceil_div", "N", 128]], 1, 1], warps = 8 : i64, groups = 1 : i64,
    plan = {}, shared_bytes = 49200 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %M = tile.arg "M" : index
  %N = tile.arg "N" {divisible = 8 : i64} : index
  %K = tile.arg "K" {divisible = 8 : i64} : index
  %pa = tile.arg "A" {align = 16 : i64} : !tile.ptr
  %pb = tile.arg "B" {align = 16 : i64} : !tile.ptr
  %pc = tile.arg "C" {align = 16 : i64} : !tile.ptr
  %A = tile.view "A" in %pa [%M, %K] strides [%K, %c1] {align = 16 : i64} : !view
  %B = tile.view "B" in %pb [%N, %K] strides [%K, %c1] {align = 16 : i64} : !view
  %C = tile.view "C" out %pc [%M, %N] strides [%N, %c1] {align = 16 : i64} : !view
  %ab = tilegpu.chan "AB" "cp_async" {offset = 0 : i64, barriers = 49152 : i64} : !ring
  %bid = tilegpu.block_id : index
  %tn = arith.ceildivsi %N, %c128 : index
  %i = arith.divui %bid, %tn : index
  %j = arith.remui %bid, %tn : index
  %m0 = arith.muli %i, %c128 : index
  %n0 = arith.muli %j, %c128 : index
  %nk = arith.ceildivsi %K, %c32 : index
  scf.for %k = %c0 to %c2 step %c1 {
    %in = arith.cmpi slt, %k, %nk : index
    scf.if %in {
      %k0 = arith.muli %k, %c32 : index
      %w = tilegpu.acquire %ab : !ring
      tilegpu.fill %w of %ab[0], %A[%m0, %k0] box [128, 32] kept [0, 1] : !ring, !view
      tilegpu.fill %w of %ab[1], %B[%n0, %k0] box [128, 32] kept [0, 1] : !ring, !view
      tilegpu.commit %w of %ab : !ring
    }
  }
  %zero = arith.constant dense<0.0> : tensor<128x128xf32, #acc>
  %acc = scf.for %k = %c0 to %nk step %c1 iter_args(%s = %zero) -> (tensor<128x128xf32, #acc>) {
    %r = tilegpu.receive %ab : !ring
    %next = arith.addi %k, %c2 : index
    %in = arith.cmpi slt, %next, %nk : index
    scf.if %in {
      %k0 = arith.muli %next, %c32 : index
      %w = tilegpu.acquire %ab : !ring
      tilegpu.fill %w of %ab[0], %A[%m0, %k0] box [128, 32] kept [0, 1] : !ring, !view
      tilegpu.fill %w of %ab[1], %B[%n0, %k0] box [128, 32] kept [0, 1] : !ring, !view
      tilegpu.commit %w of %ab : !ring
    }
    %sa = tilegpu.slot_view %r of %ab[0] : !ring -> !a
    %sb = tilegpu.slot_view %r of %ab[1] : !ring -> !a
    %a = tilegpu.local_load %sa [0, 1] : !a -> tensor<128x32xbf16, #opa>
    %b = tilegpu.local_load %sb [0, 1] : !a -> tensor<128x32xbf16, #opb>
    %d = tilegpu.mma %a, %b, %s <"mma", shape = [16, 8, 16], warps = [2, 4]>
      : tensor<128x32xbf16, #opa>, tensor<128x32xbf16, #opb> -> tensor<128x128xf32, #acc>
    tilegpu.release %r of %ab : !ring
    scf.yield %d : tensor<128x128xf32, #acc>
  }
  %c = arith.truncf %acc : tensor<128x128xf32, #acc> to tensor<128x128xbf16, #acc>
  %m1 = arith.addi %m0, %c128 : index
  %me = arith.minsi %m1, %M : index
  %n1 = arith.addi %n0, %c128 : index
  %ne = arith.minsi %n1, %N : index
  %m = tile.axis "m" %m0 to %me : !tile.axis<128>
  %n = tile.axis "n" %n0 to %ne : !tile.axis<128>
  %pm = tile.pos %m : !tile.axis<128> -> tensor<128xindex, #rows>
  %pn = tile.pos %n : !tile.axis<128> -> tensor<128xindex, #columns>
  tile.store %c, %C[%pm, %pn] dims [[0], [1]] axes(%m, %n)
    : tensor<128x128xbf16, #acc>, !view, (tensor<128xindex, #rows>, tensor<128xindex, #columns>),
      (!tile.axis<128>, !tile.axis<128>)
}
}
