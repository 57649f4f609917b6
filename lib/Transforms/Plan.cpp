// plan: every choice of a kernel in one attribute.
#include "DotFacts.h"
#include "PlanGroups.h"
#include "PlanProducts.h"
#include "PlanStreams.h"
#include "Sources.h"
#include "SwapOperands.h"
#include "TripCounts.h"
#include "tilec/Dialect/Tile/AttributeNames.h"
#include "tilec/Machine/Occupancy.h"
#include "tilec/Transforms/Passes.h"
#include "tilec/Transforms/StagedStore.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

namespace tilec {
#define GEN_PASS_DEF_PLAN
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

namespace {
// What streams past few rows is read once, or by tiles that run at the same time: in the second-level cache it need not
// stay, nor drive out dirty lines, whose write-back costs bandwidth.
void streamPastFewRows(tile::DotOp dot, Value operand) {
  if (auto load = operand.getDefiningOp<tile::LoadOp>())
    evictFirst(load);
}

// A product with fewer rows than wgmma has, or others, is computed transposed where its columns are such rows.
void planFewRows(tile::KernelOp kernel, const Machine &machine) {
  SmallVector<tile::DotOp> dots;
  kernel.walk([&](tile::DotOp dot) { dots.push_back(dot); });
  if (dots.size() != 1 || !machine.hasWgmma || kernel.getAnnotations().get("no_tma"))
    return;
  tile::DotOp dot = dots.front();
  DotFacts facts = factsOf(dot);
  int64_t k = tensorCoreK(facts);
  bool fits = k != 0 && facts.k % k == 0 && facts.m % 8 == 0 && facts.m <= 256 &&
              hasTmaOperand(dot.getLhs(), facts.lhsKMajor) && hasTmaOperand(dot.getRhs(), facts.rhsKMajor);
  if (!fits)
    return;
  Value columns = dot.getRhs();
  if (facts.m % 64 != 0) {
    if (facts.n % 64 != 0 || !swapOperands(dot))
      return;
    dot.emitRemark() << kernel.getSymName() << ": computed transposed, for a tile of " << facts.m << " rows";
  }
  if (facts.m <= 64)
    streamPastFewRows(dot, columns);
}

// Rows that m16n8 instructions of `warpsM` x `warpsN` warps can share.
bool fitsMma(const DotFacts &facts, int64_t warpsM, int64_t warpsN, int64_t k) {
  return facts.m % (16 * warpsM) == 0 && facts.n % (8 * warpsN) == 0 && facts.k % k == 0;
}

struct PlanPass : tilec::impl::PlanBase<PlanPass> {
  void runOnOperation() override {
    tile::KernelOp kernel = getOperation();
    const Machine &machine = targetMachine(kernel);
    planFewRows(kernel, machine);
    SmallVector<DotFacts> dots;
    kernel.walk([&](tile::DotOp dot) { dots.push_back(factsOf(dot)); });
    int64_t pinnedWarps = pinnedWarpsOf(kernel), groups = 1, warps = 0;
    std::optional<int64_t> wgmmaGroups = groupsForWgmma(kernel, machine, dots, pinnedWarps);
    bool wgmma = wgmmaGroups.has_value();
    StreamPlan streams{0, 1};
    if (wgmma) {
      groups = *wgmmaGroups;
      warps = 4;
      for (const DotFacts &facts : dots)
        setMma(facts, "wgmma", 64, instructionColumns(facts, groups), tensorCoreK(facts), 4, 1);
    } else if (!dots.empty()) {
      warps = planWarpMma(kernel, dots, machine, pinnedWarps);
    } else {
      streams = planStreams(kernel, machine, pinnedWarps);
      warps = streams.warps;
      groups = streams.iterations;
    }
    explain(kernel, machine, dots, wgmma, warps, groups);
    Builder builder(kernel.getContext());
    NamedAttrList plan;
    plan.set("warps", builder.getI64IntegerAttr(warps));
    plan.set("groups", builder.getI64IntegerAttr(groups));
    plan.set("tma", builder.getBoolAttr(wgmma));
    plan.set("raster", builder.getI64IntegerAttr(dots.empty() ? 0 : wgmma ? rasterGroup(kernel, machine) : 8));
    auto pinnedRegisters = dyn_cast_or_null<IntegerAttr>(kernel.getAnnotations().get("maxregs"));
    if (pinnedRegisters)
      plan.set("maxregs", pinnedRegisters);
    if (failed(planCluster(plan, kernel, wgmma)) ||
        (wgmma && failed(planConsumers(plan, kernel, machine, dots, groups, pinnedRegisters))))
      return signalPassFailure();
    if (dots.empty())
      planBlocks(plan, kernel, machine, streams);
    kernel->setAttr("plan", plan.getDictionary(kernel.getContext()));
  }

