// RUN: %tile_opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tilegpu.kernel(infer-layouts))'

// expected-error @+1 {{E0420: tiles cannot be spread over 3 warps: it takes 1, 2, 4, 8, 16 or 32}}
tilegpu.kernel @warps attributes {kernel = "k", arguments = [], contracts = [], when = [], stage = 0 : i64, grid = [1, 1, 1], warps = 3 : i64, groups = 1 : i64, plan = {}} {
}

// -----

tilegpu.kernel @product attributes {kernel = "k", arguments = [], contracts = [], when = [], stage = 0 : i64, grid = [1, 1, 1], warps = 8 : i64, groups = 1 : i64, plan = {}} {
  %sa = tilegpu.alloc : !tilegpu.smem<[64, 64], bf16, <span = 128>, alloc = [64, 64]>
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  // expected-error @+1 {{E0420: 8 warps cannot compute this product with wgmma of 64x64x16}}
  %d = tilegpu.mma %sa, %sa, %z <"wgmma", shape = [64, 64, 16], warps = [4, 1]> : !tilegpu.smem<[64, 64], bf16, <span = 128>, alloc = [64, 64]>, !tilegpu.smem<[64, 64], bf16, <span = 128>, alloc = [64, 64]> -> tensor<64x64xf32>
}

// -----

tilegpu.kernel @dot attributes {kernel = "k", arguments = [], contracts = [], when = [], stage = 0 : i64, grid = [1, 1, 1], warps = 4 : i64, groups = 1 : i64, plan = {}} {
  %c0 = arith.constant 0 : index
  %k = tile.axis "k" %c0 to %c0 : !tile.axis<8>
  %z = arith.constant dense<0.0> : tensor<8x8xf32>
  // expected-error @+1 {{E0420: `tile.dot` cannot be spread over the threads of a block}}
  %d = tile.dot %z, %z over(%k) lhs [1] rhs [0] : tensor<8x8xf32>, tensor<8x8xf32>, (!tile.axis<8>) -> tensor<8x8xf32>
}
