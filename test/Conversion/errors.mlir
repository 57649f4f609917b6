// What no source leads to, but a module can hold, is refused with its place.
// RUN: %tile_opt %s --lower-to-nvvm --split-input-file --verify-diagnostics
#l = #tilegpu.layout<"[[r0:2, l0:4]] rep [l1:8, w0:4]">
tilegpu.kernel @constant attributes {kernel = "constant", arguments = [], contracts = [], when = [], stage = 0 : i64,
    grid = [1, 1, 1], warps = 4 : i64, groups = 1 : i64, plan = {}, shared_bytes = 1024 : i64} {
  %buffer = tilegpu.alloc {offset = 0 : i64} : !tilegpu.smem<[8], f32, <span = 0>, alloc = [8]>
  // expected-error @+1 {{E0430: a tile constant with different elements cannot be lowered}}
  %x = arith.constant dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<8xf32, #l>
  tilegpu.local_store %x, %buffer [0] : tensor<8xf32, #l>, !tilegpu.smem<[8], f32, <span = 0>, alloc = [8]>
}

// -----

#l = #tilegpu.layout<"[[r0:2, l0:4]] rep [l1:8, w0:4]">
#wide = #tilegpu.layout<"[[r0:8], [l0:16]] rep [l1:2, w0:4]">
!row = !tilegpu.smem<[8], f32, <span = 0>, alloc = [8]>
!tile = !tilegpu.smem<[8, 16], f32, <span = 0>, alloc = [8, 16]>
tilegpu.kernel @broadcast attributes {kernel = "broadcast", arguments = [], contracts = [], when = [], stage = 0 : i64,
    grid = [1, 1, 1], warps = 4 : i64, groups = 1 : i64, plan = {}, shared_bytes = 1024 : i64} {
  %from = tilegpu.alloc {offset = 0 : i64} : !row
  %to = tilegpu.alloc {offset = 128 : i64} : !tile
  %x = tilegpu.local_load %from [0] : !row -> tensor<8xf32, #l>
  // expected-error @+1 {{E0431: a broadcast's operand does not have the slice of its result's layout}}
  %y = tile.broadcast %x dims [0] : tensor<8xf32, #l> -> tensor<8x16xf32, #wide>
  tilegpu.local_store %y, %to [0, 1] : tensor<8x16xf32, #wide>, !tile
}

// -----

#l = #tilegpu.layout<"[[r0:2, l0:4]] rep [l1:8, w0:4]">
tilegpu.kernel @atomic attributes {kernel = "atomic", arguments = [], contracts = [], when = [], stage = 0 : i64,
    grid = [1, 1, 1], warps = 4 : i64, groups = 1 : i64, plan = {}, shared_bytes = 1024 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %p = tile.arg "Y" : !tile.ptr
  %Y = tile.view "Y" inout %p [%c8] strides [%c1] : !tile.view<1, i8>
  %a = tile.axis "m" %c0 to %c8 : !tile.axis<8>
  %m = tile.pos %a : !tile.axis<8> -> tensor<8xindex, #l>
  %x = arith.constant dense<1> : tensor<8xi8, #l>
  // expected-error @+1 {{E0432: atomics work on i32, u32, i64, u64, f16, bf16, f32 and f64}}
  tile.atomic add %x, %Y[%m] dims [[0]] axes(%a) : tensor<8xi8, #l>, !tile.view<1, i8>, (tensor<8xindex, #l>), (!tile.axis<8>)
}
