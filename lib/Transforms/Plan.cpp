// plan: every choice of a kernel in one attribute.
#include "PlanProducts.h"
#include "PlanStreams.h"
#include "SwapOperands.h"
#include "TripCounts.h"
#include "mlir/IR/Matchers.h"
#include "tilec/Machine/Occupancy.h"
#include "tilec/Transforms/AxisClasses.h"
#include "tilec/Transforms/DotOperand.h"
#include "tilec/Transforms/Passes.h"
#include "tilec/Transforms/StagedStore.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

namespace tilec {
#define GEN_PASS_DEF_PLAN
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

namespace {

// One dot as the plan sees it.
struct DotFacts {
  tile::DotOp dot;
  int64_t m, n, k;
  Type lhs, rhs;
  bool lhsKMajor, rhsKMajor;
  bool lhsFromDot;

  tile::DotOp op() const { return dot; }
};

bool isF8(Type type) { return isa<Float8E4M3FNType, Float8E5M2Type>(type); }
bool is16Bit(Type type) { return type.isF16() || type.isBF16(); }

// Bytes of one element as a Tensor Core operand and the k of one 32-byte step; 0 if no Tensor Core takes the pair.
int64_t tensorCoreK(const DotFacts &facts) {
  if (is16Bit(facts.lhs) && facts.lhs == facts.rhs)
    return 16;
  if (facts.lhs.isTF32() && facts.rhs.isTF32())
    return 8;
  if (facts.lhs.isInteger(8) && facts.rhs.isInteger(8))
    return 32;
  if (isF8(facts.lhs) && isF8(facts.rhs))
    return 32;
  return 0;
}

bool dependsOnDot(Value value, unsigned depth = 24) {
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0 || rankOf(value) == 0)
    return false;
  if (isa<tile::DotOp>(op))
    return true;
  return llvm::any_of(op->getOperands(), [&](Value operand) { return dependsOnDot(operand, depth - 1); });
}

DotFacts factsOf(tile::DotOp dot) {
  auto lhs = cast<RankedTensorType>(dot.getLhs().getType()), rhs = cast<RankedTensorType>(dot.getRhs().getType());
  bool lhsKMajor = dot.getLhsContract()[0] == 1, rhsKMajor = dot.getRhsContract()[0] == 1;
  return {dot,
          lhs.getDimSize(lhsKMajor ? 0 : 1),
          rhs.getDimSize(rhsKMajor ? 0 : 1),
          lhs.getDimSize(lhsKMajor ? 1 : 0),
          lhs.getElementType(),
          rhs.getElementType(),
          lhsKMajor,
          rhsKMajor,
          dependsOnDot(dot.getLhs())};
}

// Whether wgmma can take this operand straight from a TMA ring.
bool hasTmaOperand(Value value, bool kMajor) {
  Type element = getElementTypeOrSelf(value);
  // tf32 values are casts of f32 loads; the hardware reads the f32 words and drops the low bits.
  if (auto cast = value.getDefiningOp<tile::CastOp>(); cast && element.isTF32())
    value = cast.getInput();
  std::optional<BoxLoad> box = matchBoxLoad(value);
  return box && box->kept.size() == 2 && (kMajor || is16Bit(element)) && tmaSpan(*box) != 0;
}

bool canUseWgmma(const DotFacts &facts, const Machine &machine) {
  int64_t k = tensorCoreK(facts);
  if (!machine.hasWgmma || k == 0 || facts.m % 64 != 0 || facts.n % 8 != 0 || facts.n > 256 || facts.k % k != 0)
    return false;
  // 8-bit integer shapes: n = 8, 24 or a multiple of 16 (PTX ISA, wgmma.mma_async matrix shapes).
  if (facts.lhs.isInteger(8) && facts.n % 16 != 0 && facts.n != 8 && facts.n != 24)
    return false;
  bool lhs = hasTmaOperand(facts.op().getLhs(), facts.lhsKMajor) ||
             (is16Bit(facts.lhs) && facts.lhsKMajor && facts.lhsFromDot);
  return lhs && hasTmaOperand(facts.op().getRhs(), facts.rhsKMajor);
}

// A product with fewer rows than wgmma has, or others, is computed transposed where its columns are such rows. The
// larger operand is then read once from memory: it shall not push the smaller one out of the second-level cache.
void swapNarrowProduct(tile::KernelOp kernel, const Machine &machine) {
  SmallVector<tile::DotOp> dots;
  kernel.walk([&](tile::DotOp dot) { dots.push_back(dot); });
  if (dots.size() != 1 || !machine.hasWgmma || kernel.getAnnotations().get("no_tma"))
    return;
  tile::DotOp dot = dots.front();
  DotFacts facts = factsOf(dot);
  int64_t k = tensorCoreK(facts);
  bool fits = k != 0 && facts.k % k == 0 && facts.m % 64 != 0 && facts.m % 8 == 0 && facts.m <= 256 &&
              facts.n % 64 == 0 && hasTmaOperand(dot.getLhs(), facts.lhsKMajor) &&
              hasTmaOperand(dot.getRhs(), facts.rhsKMajor);
  if (!fits || !swapOperands(dot))
    return;
  dot.emitRemark() << kernel.getSymName() << ": computed transposed, for a tile of " << facts.m << " rows";
  auto load = dot.getLhs().getDefiningOp<tile::LoadOp>();
  if (facts.m > 64 || !load || load.getAnnotations().get("evict"))
    return;
  NamedAttrList annotations(load.getAnnotations());
  annotations.set("evict", StringAttr::get(kernel.getContext(), "first"));
  load.setAnnotationsAttr(annotations.getDictionary(kernel.getContext()));
}

// Rows that m16n8 instructions of `warpsM` x `warpsN` warps can share.
bool fitsMma(const DotFacts &facts, int64_t warpsM, int64_t warpsN, int64_t k) {
  return facts.m % (16 * warpsM) == 0 && facts.n % (8 * warpsN) == 0 && facts.k % k == 0;
}

struct PlanPass : tilec::impl::PlanBase<PlanPass> {
  void runOnOperation() override {
    tile::KernelOp kernel = getOperation();
    const Machine &machine = targetMachine(kernel);
    swapNarrowProduct(kernel, machine);
    SmallVector<DotFacts> dots;
    kernel.walk([&](tile::DotOp dot) { dots.push_back(factsOf(dot)); });
    Builder builder(kernel.getContext());
    int64_t pinnedWarps = 0, groups = 1, warps = 0, blocks = 0, cluster = 1;
    std::optional<unsigned> fastest;
    kernel.walk([&](tile::ParallelOp parallel) {
      if (auto pinned = dyn_cast_or_null<IntegerAttr>(parallel.getAnnotations().get("warps")))
        pinnedWarps = pinned.getInt();
    });
    bool pinnedNoTma = static_cast<bool>(kernel.getAnnotations().get("no_tma"));
    bool wgmma = !dots.empty() && !pinnedNoTma && pinnedWarps % 4 == 0 &&
                 llvm::all_of(dots, [&](const DotFacts &dot) { return canUseWgmma(dot, machine); });
    if (wgmma) {
      groups = pinnedWarps ? pinnedWarps / 4 : chooseGroups(kernel, dots);
      warps = 4;
      if (dots.front().m % (64 * groups) != 0 || !canSplit(kernel, dots)) {
        groups = 1;
        wgmma = pinnedWarps <= 4 &&
                llvm::all_of(dots, [](const DotFacts &facts) { return leastRegisters(facts, 1) <= 240; });
      }
    }
    if (wgmma) {
      for (const DotFacts &facts : dots)
        setMma(facts, "wgmma", 64, facts.n, tensorCoreK(facts), 4, 1);
    } else if (!dots.empty()) {
      warps = planWarpMma(kernel, dots, machine, pinnedWarps);
    } else {
      StreamPlan streams = planStreams(kernel, machine, pinnedWarps);
      warps = streams.warps;
      groups = streams.iterations;
      blocks = streams.blocks;
      fastest = streams.fastest;
      cluster = streams.cluster;
    }
    explain(kernel, machine, dots, wgmma, warps, groups);
    NamedAttrList plan;
    plan.set("warps", builder.getI64IntegerAttr(warps));
    plan.set("groups", builder.getI64IntegerAttr(groups));
    plan.set("tma", builder.getBoolAttr(wgmma));
    auto pinnedRegisters = dyn_cast_or_null<IntegerAttr>(kernel.getAnnotations().get("maxregs"));
    bool staged = wgmma && markStagedStores(kernel);
    if (wgmma && failed(planRegisters(plan, kernel, dots, groups, pinnedRegisters, staged)))
      return signalPassFailure();
    if (wgmma)
      planProducts(plan, kernel, groups,
                   registersOfConsumers(plan, groups, pinnedRegisters) - (staged ? 0 : registersOfStores));
    if (staged && canRunOn(plan, dots) && fillsMultiprocessor(dots, machine))
      planPersistence(plan, kernel, dots);
    plan.set("raster", builder.getI64IntegerAttr(dots.empty() ? 0 : wgmma ? rasterGroup(kernel, machine) : 8));
    // Groups of a kernel without products take an iteration each.
    if (dots.empty() && groups > 1)
      plan.set("side_by_side", builder.getUnitAttr());
    if (cluster > 1) {
      plan.set("cluster", builder.getI64IntegerAttr(cluster));
      kernel.emitRemark() << kernel.getSymName() << ": an iteration takes a cluster of " << cluster << " blocks";
    }
    if (fastest)
      plan.set("fastest", builder.getI64IntegerAttr(*fastest));
    if (pinnedRegisters)
      plan.set("maxregs", pinnedRegisters);
    else if (blocks > 1)
      planBlocks(plan, kernel, machine, warps * groups / cluster * 32, blocks);
    kernel->setAttr("plan", plan.getDictionary(kernel.getContext()));
  }

