// Sixteen or more divisions by one number share its reciprocal where everything is well inside the range.
// RUN: %tile_opt %s --share-divisors | FileCheck %s

// CHECK-LABEL: func.func @many
// CHECK: scf.if
// CHECK: %[[ONE:.*]] = arith.constant 1.0
// CHECK: arith.divf %[[ONE]], %
// CHECK-NOT: arith.divf
// CHECK-COUNT-32: math.fma
// CHECK-NOT: arith.divf
// CHECK: } else {
// CHECK-COUNT-16: arith.divf
// CHECK-LABEL: func.func @few
// CHECK-NOT: scf.if
// CHECK-COUNT-15: arith.divf
func.func @many(%x0: f32, %x1: f32, %x2: f32, %x3: f32, %x4: f32, %x5: f32, %x6: f32, %x7: f32, %x8: f32, %x9: f32, %x10: f32, %x11: f32, %x12: f32, %x13: f32, %x14: f32, %x15: f32, %d: f32) -> (f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32) {
  %q0 = arith.divf %x0, %d : f32
  %q1 = arith.divf %x1, %d : f32
  %q2 = arith.divf %x2, %d : f32
  %q3 = arith.divf %x3, %d : f32
  %q4 = arith.divf %x4, %d : f32
  %q5 = arith.divf %x5, %d : f32
  %q6 = arith.divf %x6, %d : f32
  %q7 = arith.divf %x7, %d : f32
  %q8 = arith.divf %x8, %d : f32
  %q9 = arith.divf %x9, %d : f32
  %q10 = arith.divf %x10, %d : f32
  %q11 = arith.divf %x11, %d : f32
  %q12 = arith.divf %x12, %d : f32
  %q13 = arith.divf %x13, %d : f32
  %q14 = arith.divf %x14, %d : f32
  %q15 = arith.divf %x15, %d : f32
  return %q0, %q1, %q2, %q3, %q4, %q5, %q6, %q7, %q8, %q9, %q10, %q11, %q12, %q13, %q14, %q15 : f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32
}

func.func @few(%x0: f32, %x1: f32, %x2: f32, %x3: f32, %x4: f32, %x5: f32, %x6: f32, %x7: f32, %x8: f32, %x9: f32, %x10: f32, %x11: f32, %x12: f32, %x13: f32, %x14: f32, %d: f32) -> (f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32) {
  %q0 = arith.divf %x0, %d : f32
  %q1 = arith.divf %x1, %d : f32
  %q2 = arith.divf %x2, %d : f32
  %q3 = arith.divf %x3, %d : f32
  %q4 = arith.divf %x4, %d : f32
  %q5 = arith.divf %x5, %d : f32
  %q6 = arith.divf %x6, %d : f32
  %q7 = arith.divf %x7, %d : f32
  %q8 = arith.divf %x8, %d : f32
  %q9 = arith.divf %x9, %d : f32
  %q10 = arith.divf %x10, %d : f32
  %q11 = arith.divf %x11, %d : f32
  %q12 = arith.divf %x12, %d : f32
  %q13 = arith.divf %x13, %d : f32
  %q14 = arith.divf %x14, %d : f32
  return %q0, %q1, %q2, %q3, %q4, %q5, %q6, %q7, %q8, %q9, %q10, %q11, %q12, %q13, %q14 : f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32
}
