// Loops count in 32 bits where their bounds, and the counter one step beyond them, fit.
// RUN: %tile_opt %s --lower-to-nvvm | FileCheck %s

module attributes {tilec.target = "sm_90a"} {

// CHECK-LABEL: llvm.func @counters
tilegpu.kernel @counters attributes {kernel = "k", arguments = [], contracts = [], when = [], stage = 0 : i64,
    grid = [1, 1, 1], warps = 4 : i64, groups = 1 : i64, plan = {}, shared_bytes = 0 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %cm8 = arith.constant -8 : index
  %top = arith.constant 3000000000 : index
  %small = tile.arg "S" {max = 2147483647 : i64, min = 0 : i64} : index
  %large = tile.arg "N" {min = 0 : i64} : index
  %p = tile.arg "C" {align = 4 : i64} : !tile.ptr
  %C = tile.view "C" out %p [%large] strides [%c1] {align = 4 : i64} : !tile.view<1, i64>

  // A number of tiles: the product of its counter with their size may take 64 bits.
  %adjusted = arith.addi %small, %c64 : index
  %tiles = arith.floordivsi %adjusted, %c64 : index
  // CHECK: scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %{{.*}} : i32 {
  // CHECK: %[[WIDE:.*]] = arith.index_cast %[[I]] : i32 to index
  // CHECK: arith.muli %[[WIDE]], %{{.*}} : index
  scf.for %i = %c0 to %tiles step %c1 {
    %start = arith.muli %i, %c64 : index
    %value = arith.index_cast %start : index to i64
    tile.store %value, %C[%start] dims [[]] axes() : i64, !tile.view<1, i64>, (index), ()
    // A loop inside, over what its own counter bounds.
    // CHECK: scf.for {{.*}} : i32 {
    scf.for %j = %cm8 to %i step %c1 {
      %v = arith.index_cast %j : index to i64
      tile.store %v, %C[%j] dims [[]] axes() : i64, !tile.view<1, i64>, (index), ()
    }
  }
  // The counter leaves 32 bits with its last step.
  // CHECK: scf.for {{.*}} step %{{[a-z0-9_]+}} {
  scf.for %i = %c0 to %small step %c64 {
    %value = arith.index_cast %i : index to i64
    tile.store %value, %C[%i] dims [[]] axes() : i64, !tile.view<1, i64>, (index), ()
  }
  // The number of turns does not fit, though both bounds do.
  // CHECK: scf.for {{.*}} step %{{[a-z0-9_]+}} {
  scf.for %i = %cm8 to %small step %c1 {
    %value = arith.index_cast %i : index to i64
    tile.store %value, %C[%i] dims [[]] axes() : i64, !tile.view<1, i64>, (index), ()
  }
  // A scalar argument may have any value, also where it is one of several.
  // CHECK: scf.for {{.*}} step %{{[a-z0-9_]+}} {
  %some = tile.arg "k" : i64
  %wide = arith.index_cast %some : i64 to index
  %few = arith.cmpi slt, %small, %c64 : index
  %chosen = arith.select %few, %c64, %wide : index
  scf.for %i = %c0 to %chosen step %c1 {
    %value = arith.index_cast %i : index to i64
    tile.store %value, %C[%i] dims [[]] axes() : i64, !tile.view<1, i64>, (index), ()
  }
  // CHECK: scf.for {{.*}} step %{{[a-z0-9_]+}} iter_args
  %joined = scf.if %few -> index {
    scf.yield %c64 : index
  } else {
    scf.yield %wide : index
  }
  %last = scf.for %i = %c0 to %joined step %c1 iter_args(%sum = %c0) -> index {
    %next = arith.addi %sum, %i : index
    scf.yield %next : index
  }
  // CHECK: scf.for {{.*}} iter_args{{.*}} : i32 {
  %count = arith.select %few, %c64, %small : index
  %total = scf.for %i = %c0 to %count step %c1 iter_args(%sum = %last) -> index {
    %next = arith.addi %sum, %i : index
    scf.yield %next : index
  }
  %result = arith.index_cast %total : index to i64
  tile.store %result, %C[%c0] dims [[]] axes() : i64, !tile.view<1, i64>, (index), ()
  // Bounds that do not fit, or may not.
  // CHECK: scf.for {{.*}} step %{{[a-z0-9_]+}} {
  scf.for %i = %c0 to %top step %c1 {
    %value = arith.index_cast %i : index to i64
    tile.store %value, %C[%i] dims [[]] axes() : i64, !tile.view<1, i64>, (index), ()
  }
  // CHECK: scf.for {{.*}} step %{{[a-z0-9_]+}} {
  scf.for %i = %c0 to %large step %c1 {
    %value = arith.index_cast %i : index to i64
    tile.store %value, %C[%i] dims [[]] axes() : i64, !tile.view<1, i64>, (index), ()
  }
  // Tiles of a persistent block, of which no launch has more than 2^31 - 1: with a step they are below 2^32.
  %block = tilegpu.block_id : index
  %blocks = tilegpu.grid_size : index
  // CHECK: scf.for unsigned {{.*}} : i32 {
  scf.for %i = %block to %large step %blocks {
    %value = arith.index_cast %i : index to i64
    tile.store %value, %C[%i] dims [[]] axes() : i64, !tile.view<1, i64>, (index), ()
  } {tilegpu.persistent}
}

}