  // The warps of `@warps`, or 0.
  static int64_t pinnedWarpsOf(tile::KernelOp kernel) {
    int64_t warps = 0;
    kernel.walk([&](tile::ParallelOp parallel) {
      if (auto pinned = dyn_cast_or_null<IntegerAttr>(parallel.getAnnotations().get("warps")))
        warps = pinned.getInt();
    });
    return warps;
  }

  // The consumer groups of products that wgmma computes, all of them; none if it cannot. Threads copy operands of one
  // product, where they have the registers for it.
  static std::optional<int64_t> groupsForWgmma(tile::KernelOp kernel, const Machine &machine, ArrayRef<DotFacts> dots,
                                               int64_t pinnedWarps) {
    if (dots.empty() || kernel.getAnnotations().get("no_tma") || pinnedWarps % 4 != 0)
      return std::nullopt;
    auto canUse = [&](bool byThreads) {
      return llvm::all_of(dots, [&](const DotFacts &dot) { return canUseWgmma(dot, machine, byThreads); });
    };
    if (canUse(/*byThreads=*/false))
      return groupsOf(kernel, dots, pinnedWarps);
    if (dots.size() > 1 || !canUse(/*byThreads=*/true))
      return std::nullopt;
    std::optional<int64_t> groups = groupsOf(kernel, dots, pinnedWarps);
    return groups && fitsLaunchRegisters(kernel, dots, *groups) ? groups : std::nullopt;
  }

  static std::optional<int64_t> groupsOf(tile::KernelOp kernel, ArrayRef<DotFacts> dots, int64_t pinnedWarps) {
    int64_t groups = pinnedWarps ? pinnedWarps / 4 : chooseGroups(dots);
    if (dots.front().m % (64 * groups) == 0 && canSplit(kernel, dots))
      return groups;
    bool oneSuffices = pinnedWarps <= 4 && llvm::all_of(dots, [](const DotFacts &facts) {
                         return leastRegisters(facts, 1) <= mostConsumerRegisters;
                       });
    return oneSuffices ? std::optional<int64_t>(1) : std::nullopt;
  }

  // Blocks that take tiles side by side share what bulk copies bring.
  static LogicalResult planCluster(NamedAttrList &plan, tile::KernelOp kernel, bool wgmma) {
    WalkResult result = kernel.walk([&](tile::ParallelOp parallel) {
      auto blocks = parallel->getAttrOfType<DenseI64ArrayAttr>(tile::clusterName);
      if (!blocks)
        return WalkResult::advance();
      if (wgmma) {
        plan.set(tilegpu::tileClusterName, blocks);
        auto numbers = llvm::map_range(blocks.asArrayRef(), [](int64_t count) { return std::to_string(count); });
        parallel.emitRemark() << kernel.getSymName() << ": clusters of " << llvm::join(numbers, "x")
                              << " blocks, a tile each";
        return WalkResult::advance();
      }
      if (!parallel.getAnnotations().get("cluster"))
        return WalkResult::advance();
      parallel.emitError("E0709: `@cluster` cannot be honoured: blocks share the operands of products that wgmma "
                         "computes from bulk copies, and here there are none");
      return WalkResult::interrupt();
    });
    return failure(result.wasInterrupted());
  }

