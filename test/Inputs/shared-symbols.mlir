// Two kernels that share a global in shared memory and a function.
module {
  llvm.mlir.global external @smem() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<0 x i8>
  llvm.func @store(%value: i32) attributes {no_inline} {
    %p = llvm.mlir.addressof @smem : !llvm.ptr<3>
    llvm.store volatile %value, %p : i32, !llvm.ptr<3>
    llvm.return
  }
  llvm.func @first() attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
    %value = llvm.mlir.constant(1 : i32) : i32
    llvm.call @store(%value) : (i32) -> ()
    llvm.return
  }
  llvm.func @second() attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
    %value = llvm.mlir.constant(2 : i32) : i32
    llvm.call @store(%value) : (i32) -> ()
    llvm.return
  }
}
