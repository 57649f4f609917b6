// Two kernels that need an exponential function, which the target lacks.
module { llvm.func @k(%p: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
  %v = llvm.load %p : !llvm.ptr<1> -> f32
  %e = llvm.intr.exp(%v) : (f32) -> f32
  llvm.store %e, %p : f32, !llvm.ptr<1>
llvm.return }
 llvm.func @k2(%p: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
  %v = llvm.load %p : !llvm.ptr<1> -> f32
  %e = llvm.intr.exp(%v) : (f32) -> f32
  llvm.store %e, %p : f32, !llvm.ptr<1>
  llvm.return }
}
