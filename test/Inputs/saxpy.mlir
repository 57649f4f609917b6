// saxpy as the lowering leaves it: Y[i] = a * X[i] + Y[i], one element a thread.
module attributes {tilec.kernels = [{
  name = "saxpy",
  arguments = [
    {kind = "tensor", name = "X", type = "f32", access = "in", shape = ["N"], strides = [1], dynamic_strides = false},
    {kind = "tensor", name = "Y", type = "f32", access = "inout", shape = ["N"], strides = [1], dynamic_strides = false},
    {kind = "scalar", name = "a", type = "f32"},
    {kind = "dim", name = "N"}],
  contracts = []}]} {
  llvm.func @saxpy__general(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>, %a: f32, %n: i64) attributes {
      nvvm.kernel, nvvm.reqntid = array<i32: 256>,
      tilec.launch = {kernel = "saxpy", variant = "saxpy__general", when = [], stage = 0, block = 256,
        grid = [["ceil_div", "N", 256], 1, 1], cluster = [1, 1, 1], shared = 0,
        params = [{kind = "pointer", tensor = "X"}, {kind = "pointer", tensor = "Y"},
                  {kind = "scalar", name = "a", type = "f32"}, {kind = "int", value = "N", type = "i64"}]}} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %cta = nvvm.read.ptx.sreg.ctaid.x : i32
    %size = llvm.mlir.constant(256 : i32) : i32
    %base = llvm.mul %cta, %size : i32
    %i32 = llvm.add %base, %tid : i32
    %i = llvm.zext %i32 : i32 to i64
    %inside = llvm.icmp "slt" %i, %n : i64
    llvm.cond_br %inside, ^body, ^end
  ^body:
    %px = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %py = llvm.getelementptr %y[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %vx = llvm.load %px : !llvm.ptr<1> -> f32
    %vy = llvm.load %py : !llvm.ptr<1> -> f32
    %p = llvm.fmul %a, %vx : f32
    %s = llvm.fadd %p, %vy : f32
    llvm.store %s, %py : f32, !llvm.ptr<1>
    llvm.br ^end
  ^end:
    llvm.return
  }
}