  // Registers, stores, products in flight and persistence of kernels with consumer groups.
  static LogicalResult planConsumers(NamedAttrList &plan, tile::KernelOp kernel, const Machine &machine,
                                     ArrayRef<DotFacts> dots, int64_t groups, IntegerAttr pinnedRegisters) {
    // Threads that copy operands bound the kernel; staging would take slots of their rings.
    bool bulkOperands =
        llvm::all_of(dots, [&](const DotFacts &dot) { return canUseWgmma(dot, machine, /*byThreads=*/false); });
    bool staged = markStagedStores(kernel, /*byThreads=*/bulkOperands);
    bool fills = staged && fillsMultiprocessor(dots, machine);
    bool alternate = fills && bulkOperands && !pinnedRegisters && canAlternate(kernel, machine, dots, groups);
    if (alternate)
      planAlternation(plan, kernel, groups);
    if (failed(planRegisters(plan, kernel, dots, {groups, alternate ? 1 : groups}, pinnedRegisters, staged)))
      return failure();
    planProducts(plan, kernel, groups, registersOfConsumers(plan, groups, pinnedRegisters, staged));
    if (fills)
      planPersistence(plan, kernel, dots, bulkOperands);
    return success();
  }

  // Whether groups that could share the rows of a tile may take whole tiles in turns, so that the epilogue of one runs
  // under the products of the other: all tiles alike, with a loop that does nothing but add products up, and a tile
  // fits into the registers of one group. Two slots hold what is multiplied: with three in all, groups that share tiles
  // are faster. Sums of 8-bit floats that are promoted need the other group beside every product.
  static bool canAlternate(tile::KernelOp kernel, const Machine &machine, ArrayRef<DotFacts> dots, int64_t groups) {
    constexpr int64_t leastSlots = 4, stagedBytes = 16 * 1024;
    if (groups != 2 || dots.size() != 1 || pinnedWarpsOf(kernel))
      return false;
    tile::DotOp dot = dots.front().op();
    auto loop = dyn_cast<scf::ForOp>(dot->getParentOp());
    if (!loop || !isa<tile::ParallelOp>(loop->getParentOp()) || loop.getNumResults() != 1 ||
        dot.getAcc() != loop.getRegionIterArg(0) || !dot->hasOneUse() ||
        loop.getYieldedValues().front() != dot.getResult())
      return false;
    auto stages = loop->getAttrOfType<IntegerAttr>(tile::stagesName);
    if (stages && stages.getInt() < leastSlots)
      return false;
    const DotFacts &facts = dots.front();
    int64_t slotBytes =
        facts.k * (facts.m * tilegpu::elementBytes(facts.lhs) + facts.n * tilegpu::elementBytes(facts.rhs));
    return !isPromoted(facts) && leastSlots * slotBytes + stagedBytes <= machine.sharedPerBlock &&
           runsAlikeInAllTiles(dot, kernel) && fitsOneGroup(kernel, dots, groups);
  }

  static void planAlternation(NamedAttrList &plan, tile::KernelOp kernel, int64_t groups) {
    Builder builder(kernel.getContext());
    plan.set("groups", builder.getI64IntegerAttr(1));
    plan.set("alternate", builder.getI64IntegerAttr(groups));
    kernel.emitRemark() << kernel.getSymName() << ": " << groups
                        << " groups take whole tiles in turns: one stores while the other multiplies";
  }

