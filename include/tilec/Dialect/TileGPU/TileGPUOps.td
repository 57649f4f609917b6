//===- TileGPUOps.td - The tilegpu dialect: one block of a GPU -------------===//
//
// The operations of `tile`, `arith`, `math` and `scf` stay in use on this level. After layout inference every tensor
// has an encoding (`#tilegpu.layout`) that distributes it over the threads of its group. This dialect adds kernels,
// shared memory, channels, processes and Tensor Core operations.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_DIALECT_TILEGPU_TILEGPUOPS_TD
#define TILEC_DIALECT_TILEGPU_TILEGPUOPS_TD

include "tilec/Dialect/Tile/TileBase.td"

def TileGPU_Dialect : Dialect {
  let name = "tilegpu";
  let cppNamespace = "::tilec::tilegpu";
  let summary = "Block-level programs: layouts, shared memory, channels, warp roles and Tensor Cores";
  let description = [{
    A `tilegpu.kernel` is the program of one block. Until `slice` it is one sequential program: a channel item is
    acquired, filled, committed and received in one place, and the operations mean what they say in order. `slice`
    projects it onto a producer process and replicated consumer processes, which keep their own operations in order.

    A *group* is the set of threads that executes tile operations together: the whole block in a kernel without
    processes, or the `warps` of one replica of a consumer process. Layouts distribute tiles over one group.
  }];
  let dependentDialects = ["::tilec::tile::TileDialect"];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
}

//===----------------------------------------------------------------------===//
// Attributes and types
//===----------------------------------------------------------------------===//

def TileGPU_LayoutAttr : AttrDef<TileGPU_Dialect, "Layout"> {
  let mnemonic = "layout";
  let summary = "distribution of a tile over the registers, lanes and warps of a group (tilec::Layout)";
  let parameters = (ins AttrParameter<"::tilec::Layout", "the layout", "const ::tilec::Layout &">:$layout);
  let hasCustomAssemblyFormat = 1;
}

def TileGPU_SharedAttr : AttrDef<TileGPU_Dialect, "Shared"> {
  let mnemonic = "shared";
  let summary = "arrangement of a tile in shared memory";
  let description = [{
    `span` 128, 64 or 32: rows of `span` bytes with the swizzle of TMA and wgmma, columns beyond one span in panels
    stored one after another ([panel][row][span bytes], `tilec::SharedLayout`). `span` 0: plain row-major with `pad`
    bytes after each row. The last dimension is contiguous.
  }];
  let parameters = (ins "int64_t":$span, DefaultValuedParameter<"int64_t", "0">:$pad);
  let assemblyFormat = "`<` struct(params) `>`";
}

def TileGPU_MmaAttr : AttrDef<TileGPU_Dialect, "Mma"> {
  let mnemonic = "mma";
  let summary = "a Tensor Core instruction and how the group's warps share the tile";
  let description = [{
    `kind` is `wgmma`, `mma` (mma.sync) or `fma` (no Tensor Core). `m`, `n`, `k` is the instruction's shape (fma: 1, 1, 1).
    `warpsM` x `warpsN` warps tile the result (wgmma: 4 x 1).
  }];
  let parameters = (ins StringRefParameter<>:$kind, "int64_t":$m, "int64_t":$n, "int64_t":$k,
                        "int64_t":$warpsM, "int64_t":$warpsN);
  let assemblyFormat = [{
    `<` $kind `,` `shape` `=` `[` $m `,` $n `,` $k `]` `,` `warps` `=` `[` $warpsM `,` $warpsN `]` `>`
  }];
}

class TileGPU_Type<string name, string typeMnemonic> : TypeDef<TileGPU_Dialect, name> { let mnemonic = typeMnemonic; }

