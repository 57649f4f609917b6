// hold-rows: loops over the few tiles of a short row become straight code, whose loads come once and all first
// (docs/decisions/rows-that-are-streamed.md).
#include "mlir/Analysis/DataFlow/IntegerRangeAnalysis.h"
#include "mlir/Analysis/DataFlow/Utils.h"
#include "mlir/Analysis/DataFlowFramework.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "tilec/Dialect/Tile/HeldRows.h"
#include "tilec/Dialect/TileGPU/TileGPUDialect.h"
#include "tilec/Transforms/Facts.h"
#include "tilec/Transforms/Passes.h"

namespace tilec {
#define GEN_PASS_DEF_HOLDROWS
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

namespace {

bool isConstant(Value value, int64_t constant) {
  APInt found;
  return matchPattern(value, m_ConstantInt(&found)) && found.getSExtValue() == constant;
}

// A load of the body of a loop, and the operations of the body that its operands come from, with itself.
struct MovingLoad {
  tile::LoadOp op;
  SetVector<Operation *> sources;
};

// A loop of a stage over tiles, and the loads that move out of it.
struct TileLoop {
  scf::ForOp loop;
  SmallVector<MovingLoad, 2> loads;
  /// What the loads need of the body, in order, the loads among them.
  SetVector<Operation *> needed;
  /// For each turn, what is outside of the loop.
  SmallVector<IRMapping> turns;
};

// The operations of the body that a load's operands come from; none if they depend on other loads, carried values, or
// what stands behind the operation `first`.
std::optional<SetVector<Operation *>> sourcesOf(tile::LoadOp load, scf::ForOp loop, Operation *first) {
  SetVector<Operation *> sources;
  SmallVector<Operation *> work = {load};
  while (!work.empty()) {
    Operation *op = work.pop_back_val();
    if (!sources.insert(op))
      continue;
    if (op->getNumRegions() > 0 || (op != load && (isa<tile::LoadOp>(op) || !isMemoryEffectFree(op))))
      return std::nullopt;
    for (Value operand : op->getOperands()) {
      if (llvm::is_contained(loop.getRegionIterArgs(), operand))
        return std::nullopt;
      Operation *source = operand.getDefiningOp();
      if (source && source->getBlock() == loop.getBody())
        work.push_back(source);
      else if (source && source->getBlock() == first->getBlock() && !source->isBeforeInBlock(first))
        return std::nullopt;
    }
  }
  return sources;
}

// The loads of a body that may move out: of tensors that nothing writes, other elements in every turn.
void findLoads(TileLoop &found, Operation *first) {
  for (tile::LoadOp load : found.loop.getBody()->getOps<tile::LoadOp>()) {
    auto view = load.getView().getDefiningOp<tile::ViewOp>();
    if (!view || view.getAccess() != tile::Access::in || !isa<RankedTensorType>(load.getType()) || load.getOtherwise())
      continue;
    std::optional<SetVector<Operation *>> sources = sourcesOf(load, found.loop, first);
    bool usesNumber = sources && llvm::any_of(*sources, [&](Operation *op) {
                        return llvm::is_contained(op->getOperands(), found.loop.getInductionVar());
                      });
    if (usesNumber)
      found.loads.push_back({load, std::move(*sources)});
  }
}

// Whether a loop carries nothing but scalars and reduces tiles.
bool sumsUp(scf::ForOp loop) {
  bool tiles = llvm::any_of(loop.getResultTypes(), [](Type type) { return isa<RankedTensorType>(type); });
  return !tiles && loop.getNumResults() > 0 && !loop.getBody()->getOps<tile::ReduceOp>().empty();
}

// The row of one iteration of a stage.
class Row {
public:
  explicit Row(Block &stage) : stage(stage) {}

  /// Whether several loops run over the same few tiles and some read again what another has read, or one reduces them.
  bool match(DataFlowSolver &solver);
  void hold();

private:
  bool reads();
  void emitLoads(OpBuilder &builder);
  void unroll(TileLoop &tiles);

