// schedule: a stage becomes a kernel whose blocks decode their number into iteration numbers.
#include "TripCounts.h"
#include "mlir/IR/IRMapping.h"
#include "tilec/Dialect/Tile/AttributeNames.h"
#include "tilec/Dialect/TileGPU/Queue.h"
#include "tilec/Transforms/HostExpression.h"
#include "tilec/Transforms/Passes.h"
#include "tilec/Transforms/StagedStore.h"

namespace tilec {
#define GEN_PASS_DEF_SCHEDULE
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

namespace {

// Blocks of a cluster along the last ranges of a stage, and along all of them. Empty, and 1, without clusters.
ArrayRef<int64_t> clusterOf(tile::ParallelOp parallel) {
  auto plan = parallel->getParentOfType<tile::KernelOp>()->getAttrOfType<DictionaryAttr>("plan");
  auto blocks = plan.getAs<DenseI64ArrayAttr>(tilegpu::tileClusterName);
  return blocks ? blocks.asArrayRef() : ArrayRef<int64_t>();
}

SmallVector<int64_t> blocksAlong(tile::ParallelOp parallel) {
  ArrayRef<int64_t> cluster = clusterOf(parallel);
  SmallVector<int64_t> result(parallel.getLower().size() - cluster.size(), 1);
  llvm::append_range(result, cluster);
  return result;
}

// Block numbers are below 2^31 (the limit of a grid), so they are decoded in 32 bits: a 64-bit division costs a block
// of one tile as much as its loads.
struct Decoder {
  OpBuilder &builder;
  Location loc;

  Value narrow(Value index) { return arith::IndexCastOp::create(builder, loc, builder.getI32Type(), index); }
  Value widen(Value number) { return arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(), number); }
  Value constant(int64_t value) { return arith::ConstantIntOp::create(builder, loc, value, 32); }
  Value mul(Value a, Value b) { return arith::MulIOp::create(builder, loc, a, b); }
  Value div(Value a, Value b) { return arith::DivUIOp::create(builder, loc, a, b); }
  Value rem(Value a, Value b) { return arith::RemUIOp::create(builder, loc, a, b); }
  Value sub(Value a, Value b) { return arith::SubIOp::create(builder, loc, a, b); }
  Value add(Value a, Value b) { return arith::AddIOp::create(builder, loc, a, b); }
  Value min(Value a, Value b) { return arith::MinUIOp::create(builder, loc, a, b); }

  // Rows are taken `group` at a time, column by column inside: blocks that run together read few rows and columns.
  std::pair<Value, Value> grouped(Value number, Value rows, Value columns, Value group) {
    Value perGroup = mul(group, columns);
    Value groupNumber = div(number, perGroup);
    Value first = mul(groupNumber, group);
    Value height = min(sub(rows, first), group);
    Value inside = sub(number, mul(groupNumber, perGroup));
    Value column = div(inside, height);
    return {add(first, sub(inside, mul(column, height))), column};
  }

  // The place in each of some ranges, of which the last steps from number to number.
  void split(Value rest, ArrayRef<unsigned> ranges, ArrayRef<Value> sizes, MutableArrayRef<Value> places) {
    for (size_t i = ranges.size(); i-- > 0;) {
      places[ranges[i]] = i == 0 ? rest : rem(rest, sizes[ranges[i]]);
      if (i > 0)
        rest = div(rest, sizes[ranges[i]]);
    }
  }

  // The sizes of a stage's ranges, in clusters of blocks.
  SmallVector<Value> sizesOf(tile::ParallelOp parallel) {
    SmallVector<Value> sizes;
    for (auto [lower, upper, blocks] : llvm::zip(parallel.getLower(), parallel.getUpper(), blocksAlong(parallel))) {
      Value size = narrow(builder.createOrFold<arith::SubIOp>(loc, upper, lower));
      sizes.push_back(blocks == 1 ? size : div(size, constant(blocks)));
    }
    return sizes;
  }