  // The blocks of a kernel without products. Of those that share a multiprocessor, the limit of registers follows;
  // where ptxas spills under it, the driver takes a block less.
  static void planBlocks(NamedAttrList &plan, tile::KernelOp kernel, const Machine &machine,
                         const StreamPlan &streams) {
    Builder builder(kernel.getContext());
    // Groups take an iteration each.
    if (streams.iterations > 1)
      plan.set("side_by_side", builder.getUnitAttr());
    if (streams.cluster > 1) {
      plan.set("cluster", builder.getI64IntegerAttr(streams.cluster));
      kernel.emitRemark() << kernel.getSymName() << ": an iteration takes a cluster of " << streams.cluster
                          << " blocks";
    }
    if (streams.fastest)
      plan.set("fastest", builder.getI64IntegerAttr(*streams.fastest));
    if (streams.blocks <= 1 || plan.get("maxregs"))
      return;
    int64_t threads = streams.warps * streams.iterations / streams.cluster * 32;
    int64_t registers = registersOfBlocks(machine, threads, streams.blocks);
    plan.set("blocks", builder.getI64IntegerAttr(streams.blocks));
    plan.set("maxregs", builder.getI64IntegerAttr(registers));
    kernel.emitRemark() << kernel.getSymName() << ": " << streams.blocks << " blocks a multiprocessor, up to "
                        << registers << " registers a thread";
  }

  // Rows of tiles that are visited together, such that the tiles of all multiprocessors at a time are as high as wide:
  // they then read least. On an H200 16 rows of 128x256 tiles gain up to 1 % over 8, and 32 lose as much.
  static int64_t rasterGroup(tile::KernelOp kernel, const Machine &machine) {
    int64_t rows = 0, columns = 0;
    kernel.walk([&](tile::ParallelOp parallel) {
      ArrayRef<int64_t> tiles = parallel.getTiles();
      if (tiles.size() >= 2) {
        rows = tiles[tiles.size() - 2];
        columns = tiles[tiles.size() - 1];
      }
    });
    if (rows <= 0 || columns <= 0)
      return 8;
    double group = std::sqrt(static_cast<double>(machine.multiprocessors * columns) / static_cast<double>(rows));
    return std::clamp<int64_t>(std::llround(group / 4) * 4, 4, 24);
  }

  // Accumulators leave through shared memory where TMA, or with `byThreads` the threads of a group, can store them from
  // there; false if none does.
  static bool markStagedStores(tile::KernelOp kernel, bool byThreads) {
    bool any = false;
    kernel.walk([&](tile::StoreOp store) {
      std::optional<BoxStore> box = comesFromDot(store.getValue()) ? matchBoxStore(store, 1) : std::nullopt;
      if (!box || (box->byThreads && !byThreads))
        return;
      any = true;
      store->setAttr(stagedStore, UnitAttr::get(store.getContext()));
      if (box->byThreads)
        store->setAttr(stagedByThreads, UnitAttr::get(store.getContext()));
      store.emitRemark() << kernel.getSymName() << ": `" << box->view.getName() << "` is stored by "
                         << (box->byThreads ? "threads" : "TMA") << ", from shared memory in units of " << box->unitRows
                         << "x" << box->unitColumns;
    });
    return any;
  }

  // Whether the rings of the products leave no room for a second block.
  static bool fillsMultiprocessor(ArrayRef<DotFacts> dots, const Machine &machine) {
    constexpr int64_t slots = 4;
    int64_t bytes = 0;
    for (const DotFacts &facts : dots) {
      int64_t rows = facts.lhsFromDot ? 0 : facts.m * tilegpu::elementBytes(facts.lhs);
      bytes += slots * facts.k * (rows + facts.n * tilegpu::elementBytes(facts.rhs));
    }
    return bytes > machine.sharedPerMultiprocessor / 2;
  }

