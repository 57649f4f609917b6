// Folders of the dialect.
// RUN: tile-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: @broadcast
// CHECK-SAME: (%[[A:.*]]: tensor<8xf32>)
func.func @broadcast(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<8x4xf32>, tensor<4xi32>) {
  // CHECK-DAG: %[[S:.*]] = arith.constant dense<1.000000e+00> : tensor<8x4xf32>
  // CHECK-DAG: %[[I:.*]] = arith.constant dense<7> : tensor<4xi32>
  // CHECK: return %[[A]], %[[S]], %[[I]]
  %0 = tile.broadcast %a dims [0] : tensor<8xf32> -> tensor<8xf32>
  %one = arith.constant dense<1.0> : tensor<4xf32>
  %1 = tile.broadcast %one dims [1] : tensor<4xf32> -> tensor<8x4xf32>
  %seven = arith.constant 7 : i32
  %2 = tile.broadcast %seven dims [] : i32 -> tensor<4xi32>
  return %0, %1, %2 : tensor<8xf32>, tensor<8x4xf32>, tensor<4xi32>
}

// CHECK-LABEL: @permute
// CHECK-SAME: (%[[A:.*]]: tensor<8x4xf32>)
func.func @permute(%a: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<4x8xf32>) {
  // CHECK: %[[S:.*]] = arith.constant dense<1.000000e+00> : tensor<4x8xf32>
  // CHECK: return %[[A]], %[[S]]
  %0 = tile.permute %a [0, 1] : tensor<8x4xf32> -> tensor<8x4xf32>
  %one = arith.constant dense<1.0> : tensor<8x4xf32>
  %1 = tile.permute %one [1, 0] : tensor<8x4xf32> -> tensor<4x8xf32>
  return %0, %1 : tensor<8x4xf32>, tensor<4x8xf32>
}

// CHECK-LABEL: @floor
// CHECK-DAG: %[[Q:.*]] = arith.constant -4 : i32
// CHECK-DAG: %[[R:.*]] = arith.constant 1 : i32
// CHECK-DAG: %[[TQ:.*]] = arith.constant -3 : i32
// CHECK-DAG: %[[TR:.*]] = arith.constant -1 : i32
// CHECK: return %[[Q]], %[[R]], %[[TQ]], %[[TR]]
func.func @floor() -> (i32, i32, i32, i32) {
  %a = arith.constant -7 : i32
  %b = arith.constant 2 : i32
  %0 = tile.div %a, %b : i32
  %1 = tile.rem %a, %b : i32
  %2 = tile.div %a, %b {truncating} : i32
  %3 = tile.rem %a, %b {truncating} : i32
  return %0, %1, %2, %3 : i32, i32, i32, i32
}

// CHECK-LABEL: @by_zero
// CHECK: %[[Z:.*]] = arith.constant 0 : i32
// CHECK: return %[[Z]], %[[Z]]
func.func @by_zero() -> (i32, i32) {
  %a = arith.constant -7 : i32
  %b = arith.constant 0 : i32
  %0 = tile.div %a, %b : i32
  %1 = tile.rem %a, %b : i32
  return %0, %1 : i32, i32
}

// CHECK-LABEL: @overflow
// CHECK-DAG: %[[Q:.*]] = arith.constant -128 : i8
// CHECK-DAG: %[[R:.*]] = arith.constant 0 : i8
// CHECK-DAG: %[[U:.*]] = arith.constant dense<0> : tensor<4xi8>
// CHECK: return %[[Q]], %[[R]], %[[U]]
func.func @overflow() -> (i8, i8, tensor<4xi8>) {
  %a = arith.constant -128 : i8
  %b = arith.constant -1 : i8
  %0 = tile.div %a, %b : i8
  %1 = tile.rem %a, %b : i8
  %2 = tile.broadcast %a dims [] : i8 -> tensor<4xi8>
  %3 = tile.broadcast %b dims [] : i8 -> tensor<4xi8>
  %4 = tile.div %2, %3 {is_unsigned} : tensor<4xi8>
  return %0, %1, %4 : i8, i8, tensor<4xi8>
}

// CHECK-LABEL: @by_one
// CHECK-SAME: (%[[A:.*]]: tensor<4xindex>)
// CHECK: return %[[A]]
func.func @by_one(%a: tensor<4xindex>) -> tensor<4xindex> {
  %one = arith.constant dense<1> : tensor<4xindex>
  %0 = tile.div %a, %one : tensor<4xindex>
  return %0 : tensor<4xindex>
}
