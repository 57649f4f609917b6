// Every operation of the dialect prints as it parses, in the pretty and in the generic form.
// RUN: tile-opt %s | FileCheck %s
// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt %s --mlir-print-op-generic | tile-opt | FileCheck %s

// CHECK-LABEL: tile.kernel @gemm__fast attributes {
// CHECK-SAME: kernel = "gemm"
// CHECK-SAME: when =
tile.kernel @gemm__fast attributes {kernel = "gemm", arguments = [], when = [["eq", ["rem", "K", 8], 0]],
                                    contracts = [{condition = ["gt", "K", 0], text = "K > 0"}],
                                    annotations = {maxregs = 232 : i64}} {
  // CHECK: %[[C0:.*]] = arith.constant 0 : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: tile.arg "M" {max = 4096 : i64, min = 0 : i64} : index
  %M = tile.arg "M" {min = 0 : i64, max = 4096 : i64} : index
  // CHECK: tile.arg "K" {divisible = 8 : i64} : index
  %K = tile.arg "K" {divisible = 8 : i64} : index
  // CHECK: tile.arg "A" {align = 16 : i64} : !tile.ptr
  %a = tile.arg "A" {align = 16 : i64} : !tile.ptr
  // CHECK: tile.arg "scale" : f32
  %scale = tile.arg "scale" : f32
  // CHECK: tile.arg "A.stride0" : index
  %s = tile.arg "A.stride0" : index
  // CHECK: %[[A:.*]] = tile.view "A" in %{{.*}}[%{{.*}}, %{{.*}}] strides[%{{.*}}, %{{.*}}] {align = 16 : i64} : <2, bf16>
  %A = tile.view "A" in %a [%M, %K] strides [%s, %c1] {align = 16 : i64} : !tile.view<2, bf16>
  // CHECK: tile.view "C" inout %{{.*}}[%{{.*}}] strides[%{{.*}}] : <1, f32>
  %C = tile.view "C" inout %a [%M] strides [%c1] : !tile.view<1, f32>
  // CHECK: %[[H:.*]] = tile.misalignment %{{.*}} at %{{.*}} of 2 to 16
  %away = tile.misalignment %a at %s of 2 to 16
  // CHECK: tile.advance %{{.*}} by %[[H]] of 2
  %a1 = tile.advance %a by %away of 2
  // CHECK: tile.view "S" out %{{.*}}[] strides[] : <0, f32>
  %S = tile.view "S" out %a [] strides [] : !tile.view<0, f32>
  // CHECK: tile.parallel[%[[C0]], %[[C0]]] to[%{{.*}}, %{{.*}}] tiles [0, 64] attributes {annotations = {warps = 4 : i64}} {
  // CHECK-NEXT: ^bb0(%[[I:.*]]: index, %[[J:.*]]: index):
  tile.parallel [%c0, %c0] to [%M, %K] tiles [0, 64] attributes {annotations = {warps = 4 : i64}} {
  ^bb0(%i: index, %j: index):
    // CHECK: %[[AM:.*]] = tile.axis "m" %[[I]] to %[[J]] : <8>
    %m = tile.axis "m" %i to %j : !tile.axis<8>
    %k = tile.axis "k" %j to %K : !tile.axis<64>
    // CHECK: %[[PM:.*]] = tile.pos %[[AM]] : <8> -> tensor<8xindex>
    %pm = tile.pos %m : !tile.axis<8> -> tensor<8xindex>
    %pk = tile.pos %k : !tile.axis<64> -> tensor<64xindex>
    %zero = arith.constant 0.0 : bf16
    // CHECK: %[[X:.*]] = tile.load %[[A]][%[[PM]], %{{.*}}] dims {{\[\[}}0], [1]] : <2, bf16>, (tensor<8xindex>, tensor<64xindex>) -> tensor<8x64xbf16>
    %x = tile.load %A[%pm, %pk] dims [[0], [1]] : !tile.view<2, bf16>, (tensor<8xindex>, tensor<64xindex>) -> tensor<8x64xbf16>
    // CHECK: tile.load %[[A]][%{{.*}}, %{{.*}}] dims {{\[\[}}], [0]] else %{{.*}} : bf16 {annotations = {evict = "first"}, inbounds = array<i1: true, false>} : <2, bf16>, (index, tensor<64xindex>) -> tensor<64xbf16>
    %y = tile.load %A[%i, %pk] dims [[], [0]] else %zero : bf16
      {inbounds = array<i1: true, false>, annotations = {evict = "first"}}
      : !tile.view<2, bf16>, (index, tensor<64xindex>) -> tensor<64xbf16>
    // CHECK: tile.load %{{.*}}[] dims [] : <0, f32>, () -> f32
    %z = tile.load %S[] dims [] : !tile.view<0, f32>, () -> f32
    // CHECK: tile.dot %[[X]], %[[X]] over(%{{.*}}) lhs [1] rhs [1] : tensor<8x64xbf16>, tensor<8x64xbf16>, (!tile.axis<64>) -> tensor<8x8xf32>
    %d = tile.dot %x, %x over(%k) lhs [1] rhs [1] : tensor<8x64xbf16>, tensor<8x64xbf16>, (!tile.axis<64>) -> tensor<8x8xf32>
    // CHECK: tile.dot %[[X]], %{{.*}}, %{{.*}} over(%{{.*}}) lhs [1] rhs [0] {fast, full = array<i1: true>} : tensor<8x64xbf16>, tensor<64xbf16>, (!tile.axis<64>) acc tensor<8xf32> -> tensor<8xf32>
    %acc = arith.constant dense<0.0> : tensor<8xf32>
    %e = tile.dot %x, %y, %acc over(%k) lhs [1] rhs [0] {fast, full = array<i1: true>}
      : tensor<8x64xbf16>, tensor<64xbf16>, (!tile.axis<64>) acc tensor<8xf32> -> tensor<8xf32>
    // CHECK: tile.dot %[[X]], %[[X]] over(%{{.*}}) lhs [1] rhs [1] {lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>} : tensor<8x64xbf16>, tensor<8x64xbf16>, (!tile.axis<64>) -> tensor<8xf32>
    %f = tile.dot %x, %x over(%k) lhs [1] rhs [1] {lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>}
      : tensor<8x64xbf16>, tensor<8x64xbf16>, (!tile.axis<64>) -> tensor<8xf32>
    // CHECK: tile.reduce maxf %{{.*}} over %[[AM]] dim 0 {full} : tensor<8xf32>, <8> -> f32
    %g = tile.reduce maxf %e over %m dim 0 {full} : tensor<8xf32>, !tile.axis<8> -> f32
    %p = arith.cmpf olt, %d, %d : tensor<8x8xf32>
    // CHECK: tile.reduce add %{{.*}} over %[[AM]] dim 1 {tile.kept = array<i64: 2, 4>} : tensor<8x8xf32>, <8> -> tensor<8x4xf32>
    %kept = tile.reduce add %d over %m dim 1 {tile.kept = array<i64: 2, 4>} : tensor<8x8xf32>, !tile.axis<8> -> tensor<8x4xf32>
    // CHECK: tile.reduce add %{{.*}} where %{{.*}} : tensor<8x8xi1> over %[[AM]] dim 1 : tensor<8x8xf32>, <8> -> tensor<8xf32>
    %h = tile.reduce add %d where %p : tensor<8x8xi1> over %m dim 1 : tensor<8x8xf32>, !tile.axis<8> -> tensor<8xf32>
    // CHECK: tile.broadcast %{{.*}} dims [0] : tensor<8xf32> -> tensor<8x8xf32>
    %b = tile.broadcast %h dims [0] : tensor<8xf32> -> tensor<8x8xf32>
    // CHECK: tile.broadcast %{{.*}} dims [] : f32 -> tensor<8xf32>
    %c = tile.broadcast %scale dims [] : f32 -> tensor<8xf32>
    // CHECK: tile.permute %[[X]] [1, 0] : tensor<8x64xbf16> -> tensor<64x8xbf16>
    %t = tile.permute %x [1, 0] : tensor<8x64xbf16> -> tensor<64x8xbf16>
    // CHECK: tile.cast %{{.*}} {to_unsigned} : tensor<8x8xf32> -> tensor<8x8xi8>
    %u = tile.cast %b {to_unsigned} : tensor<8x8xf32> -> tensor<8x8xi8>
    // CHECK: tile.div %{{.*}}, %{{.*}} : tensor<8xindex>
    %q = tile.div %pm, %pm : tensor<8xindex>
    // CHECK: tile.rem %{{.*}}, %{{.*}} {is_unsigned, truncating} : index
    %r = tile.rem %i, %j {is_unsigned, truncating} : index
    // CHECK: tile.store %{{.*}}, %[[C:.*]][%[[PM]]] dims {{\[\[}}0]] axes(%[[AM]]) {full = array<i1: false>, unique} : tensor<8xf32>, <1, f32>, (tensor<8xindex>), (!tile.axis<8>)
    tile.store %e, %C[%pm] dims [[0]] axes(%m) {unique, full = array<i1: false>} : tensor<8xf32>, !tile.view<1, f32>, (tensor<8xindex>), (!tile.axis<8>)
    // CHECK: tile.store %{{.*}}, %{{.*}}[] dims [] axes() : f32, <0, f32>, (), ()
    tile.store %g, %S[] dims [] axes() : f32, !tile.view<0, f32>, (), ()
    // CHECK: tile.atomic maxf %{{.*}}, %[[C]][%[[PM]]] dims {{\[\[}}0]] axes(%[[AM]]) {inbounds = array<i1: true>} : tensor<8xf32>, <1, f32>, (tensor<8xindex>), (!tile.axis<8>)
    tile.atomic maxf %e, %C[%pm] dims [[0]] axes(%m) {inbounds = array<i1: true>}
      : tensor<8xf32>, !tile.view<1, f32>, (tensor<8xindex>), (!tile.axis<8>)
  }
}
