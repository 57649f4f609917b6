//===- Passes.td - The passes of the middle end ----------------------------===//
#ifndef TILEC_TRANSFORMS_PASSES_TD
#define TILEC_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

class Tilec_Pass<string name, string op> : Pass<name, op> {
  let dependentDialects = ["::tilec::tile::TileDialect", "::tilec::tilegpu::TileGPUDialect"];
}

def Simplify : Tilec_Pass<"simplify", "::tilec::tile::KernelOp"> {
  let summary = "fold sums into dots, prove positions present and subscripts inside";
  let description = [{
    Expects tile-level kernels. Folds `acc + dot(a, b)` into the dot's accumulator; replaces dots that no matrix
    product fits (batch axes of more than one position, several contracted axes) by products and reductions; marks
    axes proved full and subscripts proved inside. Canonicalisation, CSE and loop-invariant code motion run around it.
  }];
}

def SinkFactors : Tilec_Pass<"sink-factors", "::tilec::tile::KernelOp"> {
  let summary = "take maxima before products with positive numbers";
  let description = [{
    `max(c * x)` becomes `c * max(x)` where c is known to be positive and finite and nothing else needs the products
    but sums, with which they contract; likewise minima, quotients and masks of infinities. Variants that are not the
    last resort get conditions on float parameters that make c so, where a loop computes the maximum of a product.
  }];
}

def SplitRows : Tilec_Pass<"split-rows", "::tilec::tile::KernelOp"> {
  let summary = "part rows at multiples of 16 bytes";
  let description = [{
    In variants for tensors of any alignment, an axis along which rows lie in memory becomes two: its whole vectors of
    16 bytes, as the address of the row that is stored has them, and the elements before and behind these. Each
    operation on its tiles is done for both, reductions are combined. Loads from rows that begin elsewhere may read the
    vectors around.
  }];
}

def HoldRows : Tilec_Pass<"hold-rows", "::tilec::tile::KernelOp"> {
  let summary = "hold short rows that loops read tile by tile, more than once";
  let description = [{
    Several loops of a stage over the same tiles, at most 8, become straight code; a turn that the row does not reach is
    a branch that is not taken. What they read more than once is loaded once, before all of them.
  }];
}

def PairRows : Tilec_Pass<"pair-rows", "::tilec::tile::KernelOp"> {
  let summary = "let an iteration take two rows that share what is loaded for all";
  let description = [{
    Where the iterations of a stage reduce rows and all of them load the same tile, such as the weights of a norm, an
    iteration takes two rows, so far from each other that they lie alike to multiples of 16 bytes.
  }];
}

def Plan : Tilec_Pass<"plan", "::tilec::tile::KernelOp"> {
  let summary = "choose threads, instructions, consumer groups and rings";
  let description = [{
    Sets the attribute `plan` on the kernel and `mma` on every dot, from the kernel's facts, its annotations and the
    machine. Changes no code. All later passes only carry the plan out: same plan, same code.
  }];
}

def Schedule : Tilec_Pass<"schedule", "::mlir::ModuleOp"> {
  let summary = "turn each stage into a tilegpu.kernel with a grid";
  let description = [{
    Expects one `tile.parallel` in a kernel. The block number is decoded into the iteration numbers; two tile ranges of
    a kernel with dots are visited in groups of `raster` rows so that blocks that run together share operands in L2.
  }];
}

def Split : Tilec_Pass<"split", "::tilec::tilegpu::KernelOp"> {
  let summary = "give each consumer group its part of the split axis";
  let description = [{
    For a plan with G > 1 groups, replaces the axis of the dots' rows by the part that belongs to `%g`, in every tile
    that has it, so that tiles are those of one group.
  }];
}

def Channels : Tilec_Pass<"channels", "::tilec::tilegpu::KernelOp"> {
  let summary = "turn dots into mma operations and their loads into transfers through rings";
  let description = [{
    Operands that are boxes of input tensors come through channels (TMA, cp.async or ld/st); other shared operands are
    staged with `alloc` and `local_store`; absent contracted positions are masked unless both operands are zero there.
  }];
}

def ShareMasks : Tilec_Pass<"share-masks", "::tilec::tilegpu::KernelOp"> {
  let summary = "mask the scores of a softmax once";
  let description = [{
    Where a tile is reduced to maxima over a ragged axis and its exponentials relative to these are summed over it, the
    tile gets -inf at absent positions; the maximum, the sums and the products of the weights then need no masks.
  }];
}

def Rotate : Tilec_Pass<"rotate", "::tilec::tilegpu::KernelOp"> {
  let summary = "start transfers ahead of their use in kernels of one process";
  let description = [{
    The block starts the transfers of an iteration `slots - 1` iterations before their use: the first ones before the
    loop, the others in it under a bound. Rings that a producer process fills stay as they are, it runs ahead by itself.
  }];
}

