// Staged stores: round trip and what the verifier refuses.
// RUN: %tile_opt %s --split-input-file --verify-diagnostics | FileCheck %s

!buffer = !tilegpu.smem<[64, 32], f32, <span = 128>, alloc = [64, 32]>

// CHECK-LABEL: func.func @round_trip
func.func @round_trip(%tile: tensor<32x128xf32>, %view: !tile.view<3, f32>, %b: index, %m: index, %n: index) {
  // CHECK: %[[RING:.*]] = tilegpu.staging "C" {offset = 1024 : i64} : <[!tilegpu.smem<[64, 32], f32, <span = 128>, alloc = [64, 32]>], 2>
  %ring = tilegpu.staging "C" {offset = 1024} : !tilegpu.chan<[!buffer], 2>
  // CHECK: %[[SLOT:.*]] = tilegpu.write %[[RING]], %{{.*}} [0, 64] order [1, 0] :
  %slot = tilegpu.write %ring, %tile [0, 64] order [1, 0] : !tilegpu.chan<[!buffer], 2>, tensor<32x128xf32>
  // CHECK: tilegpu.flush %[[SLOT]] of %[[RING]], %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] within[%{{.*}}, %{{.*}}] box [1, 64, 32] kept [1, 2] :
  tilegpu.flush %slot of %ring, %view[%b, %m, %n] within[%m, %n] box [1, 64, 32] kept [1, 2] : !tilegpu.chan<[!buffer], 2>, !tile.view<3, f32>
  // CHECK: tilegpu.drain %[[RING]] :
  tilegpu.drain %ring : !tilegpu.chan<[!buffer], 2>
  return
}

// -----

func.func @leaves_tile(%ring: !tilegpu.chan<[!tilegpu.smem<[64, 32], f32, <span = 128>, alloc = [64, 32]>], 1>, %tile: tensor<64x64xf32>) {
  // expected-error@+1 {{leaves its tile}}
  %slot = tilegpu.write %ring, %tile [0, 64] order [0, 1] : !tilegpu.chan<[!tilegpu.smem<[64, 32], f32, <span = 128>, alloc = [64, 32]>], 1>, tensor<64x64xf32>
  return
}

// -----

func.func @order(%ring: !tilegpu.chan<[!tilegpu.smem<[64, 32], f32, <span = 128>, alloc = [64, 32]>], 1>, %tile: tensor<64x64xf32>) {
  // expected-error@+1 {{has an order that is no permutation}}
  %slot = tilegpu.write %ring, %tile [0, 0] order [1, 1] : !tilegpu.chan<[!tilegpu.smem<[64, 32], f32, <span = 128>, alloc = [64, 32]>], 1>, tensor<64x64xf32>
  return
}

// -----

func.func @type(%ring: !tilegpu.chan<[!tilegpu.smem<[64, 32], f32, <span = 128>, alloc = [64, 32]>], 1>, %tile: tensor<64x64xf16>) {
  // expected-error@+1 {{has a tile whose type or rank differs from the buffer's}}
  %slot = tilegpu.write %ring, %tile [0, 0] order [0, 1] : !tilegpu.chan<[!tilegpu.smem<[64, 32], f32, <span = 128>, alloc = [64, 32]>], 1>, tensor<64x64xf16>
  return
}

// -----

func.func @box(%slot: !tilegpu.slot, %ring: !tilegpu.chan<[!tilegpu.smem<[64, 32], f32, <span = 128>, alloc = [64, 32]>], 1>, %view: !tile.view<2, f32>, %m: index) {
  // expected-error@+1 {{has a box that differs from the buffer's shape}}
  tilegpu.flush %slot of %ring, %view[%m, %m] within[%m, %m] box [64, 64] kept [0, 1] : !tilegpu.chan<[!tilegpu.smem<[64, 32], f32, <span = 128>, alloc = [64, 32]>], 1>, !tile.view<2, f32>
  return
}

// -----

func.func @ends(%slot: !tilegpu.slot, %ring: !tilegpu.chan<[!tilegpu.smem<[64, 32], f32, <span = 128>, alloc = [64, 32]>], 1>, %view: !tile.view<2, f32>, %m: index) {
  // expected-error@+1 {{keeps as many dimensions as the buffer has, each with its end}}
  tilegpu.flush %slot of %ring, %view[%m, %m] within[%m] box [64, 32] kept [0, 1] : !tilegpu.chan<[!tilegpu.smem<[64, 32], f32, <span = 128>, alloc = [64, 32]>], 1>, !tile.view<2, f32>
  return
}