  // A block that goes on to its next tile while the last one is being stored pays where it is alone on its
  // multiprocessor: on an H200 attention gains 1 % for 16384 keys and 20 % for 512. Tiles that take long, or unequally
  // long, are handed out one by one, those with the longest loops first (docs/decisions/queues-of-tiles.md).
  // One thread fills the rings of such blocks; one of another of the producer's warps asks the queue.
  static void planPersistence(NamedAttrList &plan, tile::KernelOp kernel, ArrayRef<DotFacts> dots, bool bulkOperands) {
    Builder builder(kernel.getContext());
    bool alike = llvm::all_of(dots, [&](const DotFacts &facts) { return runsAlikeInAllTiles(facts.op(), kernel); });
    // A queue hands tiles to single blocks.
    bool queued =
        bulkOperands && !plan.get(tilegpu::tileClusterName) && (!alike || plan.get("turns") || plan.get("delay"));
    if ((!alike && !queued) || !canRunOn(plan, kernel, dots, queued))
      return;
    plan.set("persistent", builder.getUnitAttr());
    if (queued)
      plan.set("queue", builder.getUnitAttr());
    // What consumers would keep in registers for all tiles they compute anew behind each one's products. Elsewhere that
    // costs attention 2 % (D = 128).
    if (queued && dots.size() > 1 && isShortOfRegisters(plan))
      plan.set("renumber", builder.getUnitAttr());
    kernel.emitRemark() << kernel.getSymName() << ": one block a multiprocessor, which "
                        << (queued ? "takes tile after tile from a queue" : "runs on from tile to tile");
  }

  static bool runsAlikeInAllTiles(Operation *op, tile::KernelOp kernel) {
    for (Operation *parent = op->getParentOp(); parent != kernel; parent = parent->getParentOp()) {
      auto loop = dyn_cast<scf::ForOp>(parent);
      if (!isa<tile::ParallelOp>(parent) &&
          (!loop || dependsOnIteration(loop.getLowerBound()) || dependsOnIteration(loop.getUpperBound())))
        return false;
    }
    return true;
  }

  // Whether a scalar may differ from tile to tile.
  static bool dependsOnIteration(Value scalar) {
    return anySource(scalar, [](Value value) {
      Operation *op = value.getDefiningOp();
      return !op || op->getNumRegions() > 0 || isa<tile::LoadOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
    });
  }

  // Whether an f32 operand is computed from narrower floats: meant for Tensor Cores, as far as the source shows.
  static bool isWidened(Value operand) {
    return getElementTypeOrSelf(operand).isF32() && anySource(operand, [](Value value) {
             Operation *op = value.getDefiningOp();
             return isa_and_nonnull<arith::ExtFOp>(op) ? WalkResult::interrupt()
                    : !op || isa<tile::LoadOp, tile::DotOp, tile::ReduceOp>(op) || op->getNumRegions() > 0
                        ? WalkResult::skip()
                        : WalkResult::advance();
           });
  }

  // One remark a dot; a fall to a slower instruction is a performance warning, except in the variant for unaligned
  // tensors, which exists for that.
  static void explain(tile::KernelOp kernel, const Machine &machine, ArrayRef<DotFacts> dots, bool wgmma, int64_t warps,
                      int64_t groups) {
    for (const DotFacts &facts : dots) {
      auto mma = facts.op()->getAttrOfType<tilegpu::MmaAttr>("mma");
      std::string shape =
          (mma.getKind() + " m" + Twine(mma.getM()) + "n" + Twine(mma.getN()) + "k" + Twine(mma.getK())).str();
      facts.op().emitRemark() << kernel.getSymName() << ": dot " << facts.m << "x" << facts.n << "x" << facts.k
                              << " by " << shape << ", " << groups << " group" << (groups > 1 ? "s" : "") << " of "
                              << warps << " warps";
      bool slower = machine.hasWgmma ? !wgmma : mma.getKind() == "fma";
      bool general = specializationOf(kernel) == "general";
      bool widened = mma.getKind() == "fma" && (isWidened(facts.op().getLhs()) || isWidened(facts.op().getRhs()));
      if (slower && !general && ((!facts.lhs.isF32() && !facts.lhs.isF64()) || widened))
        facts.op().emitWarning() << "this dot uses " << mma.getKind()
                                 << " instructions instead of the machine's fastest: "
                                 << (widened
                                         ? "an operand has been widened to f32, which Tensor Cores do not multiply; "
                                           "cast both operands to one type of 16 bits, or to tf32"
                                         : obstacleToWgmma(facts));
    }
    if (dots.empty())
      kernel.emitRemark() << kernel.getSymName() << ": " << warps << " warps an iteration, " << groups << " a block";
  }

