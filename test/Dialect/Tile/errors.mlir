// Every error of the verifiers.
// RUN: tile-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{an axis has at least one position}}
func.func private @axis_extent(!tile.axis<0>)

// -----

func.func @view(%p: !tile.ptr, %n: index) {
  // expected-error @+1 {{needs one size and one stride for each dimension}}
  %0 = tile.view "A" in %p [%n] strides [%n] : !tile.view<2, f32>
  return
}

// -----

// expected-error @+1 {{the elements of a view are integers or floats, not 'index'}}
func.func private @view_element(!tile.view<1, index>)

// -----

// expected-error @+1 {{a view has at least 0 dimensions}}
func.func private @view_rank(!tile.view<-1, f32>)

// -----

func.func @parallel_arguments(%n: index) {
  // expected-error @+1 {{needs one region argument and one tile size for each range}}
  tile.parallel [%n] to [%n] tiles [0, 0] {
  ^bb0(%i: index):
  }
  return
}

// -----

func.func @parallel_types(%n: index) {
  // expected-error @+1 {{has `index` region arguments}}
  tile.parallel [%n] to [%n] tiles [0] {
  ^bb0(%i: i32):
  }
  return
}

// -----

func.func @pos(%m: !tile.axis<8>) {
  // expected-error @+1 {{gives a rank-1 tile of the axis's extent}}
  %0 = tile.pos %m : !tile.axis<8> -> tensor<4xindex>
  return
}

// -----

func.func @load_element(%A: !tile.view<1, bf16>, %i: index) {
  // expected-error @+1 {{gives elements of the view's type}}
  %0 = tile.load %A[%i] dims [[]] : !tile.view<1, bf16>, (index) -> f32
  return
}

// -----

func.func @load_else(%A: !tile.view<1, bf16>, %p: tensor<8xindex>, %e: tensor<4xbf16>) {
  // expected-error @+1 {{`else` is a scalar of the element type or a tile like the result}}
  %0 = tile.load %A[%p] dims [[0]] else %e : tensor<4xbf16> : !tile.view<1, bf16>, (tensor<8xindex>) -> tensor<8xbf16>
  return
}

// -----

func.func @load_rank(%A: !tile.view<2, bf16>, %p: tensor<8xindex>) {
  // expected-error @+1 {{needs one subscript and one entry of `dims` for each of the view's 2 dimensions}}
  %0 = tile.load %A[%p] dims [[0]] : !tile.view<2, bf16>, (tensor<8xindex>) -> tensor<8xbf16>
  return
}

// -----

func.func @load_dims(%A: !tile.view<1, bf16>, %p: tensor<8xindex>) {
  // expected-error @+1 {{`dims` does not match the rank of a subscript}}
  %0 = tile.load %A[%p] dims [[0, 1]] : !tile.view<1, bf16>, (tensor<8xindex>) -> tensor<8xbf16>
  return
}

// -----

func.func @load_extent(%A: !tile.view<1, bf16>, %p: tensor<4xindex>) {
  // expected-error @+1 {{a subscript's extent differs from that of the dimension it names}}
  %0 = tile.load %A[%p] dims [[0]] : !tile.view<1, bf16>, (tensor<4xindex>) -> tensor<8xbf16>
  return
}

// -----

func.func @load_uncovered(%A: !tile.view<1, bf16>, %p: tensor<4xindex>) {
  // expected-error @+1 {{dimension 1 of the result occurs in no subscript}}
  %0 = tile.load %A[%p] dims [[0]] : !tile.view<1, bf16>, (tensor<4xindex>) -> tensor<4x8xbf16>
  return
}

// -----

func.func @load_inbounds(%A: !tile.view<1, bf16>, %p: tensor<4xindex>) {
  // expected-error @+1 {{`inbounds` has one entry for each subscript}}
  %0 = tile.load %A[%p] dims [[0]] {inbounds = array<i1: true, true>} : !tile.view<1, bf16>, (tensor<4xindex>) -> tensor<4xbf16>
  return
}

// -----

func.func @store_element(%A: !tile.view<1, bf16>, %i: index, %v: f32) {
  // expected-error @+1 {{stores elements of the view's type}}
  tile.store %v, %A[%i] dims [[]] axes() : f32, !tile.view<1, bf16>, (index), ()
  return
}

// -----

func.func @store_axes(%A: !tile.view<1, f32>, %p: tensor<8xindex>, %v: tensor<8xf32>) {
  // expected-error @+1 {{needs one axis for each dimension of the value}}
  tile.store %v, %A[%p] dims [[0]] axes() : tensor<8xf32>, !tile.view<1, f32>, (tensor<8xindex>), ()
  return
}