def TileGPU_SmemType : TileGPU_Type<"Smem", "smem"> {
  let summary = "a tile in shared memory";
  let description = [{
    `shape` is the shape of this view, `allocShape` that of the buffer it is cut from (they differ for `tilegpu.subview`);
    the arrangement `shared` belongs to the whole buffer.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType,
                        "::tilec::tilegpu::SharedAttr":$shared, ArrayRefParameter<"int64_t">:$allocShape);
  let assemblyFormat = "`<` `[` $shape `]` `,` $elementType `,` $shared `,` `alloc` `=` `[` $allocShape `]` `>`";
  let extraClassDeclaration = [{
    /// Bytes of the whole buffer.
    int64_t allocBytes() const;
  }];
}

def TileGPU_ChanType : TileGPU_Type<"Chan", "chan"> {
  let summary = "a ring of slots, each holding the buffers `payload`";
  let parameters = (ins ArrayRefParameter<"::mlir::Type">:$payload, "int64_t":$slots);
  let assemblyFormat = "`<` `[` $payload `]` `,` $slots `>`";
  let extraClassDeclaration = [{
    /// Bytes of one slot; each buffer starts at a multiple of 1024.
    int64_t slotBytes() const;
    /// Byte offset of a payload buffer in its slot.
    int64_t payloadOffset(unsigned index) const;
  }];
}

def TileGPU_SlotType : TileGPU_Type<"Slot", "slot"> {
  let summary = "an item of a channel, held until its release";
}

def TileGPU_PendingType : TileGPU_Type<"Pending", "pending"> {
  let summary = "the tile that a started product will leave in registers";
  let parameters = (ins "::mlir::RankedTensorType":$tile);
  let assemblyFormat = "`<` $tile `>`";
}

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

class TileGPU_Op<string mnemonic, list<Trait> traits = []> : Op<TileGPU_Dialect, mnemonic, traits>;

def TileGPU_KernelOp : TileGPU_Op<"kernel", [IsolatedFromAbove, Symbol, SingleBlock, NoTerminator, NoRegionArguments]> {
  let summary = "the program of one block; one launch of a kernel variant";
  let description = [{
    `kernel`, `arguments`, `contracts`, `when`: as `tile.kernel`. `stage` numbers the launches of one call. `grid` holds three host
    expressions (docs/abi.md). `warps` is the number of warps of a group, before slicing that of each consumer group;
    `groups` the number of consumer groups (1 when the block is one group, or before slicing when its groups take whole
    tiles). `plan` holds the choices of the `plan` pass. `shared_bytes` is set by `plan-shared-memory`.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$kernel, ArrayAttr:$arguments, ArrayAttr:$contracts,
                       ArrayAttr:$when, I64Attr:$stage, ArrayAttr:$grid, I64Attr:$warps, I64Attr:$groups,
                       DictionaryAttr:$plan, OptionalAttr<I64Attr>:$shared_bytes, OptionalAttr<I64Attr>:$max_registers);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
  let extraClassDeclaration = [{
    /// Consumer groups of a block, whether they share the rows of tiles or take tiles in turns.
    int64_t getConsumers();
    /// Blocks of a cluster along each of the last ranges of the stage, whose tiles they take side by side; empty
    /// without such clusters.
    llvm::ArrayRef<int64_t> getTileCluster();
    /// Blocks of such a cluster; 1 without.
    int64_t getBlocksOfTileCluster();
  }];
}

def TileGPU_BlockIdOp : TileGPU_Op<"block_id", [Pure,
    DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>]> {
  let summary = "the number of this block, or cluster of blocks, in dimension `dim` of the grid";
  let arguments = (ins DefaultValuedAttr<I64Attr, "0">:$dim);
  let results = (outs Index:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def TileGPU_GridSizeOp : TileGPU_Op<"grid_size", [Pure,
    DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>]> {
  let summary = "the number of blocks, or clusters of blocks, in dimension 0 of the grid";
  let results = (outs Index:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def TileGPU_ClusterRankOp : TileGPU_Op<"cluster_rank", [Pure,
    DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>]> {
  let summary = "the place of this block in dimension `dim` of its cluster of tiles, 0 .. size - 1";
  let arguments = (ins I64Attr:$dim, I64Attr:$size);
  let results = (outs Index:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def TileGPU_GroupOp : TileGPU_Op<"group", [Pure]> {
  let summary = "the number of this consumer group, 0 .. groups - 1";
  let results = (outs Index:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def TileGPU_ProcessOp : TileGPU_Op<"process", [SingleBlock, NoTerminator, NoRegionArguments]> {
  let summary = "the program of one role after slicing";
  let description = [{
    `warps` warps for each of `replicas` copies. Processes take the block's warps in order of their appearance. In a
    process with `elected` one thread of its first warp runs the body (fills by TMA only). `registers` asks for
    `setmaxnreg` (0: none). All processes of a kernel stand side by side at the end of its body, and nothing follows
    them; scalars that several processes use are computed before them or in each of them.
  }];
  let arguments = (ins StrAttr:$role, I64Attr:$warps, I64Attr:$replicas, I64Attr:$registers, UnitAttr:$elected);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$role `warps` `(` $warps `)` `replicas` `(` $replicas `)` `registers` `(` $registers `)` attr-dict-with-keyword $body";
}

//===----------------------------------------------------------------------===//
// Channels
//===----------------------------------------------------------------------===//

def TileGPU_ChanOp : TileGPU_Op<"chan"> {
  let summary = "create a ring; stands at the top of the kernel's body";
  let description = [{
    `engine` fills it: `tma`, `cp_async` (`width` bytes an access: 4, 8 or 16) or `ldst`. `offset` and `barriers` (byte
    offsets in shared memory of the slots and of the full/empty mbarriers) are set by `plan-shared-memory`.
    The k-th receive gets the k-th committed item; slot and phase counters are implicit.
  }];
  let arguments = (ins StrAttr:$name, StrAttr:$engine, DefaultValuedAttr<I64Attr, "16">:$width,
                       OptionalAttr<I64Attr>:$offset, OptionalAttr<I64Attr>:$barriers);
  let results = (outs TileGPU_ChanType:$result);
  let assemblyFormat = "$name $engine attr-dict `:` type($result)";
}

def TileGPU_AcquireOp : TileGPU_Op<"acquire", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "producer: wait until the next slot is free";
  let arguments = (ins TileGPU_ChanType:$chan);
  let results = (outs TileGPU_SlotType:$slot);
  let assemblyFormat = "$chan attr-dict `:` type($chan)";
}

def TileGPU_FillOp : TileGPU_Op<"fill", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "producer: start copying a box of a view into buffer `payload` of an acquired slot";
  let description = [{
    `starts` are the box's first coordinates (may be negative or outside: such elements become 0). `box` gives its size
    in each dimension of the view; dimensions of size 1 do not appear in the buffer (`kept` lists those that do, in
    order; their sizes are the buffer's shape). `evict` ("first" or "last") is what the second-level cache keeps of the data.
    ```mlir
    tilegpu.fill %s of %ab[0], %A[%m0, %k0] box [128, 64] kept [0, 1] : !tilegpu.chan<...>, !tile.view<2, bf16>
    ```
  }];
  let arguments = (ins TileGPU_SlotType:$slot, TileGPU_ChanType:$chan, I64Attr:$payload, Tile_ViewType:$view,
                       Variadic<Index>:$starts, DenseI64ArrayAttr:$box, DenseI64ArrayAttr:$kept,
                       OptionalAttr<StrAttr>:$evict);
  let assemblyFormat = [{
    $slot `of` $chan `[` $payload `]` `,` $view `[` $starts `]` `box` $box `kept` $kept attr-dict
    `:` type($chan) `,` type($view)
  }];
  let hasVerifier = 1;
}

def TileGPU_CommitOp : TileGPU_Op<"commit", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "producer: the slot's fills have all been started";
  let arguments = (ins TileGPU_SlotType:$slot, TileGPU_ChanType:$chan);
  let assemblyFormat = "$slot `of` $chan attr-dict `:` type($chan)";
}

def TileGPU_ReceiveOp : TileGPU_Op<"receive", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "consumer: wait until the next item is readable";
  let arguments = (ins TileGPU_ChanType:$chan);
  let results = (outs TileGPU_SlotType:$slot);
  let assemblyFormat = "$chan attr-dict `:` type($chan)";
}

def TileGPU_ReleaseOp : TileGPU_Op<"release", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "consumer: the item will not be read again";
  let description = [{
    `behind` a tile: the release is not executed before the tile has been computed, and so is nothing that follows it,
    such as the wait for a product. Assemblers move waits up to the operation in front of them.
  }];
  let arguments = (ins TileGPU_SlotType:$slot, TileGPU_ChanType:$chan, Optional<AnyRankedTensor>:$behind);
  let assemblyFormat = "$slot `of` $chan (`behind` `(` $behind^ `:` type($behind) `)`)? attr-dict `:` type($chan)";
  let builders = [OpBuilder<(ins "::mlir::Value":$slot, "::mlir::Value":$chan), [{
    build($_builder, $_state, slot, chan, ::mlir::Value());
  }]>];
}

def TileGPU_SkipOp : TileGPU_Op<"skip", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "consumer: the next `count` items are another group's";
  let description = [{
    The items of a channel that is skipped anywhere are each received and released by one group, which may wait for an
    item only when all items that were in its slot before have been received.
  }];
  let arguments = (ins TileGPU_ChanType:$chan, Index:$count);
  let assemblyFormat = "$chan `,` $count attr-dict `:` type($chan)";
}

def TileGPU_SlotViewOp : TileGPU_Op<"slot_view", [Pure]> {
  let summary = "a buffer of a received slot";
  let arguments = (ins TileGPU_SlotType:$slot, TileGPU_ChanType:$chan, I64Attr:$payload);
  let results = (outs TileGPU_SmemType:$result);
  let assemblyFormat = "$slot `of` $chan `[` $payload `]` attr-dict `:` type($chan) `->` type($result)";
}

//===----------------------------------------------------------------------===//
// Staged stores
//===----------------------------------------------------------------------===//

def TileGPU_StagingOp : TileGPU_Op<"staging"> {
  let summary = "create a ring through which a group stores tiles; stands at the top of the kernel's body";
  let description = [{
    Each group has a copy. The payload is one buffer, a box that one transfer of TMA stores, or with `by_threads` the
    group's threads, whatever the alignment of the tensor's rows. `offset` (bytes of group 0's copy in shared memory;
    that of group g follows after g copies) is set by `plan-shared-memory`. Slots are used in turn; the counter is
    implicit and never restarts.
  }];
  let arguments = (ins StrAttr:$name, UnitAttr:$by_threads, OptionalAttr<I64Attr>:$offset);
  let results = (outs TileGPU_ChanType:$result);
  let assemblyFormat = "$name attr-dict `:` type($result)";
}

def TileGPU_WriteOp : TileGPU_Op<"write", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "the part of a tile that starts at `offsets` to the next slot of a staging ring";
  let description = [{
    Waits until the slot's last store has left shared memory. Dimension i of the buffer is dimension `order[i]` of the
    tile. The tile keeps its layout: any will do, those of matrix instructions are written by `stmatrix`.
    ```mlir
    %s = tilegpu.write %c, %tile[0, 64] order [0, 1] : <[!tilegpu.smem<[64, 64], ...>], 2>, tensor<64x256xbf16>
    ```
  }];
  let arguments = (ins TileGPU_ChanType:$ring, Tile_Tensor:$value, DenseI64ArrayAttr:$offsets,
                       DenseI64ArrayAttr:$order);
  let results = (outs TileGPU_SlotType:$slot);
  let assemblyFormat = "$ring `,` $value $offsets `order` $order attr-dict `:` type($ring) `,` type($value)";
  let hasVerifier = 1;
}

def TileGPU_FlushOp : TileGPU_Op<"flush", [AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "start storing a written slot to a box of a view";
  let description = [{
    `starts`, `box` and `kept` are as in `tilegpu.fill`. Elements outside the view are dropped. The slots are stored in
    the order of their writes, each once. `ends` has for each kept dimension the coordinate from which on elements are
    absent: the proof that all of these are outside the view is a condition of the operation.
    ```mlir
    tilegpu.flush %s of %c, %C[%m, %n] within [%m_end, %n_end] box [64, 64] kept [0, 1] : <[...], 2>, <2, bf16>
    ```
  }];
  let arguments = (ins TileGPU_SlotType:$slot, TileGPU_ChanType:$ring, Tile_ViewType:$view, Variadic<Index>:$starts,
                       Variadic<Index>:$ends, DenseI64ArrayAttr:$box, DenseI64ArrayAttr:$kept);
  let assemblyFormat = [{
    $slot `of` $ring `,` $view `[` $starts `]` `within` `[` $ends `]` `box` $box `kept` $kept attr-dict
    `:` type($ring) `,` type($view)
  }];
  let hasVerifier = 1;
}

def TileGPU_DrainOp : TileGPU_Op<"drain", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "wait until all stores of a staging ring have left shared memory";
  let description = [{ The group's last use of the ring; without it the block could end before its memory is read. }];
  let arguments = (ins TileGPU_ChanType:$ring);
  let assemblyFormat = "$ring attr-dict `:` type($ring)";
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

def TileGPU_AllocOp : TileGPU_Op<"alloc"> {
  let summary = "a buffer of the group (one copy for each group); stands at the top of the kernel's body or a process";
  let description = [{ `offset` (bytes; group g adds g times the buffer's size rounded up to 1024) is set by `plan-shared-memory`. }];
  let arguments = (ins OptionalAttr<I64Attr>:$offset);
  let results = (outs TileGPU_SmemType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def TileGPU_SubviewOp : TileGPU_Op<"subview", [Pure]> {
  let summary = "the part of a buffer that starts at `offsets`";
  let description = [{
    The offset in a dimension that is not the last must keep the swizzle's period (8 rows) aligned; the offset in the
    last dimension is a multiple of the panel's width or inside one panel as the user of the view allows.
  }];
  let arguments = (ins TileGPU_SmemType:$source, Variadic<Index>:$offsets);
  let results = (outs TileGPU_SmemType:$result);
  let assemblyFormat = "$source `[` $offsets `]` attr-dict `:` type($source) `->` type($result)";
}

def TileGPU_LocalLoadOp : TileGPU_Op<"local_load", [MemoryEffects<[MemRead]>]> {
  let summary = "shared memory to registers";
  let description = [{
    `order` permutes: result dimension i is dimension `order[i]` of the buffer. The lowering uses ldmatrix where the
    result's layout is an mma.sync fragment, else vectors as wide as layout and arrangement allow.
  }];
  let arguments = (ins TileGPU_SmemType:$source, DenseI64ArrayAttr:$order);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$source $order attr-dict `:` type($source) `->` type($result)";
}

def TileGPU_LocalStoreOp : TileGPU_Op<"local_store", [MemoryEffects<[MemWrite]>]> {
  let summary = "registers to shared memory; no barrier";
  let description = [{ Buffer dimension i is dimension `order[i]` of the value. }];
  let arguments = (ins Tile_Tensor:$value, TileGPU_SmemType:$target, DenseI64ArrayAttr:$order);
  let assemblyFormat = "$value `,` $target $order attr-dict `:` type($value) `,` type($target)";
}

def TileGPU_ZeroTailOp : TileGPU_Op<"zero_tail", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "zero the positions `first` and beyond of one dimension of a buffer, where there are any";
  let description = [{
    Makes absent positions of a contracted axis harmless for an instruction that reads the whole buffer: the absent
    positions may hold NaN, and 0 x NaN is NaN. All threads of the group write, then meet (with the proxy fence if
    `async_proxy`). Groups that share the slot write the same zeros.
  }];
  let arguments = (ins TileGPU_SmemType:$target, I64Attr:$dim, Index:$first, UnitAttr:$async_proxy);
  let assemblyFormat = "$target `dim` $dim `from` $first attr-dict `:` type($target)";
}

def TileGPU_BarrierOp : TileGPU_Op<"barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "all threads of the group meet; `async_proxy` first orders their shared-memory writes before wgmma and TMA";
  let arguments = (ins UnitAttr:$async_proxy);
  let assemblyFormat = "attr-dict";
}

//===----------------------------------------------------------------------===//
// Compute
//===----------------------------------------------------------------------===//

def TileGPU_ConvertOp : TileGPU_Op<"convert", [Pure]> {
  let summary = "the same tile in another layout";
  let description = [{ May need scratch: attribute `tilegpu.scratch` (byte offset), set by `plan-shared-memory`. }];
  let arguments = (ins Tile_Tensor:$input);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
}

def TileGPU_MmaOperand : AnyTypeOf<[TileGPU_SmemType, Tile_Tensor], "a tile in shared memory or registers">;

def TileGPU_Product : AnyTypeOf<[Tile_Tensor, TileGPU_PendingType], "a tile, or one to wait for">;

def TileGPU_MmaOp : TileGPU_Op<"mma", [MemoryEffects<[MemRead]>]> {
  let summary = "acc + a * b";
  let description = [{
    Logically a is [m, k], b is [n, k] (both contraction-last), acc and result [m, n]. `trans_a`: the operand's
    dimensions are [k, m] in memory; `trans_b`: [k, n]. wgmma: b in shared memory, a in shared memory or registers
    (layout `#opA`); mma: each in shared memory or a tensor in its fragment layout (a [m, k], b [n, k]); fma: both in
    shared memory.
    With `first` true the accumulator's value is ignored (as if 0). Element types as `tile.dot`.

    With a tile as its result the product is complete. With `!tilegpu.pending` (wgmma) it is started: until its
    `mma_wait` or `mma_settle` the instructions read the operands, so that no slot among them may be released. Such a
    product may add to another one that was only started (`chained`): the instructions end in their order.
    ```mlir
    %d = tilegpu.mma %a, %b, %acc first %f <"wgmma", shape = [64, 256, 16], warps = [4, 1]>
       : !tilegpu.smem<...>, !tilegpu.smem<...> -> tensor<64x256xf32>
    ```
  }];
  let arguments = (ins TileGPU_MmaOperand:$a, TileGPU_MmaOperand:$b, TileGPU_Product:$acc, Optional<I1>:$first,
                       TileGPU_MmaAttr:$mma, UnitAttr:$trans_a, UnitAttr:$trans_b, UnitAttr:$a_unsigned,
                       UnitAttr:$b_unsigned, UnitAttr:$fast);
  let results = (outs TileGPU_Product:$result);
  let assemblyFormat = [{
    $a `,` $b `,` $acc (`first` $first^)? $mma attr-dict `:` type($a) `,` type($b) `->` type($result)
    custom<Accumulator>(type($acc), ref(type($result)))
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The type of the product, whether it is complete or not.
    ::mlir::RankedTensorType getTileType();
    bool isStart() { return ::mlir::isa<PendingType>(getResult().getType()); }
  }];
}

def TileGPU_MmaWaitOp : TileGPU_Op<"mma_wait", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "wait for a started product";
  let description = [{
    Started products end in the order of their starts. `after` is the number of products started since this one that
    may still be under way. Tiles of `through` pass unchanged: what computes them stands before the wait, what uses the
    results behind it, in the machine code as well.
    ```mlir
    %s = tilegpu.mma_wait %p after 1 : (!tilegpu.pending<tensor<64x128xf32>>) -> tensor<64x128xf32>
    ```
  }];
  let arguments = (ins TileGPU_PendingType:$pending, I64Attr:$after, Variadic<Tile_Tensor>:$through);
  let results = (outs Tile_Tensor:$result, Variadic<Tile_Tensor>:$passed);
  let assemblyFormat = "$pending `after` $after (`through` $through^)? attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def TileGPU_MmaSettleOp : TileGPU_Op<"mma_settle", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "wait until started products have read their operands";
  let description = [{
    All but the `after` products that were started last. Their tile stays with the products that are chained to them,
    of which the last is waited for.
  }];
  let arguments = (ins I64Attr:$after);
  let assemblyFormat = "`after` $after attr-dict";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Turns
//===----------------------------------------------------------------------===//

def TileGPU_TurnTakeOp : TileGPU_Op<"turn_take", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "a consumer group waits for its turn";
  let description = [{
    The groups of a process take turns in the order of their numbers: group 0 first, then each when the one before it has
    passed, group 0 again after the last. A group takes and passes alternately, all groups equally often.
  }];
  let assemblyFormat = "attr-dict";
}

def TileGPU_TurnPassOp : TileGPU_Op<"turn_pass", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "a consumer group ends its turn";
  let assemblyFormat = "attr-dict";
}

#endif // TILEC_DIALECT_TILEGPU_TILEGPUOPS_TD
