// What the lowering of products and rings refuses.
// RUN: %tile_opt %s --split-input-file --verify-diagnostics --lower-to-nvvm

!s = !tilegpu.smem<[64, 64], bf16, <span = 128>, alloc = [64, 64]>
#acc = #tilegpu.layout<"[[l1:8, r1:2, w0:4], [r0:2, l0:4, r2:8]]">
module attributes {tilec.target = "sm_80"} {
tilegpu.kernel @no_wgmma attributes {kernel = "k", arguments = [], contracts = [], when = [], stage = 0 : i64,
    grid = [1, 1, 1], warps = 4 : i64, groups = 1 : i64, plan = {}} {
  %a = tilegpu.alloc {offset = 0 : i64} : !s
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  // expected-error @below {{needs wgmma, which sm_80 does not have}}
  %d = tilegpu.mma %a, %a, %zero <"wgmma", shape = [64, 64, 16], warps = [4, 1]> : !s, !s -> tensor<64x64xf32, #acc>
}
}

// -----

!s = !tilegpu.smem<[64, 64], bf16, <span = 0>, alloc = [64, 64]>
#acc = #tilegpu.layout<"[[l1:8, r1:2, w0:4], [r0:2, l0:4, r2:8]]">
tilegpu.kernel @no_swizzle attributes {kernel = "k", arguments = [], contracts = [], when = [], stage = 0 : i64,
    grid = [1, 1, 1], warps = 4 : i64, groups = 1 : i64, plan = {}} {
  %a = tilegpu.alloc {offset = 0 : i64} : !s
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  // expected-error @below {{has an operand whose arrangement in shared memory wgmma cannot read}}
  %d = tilegpu.mma %a, %a, %zero <"wgmma", shape = [64, 64, 16], warps = [4, 1]> : !s, !s -> tensor<64x64xf32, #acc>
}

// -----

!s = !tilegpu.smem<[64, 64], i8, <span = 64>, alloc = [64, 64]>
#acc = #tilegpu.layout<"[[l1:8, r1:2, w0:4], [r0:2, l0:4, r2:8]]">
tilegpu.kernel @bytes_transposed attributes {kernel = "k", arguments = [], contracts = [], when = [], stage = 0 : i64,
    grid = [1, 1, 1], warps = 4 : i64, groups = 1 : i64, plan = {}} {
  %a = tilegpu.alloc {offset = 0 : i64} : !s
  %zero = arith.constant dense<0> : tensor<64x64xi32, #acc>
  // expected-error @below {{needs operands that are contiguous along the contraction}}
  %d = tilegpu.mma %a, %a, %zero <"wgmma", shape = [64, 64, 32], warps = [4, 1]> {trans_b}
    : !s, !s -> tensor<64x64xi32, #acc>
}

// -----

#acc = #tilegpu.layout<"[[l1:8, r1:2, w0:4], [r0:2, l0:4, r2:2]]">
#a = #tilegpu.layout<"[[l1:8, r1:2, w0:4], [r0:2, l0:4, r2:2]]">
#b = #tilegpu.layout<"[[l1:8, r1:2], [r0:2, l0:4, r2:2]] rep [w0:4]">
tilegpu.kernel @wrong_layout attributes {kernel = "k", arguments = [], contracts = [], when = [], stage = 0 : i64,
    grid = [1, 1, 1], warps = 4 : i64, groups = 1 : i64, plan = {}} {
  %a = arith.constant dense<1.0> : tensor<64x16xbf16, #a>
  %b = arith.constant dense<1.0> : tensor<16x16xbf16, #b>
  %zero = arith.constant dense<0.0> : tensor<64x16xf32, #acc>
  // expected-error @below {{has a second operand whose layout is not that of mma.sync: [[l1:8, r2:2], [r0:2, l0:4, r1:2]] rep [w0:4]}}
  %d = tilegpu.mma %a, %b, %zero <"mma", shape = [16, 8, 16], warps = [4, 1]>
    : tensor<64x16xbf16, #a>, tensor<16x16xbf16, #b> -> tensor<64x16xf32, #acc>
}

// -----

!ring = !tilegpu.chan<[!tilegpu.smem<[64, 64], bf16, <span = 128>, alloc = [64, 64]>], 2>
tilegpu.kernel @unplanned attributes {kernel = "k", arguments = [], contracts = [], when = [], stage = 0 : i64,
    grid = [1, 1, 1], warps = 4 : i64, groups = 1 : i64, plan = {}} {
  // expected-error @below {{has no place in shared memory yet}}
  %ring = tilegpu.chan "A" "tma" : !ring
}

// -----

!ring = !tilegpu.chan<[!tilegpu.smem<[64, 64], bf16, <span = 128>, alloc = [64, 64]>], 2>
tilegpu.kernel @stride attributes {kernel = "k", arguments = [], contracts = [], when = [], stage = 0 : i64,
    grid = [1, 1, 1], warps = 4 : i64, groups = 1 : i64, plan = {}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : index
  %p = tile.arg "A" : !tile.ptr
  %A = tile.view "A" in %p [%c100, %c100] strides [%c100, %c1] : !tile.view<2, bf16>
  %ring = tilegpu.chan "A" "tma" {offset = 0 : i64, barriers = 16384 : i64} : !ring
  %w = tilegpu.acquire %ring : !ring
  // expected-error @below {{has a stride that is no multiple of 16 bytes}}
  tilegpu.fill %w of %ring[0], %A[%c0, %c0] box [64, 64] kept [0, 1] : !ring, !tile.view<2, bf16>
  tilegpu.commit %w of %ring : !ring
}

// -----

tilegpu.kernel @registers attributes {kernel = "k", arguments = [], contracts = [], when = [], stage = 0 : i64,
    grid = [1, 1, 1], warps = 4 : i64, groups = 1 : i64, plan = {}} {
  tilegpu.process "consumer" warps(4) replicas(1) registers(240) {
  }
  // expected-error @below {{asks for registers, but its warps are no whole warpgroups}}
  tilegpu.process "producer" warps(1) replicas(1) registers(24) attributes {elected} {
  }
}
