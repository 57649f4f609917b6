// Rings filled by TMA: tensor maps, expected bytes, barriers, roles, registers.
// RUN: %tile_opt %s --lower-to-nvvm | FileCheck %s
// RUN: %if ptxas %{ %tile_opt %s --lower-to-nvvm --lower-to-llvm -o %t.mlir %}
// RUN: %if ptxas %{ %tilec %t.mlir -o %t.cubin --no-header --resource-usage 2>&1 | FileCheck %s --check-prefix=PTXAS %}
// PTXAS-NOT: warning
// PTXAS: roles {{ *[0-9]+ +}}0
// PTXAS: alone {{ *[0-9]+ +}}0
// PTXAS: conditional {{ *[0-9]+ +}}0

!t = !tilegpu.smem<[64, 128], bf16, <span = 128>, alloc = [64, 128]>
!ring = !tilegpu.chan<[!t], 2>
!view3 = !tile.view<3, bf16>
#l = #tilegpu.layout<"[[l1:2, w0:4, r1:8], [r0:8, l0:16]]">

// Two panels of 64 columns, 8 KB each. 12 warps have 168 registers at launch: the consumers ask for more, the
// producers give some back. Every consumer warp releases after it has converged, for it reads by ordinary loads.
// CHECK-LABEL: llvm.func @roles
// CHECK-SAME: nvvm.reqntid = array<i32: 384>
// CHECK-SAME: params = [{box = [64, 64, 1], dims = ["K", "M", "B"], kind = "tensormap", l2 = 128 : i64, strides = {{.*}}, swizzle = 128 : i64, tensor = "A", type = "bf16"},
// CHECK: mbarrier.init.shared::cta.b64 [$0], 1;
// CHECK: mbarrier.init.shared::cta.b64 [$0], 8;
// CHECK: nvvm.fence.mbarrier.init
// CHECK: nvvm.prefetch tensormap
// CHECK: nvvm.barrier0
// CHECK: nvvm.shfl.sync idx
// CHECK: scf.if
// CHECK: nvvm.setmaxregister increase 240
// CHECK: mbarrier.try_wait.parity
// CHECK: llvm.load {{.*}} : !llvm.ptr<3> -> vector<8xbf16>
// CHECK: nvvm.bar.warp.sync
// CHECK: @p mbarrier.arrive.shared::cta.b64 _, [$0];
// CHECK: } else {
// CHECK: nvvm.setmaxregister decrease 24
// CHECK: nvvm.elect.sync
// CHECK: scf.for
// CHECK: mbarrier.try_wait.parity
// CHECK: %[[BYTES:.*]] = llvm.mlir.constant(16384 : i32)
// CHECK: mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;{{.*}} %[[BYTES]]
// CHECK-COUNT-2: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} box[%{{.*}}, %{{.*}}, %{{.*}}]
// CHECK-NOT: nvvm.barrier
// CHECK: llvm.return
tilegpu.kernel @roles attributes {kernel = "roles", arguments = [], contracts = [], when = [], stage = 0 : i64,
    grid = [1, 1, 1], warps = 4 : i64, groups = 2 : i64, plan = {}, shared_bytes = 40000 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %B = tile.arg "B" : index
  %M = tile.arg "M" : index
  %K = tile.arg "K" {divisible = 8 : i64} : index
  %MK = arith.muli %M, %K : index
  %pa = tile.arg "A" {align = 16 : i64} : !tile.ptr
  %pc = tile.arg "C" {align = 16 : i64} : !tile.ptr
  %A = tile.view "A" in %pa [%B, %M, %K] strides [%MK, %K, %c1] {align = 16 : i64} : !view3
  %a = tilegpu.chan "A" "tma" {offset = 0 : i64, barriers = 32768 : i64} : !ring
  %n = arith.ceildivsi %M, %c64 : index
  tilegpu.process "consumer" warps(4) replicas(2) registers(240) {
    scf.for %i = %c0 to %n step %c1 {
      %r = tilegpu.receive %a : !ring
      %s = tilegpu.slot_view %r of %a[0] : !ring -> !t
      %x = tilegpu.local_load %s [0, 1] : !t -> tensor<64x128xbf16, #l>
      tilegpu.release %r of %a : !ring
      tilegpu.local_store %x, %s [0, 1] : tensor<64x128xbf16, #l>, !t
    }
  }
  tilegpu.process "producer" warps(4) replicas(1) registers(24) attributes {elected} {
    scf.for %i = %c0 to %n step %c1 {
      %m0 = arith.muli %i, %c64 : index
      %w = tilegpu.acquire %a : !ring
      tilegpu.fill %w of %a[0], %A[%c1, %m0, %c0] box [1, 64, 128] kept [1, 2] : !ring, !view3
      tilegpu.commit %w of %a : !ring
    }
  }
}

