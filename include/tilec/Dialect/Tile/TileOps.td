//===- TileOps.td - The operations of the tile dialect ---------------------===//
#ifndef TILEC_DIALECT_TILE_TILEOPS_TD
#define TILEC_DIALECT_TILE_TILEOPS_TD

include "tilec/Dialect/Tile/TileBase.td"

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

class Tile_Op<string mnemonic, list<Trait> traits = []> : Op<Tile_Dialect, mnemonic, traits>;

def Tile_KernelOp : Tile_Op<"kernel", [IsolatedFromAbove, Symbol, SingleBlock, NoTerminator, NoRegionArguments]> {
  let summary = "one variant of a kernel";
  let description = [{
    The body is a sequence of stages. Parameters are read with `tile.arg`. `arguments`, `contracts` and `when` are
    the entries of the reflection (docs/abi.md) for this kernel and variant; `kernel` is the user's name of it.
    `annotations` holds what the user pinned on the kernel (`maxregs = 232`, `no_tma`).
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$kernel, ArrayAttr:$arguments,
                       DefaultValuedAttr<ArrayAttr, "{}">:$contracts, DefaultValuedAttr<ArrayAttr, "{}">:$when,
                       DefaultValuedAttr<DictionaryAttr, "{}">:$annotations);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
}

def Tile_ArgOp : Tile_Op<"arg", [Pure, DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>]> {
  let summary = "a launch argument";
  let description = [{
    `name` is a dimension or scalar parameter (result: its type, `index` for dimensions), a tensor parameter (result
    `!tile.ptr`), or `A.stride0` (index, in elements). `divisible` and `align` (bytes) are facts that this variant may
    use because its `when` conditions check them; `min`, `max` bound integers (contracts).

    ```mlir
    %M = tile.arg "M" {divisible = 8 : i64, min = 0 : i64} : index
    %a = tile.arg "A" {align = 16 : i64} : !tile.ptr
    ```
  }];
  let arguments = (ins StrAttr:$name, OptionalAttr<I64Attr>:$divisible, OptionalAttr<I64Attr>:$align,
                       OptionalAttr<I64Attr>:$min, OptionalAttr<I64Attr>:$max);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$name attr-dict `:` type($result)";
}

def Tile_ViewOp : Tile_Op<"view", [Pure, AttrSizedOperandSegments]> {
  let summary = "a tensor parameter with its sizes and strides (elements)";
  let description = [{
    `align` is the known alignment of the base address in bytes. A row-major tensor has the constant 1 as its last
    stride.
    ```mlir
    %A = tile.view "A" in %a [%M, %K] strides [%K, %c1] {align = 16 : i64} : !tile.view<2, bf16>
    ```
  }];
  let arguments = (ins StrAttr:$name, Tile_AccessAttr:$access, Tile_PtrType:$base, Variadic<Index>:$sizes,
                       Variadic<Index>:$strides, OptionalAttr<I64Attr>:$align);
  let results = (outs Tile_ViewType:$result);
  let assemblyFormat = "$name $access $base `[` $sizes `]` `strides` `[` $strides `]` attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Tile_AdvanceOp : Tile_Op<"advance", [Pure]> {
  let summary = "the address of another element of the same tensor";
  let description = [{
    `offset` counts elements of `bytes` bytes from the element at `base`. A view of it is a part of the tensor, whose
    `align` is that of the new address.
    ```mlir
    %p = tile.advance %x by %offset of 2
    ```
  }];
  let arguments = (ins Tile_PtrType:$base, Index:$offset, I64Attr:$bytes);
  let results = (outs Tile_PtrType:$result);
  let assemblyFormat = "$base `by` $offset `of` $bytes attr-dict";
}

def Tile_MisalignmentOp : Tile_Op<"misalignment", [Pure]> {
  let summary = "elements between an element and the last multiple of `to` bytes at or before it";
  let description = [{
    Of the element `offset` elements of `bytes` bytes behind `base`; both numbers of bytes are powers of two.
    ```mlir
    %h = tile.misalignment %x at %offset of 2 to 16
    ```
  }];
  let arguments = (ins Tile_PtrType:$base, Index:$offset, I64Attr:$bytes, I64Attr:$to);
  let results = (outs Index:$result);
  let assemblyFormat = "$base `at` $offset `of` $bytes `to` $to attr-dict";
  let hasVerifier = 1;
}

def Tile_ParallelOp : Tile_Op<"parallel", [SameVariadicOperandSize, SingleBlock, NoTerminator]> {
  let summary = "a stage: iterations in any order, perhaps at once";
  let description = [{
    The region's arguments are `index` values with `lower <= i < upper`, the last one varying fastest in the source
    order. `tiles` gives for each range the tile size when the range numbers the tiles of an axis (0: a scalar range),
    for the choice of raster order. `annotations` holds what the user pinned (`warps = 8`).
    ```mlir
    tile.parallel [%c0, %c0] to [%tm, %tn] tiles [128, 256] {
    ^bb0(%i: index, %j: index):
      ...
    }
    ```
  }];
  let arguments = (ins Variadic<Index>:$lower, Variadic<Index>:$upper, DenseI64ArrayAttr:$tiles,
                       DefaultValuedAttr<DictionaryAttr, "{}">:$annotations);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`[` $lower `]` `to` `[` $upper `]` `tiles` $tiles attr-dict-with-keyword $body";
  let hasVerifier = 1;
}

def Tile_AxisOp : Tile_Op<"axis", [Pure]> {
  let summary = "the axis of the positions start <= p < end";
  let description = [{
    end - start never exceeds the extent; end <= start means that no position is present. `full` records a proof that
    end - start is the extent.
    ```mlir
    %m = tile.axis "m" %start to %end : !tile.axis<128>
    ```
  }];
  let arguments = (ins StrAttr:$name, Index:$start, Index:$end, UnitAttr:$full);
  let results = (outs Tile_AxisType:$result);
  let assemblyFormat = "$name $start `to` $end attr-dict `:` type($result)";
}

def Tile_PosOp : Tile_Op<"pos", [Pure]> {
  let summary = "the positions of an axis: start + 0, 1, ... (poison where absent)";
  let arguments = (ins Tile_AxisType:$axis);
  let results = (outs TensorOf<[Index]>:$result);
  let assemblyFormat = "$axis attr-dict `:` type($axis) `->` type($result)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Global memory
//===----------------------------------------------------------------------===//

def Tile_LoadOp : Tile_Op<"load", [AttrSizedOperandSegments, AlwaysSpeculatable, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "read elements of a view";
  let description = [{
    One subscript for each dimension of the view: an `index`, or a tensor of indices whose dimensions are the result
    dimensions listed in `dims` for it. An element whose subscript is outside the view is `else` (a scalar or a tile
    of the result's type), or 0; where a subscript is poison, so is the element. `inbounds[d]` says that subscript d is
    proved inside. All subscripts scalar: the result is a scalar.
    A load of an `in` tensor has no memory effect: nothing in the launch writes what it reads.
    ```mlir
    %x = tile.load %A[%pm, %pk] dims [[0], [1]] : !tile.view<2, bf16>, (tensor<128xindex>, tensor<64xindex>) -> tensor<128x64xbf16>
    ```
  }];
  let arguments = (ins Tile_ViewType:$view, Variadic<Tile_Subscript>:$subscripts, Optional<Tile_Value>:$otherwise,
                       ArrayAttr:$dims, OptionalAttr<DenseBoolArrayAttr>:$inbounds,
                       DefaultValuedAttr<DictionaryAttr, "{}">:$annotations);
  let results = (outs Tile_Value:$result);
  let assemblyFormat = [{
    $view `[` $subscripts `]` `dims` $dims (`else` $otherwise^ `:` type($otherwise))? attr-dict
    `:` type($view) `,` custom<Types>(type($subscripts)) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_StoreOp : Tile_Op<"store", [AttrSizedOperandSegments, MemoryEffects<[MemWrite]>]> {
  let summary = "write a value once for each present position of its axes";
  let description = [{
    `axes` has one axis for each dimension of the value; subscripts and `dims` are as in `tile.load`, over the value's
    dimensions. Elements at absent positions or outside the view are dropped. `full[d]` says that axis d is proved to
    have all its positions present. `unique` records that the user asserted injectivity.
  }];
  let arguments = (ins Tile_Value:$value, Tile_ViewType:$view, Variadic<Tile_Subscript>:$subscripts,
                       Variadic<Tile_AxisType>:$axes, ArrayAttr:$dims, OptionalAttr<DenseBoolArrayAttr>:$inbounds,
                       OptionalAttr<DenseBoolArrayAttr>:$full, UnitAttr:$unique);
  let assemblyFormat = [{
    $value `,` $view `[` $subscripts `]` `dims` $dims `axes` `(` $axes `)` attr-dict
    `:` type($value) `,` type($view) `,` custom<Types>(type($subscripts)) `,` custom<Types>(type($axes))
  }];
  let hasVerifier = 1;
}

def Tile_AtomicOp : Tile_Op<"atomic", [AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "combine a value into memory, relaxed, device scope; otherwise as `tile.store`";
  let arguments = (ins Tile_CombineKindAttr:$kind, Tile_Value:$value, Tile_ViewType:$view,
                       Variadic<Tile_Subscript>:$subscripts, Variadic<Tile_AxisType>:$axes, ArrayAttr:$dims,
                       OptionalAttr<DenseBoolArrayAttr>:$inbounds, OptionalAttr<DenseBoolArrayAttr>:$full);
  let assemblyFormat = [{
    $kind $value `,` $view `[` $subscripts `]` `dims` $dims `axes` `(` $axes `)` attr-dict
    `:` type($value) `,` type($view) `,` custom<Types>(type($subscripts)) `,` custom<Types>(type($axes))
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Tile values
//===----------------------------------------------------------------------===//

def Tile_DotOp : Tile_Op<"dot", [Pure, AttrSizedOperandSegments]> {
  let summary = "sum of products over contracted axes, exact products";
  let description = [{
    `lhs_contract[i]` and `rhs_contract[i]` are the dimensions of axis `axes[i]`; `lhs_batch`, `rhs_batch` pair the
    shared dimensions. Result dimensions: batch, then free ones of lhs, then free ones of rhs. Absent positions of
    the axes contribute nothing. With `acc` the sum is added to it. Element types: f16, bf16, f8, tf32 and f32 give
    f32; f64 gives f64; 8-bit integers give i32 (`lhs_unsigned`, `rhs_unsigned`). `fast` allows f8 sums to stay in
    the Tensor Core's accumulator (`accumulate = fast`). `full[i]` says that axis i is proved full.
    ```mlir
    %d = tile.dot %a, %b, %acc over(%k) lhs [1] rhs [1]
      : tensor<128x64xbf16>, tensor<256x64xbf16>, (!tile.axis<64>) acc tensor<128x256xf32> -> tensor<128x256xf32>
    ```
  }];
  let arguments = (ins Tile_Tensor:$lhs, Tile_Tensor:$rhs, Optional<Tile_Value>:$acc, Variadic<Tile_AxisType>:$axes,
                       DenseI64ArrayAttr:$lhs_contract, DenseI64ArrayAttr:$rhs_contract,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$lhs_batch,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$rhs_batch,
                       UnitAttr:$lhs_unsigned, UnitAttr:$rhs_unsigned, UnitAttr:$fast,
                       OptionalAttr<DenseBoolArrayAttr>:$full);
  let results = (outs Tile_Value:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs (`,` $acc^)? `over` `(` $axes `)` `lhs` $lhs_contract `rhs` $rhs_contract attr-dict
    `:` type($lhs) `,` type($rhs) `,` custom<Types>(type($axes)) (`acc` type($acc)^)? `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_ReduceOp : Tile_Op<"reduce", [Pure]> {
  let summary = "combine a tile along one dimension";
  let description = [{
    Present positions of `axis` whose predicate (same shape as the input) holds are combined; none gives the neutral
    element (add 0, mul 1, maxf -inf, minf +inf, maxs minimum, ..., andi all ones, ori/xori 0). maxf and minf propagate
    NaN. A rank-1 input gives a scalar. `full` says that the axis is proved full.
    ```mlir
    %m = tile.reduce maxf %s over %t dim 1 : tensor<64x128xf32>, !tile.axis<128> -> tensor<64xf32>
    ```
  }];
  let arguments = (ins Tile_CombineKindAttr:$kind, Tile_Tensor:$input, Optional<TensorOf<[I1]>>:$predicate,
                       Tile_AxisType:$axis, I64Attr:$dim, UnitAttr:$full);
  let results = (outs Tile_Value:$result);
  let assemblyFormat = [{
    $kind $input (`where` $predicate^ `:` type($predicate))? `over` $axis `dim` $dim attr-dict
    `:` type($input) `,` type($axis) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_BroadcastOp : Tile_Op<"broadcast", [Pure]> {
  let summary = "repeat a scalar or tile along new dimensions";
  let description = [{
    `dims[i]` is the result dimension of input dimension i, increasing.
    ```mlir
    %b = tile.broadcast %v dims [0] : tensor<64xf32> -> tensor<64x128xf32>
    ```
  }];
  let arguments = (ins Tile_Value:$input, DenseI64ArrayAttr:$dims);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$input `dims` $dims attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_PermuteOp : Tile_Op<"permute", [Pure]> {
  let summary = "reorder dimensions: result dimension i is input dimension `order[i]`";
  let arguments = (ins Tile_Tensor:$input, DenseI64ArrayAttr:$order);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$input $order attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_CastOp : Tile_Op<"cast", [Pure, Elementwise, Scalarizable, Vectorizable, Tensorizable]> {
  let summary = "the language's casts that `arith` lacks";
  let description = [{
    Float to integer truncates, saturates and maps NaN to 0; to f8 rounds to nearest even and saturates (NaN stays);
    f32 to tf32 rounds to nearest even in 10 bits of mantissa. Between other types it means what the `arith` casts mean.
    `from_unsigned`, `to_unsigned` give the signedness of integers.
  }];
  let arguments = (ins Tile_Value:$input, UnitAttr:$from_unsigned, UnitAttr:$to_unsigned);
  let results = (outs Tile_Value:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
}

class Tile_Division<string mnemonic, string text> : Tile_Op<mnemonic, [Pure, SameOperandsAndResultType, Elementwise,
    Scalarizable, Vectorizable, Tensorizable, DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRangesFromOptional"]>]> {
  let summary = text;
  let arguments = (ins Tile_Value:$lhs, Tile_Value:$rhs, UnitAttr:$is_unsigned, UnitAttr:$truncating);
  let results = (outs Tile_Value:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}
def Tile_DivOp : Tile_Division<"div", "integer division rounding to -inf (`truncating`: to 0); by zero gives 0, MIN / -1 wraps">;
def Tile_RemOp : Tile_Division<"rem", "lhs - rhs * div(lhs, rhs); by zero gives 0">;

#endif // TILEC_DIALECT_TILE_TILEOPS_TD
