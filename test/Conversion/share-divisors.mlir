// Sixteen or more divisions by one number share its reciprocal where everything is well inside the range; from two on
// where all uses narrow the quotients, which takes a test of the divisor alone.
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

// CHECK-LABEL: func.func @two_narrowed(
// CHECK-SAME: %[[X:.*]]: f32, %[[Y:.*]]: f32, %[[D:.*]]: f32)
// CHECK-NOT: scf.if
// CHECK-DAG: arith.cmpf olt, %{{.*}}, %{{.*}}
// CHECK-DAG: arith.cmpf ogt, %{{.*}}, %{{.*}}
// CHECK: arith.select
// CHECK: %[[SCALE:.*]] = arith.select
// CHECK: %[[DIVISOR:.*]] = arith.mulf %[[D]], %[[SCALE]]
// CHECK: %[[R:.*]] = arith.divf %{{.*}}, %[[DIVISOR]]
// CHECK: %[[XS:.*]] = arith.mulf %[[X]], %[[SCALE]]
// CHECK: arith.mulf %[[XS]], %[[R]]
// CHECK: %[[YS:.*]] = arith.mulf %[[Y]], %[[SCALE]]
// CHECK: arith.mulf %[[YS]], %[[R]]
// CHECK-NOT: arith.divf
func.func @two_narrowed(%x: f32, %y: f32, %d: f32) -> (bf16, bf16) {
  %q0 = arith.divf %x, %d {tilec.narrowed} : f32
  %q1 = arith.divf %y, %d {tilec.narrowed} : f32
  %n0 = arith.truncf %q0 : f32 to bf16
  %n1 = arith.truncf %q1 : f32 to bf16
  return %n0, %n1 : bf16, bf16
}

// One alone, and one beside another that is not narrowed, stay.
// CHECK-LABEL: func.func @one_narrowed(
// CHECK-COUNT-2: arith.divf
// CHECK-NOT: arith.mulf
func.func @one_narrowed(%x: f32, %y: f32, %d: f32) -> (bf16, f32) {
  %q0 = arith.divf %x, %d {tilec.narrowed} : f32
  %q1 = arith.divf %y, %d : f32
  %n0 = arith.truncf %q0 : f32 to bf16
  return %n0, %q1 : bf16, f32
}

// The branch multiplies divisor and dividends only where the reciprocal is not normal.
// CHECK-LABEL: func.func @many_narrowed(
// CHECK: %[[INSIDE:.*]] = arith.andi
// CHECK: %[[S:.*]]:17 = scf.if %[[INSIDE]]
// CHECK-NOT: arith.mulf
// CHECK: scf.yield
// CHECK: } else {
// CHECK-COUNT-17: arith.mulf
// CHECK: scf.yield
// CHECK: %[[R:.*]] = arith.divf %{{.*}}, %[[S]]#0
// CHECK-NOT: arith.divf
// CHECK: arith.mulf %[[S]]#1, %[[R]]
// CHECK: arith.mulf %[[S]]#16, %[[R]]
func.func @many_narrowed(%x0: f32, %x1: f32, %x2: f32, %x3: f32, %x4: f32, %x5: f32, %x6: f32, %x7: f32, %x8: f32, %x9: f32, %x10: f32, %x11: f32, %x12: f32, %x13: f32, %x14: f32, %x15: f32, %d: f32) -> (f32) {
  %q0 = arith.divf %x0, %d {tilec.narrowed} : f32
  %q1 = arith.divf %x1, %d {tilec.narrowed} : f32
  %q2 = arith.divf %x2, %d {tilec.narrowed} : f32
  %q3 = arith.divf %x3, %d {tilec.narrowed} : f32
  %q4 = arith.divf %x4, %d {tilec.narrowed} : f32
  %q5 = arith.divf %x5, %d {tilec.narrowed} : f32
  %q6 = arith.divf %x6, %d {tilec.narrowed} : f32
  %q7 = arith.divf %x7, %d {tilec.narrowed} : f32
  %q8 = arith.divf %x8, %d {tilec.narrowed} : f32
  %q9 = arith.divf %x9, %d {tilec.narrowed} : f32
  %q10 = arith.divf %x10, %d {tilec.narrowed} : f32
  %q11 = arith.divf %x11, %d {tilec.narrowed} : f32
  %q12 = arith.divf %x12, %d {tilec.narrowed} : f32
  %q13 = arith.divf %x13, %d {tilec.narrowed} : f32
  %q14 = arith.divf %x14, %d {tilec.narrowed} : f32
  %q15 = arith.divf %x15, %d {tilec.narrowed} : f32
  %s1 = arith.addf %q0, %q1 : f32
  %s2 = arith.addf %s1, %q2 : f32
  %s3 = arith.addf %s2, %q3 : f32
  %s4 = arith.addf %s3, %q4 : f32
  %s5 = arith.addf %s4, %q5 : f32
  %s6 = arith.addf %s5, %q6 : f32
  %s7 = arith.addf %s6, %q7 : f32
  %s8 = arith.addf %s7, %q8 : f32
  %s9 = arith.addf %s8, %q9 : f32
  %s10 = arith.addf %s9, %q10 : f32
  %s11 = arith.addf %s10, %q11 : f32
  %s12 = arith.addf %s11, %q12 : f32
  %s13 = arith.addf %s12, %q13 : f32
  %s14 = arith.addf %s13, %q14 : f32
  %s15 = arith.addf %s14, %q15 : f32
  return %s15 : f32
}