  // A limit of registers with which as many blocks share a multiprocessor; where ptxas spills under it, the driver takes
  // a block less.
  static void planBlocks(NamedAttrList &plan, tile::KernelOp kernel, const Machine &machine, int64_t threads,
                         int64_t blocks) {
    Builder builder(kernel.getContext());
    int64_t registers = registersOfBlocks(machine, threads, blocks);
    plan.set("blocks", builder.getI64IntegerAttr(blocks));
    plan.set("maxregs", builder.getI64IntegerAttr(registers));
    kernel.emitRemark() << kernel.getSymName() << ": " << blocks << " blocks a multiprocessor, up to " << registers
                        << " registers a thread";
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

  // Accumulators leave through shared memory where TMA can store them; false if none does.
  static bool markStagedStores(tile::KernelOp kernel) {
    bool any = false;
    kernel.walk([&](tile::StoreOp store) {
      std::optional<BoxStore> box = comesFromProduct(store.getValue()) ? matchBoxStore(store, 1) : std::nullopt;
      if (!box)
        return;
      any = true;
      store->setAttr(stagedStore, UnitAttr::get(store.getContext()));
      store.emitRemark() << kernel.getSymName() << ": `" << box->view.getName()
                         << "` is stored by TMA, from shared memory in units of " << box->unitRows << "x"
                         << box->unitColumns;
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
  // multiprocessor: on an H200 attention gains 1 % for 16384 keys and 20 % for 512. The tiles are dealt out in advance,
  // so that they must take as long as each other, or fall steadily: causal attention gains 8 % for 4096 keys and 18 % for
  // 1024 when every other round is dealt out backwards.
  static void planPersistence(NamedAttrList &plan, tile::KernelOp kernel, ArrayRef<DotFacts> dots) {
    Builder builder(kernel.getContext());
    bool alike = llvm::all_of(dots, [&](const DotFacts &facts) { return runsAlikeInAllTiles(facts.op(), kernel); });
    bool falls = llvm::any_of(kernel.getOps<tile::ParallelOp>(), [](tile::ParallelOp parallel) {
      return llvm::any_of(llvm::seq<unsigned>(parallel.getLower().size()),
                          [&](unsigned dim) { return growsWithIteration(parallel, dim); });
    });
    if (!alike && !falls)
      return;
    plan.set("persistent", builder.getUnitAttr());
    if (!alike)
      plan.set("alternating", builder.getUnitAttr());
    kernel.emitRemark() << kernel.getSymName() << ": one block a multiprocessor, which runs on from tile to tile"
                        << (alike ? "" : ", in rounds forwards and backwards");
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
  static bool dependsOnIteration(Value value, unsigned depth = 24) {
    Operation *op = value.getDefiningOp();
    if (!op || depth == 0 || op->getNumRegions() > 0 || isa<tile::LoadOp>(op))
      return true;
    return llvm::any_of(op->getOperands(), [&](Value operand) { return dependsOnIteration(operand, depth - 1); });
  }

  // What stores of accumulators by their threads take: addresses and masks of rows, which the loop carries along.
  static constexpr int64_t registersOfStores = 56;

  // Registers of a producer that keeps the numbers of its tile.
  static constexpr int64_t runningProducer = 40;

  // Whether the producer has the registers to go on from tile to tile.
  static bool canRunOn(const NamedAttrList &plan, ArrayRef<DotFacts> dots) {
    auto producer = dyn_cast_or_null<IntegerAttr>(plan.get("producer_registers"));
    return dots.size() == 1 || !producer || producer.getInt() >= runningProducer;
  }

  // What an instruction of this product needs at least: its accumulators, and descriptors and addresses (ptxas asks for
  // 154 where it has 128 of them).
  static int64_t leastRegisters(const DotFacts &facts, int64_t groups) {
    return facts.m / 64 / groups * facts.n / 2 + 26;
  }

  LogicalResult checkRegisters(tile::KernelOp kernel, ArrayRef<DotFacts> dots, int64_t groups, int64_t available) {
    for (const DotFacts &facts : dots)
      if (int64_t least = leastRegisters(facts, groups); least > available)
        return kernel.emitError("E0709: `@maxregs` cannot be honoured: it leaves ")
               << available << " registers a thread to a product of " << facts.m << "x" << facts.n
               << " elements, which takes at least " << least;
    return success();
  }

  // A quarter of a multiprocessor has 512 registers a lane, which 4-warp groups share at launch in steps of 8; one
  // producer warp rounds up to a group. Where a thread's accumulators and about 28 other values exceed that, a whole
  // producer group gives its registers to the consumers (`setmaxnreg`).
  LogicalResult planRegisters(NamedAttrList &plan, tile::KernelOp kernel, ArrayRef<DotFacts> dots, int64_t groups,
                              IntegerAttr pinned, bool staged) {
    // ptxas holds to the pinned number in all groups, whatever setmaxnreg says.
    if (pinned)
      return checkRegisters(kernel, dots, groups, pinned.getInt());
    int64_t peak = 28;
    for (const DotFacts &facts : dots) {
      peak += facts.m / 64 / groups * facts.n / 2;
      // An operand made from another product stays in registers, packed.
      if (facts.lhsFromDot)
        peak += facts.m / 64 / groups * facts.k * facts.lhs.getIntOrFloatBitWidth() / 64;
    }
    // Tiles loaded for the epilogue; a vector is held twice in each quad of columns.
    kernel.walk([&](tile::LoadOp load) {
      auto type = dyn_cast<RankedTensorType>(load.getType());
      bool feedsDot =
          llvm::any_of(load->getUsers(), [](Operation *user) { return isa<tile::DotOp, tile::CastOp>(user); });
      if (type && !feedsDot)
        peak += type.getRank() == 1 ? type.getNumElements() / 4 : type.getNumElements() / (128 * groups);
    });
    int64_t launch = launchRegisters(groups);
    if (peak <= launch)
      return success();
    auto consumerBeside = [&](int64_t producer) {
      return std::min<int64_t>(240, ((groups + 1) * launch - producer) / groups / 8 * 8);
    };
    // A producer that runs on from tile to tile wants 40; 24 are enough for one of a single tile. Vector work between
    // products takes all that there is, unless that is plenty.
    bool isChain = dots.size() > 1;
    bool spare = consumerBeside(runningProducer) >= peak + (isChain ? 40 : 16);
    int64_t producer = spare && (!isChain || staged) ? runningProducer : 24;
    int64_t consumer = consumerBeside(producer);
    Builder builder(&getContext());
    plan.set("producer_registers", builder.getI64IntegerAttr(producer));
    plan.set("consumer_registers", builder.getI64IntegerAttr(consumer));
    return success();
  }

  // Why a dot does not get the machine's fastest instruction; empty if it does.
  static std::string obstacle(const DotFacts &facts) {
    int64_t k = tensorCoreK(facts);
    if (k == 0)
      return "Tensor Cores do not multiply these types";
    if (facts.m % 64 != 0)
      return "its rows (" + std::to_string(facts.m) + ") are not a multiple of 64";
    if (facts.n % 8 != 0 || facts.n > 256)
      return "its columns (" + std::to_string(facts.n) + ") are not a multiple of 8 up to 256";
    if (facts.k % k != 0)
      return "its depth (" + std::to_string(facts.k) + ") is not a multiple of " + std::to_string(k);
    return "an operand is no box of an input tensor whose rows are multiples of 16 bytes";
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
      if (slower && !general && !facts.lhs.isF32() && !facts.lhs.isF64())
        facts.op().emitWarning() << "this dot uses " << mma.getKind()
                                 << " instructions instead of the machine's fastest: " << obstacle(facts);
    }
    if (dots.empty())
      kernel.emitRemark() << kernel.getSymName() << ": " << warps << " warps an iteration, " << groups << " a block";
  }

  void setMma(const DotFacts &facts, StringRef kind, int64_t m, int64_t n, int64_t k, int64_t warpsM, int64_t warpsN) {
    facts.op()->setAttr("mma", tilegpu::MmaAttr::get(&getContext(), kind, m, n, k, warpsM, warpsN));
  }

  // Registers that a thread of `groups` consumer groups and the producer has when the block starts.
  static int64_t launchRegisters(int64_t groups) { return std::min<int64_t>(255, 512 / (groups + 1)) / 8 * 8; }

  // What a thread of a consumer group has once the roles have shared the registers.
  static int64_t registersOfConsumers(const NamedAttrList &plan, int64_t groups, IntegerAttr pinned) {
    if (pinned)
      return pinned.getInt();
    auto planned = dyn_cast_or_null<IntegerAttr>(plan.get("consumer_registers"));
    return planned ? planned.getInt() : launchRegisters(groups);
  }

  // ptxas holds one instruction to the registers at launch, whatever setmaxnreg says.
  static bool canIssue(ArrayRef<DotFacts> dots, int64_t groups) {
    return llvm::all_of(dots, [&](const DotFacts &facts) { return facts.n / 2 + 26 <= launchRegisters(groups); });
  }

  // Accumulators of all dots that live at once, at most 128 registers a thread, decide how many groups share the rows.
  int64_t chooseGroups(tile::KernelOp kernel, ArrayRef<DotFacts> dots) {
    int64_t rows = dots.front().m / 64, columns = 0;
    for (const DotFacts &facts : dots) {
      if (facts.m / 64 != rows)
        return 1;
      columns += facts.n;
    }
    for (int64_t groups : {1, 2, 3, 4})
      if (rows % groups == 0 && rows / groups * columns / 2 <= 128 && (groups > 1 || rows == 1) &&
          canIssue(dots, groups))
        return groups;
    for (int64_t groups : {4, 3, 2})
      if (rows % groups == 0 && canIssue(dots, groups))
        return groups;
    return 1;
  }

  // The rows can be shared by groups if nothing reduces, contracts or omits them.
  bool canSplit(tile::KernelOp kernel, ArrayRef<DotFacts> dots) {
    AxisClasses classes(kernel);
    unsigned rows = classes.classOf(dots.front().op().getResult(), 0);
    for (const DotFacts &facts : dots)
      if (classes.classOf(facts.op().getResult(), 0) != rows || classes.classOf(facts.op().getResult(), 1) == rows)
        return false;
    bool possible = true;
    kernel.walk([&](Operation *op) {
      if (auto reduce = dyn_cast<tile::ReduceOp>(op))
        possible &= classes.classOf(reduce.getAxis()) != rows;
      if (auto dot = dyn_cast<tile::DotOp>(op))
        possible &= classes.classOf(dot.getAxes()[0]) != rows;
      if (isa<tile::StoreOp, tile::AtomicOp>(op)) {
        int64_t count = 0;
        Value value = op->getOperand(0);
        for (int64_t d = 0; d < rankOf(value); ++d)
          count += classes.classOf(value, d) == rows;
        possible &= count == 1;
      }
      DenseElementsAttr elements;
      if (matchPattern(op, m_Constant(&elements)) && !elements.isSplat())
        possible = false;
    });
    for (auto [value, dim] : classes.members(rows))
      if (dim < 0 && !value.getDefiningOp<tile::AxisOp>())
        possible = false;
    return possible && rowsStayApart(kernel, classes, rows);
  }

  // Groups do not wait for each other: of a tensor that is stored more than once, or stored and read, each touches its
  // own rows in all accesses.
  static bool rowsStayApart(tile::KernelOp kernel, AxisClasses &classes, unsigned rows) {
    llvm::MapVector<Value, SmallVector<ValueRange>> accesses;
    kernel.walk([&](Operation *op) {
      llvm::TypeSwitch<Operation *>(op).Case<tile::LoadOp, tile::StoreOp, tile::AtomicOp>([&](auto access) {
        auto view = access.getView().template getDefiningOp<tile::ViewOp>();
        if (view.getAccess() != tile::Access::in)
          accesses[view].push_back(access.getSubscripts());
      });
    });
    // Dimension d of a tensor with these subscripts.
    auto isRow = [&](ArrayRef<ValueRange> subscripts, size_t d) {
      Value first = subscripts.front()[d];
      return first.getDefiningOp<tile::PosOp>() && classes.classOf(first, 0) == rows &&
             llvm::all_of(subscripts, [&](ValueRange other) { return other[d] == first; });
    };
    return llvm::all_of(accesses, [&](const auto &entry) {
      ArrayRef<ValueRange> subscripts = entry.second;
      return subscripts.size() == 1 ||
             llvm::any_of(llvm::seq(subscripts.front().size()), [&](size_t d) { return isRow(subscripts, d); });
    });
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