  // Iteration numbers at places in the ranges, of this block of the cluster there.
  SmallVector<Value> iterationAt(tile::ParallelOp parallel, ArrayRef<Value> places) {
    SmallVector<Value> result;
    SmallVector<int64_t> along = blocksAlong(parallel);
    int64_t first = along.size() - clusterOf(parallel).size();
    for (auto [dim, lower] : llvm::enumerate(parallel.getLower())) {
      Value place = places[dim];
      if (along[dim] > 1) {
        Value rank = tilegpu::ClusterRankOp::create(builder, loc, builder.getIndexType(), dim - first, along[dim]);
        place = add(mul(place, constant(along[dim])), narrow(rank));
      }
      result.push_back(builder.createOrFold<arith::AddIOp>(loc, widen(place), lower));
    }
    return result;
  }

  // Where the multiprocessors hold a whole group at a time, it decides nothing but which blocks are neighbours in time:
  // few rows are better (H200, 8192x1280x8192: 1 %). Rows and columns are those of clusters of `blocks` blocks.
  Value groupFor(Value columns, int64_t group, int64_t blocks, const Machine &machine) {
    constexpr int64_t fewRows = 2;
    if (group <= fewRows)
      return constant(group);
    Value most = constant(std::max<int64_t>(machine.multiprocessors / blocks / group, 1));
    Value isWhole = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ule, columns, most);
    return arith::SelectOp::create(builder, loc, isWhole, constant(fewRows), constant(group));
  }
};

struct SchedulePass : tilec::impl::ScheduleBase<SchedulePass> {
  void runOnOperation() override {
    for (tile::KernelOp kernel : llvm::make_early_inc_range(getOperation().getOps<tile::KernelOp>()))
      if (failed(schedule(kernel)))
        return signalPassFailure();
  }

  LogicalResult schedule(tile::KernelOp kernel) {
    SmallVector<tile::ParallelOp> stages(kernel.getOps<tile::ParallelOp>());
    if (stages.size() != 1)
      return kernel.emitError("E0340: a kernel of several stages is not built yet");
    tile::ParallelOp parallel = stages.front();
    auto plan = kernel->getAttrOfType<DictionaryAttr>("plan");
    Attribute grid = gridOf(parallel);
    if (!grid)
      return parallel.emitError("E0341: a parallel range that depends on loaded data is not built yet");
    OpBuilder builder(kernel);
    Attribute one = builder.getI64IntegerAttr(1), iterations = grid;
    auto number = [&](StringRef name) { return plan.getAs<IntegerAttr>(name).getInt(); };
    bool sideBySide = plan.get("side_by_side") != nullptr;
    bool persistent = plan.get("persistent") != nullptr;
    int64_t ofCluster = llvm::product_of(clusterOf(parallel));
    if (ofCluster > 1)
      grid = hostOperation(builder.getContext(), "div", {grid, builder.getI64IntegerAttr(ofCluster)});
    if (sideBySide)
      grid = gridOfGroups(grid, number("groups"));
    else if (persistent)
      grid = gridOfPersistentBlocks(grid, ofCluster);
    auto target =
        tilegpu::KernelOp::create(builder, kernel.getLoc(), kernel.getSymName(), kernel.getKernel(),
                                  kernel.getArguments(), kernel.getContracts(), kernel.getWhen(), stageOf(kernel),
                                  builder.getArrayAttr({grid, one, one}), number("warps"), number("groups"), plan,
                                  /*shared_bytes=*/IntegerAttr(), plan.getAs<IntegerAttr>("maxregs"));
    for (NamedAttribute attribute : kernel->getDiscardableAttrs())
      if (attribute.getName().strref().starts_with("tilec."))
        target->setDiscardableAttr(attribute.getName(), attribute.getValue());
    bool queued = plan.get("queue") != nullptr;
    if (queued)
      target->setAttr(tilegpu::queueName, iterations);
    Block *body = &target.getBody().emplaceBlock();
    for (Operation &op : llvm::make_early_inc_range(kernel.getBody().front()))
      if (&op != parallel)
        op.moveBefore(body, body->end());
    builder.setInsertionPointToEnd(body);
    Value block = tilegpu::BlockIdOp::create(builder, parallel.getLoc(), builder.getIndexType(), 0);
    if (sideBySide) {
      body = guard(builder, parallel, number("groups"), block);
      builder.setInsertionPointToStart(body);
    } else if (persistent) {
      body = persist(builder, parallel, block);
      builder.setInsertionPoint(body->getTerminator());
    }
    auto raster = parallel.getAnnotations().getAs<IntegerAttr>("raster");
    SmallVector<Value> iteration;
    if (queued && !raster && llvm::any_of(llvm::seq<unsigned>(parallel.getLower().size()), [&](unsigned dim) {
          return growsWithIteration(parallel, dim);
        })) {
      iteration = decodeLongestFirst(builder, parallel, block);
    } else {
      iteration = decode(builder, parallel, block, raster ? raster.getInt() : number("raster"),
                         /*pinned=*/raster != nullptr, plan.getAs<IntegerAttr>("fastest"));
      startWithLongest(builder, parallel, iteration);
    }
    Block &inner = parallel.getBody().front();
    for (auto [argument, value] : llvm::zip(inner.getArguments(), iteration))
      argument.replaceAllUsesWith(value);
    Block::iterator end = body->mightHaveTerminator() ? Block::iterator(body->getTerminator()) : body->end();
    body->getOperations().splice(end, inner.getOperations());
    kernel.erase();
    return success();
  }