// -----

func.func @store_extent(%A: !tile.view<1, f32>, %p: tensor<8xindex>, %v: tensor<8xf32>, %m: !tile.axis<4>) {
  // expected-error @+1 {{an axis has another extent than its dimension}}
  tile.store %v, %A[%p] dims [[0]] axes(%m) : tensor<8xf32>, !tile.view<1, f32>, (tensor<8xindex>), (!tile.axis<4>)
  return
}

// -----

func.func @store_full(%A: !tile.view<1, f32>, %p: tensor<8xindex>, %v: tensor<8xf32>, %m: !tile.axis<8>) {
  // expected-error @+1 {{`full` has one entry for each axis}}
  tile.store %v, %A[%p] dims [[0]] axes(%m) {full = array<i1>} : tensor<8xf32>, !tile.view<1, f32>, (tensor<8xindex>), (!tile.axis<8>)
  return
}

// -----

func.func @atomic_element(%A: !tile.view<1, bf16>, %i: index, %v: f32) {
  // expected-error @+1 {{combines elements of the view's type}}
  tile.atomic add %v, %A[%i] dims [[]] axes() : f32, !tile.view<1, bf16>, (index), ()
  return
}

// -----

func.func @atomic_kind(%A: !tile.view<1, f32>, %i: index, %v: f32) {
  // expected-error @+1 {{'andi' does not combine 'f32'}}
  tile.atomic andi %v, %A[%i] dims [[]] axes() : f32, !tile.view<1, f32>, (index), ()
  return
}

// -----

func.func @dot_pairs(%a: tensor<8x16xbf16>, %k: !tile.axis<16>) {
  // expected-error @+1 {{pairs contracted and batch dimensions of both operands}}
  %0 = tile.dot %a, %a over(%k) lhs [1] rhs [] : tensor<8x16xbf16>, tensor<8x16xbf16>, (!tile.axis<16>) -> tensor<8x8xf32>
  return
}

// -----

func.func @dot_range(%a: tensor<8x16xbf16>, %k: !tile.axis<16>) {
  // expected-error @+1 {{names a dimension that an operand does not have}}
  %0 = tile.dot %a, %a over(%k) lhs [1] rhs [2] : tensor<8x16xbf16>, tensor<8x16xbf16>, (!tile.axis<16>) -> tensor<8x8xf32>
  return
}

// -----

func.func @dot_batch(%a: tensor<8x16xbf16>, %b: tensor<4x16xbf16>, %k: !tile.axis<16>) {
  // expected-error @+1 {{has batch dimensions of unequal extent}}
  %0 = tile.dot %a, %b over(%k) lhs [1] rhs [1] {lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>}
    : tensor<8x16xbf16>, tensor<4x16xbf16>, (!tile.axis<16>) -> tensor<8xf32>
  return
}

// -----

func.func @dot_contract(%a: tensor<8x16xbf16>, %k: !tile.axis<8>) {
  // expected-error @+1 {{contracts dimensions of unequal extent}}
  %0 = tile.dot %a, %a over(%k) lhs [1] rhs [1] : tensor<8x16xbf16>, tensor<8x16xbf16>, (!tile.axis<8>) -> tensor<8x8xf32>
  return
}

// -----

func.func @dot_result(%a: tensor<8x16xbf16>, %b: tensor<4x16xbf16>, %k: !tile.axis<16>) {
  // expected-error @+1 {{has result dimensions batch, free of lhs, free of rhs}}
  %0 = tile.dot %a, %b over(%k) lhs [1] rhs [1] : tensor<8x16xbf16>, tensor<4x16xbf16>, (!tile.axis<16>) -> tensor<4x8xf32>
  return
}

// -----

func.func @dot_acc(%a: tensor<8x16xbf16>, %c: tensor<8xf32>, %k: !tile.axis<16>) {
  // expected-error @+1 {{has an accumulator of the result's type}}
  %0 = tile.dot %a, %a, %c over(%k) lhs [1] rhs [1] : tensor<8x16xbf16>, tensor<8x16xbf16>, (!tile.axis<16>) acc tensor<8xf32> -> tensor<8x8xf32>
  return
}

// -----

func.func @dot_full(%a: tensor<8x16xbf16>, %k: !tile.axis<16>) {
  // expected-error @+1 {{`full` has one entry for each axis}}
  %0 = tile.dot %a, %a over(%k) lhs [1] rhs [1] {full = array<i1>} : tensor<8x16xbf16>, tensor<8x16xbf16>, (!tile.axis<16>) -> tensor<8x8xf32>
  return
}