// One process: the first thread copies, a block barrier frees the slot, all wait for the parity.
// CHECK-LABEL: llvm.func @alone
// CHECK: scf.for
// CHECK: nvvm.barrier0
// CHECK: arith.cmpi eq
// CHECK: scf.if
// CHECK: mbarrier.arrive.expect_tx
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global
// CHECK: mbarrier.try_wait.parity
// CHECK-NOT: mbarrier.arrive.shared
!view2 = !tile.view<2, bf16>
tilegpu.kernel @alone attributes {kernel = "alone", arguments = [], contracts = [], when = [], stage = 0 : i64,
    grid = [1, 1, 1], warps = 4 : i64, groups = 1 : i64, plan = {}, shared_bytes = 60000 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %M = tile.arg "M" : index
  %K = tile.arg "K" {divisible = 8 : i64} : index
  %pa = tile.arg "A" {align = 16 : i64} : !tile.ptr
  %A = tile.view "A" in %pa [%M, %K] strides [%K, %c1] {align = 16 : i64} : !view2
  %a = tilegpu.chan "A" "tma" {offset = 0 : i64, barriers = 32768 : i64} : !ring
  %out = tilegpu.alloc {offset = 33792 : i64} : !t
  %n = arith.ceildivsi %M, %c64 : index
  scf.for %i = %c0 to %n step %c1 {
    %m0 = arith.muli %i, %c64 : index
    %w = tilegpu.acquire %a : !ring
    tilegpu.fill %w of %a[0], %A[%m0, %c0] box [64, 128] kept [0, 1] : !ring, !view2
    tilegpu.commit %w of %a : !ring
    %r = tilegpu.receive %a : !ring
    %s = tilegpu.slot_view %r of %a[0] : !ring -> !t
    %x = tilegpu.local_load %s [0, 1] : !t -> tensor<64x128xbf16, #l>
    tilegpu.release %r of %a : !ring
    tilegpu.local_store %x, %out [0, 1] : tensor<64x128xbf16, #l>, !t
  }
}

// A fill that may not happen expects its own bytes; the commit is the arrival.
// CHECK-LABEL: llvm.func @conditional
// CHECK: scf.if
// CHECK: mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [$0], $1;
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global
// CHECK: "mbarrier.arrive.shared::cta.b64 _, [$0];"
tilegpu.kernel @conditional attributes {kernel = "conditional", arguments = [], contracts = [], when = [],
    stage = 0 : i64, grid = [1, 1, 1], warps = 4 : i64, groups = 1 : i64, plan = {}, shared_bytes = 60000 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %M = tile.arg "M" : index
  %K = tile.arg "K" {divisible = 8 : i64} : index
  %pa = tile.arg "A" {align = 16 : i64} : !tile.ptr
  %A = tile.view "A" in %pa [%M, %K] strides [%K, %c1] {align = 16 : i64} : !view2
  %a = tilegpu.chan "A" "tma" {offset = 0 : i64, barriers = 32768 : i64} : !ring
  %out = tilegpu.alloc {offset = 33792 : i64} : !t
  %w = tilegpu.acquire %a : !ring
  %some = arith.cmpi sgt, %M, %c0 : index
  scf.if %some {
    tilegpu.fill %w of %a[0], %A[%c0, %c0] box [64, 128] kept [0, 1] : !ring, !view2
  }
  tilegpu.commit %w of %a : !ring
  %r = tilegpu.receive %a : !ring
  %s = tilegpu.slot_view %r of %a[0] : !ring -> !t
  %x = tilegpu.local_load %s [0, 1] : !t -> tensor<64x128xbf16, #l>
  tilegpu.release %r of %a : !ring
  tilegpu.local_store %x, %out [0, 1] : tensor<64x128xbf16, #l>, !t
}