  static int64_t stageOf(tile::KernelOp kernel) {
    auto stage = kernel->getAttrOfType<IntegerAttr>(tile::stageName);
    return stage ? stage.getInt() : 0;
  }

  // Blocks start in the order of their numbers: iterations with more work get the smaller ones, so that the last blocks
  // to run are short.
  static void startWithLongest(OpBuilder &builder, tile::ParallelOp parallel, SmallVectorImpl<Value> &iteration) {
    Location loc = parallel.getLoc();
    for (unsigned dim = 0; dim < iteration.size(); ++dim) {
      if (!growsWithIteration(parallel, dim))
        continue;
      Value one = arith::ConstantIndexOp::create(builder, loc, 1);
      Value last = arith::SubIOp::create(builder, loc, parallel.getUpper()[dim], one);
      Value sum = builder.createOrFold<arith::AddIOp>(loc, parallel.getLower()[dim], last);
      iteration[dim] = arith::SubIOp::create(builder, loc, sum, iteration[dim]);
      parallel.emitRemark() << parallel->getParentOfType<tile::KernelOp>().getSymName()
                            << ": iterations with longer loops start first";
    }
  }

  // Blocks of a launch: the product of the ranges' sizes.
  static Attribute gridOf(tile::ParallelOp parallel) {
    MLIRContext *context = parallel.getContext();
    Attribute zero = Builder(context).getI64IntegerAttr(0), product = Builder(context).getI64IntegerAttr(1);
    for (auto [lower, upper] : llvm::zip(parallel.getLower(), parallel.getUpper())) {
      Attribute low = hostExpression(lower), high = hostExpression(upper);
      if (!low || !high)
        return {};
      Attribute size = hostOperation(context, "sub", {high, low});
      product = hostOperation(context, "mul", {product, hostOperation(context, "max", {size, zero})});
    }
    return product;
  }

  // Iterations are counted in 32 bits: from 2^32 on the grid is larger than any launch takes.
  static Attribute gridOfGroups(Attribute iterations, int64_t groups) {
    Builder builder(iterations.getContext());
    auto constant = [&](int64_t value) { return builder.getI64IntegerAttr(value); };
    Attribute blocks = hostOperation(builder.getContext(), "ceil_div", {iterations, constant(groups)});
    Attribute excess = hostOperation(builder.getContext(), "sub", {iterations, constant(tilegpu::maxGridBlocks + 1)});
    return hostOperation(builder.getContext(), "max", {blocks, excess});
  }