// -----

func.func @dot_types(%a: tensor<8x16xbf16>, %k: !tile.axis<16>) {
  // expected-error @+1 {{sums no products of 'bf16' and 'bf16' in 'bf16'}}
  %0 = tile.dot %a, %a over(%k) lhs [1] rhs [1] : tensor<8x16xbf16>, tensor<8x16xbf16>, (!tile.axis<16>) -> tensor<8x8xbf16>
  return
}

// -----

func.func @reduce_dim(%a: tensor<8x16xf32>, %k: !tile.axis<8>) {
  // expected-error @+1 {{reduces a dimension of the axis's extent}}
  %0 = tile.reduce add %a over %k dim 1 : tensor<8x16xf32>, !tile.axis<8> -> tensor<8xf32>
  return
}

// -----

func.func @reduce_result(%a: tensor<8x16xf32>, %k: !tile.axis<16>) {
  // expected-error @+1 {{gives the input without its reduced dimension}}
  %0 = tile.reduce add %a over %k dim 1 : tensor<8x16xf32>, !tile.axis<16> -> tensor<16xf32>
  return
}

// -----

func.func @reduce_kept(%a: tensor<8x16xf32>, %k: !tile.axis<16>) {
  // expected-error @+1 {{keeps digits of its dimension, each a stride and a radix, from the innermost outwards}}
  %0 = tile.reduce add %a over %k dim 1 {tile.kept = array<i64: 4, 2, 2, 2>} : tensor<8x16xf32>, !tile.axis<16> -> tensor<8x4xf32>
  return
}

// -----

func.func @reduce_kept_result(%a: tensor<8x16xf32>, %k: !tile.axis<16>) {
  // expected-error @+1 {{gives the input without its reduced dimension, or with the digits kept of it}}
  %0 = tile.reduce add %a over %k dim 1 {tile.kept = array<i64: 2, 4>} : tensor<8x16xf32>, !tile.axis<16> -> tensor<8xf32>
  return
}

// -----

func.func @reduce_predicate(%a: tensor<8x16xf32>, %p: tensor<16xi1>, %k: !tile.axis<16>) {
  // expected-error @+1 {{has a predicate of the input's shape}}
  %0 = tile.reduce add %a where %p : tensor<16xi1> over %k dim 1 : tensor<8x16xf32>, !tile.axis<16> -> tensor<8xf32>
  return
}

// -----

func.func @reduce_kind(%a: tensor<16xi32>, %k: !tile.axis<16>) {
  // expected-error @+1 {{'maxf' does not combine 'i32'}}
  %0 = tile.reduce maxf %a over %k dim 0 : tensor<16xi32>, !tile.axis<16> -> i32
  return
}

// -----

func.func @broadcast_dims(%a: tensor<8xf32>) {
  // expected-error @+1 {{names a result dimension for each input dimension}}
  %0 = tile.broadcast %a dims [] : tensor<8xf32> -> tensor<8x4xf32>
  return
}

// -----

func.func @broadcast_extent(%a: tensor<8xf32>) {
  // expected-error @+1 {{keeps the order and extents of the input's dimensions}}
  %0 = tile.broadcast %a dims [1] : tensor<8xf32> -> tensor<8x4xf32>
  return
}

// -----

func.func @permute(%a: tensor<8x4xf32>) {
  // expected-error @+1 {{permutes all dimensions of its input}}
  %0 = tile.permute %a [0, 0] : tensor<8x4xf32> -> tensor<8x8xf32>
  return
}

// -----

func.func @cast(%a: tensor<8x4xf32>) {
  // expected-error @+1 {{all non-scalar operands/results must have the same shape and base type}}
  %0 = tile.cast %a : tensor<8x4xf32> -> tensor<8xi32>
  return
}

// -----

func.func @division(%a: tensor<8xf32>) {
  // expected-error @+1 {{divides integers}}
  %0 = tile.div %a, %a : tensor<8xf32>
  return
}

// -----

func.func @misalignment(%p: !tile.ptr, %n: index) {
  // expected-error @+1 {{counts elements of a power of two bytes to a multiple of them}}
  %0 = tile.misalignment %p at %n of 3 to 16
  return
}

// -----

func.func @misalignment_within_an_element(%p: !tile.ptr, %n: index) {
  // expected-error @+1 {{counts elements of a power of two bytes to a multiple of them}}
  %0 = tile.misalignment %p at %n of 4 to 2
  return
}
