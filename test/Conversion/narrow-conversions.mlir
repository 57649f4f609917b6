// A conversion inside a warp moves pairs of bytes, which fill no register, as one word.
// RUN: %tile_opt %s --lower-to-nvvm | FileCheck %s
// CHECK-LABEL: llvm.func @pairs
// CHECK: llvm.insertelement {{.*}} : vector<2xi8>
// CHECK: llvm.bitcast {{.*}} : vector<2xi8> to i16
// CHECK: nvvm.shfl.sync bfly
// CHECK: llvm.bitcast {{.*}} : i16 to vector<2xi8>
#from = #tilegpu.layout<"[[r0:2, l0:4, r1:4]] rep [l1:8, w0:8]">
#to = #tilegpu.layout<"[[r0:16, l0:2]] rep [l1:16, w0:8]">
tilegpu.kernel @pairs attributes {kernel = "pairs", arguments = [], contracts = [], when = [], stage = 0 : i64,
    grid = [1, 1, 1], warps = 8 : i64, groups = 1 : i64, plan = {}, shared_bytes = 1024 : i64} {
  %buffer = tilegpu.alloc {offset = 0 : i64} : !tilegpu.smem<[32], f8E4M3FN, <span = 0>, alloc = [32]>
  %x = tilegpu.local_load %buffer [0] : !tilegpu.smem<[32], f8E4M3FN, <span = 0>, alloc = [32]> -> tensor<32xf8E4M3FN, #from>
  %y = tilegpu.convert %x : tensor<32xf8E4M3FN, #from> -> tensor<32xf8E4M3FN, #to>
  tilegpu.local_store %y, %buffer [0] : tensor<32xf8E4M3FN, #to>, !tilegpu.smem<[32], f8E4M3FN, <span = 0>, alloc = [32]>
}
