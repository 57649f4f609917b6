// A module that uses every part of the launch interface: two kernels, variants, tensor maps, a cluster, large shared
// memory, contracts, dynamic strides, 16-bit scalars, names that C reserves, and two stages with a workspace.
#x = {kind = "pointer", tensor = "X"}
module attributes {tilec.kernels = [{
  name = "gemm",
  arguments = [
    {kind = "tensor", name = "A", type = "bf16", access = "in", shape = ["M", "K"], strides = ["K", 1], dynamic_strides = false},
    {kind = "tensor", name = "int", type = "bf16", access = "out", shape = ["M", 64], strides = [64, 1], dynamic_strides = false},
    {kind = "scalar", name = "scale", type = "bf16"},
    {kind = "dim", name = "M"}, {kind = "dim", name = "K"}],
  contracts = [{condition = ["eq", ["rem", "K", 8], 0], text = "K % 8 == 0"},
               {condition = ["gt", "scale", 0.0], text = "scale > 0"}]}, {
  name = "total",
  arguments = [
    {kind = "tensor", name = "X", type = "f32", access = "in", shape = ["N"], strides = ["X.stride0"], dynamic_strides = true},
    {kind = "tensor", name = "S", type = "f32", access = "out", shape = [], strides = [], dynamic_strides = false},
    {kind = "dim", name = "N"}],
  contracts = [],
  workspaces = [{name = "partial", bytes = ["mul", "sm_count", 4], clear = true}]}]} {
  llvm.func @gemm__fast(%a: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant}, %c: !llvm.ptr<1>, %m: i32) attributes {
      nvvm.kernel, nvvm.reqntid = array<i32: 384>, nvvm.cluster_dim = array<i32: 2, 1, 1>,
      tilec.launch = {kernel = "gemm", variant = "gemm__fast", when = [["aligned", "A", 16], ["ge", "M", 128]], stage = 0, block = 384,
        grid = [["align_up", ["ceil_div", "M", 128], 2], 1, 1], cluster = [2, 1, 1], shared = 197632,
        params = [{kind = "tensormap", tensor = "A", dims = ["K", "M"], strides = [["mul", "K", 2]], box = [64, 128],
                   swizzle = 128, l2 = 128, type = "bf16"},
                  {kind = "pointer", tensor = "int"}, {kind = "int", value = "M", type = "i32"}]}} {
    llvm.return
  }
  llvm.func @gemm__general(%a: !llvm.ptr<1>, %c: !llvm.ptr<1>, %m: i64, %scale: i16) attributes {
      nvvm.kernel, nvvm.reqntid = array<i32: 128>,
      tilec.launch = {kernel = "gemm", variant = "gemm__general", when = [], stage = 0, block = 128,
        grid = [["ceil_div", "M", 64], 1, 1], cluster = [1, 1, 1], shared = 0,
        params = [{kind = "pointer", tensor = "A"}, {kind = "pointer", tensor = "int"},
                  {kind = "int", value = "M", type = "i64"}, {kind = "scalar", name = "scale", type = "bf16"}]}} {
    llvm.return
  }
  llvm.func @total__0(%x: !llvm.ptr<1>, %stride: i64, %partial: !llvm.ptr<1>) attributes {
      nvvm.kernel, nvvm.reqntid = array<i32: 256>,
      tilec.launch = {kernel = "total", variant = "total", when = [], stage = 0, block = 256,
        grid = [["min", "sm_count", ["ceil_div", "N", 256]], 1, 1], cluster = [1, 1, 1], shared = 0,
        params = [#x, {kind = "int", value = "X.stride0", type = "i64"}, {kind = "pointer", tensor = "partial"}]}} {
    llvm.return
  }
  llvm.func @total__1(%partial: !llvm.ptr<1>, %s: !llvm.ptr<1>) attributes {
      nvvm.kernel, nvvm.reqntid = array<i32: 32>,
      tilec.launch = {kernel = "total", variant = "total", when = [], stage = 1, block = 32,
        grid = [1, 1, 1], cluster = [1, 1, 1], shared = 0,
        params = [{kind = "pointer", tensor = "partial"}, {kind = "pointer", tensor = "S"}]}} {
    llvm.return
  }
}
