// RUN: %tile_opt %s --split-input-file --verify-diagnostics --schedule

tile.kernel @stages attributes {kernel = "k", arguments = [], plan = {raster = 1 : i64, warps = 4 : i64, groups = 1 : i64}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %l = tile.arg "L" : !tile.ptr
  %L = tile.view "L" in %l [%c4] strides [%c1] : !tile.view<1, i32>
  %n = tile.load %L[%c0] dims [[]] : !tile.view<1, i32>, (index) -> i32
  %N = arith.index_cast %n : i32 to index
  // expected-error @+1 {{E0341: a parallel range that depends on loaded data is not built yet}}
  tile.parallel [%c0] to [%N] tiles [0] {
  ^bb0(%i: index):
  }
}
