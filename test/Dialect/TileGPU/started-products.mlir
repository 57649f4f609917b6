// Started products, waits and turns: round trip and what the verifier refuses.
// RUN: %tile_opt %s --split-input-file --verify-diagnostics | FileCheck %s

!buffer = !tilegpu.smem<[64, 64], bf16, <span = 128>, alloc = [64, 64]>

// CHECK-LABEL: func.func @round_trip
func.func @round_trip(%a: !buffer, %b: !buffer, %acc: tensor<64x64xf32>, %e: tensor<64x32xf32>) -> tensor<64x64xf32> {
  // CHECK: tilegpu.turn_take
  tilegpu.turn_take
  // CHECK: %[[P:.*]] = tilegpu.mma {{.*}} -> !tilegpu.pending<tensor<64x64xf32>>
  %p = tilegpu.mma %a, %b, %acc <"wgmma", shape = [64, 64, 16], warps = [4, 1]> : !buffer, !buffer -> !tilegpu.pending<tensor<64x64xf32>>
  // CHECK: tilegpu.turn_pass
  tilegpu.turn_pass
  // CHECK: tilegpu.mma_wait %[[P]] after 1 through %{{.*}} : (!tilegpu.pending<tensor<64x64xf32>>, tensor<64x32xf32>) -> (tensor<64x64xf32>, tensor<64x32xf32>)
  %d, %passed = tilegpu.mma_wait %p after 1 through %e : (!tilegpu.pending<tensor<64x64xf32>>, tensor<64x32xf32>) -> (tensor<64x64xf32>, tensor<64x32xf32>)
  // CHECK: tilegpu.mma_wait %[[P]] after 0 : (!tilegpu.pending<tensor<64x64xf32>>) -> tensor<64x64xf32>
  %again = tilegpu.mma_wait %p after 0 : (!tilegpu.pending<tensor<64x64xf32>>) -> tensor<64x64xf32>
  return %d : tensor<64x64xf32>
}

// -----

!buffer = !tilegpu.smem<[64, 64], bf16, <span = 128>, alloc = [64, 64]>

func.func @only_wgmma(%a: !buffer, %b: !buffer, %acc: tensor<64x64xf32>) {
  // expected-error@+1 {{is complete when it returns: only wgmma starts products}}
  %p = tilegpu.mma %a, %b, %acc <"mma", shape = [16, 8, 16], warps = [4, 1]> : !buffer, !buffer -> !tilegpu.pending<tensor<64x64xf32>>
  return
}

// -----

func.func @another_tile(%p: !tilegpu.pending<tensor<64x64xf32>>) {
  // expected-error@+1 {{has a result that is not the tile it waits for}}
  %d = tilegpu.mma_wait %p after 0 : (!tilegpu.pending<tensor<64x64xf32>>) -> tensor<64x32xf32>
  return
}

// -----

func.func @too_many(%p: !tilegpu.pending<tensor<64x64xf32>>) {
  // expected-error@+1 {{leaves more products under way than wait_group can name}}
  %d = tilegpu.mma_wait %p after 8 : (!tilegpu.pending<tensor<64x64xf32>>) -> tensor<64x64xf32>
  return
}

// -----

func.func @passes_less(%p: !tilegpu.pending<tensor<64x64xf32>>, %e: tensor<64x32xf32>) {
  // expected-error@+1 {{passes other types on than it takes}}
  %d = tilegpu.mma_wait %p after 0 through %e : (!tilegpu.pending<tensor<64x64xf32>>, tensor<64x32xf32>) -> tensor<64x64xf32>
  return
}