// A dividend that comes after the first division: no branch, which would need it.
// CHECK-LABEL: func.func @late_narrowed(
// CHECK-NOT: scf.if
// CHECK: arith.divf
// CHECK-COUNT-32: arith.mulf
// CHECK-NOT: arith.divf
func.func @late_narrowed(%x0: f32, %x1: f32, %x2: f32, %x3: f32, %x4: f32, %x5: f32, %x6: f32, %x7: f32, %x8: f32, %x9: f32, %x10: f32, %x11: f32, %x12: f32, %x13: f32, %x14: f32, %x15: f32, %d: f32) -> (f32) {
  %q0 = arith.divf %x0, %d {tilec.narrowed} : f32
  %q1 = arith.divf %x1, %d {tilec.narrowed} : f32
  %q2 = arith.divf %x2, %d {tilec.narrowed} : f32
  %q3 = arith.divf %x3, %d {tilec.narrowed} : f32
  %q4 = arith.divf %x4, %d {tilec.narrowed} : f32
  %q5 = arith.divf %x5, %d {tilec.narrowed} : f32
  %q6 = arith.divf %x6, %d {tilec.narrowed} : f32
  %q7 = arith.divf %x7, %d {tilec.narrowed} : f32
  %q8 = arith.divf %x8, %d {tilec.narrowed} : f32
  %q9 = arith.divf %x9, %d {tilec.narrowed} : f32
  %q10 = arith.divf %x10, %d {tilec.narrowed} : f32
  %q11 = arith.divf %x11, %d {tilec.narrowed} : f32
  %q12 = arith.divf %x12, %d {tilec.narrowed} : f32
  %q13 = arith.divf %x13, %d {tilec.narrowed} : f32
  %q14 = arith.divf %x14, %d {tilec.narrowed} : f32
  %late = arith.addf %x15, %x0 : f32
  %q15 = arith.divf %late, %d {tilec.narrowed} : f32
  %s1 = arith.addf %q0, %q1 : f32
  %s2 = arith.addf %s1, %q2 : f32
  %s3 = arith.addf %s2, %q3 : f32
  %s4 = arith.addf %s3, %q4 : f32
  %s5 = arith.addf %s4, %q5 : f32
  %s6 = arith.addf %s5, %q6 : f32
  %s7 = arith.addf %s6, %q7 : f32
  %s8 = arith.addf %s7, %q8 : f32
  %s9 = arith.addf %s8, %q9 : f32
  %s10 = arith.addf %s9, %q10 : f32
  %s11 = arith.addf %s10, %q11 : f32
  %s12 = arith.addf %s11, %q12 : f32
  %s13 = arith.addf %s12, %q13 : f32
  %s14 = arith.addf %s13, %q14 : f32
  %s15 = arith.addf %s14, %q15 : f32
  return %s15 : f32
}