def PartSums : Tilec_Pass<"part-sums", "::tilec::tilegpu::KernelOp"> {
  let summary = "carry the sums of a loop in parts, one a lane or warp";
  let description = [{
    `total = total * r + sum(tile)` in a loop, where the sum runs over lanes or warps: each thread keeps what its own
    registers add up to, and the parts are added once after the loop. Factors are those of a running softmax, which are
    at most 1. Within the licence to reassociate sums.
  }];
}

def DelayProducts : Tilec_Pass<"delay-products", "::tilec::tilegpu::KernelOp"> {
  let summary = "run a product under the vector work of the next iteration";
  let description = [{
    For a loop in which a product takes an operand that vector work makes of another product, where the plan says so: the
    second product, its transfers and what uses it move to the next iteration, behind the first product. The first and
    the last iteration are split off. Same results, same order of all items of a channel.
  }];
}

def OrderProducts : Tilec_Pass<"order-products", "::tilec::tilegpu::KernelOp"> {
  let summary = "start products before independent work, and take turns";
  let description = [{
    In loops of consumer processes: where work of an iteration depends on one product and not on another, both are
    started, the work runs between their waits, and slots are released behind the wait. Where the plan has turns,
    consumer groups start their products one after another, so that the vector work of one group runs under the
    products of another.
  }];
}

def Slice : Tilec_Pass<"slice", "::tilec::tilegpu::KernelOp"> {
  let summary = "project the sequential program onto producer and consumer processes";
  let description = [{
    Each process keeps the operations it owns and the scalars these need, in order. Items of a whole tile are released
    behind their last read, also where that stands in a branch; a producer that waits for their only slot asks for the
    first item of the branch behind it before. Kernels without TMA channels, and those whose transfers depend on tile
    data, stay one process.
  }];
}

def OrderAccesses : Tilec_Pass<"order-accesses", "::tilec::tilegpu::KernelOp"> {
  let summary = "separate accesses of one element by different threads";
  let description = [{
    Accesses of an iteration happen in program order, whatever threads make them. A barrier of the group separates two
    accesses of a tensor of which one writes, unless both have the same subscripts and layout and each element belongs
    to one thread, or they are of iterations of a loop that touch different elements.
  }];
}

def Peel : Tilec_Pass<"peel", "::tilec::tilegpu::KernelOp"> {
  let summary = "split loops into an interior without masks and the rest";
  let description = [{
    For loops over the tiles of a range whose last tile may be ragged, and over tiles that an affine mask (`t <= q`)
    leaves whole up to a point: the first copy runs the iterations in which every position is present and every such
    mask is true, with masks folded and bounds proved; the second runs the others. Channels are used alike in both.
  }];
}

def GatherReductions : Tilec_Pass<"gather-reductions", "::tilec::tilegpu::KernelOp"> {
  let summary = "let reductions of one row wait together";
  let description = [{
    Moves reductions across warps that do not need each other's results, with the arithmetic that they reduce, behind
    the first of them. What stands together before the first use of a result is exchanged at one barrier.
  }];
}

def PlanSharedMemory : Tilec_Pass<"plan-shared-memory", "::tilec::tilegpu::KernelOp"> {
  let summary = "place rings, buffers, scratch and barriers in shared memory";
  let description = [{
    Sets `offset` and `barriers` of channels, `offset` of buffers, `tilegpu.scratch` of operations that exchange values
    through shared memory, and the kernel's `shared_bytes`. More than a block has is an error that lists the buffers.
  }];
}

def LazyRescale : Tilec_Pass<"lazy-rescale", "::tilec::tilegpu::KernelOp"> {
  let summary = "rescale the sums of a running softmax seldom";
  let description = [{
    A loop over (m, x1, .., xn) with m' = max(m, e) and xi' = xi * exp2(m - m') + fi keeps its m until a maximum lies more
    than 8 above it, in powers of two; xi are then multiplied only in warps in which a row has moved. Where what follows
    depends on m itself the loop stays as it is. The language's licence for running softmaxes.
  }];
}

def Accumulate : Tilec_Pass<"accumulate", "::tilec::tilegpu::KernelOp"> {
  let summary = "reduce after a loop what the loop sums up";
  let description = [{
    `total += sum(tile)` in a loop becomes an element-wise sum of the tiles that is reduced once after the loop, so that
    the loop exchanges nothing between threads; likewise for maxima and minima. Within the licence to reassociate sums.
  }];
}

def InferLayouts : Tilec_Pass<"infer-layouts", "::tilec::tilegpu::KernelOp"> {
  let summary = "give every tile a layout";
  let description = [{
    Chooses for each set of tiles that operations tie together one layout among those that instructions demand and
    memory accesses prefer, by the cost of accesses and conversions; inserts `tilegpu.convert` where layouts differ and
    computes cheap values (constants, positions, masks) in each layout needed. Verifies the result.
  }];
}

#endif // TILEC_TRANSFORMS_PASSES_TD