  void setMma(const DotFacts &facts, StringRef kind, int64_t m, int64_t n, int64_t k, int64_t warpsM, int64_t warpsN) {
    facts.op()->setAttr("mma", tilegpu::MmaAttr::get(&getContext(), kind, m, n, k, warpsM, warpsN));
  }

  int64_t planWarpMma(tile::KernelOp kernel, ArrayRef<DotFacts> dots, const Machine &machine, int64_t pinned) {
    for (int64_t warps = pinned ? pinned : 8; warps >= std::max<int64_t>(pinned, 1); warps /= 2) {
      SmallVector<std::pair<int64_t, int64_t>> grids;
      for (const DotFacts &facts : dots) {
        std::optional<std::pair<int64_t, int64_t>> grid = warpGrid(facts, machine, warps, dots.size() > 1);
        if (!grid)
          break;
        grids.push_back(*grid);
      }
      if (grids.size() != dots.size())
        continue;
      for (auto [facts, grid] : llvm::zip(dots, grids))
        setMma(facts, "mma", 16, 8, warpMmaK(facts, machine), grid.first, grid.second);
      return warps;
    }
    // No Tensor Core shape fits: multiply-adds from shared memory, about 32 results a thread, and no thread holds more
    // than 64 elements of any tile if there are as many threads.
    int64_t results = largestTile(kernel);
    for (const DotFacts &facts : dots)
      results = std::max(results, facts.m * facts.n);
    int64_t warps = std::clamp<int64_t>(llvm::PowerOf2Ceil(llvm::divideCeil(results, 32 * 32)), 1, 8);
    warps = std::max<int64_t>(warps, std::min<int64_t>(llvm::PowerOf2Ceil(llvm::divideCeil(results, 64 * 32)), 32));
    if (pinned)
      warps = pinned;
    for (const DotFacts &facts : dots)
      setMma(facts, "fma", 1, 1, 1, warps, 1);
    return warps;
  }

  // f8 operands are widened to f16 where mma.sync has no f8 form.
  static int64_t warpMmaK(const DotFacts &facts, const Machine &machine) {
    int64_t k = tensorCoreK(facts);
    return isF8(facts.lhs) && !machine.hasF8 ? 16 : k;
  }

  // Products that feed one another keep whole rows in a warp; a single product takes the squarest share.
  static std::optional<std::pair<int64_t, int64_t>> warpGrid(const DotFacts &facts, const Machine &machine,
                                                             int64_t warps, bool wholeRows) {
    int64_t k = warpMmaK(facts, machine);
    if (k == 0)
      return std::nullopt;
    std::optional<std::pair<int64_t, int64_t>> best;
    int64_t leastTraffic = INT64_MAX;
    for (int64_t warpsN = 1; warpsN <= warps; warpsN *= 2) {
      int64_t warpsM = warps / warpsN;
      int64_t traffic = facts.m / std::max<int64_t>(warpsM, 1) + facts.n / warpsN;
      if ((wholeRows && warpsN > 1) || !fitsMma(facts, warpsM, warpsN, k) || traffic >= leastTraffic)
        continue;
      leastTraffic = traffic;
      best = {warpsM, warpsN};
    }
    return best;
  }

  /// Elements of the largest tile.
  static int64_t largestTile(tile::KernelOp kernel) {
    int64_t elements = 1;
    kernel.walk([&](Operation *op) {
      for (Value result : op->getResults())
        if (auto type = dyn_cast<RankedTensorType>(result.getType()))
          elements = std::max(elements, type.getNumElements());
    });
    return elements;
  }
};

} // namespace