  // One block a multiprocessor, which takes every grid-th tile; or clusters of as many blocks. Tiles are counted in 32
  // bits: beyond, the grid is larger than any launch takes.
  static Attribute gridOfPersistentBlocks(Attribute iterations, int64_t ofCluster) {
    Builder builder(iterations.getContext());
    MLIRContext *context = builder.getContext();
    auto constant = [&](int64_t value) { return builder.getI64IntegerAttr(value); };
    Attribute most = builder.getStringAttr("sm_count");
    if (ofCluster > 1) {
      most = hostOperation(context, "div", {most, constant(ofCluster)});
      most = hostOperation(context, "max", {most, constant(1)});
    }
    Attribute blocks = hostOperation(context, "min", {iterations, most});
    Attribute excess = hostOperation(context, "gt", {iterations, constant(tilegpu::maxGridBlocks)});
    Attribute refused = hostOperation(context, "mul", {excess, constant(tilegpu::maxGridBlocks + 1)});
    return hostOperation(context, "max", {blocks, refused});
  }

  // Of blocks, or of clusters.
  static Value numberOfIterations(OpBuilder &builder, tile::ParallelOp parallel) {
    Location loc = parallel.getLoc();
    Value count;
    for (auto [lower, upper] : llvm::zip(parallel.getLower(), parallel.getUpper())) {
      Value size = builder.createOrFold<arith::SubIOp>(loc, upper, lower);
      count = count ? builder.createOrFold<arith::MulIOp>(loc, count, size) : size;
    }
    int64_t ofCluster = llvm::product_of(clusterOf(parallel));
    return ofCluster == 1
               ? count
               : arith::DivUIOp::create(builder, loc, count, arith::ConstantIndexOp::create(builder, loc, ofCluster));
  }

  // The loop over the tiles of a block; their numbers take the place of the block's.
  static Block *persist(OpBuilder &builder, tile::ParallelOp parallel, Value &number) {
    Location loc = parallel.getLoc();
    Value count = numberOfIterations(builder, parallel);
    Value blocks = tilegpu::GridSizeOp::create(builder, loc, builder.getIndexType());
    auto loop = scf::ForOp::create(builder, loc, number, count, blocks);
    loop->setAttr(persistentLoop, builder.getUnitAttr());
    number = loop.getInductionVar();
    return loop.getBody();
  }