  Block &stage;
  SmallVector<TileLoop, 2> loops;
  Value upper;
  int64_t most = 0;
  /// Whether all of the turns run.
  bool exact = false;
};

bool Row::match(DataFlowSolver &solver) {
  for (scf::ForOp loop : stage.getOps<scf::ForOp>()) {
    if (!isConstant(loop.getLowerBound(), 0) || !isConstant(loop.getStep(), 1) ||
        (upper && loop.getUpperBound() != upper))
      return false;
    upper = loop.getUpperBound();
    loops.push_back({loop, {}, {}, {}});
    findLoads(loops.back(), loops.front().loop);
  }
  if (loops.empty() || (loops.size() == 1 && !sumsUp(loops.front().loop)))
    return false;
  auto *lattice = solver.lookupState<dataflow::IntegerValueRangeLattice>(upper);
  if (!lattice || lattice->getValue().isUninitialized() ||
      lattice->getValue().getValue().smax().sgt(tile::maxHeldTiles))
    return false;
  most = lattice->getValue().getValue().smax().getSExtValue();
  exact = lattice->getValue().getValue().smin() == most;
  return most > 0 && reads();
}

// Keeps the loads of what several loops read, of one loop those of its own row. False if there are none, or they are
// too much to hold.
bool Row::reads() {
  auto readIn = [](const TileLoop &tiles, Value view) {
    return llvm::any_of(tiles.loads, [&](const MovingLoad &load) { return tile::LoadOp(load.op).getView() == view; });
  };
  int64_t bytes = 0;
  llvm::SmallDenseSet<Value> views;
  for (TileLoop &tiles : loops) {
    llvm::erase_if(tiles.loads, [&](MovingLoad &load) {
      if (loops.size() == 1)
        return llvm::none_of(load.op.getSubscripts(), [&](Value value) { return value.getParentBlock() == &stage; });
      return llvm::count_if(loops, [&](const TileLoop &other) { return readIn(other, load.op.getView()); }) < 2;
    });
    for (MovingLoad &load : tiles.loads)
      if (auto type = cast<RankedTensorType>(load.op.getType()); views.insert(load.op.getView()).second)
        bytes += most * type.getNumElements() * tilegpu::elementBytes(type.getElementType());
  }
  return !views.empty() && bytes <= tile::maxHeldBytes;
}

// Turns that do not run read nothing: their positions are beyond the tensor's end, which the access must check.
void Row::emitLoads(OpBuilder &builder) {
  for (TileLoop &tiles : loops) {
    for (const MovingLoad &load : tiles.loads)
      tiles.needed.insert_range(load.sources);
    SmallVector<Operation *> inOrder(tiles.needed.begin(), tiles.needed.end());
    llvm::sort(inOrder, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    for (int64_t turn = 0; turn < most; ++turn) {
      IRMapping &mapping = tiles.turns.emplace_back();
      mapping.map(tiles.loop.getInductionVar(), arith::ConstantIndexOp::create(builder, tiles.loop.getLoc(), turn));
      for (Operation *op : inOrder) {
        auto load = dyn_cast<tile::LoadOp>(builder.clone(*op, mapping));
        if (load && !exact)
          load.setInboundsAttr(nullptr);
      }
    }
  }
}

void Row::unroll(TileLoop &tiles) {
  scf::ForOp loop = tiles.loop;
  Location loc = loop.getLoc();
  OpBuilder builder(loop);
  SmallVector<Value> carried(loop.getInitArgs());
  auto body = [&](OpBuilder &inner, IRMapping &mapping) {
    for (auto [argument, value] : llvm::zip(loop.getRegionIterArgs(), carried))
      mapping.map(argument, value);
    for (Operation &op : loop.getBody()->without_terminator())
      if (!tiles.needed.contains(&op))
        inner.clone(op, mapping);
    return llvm::map_to_vector(loop.getYieldedValues(), [&](Value value) { return mapping.lookupOrDefault(value); });
  };
  for (auto [turn, mapping] : llvm::enumerate(tiles.turns)) {
    if (exact) {
      carried = body(builder, mapping);
      continue;
    }
    Value runs =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, mapping.lookup(loop.getInductionVar()), upper);
    auto branch =
        scf::IfOp::create(builder, loc, TypeRange(loop.getResultTypes()), runs, /*withElse=*/!carried.empty());
    OpBuilder then = branch.getThenBodyBuilder();
    SmallVector<Value> next = body(then, mapping);
    if (carried.empty())
      continue;
    scf::YieldOp::create(then, loc, next);
    OpBuilder otherwise = branch.getElseBodyBuilder();
    scf::YieldOp::create(otherwise, loc, carried);
    carried.assign(branch.getResults().begin(), branch.getResults().end());
  }
  loop.replaceAllUsesWith(carried);
  loop.erase();
}

void Row::hold() {
  OpBuilder builder(loops.front().loop);
  // The bound of the loops stands before the first one; the loads of all come there.
  emitLoads(builder);
  for (TileLoop &tiles : loops)
    unroll(tiles);
}

struct HoldRowsPass : tilec::impl::HoldRowsBase<HoldRowsPass> {
  void runOnOperation() override {
    tile::KernelOp kernel = getOperation();
    SmallVector<tile::ParallelOp> stages(kernel.getOps<tile::ParallelOp>());
    // Iterations are rows if numbers alone count them. Products have rings of their own.
    bool products = kernel.walk([](tile::DotOp) { return WalkResult::interrupt(); }).wasInterrupted();
    if (stages.size() != 1 || products ||
        llvm::any_of(stages.front().getTiles(), [](int64_t tile) { return tile != 0; }))
      return;
    DataFlowSolver solver;
    dataflow::loadBaselineAnalyses(solver);
    solver.load<dataflow::IntegerRangeAnalysis>();
    if (failed(solver.initializeAndRun(kernel)))
      return signalPassFailure();
    Row row(stages.front().getBody().front());
    if (!row.match(solver))
      return;
    row.hold();
    if (failed(proveFullTiles(kernel)))
      signalPassFailure();
  }

  // A row of so many tiles, of whatever length, has all positions of all but the last one.
  static LogicalResult proveFullTiles(tile::KernelOp kernel) {
    DataFlowSolver solver;
    dataflow::loadBaselineAnalyses(solver);
    solver.load<dataflow::IntegerRangeAnalysis>();
    if (failed(solver.initializeAndRun(kernel)))
      return failure();
    RewritePatternSet patterns(kernel.getContext());
    arith::populateIntRangeOptimizationsPatterns(patterns, solver);
    if (failed(applyPatternsGreedily(kernel, std::move(patterns))))
      return failure();
    markFacts(kernel);
    return success();
  }
};

} // namespace