  // Replaces the block's number by that of the group's iteration. The last block has groups without one.
  static Block *guard(OpBuilder &builder, tile::ParallelOp parallel, int64_t groups, Value &number) {
    Location loc = parallel.getLoc();
    Value first = arith::MulIOp::create(builder, loc, number, arith::ConstantIndexOp::create(builder, loc, groups));
    Value group = tilegpu::GroupOp::create(builder, loc, builder.getIndexType());
    number = arith::AddIOp::create(builder, loc, first, group);
    Value exists =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, number, numberOfIterations(builder, parallel));
    return scf::IfOp::create(builder, loc, exists, /*withElseRegion=*/false).thenBlock();
  }

  // Two tiles a block, measured with attention of 1024 to 16384 keys: with fewer rows blocks wait for the same memory
  // at the same time, with more they load from many places at once and outgrow the second-level cache. All groups of
  // rows are about as large.
  static Value rowsAtATime(Decoder &decoder, Value rows, Value columns) {
    OpBuilder &builder = decoder.builder;
    Location loc = decoder.loc;
    Value one = decoder.constant(1), tilesOfBlock = decoder.constant(2);
    auto atLeastOne = [&](Value value) { return arith::MaxUIOp::create(builder, loc, value, one).getResult(); };
    auto ceilDiv = [&](Value a, Value b) { return decoder.div(decoder.sub(decoder.add(a, b), one), b); };
    Value blocks = decoder.narrow(tilegpu::GridSizeOp::create(builder, loc, builder.getIndexType()));
    Value wanted = atLeastOne(decoder.div(decoder.mul(blocks, tilesOfBlock), atLeastOne(columns)));
    Value groups = atLeastOne(ceilDiv(rows, wanted));
    return atLeastOne(ceilDiv(rows, groups));
  }

  // The order of a queue whose tiles take unequally long. The ranges along which their work grows are the columns, the
  // others the rows: some rows at a time, the longest columns of them all first, so that blocks that run together share
  // what a row reads, and short tiles end the launch. The smallest group of rows comes first.
  static SmallVector<Value> decodeLongestFirst(OpBuilder &builder, tile::ParallelOp parallel, Value number) {
    Location loc = parallel.getLoc();
    Decoder decoder{builder, loc};
    SmallVector<unsigned> rowDims, columnDims;
    SmallVector<Value> sizes = decoder.sizesOf(parallel), places(sizes.size());
    for (unsigned dim = 0; dim < sizes.size(); ++dim)
      (growsWithIteration(parallel, dim) ? columnDims : rowDims).push_back(dim);
    auto product = [&](ArrayRef<unsigned> dims) {
      Value count = decoder.constant(1);
      for (unsigned dim : dims)
        count = decoder.mul(count, sizes[dim]);
      return count;
    };
    Value rows = product(rowDims), columns = product(columnDims), one = decoder.constant(1);
    Value group = rowsAtATime(decoder, rows, columns);
    // The loop over the block's tiles ends at their number.
    Value count = cast<scf::ForOp>(number.getParentBlock()->getParentOp()).getUpperBound();
    Value last = decoder.sub(decoder.narrow(count), one);
    auto [row, column] = decoder.grouped(decoder.sub(last, decoder.narrow(number)), rows, columns, group);
    decoder.split(row, rowDims, sizes, places);
    decoder.split(column, columnDims, sizes, places);
    parallel.emitRemark() << parallel->getParentOfType<tile::KernelOp>().getSymName()
                          << ": iterations with longer loops start first";
    return decoder.iterationAt(parallel, places);
  }

  static SmallVector<Value> decode(OpBuilder &builder, tile::ParallelOp parallel, Value number, int64_t raster,
                                   bool pinned, IntegerAttr fastest) {
    Location loc = parallel.getLoc();
    Decoder decoder{builder, loc};
    unsigned count = parallel.getLower().size();
    SmallVector<Value> sizes = decoder.sizesOf(parallel), numbers(count);
    Value rest = decoder.narrow(number);
    ArrayRef<int64_t> tiles = parallel.getTiles();
    unsigned remaining = count;
    if (raster > 1 && count >= 2 && (pinned || (tiles[count - 1] > 0 && tiles[count - 2] > 0))) {
      Value perBatch = decoder.mul(sizes[count - 2], sizes[count - 1]);
      Value inBatch = count > 2 ? decoder.rem(rest, perBatch) : rest;
      Value columns = sizes[count - 1];
      SmallVector<int64_t> along = blocksAlong(parallel);
      raster = std::max<int64_t>(raster / along[count - 2], 1);
      Value group = pinned ? decoder.constant(raster)
                           : decoder.groupFor(columns, raster, llvm::product_of(along), targetMachine(parallel));
      std::tie(numbers[count - 2], numbers[count - 1]) = decoder.grouped(inBatch, sizes[count - 2], columns, group);
      if (count > 2)
        rest = decoder.div(rest, perBatch);
      remaining = count - 2;
    }
    // The last range steps from block to block, or the one that the plan names.
    SmallVector<unsigned> order = llvm::to_vector(llvm::seq(remaining));
    if (fastest && remaining == count)
      std::rotate(order.begin() + fastest.getInt(), order.begin() + fastest.getInt() + 1, order.end());
    decoder.split(rest, order, sizes, numbers);
    return decoder.iterationAt(parallel, numbers);
  }
};

} // namespace
