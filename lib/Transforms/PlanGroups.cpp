// Consumer groups of wgmma products and their registers.
#include "PlanGroups.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "tilec/Transforms/AxisClasses.h"
#include "tilec/Transforms/StagedStore.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilec;

// What stores of accumulators by their threads take: addresses and masks of rows, which the loop carries along.
static constexpr int64_t registersOfStores = 56;

// Registers of a producer's thread that runs on from tile to tile without spilling, of one that has a single tile, and
// from which on a producer runs on although it may spill: in the consumers of such blocks the next tile still gains.
static constexpr int64_t runningProducer = 56, singleProducer = 24, leastRunningProducer = 32;

// Registers of a consumer's thread beside its peak from which on it gives some to a producer that runs on. In a chain
// the vector work between products uses them: attention with D = 256 loses 10 % with 20 of them (H200).
static constexpr int64_t slackOfProduct = 16, slackOfChain = 36;

// Descriptors and addresses beside the accumulators of an instruction: ptxas asks for 154 where it has 128 of them.
static constexpr int64_t besideAccumulators = 26;

// Sums of a thread of a promoted product: two accumulators of 64x192. ptxas holds them without spills.
static constexpr int64_t mostSums = 192;

// Registers that a thread of `groups` consumer groups and the producer has when the block starts.
static int64_t launchRegisters(int64_t groups) { return std::min<int64_t>(255, 512 / (groups + 1)) / 8 * 8; }

// Registers of a consumer's thread beside a producer's.
static int64_t registersBeside(int64_t groups, int64_t producer) {
  return std::min<int64_t>(mostConsumerRegisters, ((groups + 1) * launchRegisters(groups) - producer) / groups / 8 * 8);
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

// ptxas holds one instruction to the registers at launch, whatever setmaxnreg says.
static bool canIssue(ArrayRef<DotFacts> dots, int64_t groups) {
  return llvm::all_of(
      dots, [&](const DotFacts &facts) { return facts.n / 2 + besideAccumulators <= launchRegisters(groups); });
}

int64_t tilec::chooseGroups(ArrayRef<DotFacts> dots) {
  int64_t rows = dots.front().m / 64, columns = 0;
  for (const DotFacts &facts : dots) {
    if (facts.m / 64 != rows)
      return 1;
    columns += facts.n;
  }
  for (int64_t groups : {1, 2, 3, 4})
    if (rows % groups == 0 && rows / groups * columns / 2 <= 128 && (groups > 1 || rows == 1) && canIssue(dots, groups))
      return groups;
  for (int64_t groups : {4, 3, 2})
    if (rows % groups == 0 && canIssue(dots, groups))
      return groups;
  return 1;
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

bool tilec::canSplit(tile::KernelOp kernel, ArrayRef<DotFacts> dots) {
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

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

int64_t tilec::instructionColumns(const DotFacts &facts, int64_t groups) {
  if (!isPromoted(facts))
    return facts.n;
  int64_t most = std::min(mostSums, registersBeside(groups, singleProducer) - registersBesideTiles);
  int64_t left = most - facts.m / 64 / groups * facts.n / 2;
  for (int64_t pieces = 1; pieces <= facts.n / 8; ++pieces)
    if (facts.n % (8 * pieces) == 0 && facts.n / pieces / 2 <= left)
      return facts.n / pieces;
  return facts.n;
}

// Sums of a thread: accumulators, and what an instruction leaves beside them.
static int64_t registersOfSums(const DotFacts &facts, int64_t groups) {
  int64_t beside = isPromoted(facts) ? instructionColumns(facts, groups) / 2 : 0;
  return facts.m / 64 / groups * facts.n / 2 + beside;
}

int64_t tilec::leastRegisters(const DotFacts &facts, int64_t groups) {
  return registersOfSums(facts, groups) + besideAccumulators;
}

static LogicalResult checkRegisters(tile::KernelOp kernel, ArrayRef<DotFacts> dots, int64_t groups, int64_t available) {
  for (const DotFacts &facts : dots)
    if (int64_t least = leastRegisters(facts, groups); least > available)
      return kernel.emitError("E0709: `@maxregs` cannot be honoured: it leaves ")
             << available << " registers a thread to a product of " << facts.m << "x" << facts.n
             << " elements, which takes at least " << least;
  return success();
}

static bool hasNarrowResults(tile::KernelOp kernel) {
  return !kernel
              .walk([](tile::StoreOp store) {
                bool isNarrow = getElementTypeOrSelf(store.getValue().getType()).getIntOrFloatBitWidth() <= 16;
                return isNarrow ? WalkResult::advance() : WalkResult::interrupt();
              })
              .wasInterrupted();
}

static EpilogueKind kindOf(Operation *op, bool isNarrow) {
  if (isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::NegFOp, arith::MaximumFOp, arith::MinimumFOp>(op))
    return EpilogueKind::Arithmetic;
  auto quotient = dyn_cast<arith::DivFOp>(op);
  bool isShort = isa<math::ExpOp, math::Exp2Op, math::TanhOp, math::ErfOp>(op) ||
                 (quotient && matchPattern(quotient.getLhs(), m_OneFloat()));
  return isShort && isNarrow ? EpilogueKind::ShortFunctions : EpilogueKind::Functions;
}

// What works on the result of a product behind all loops, beside casts.
static EpilogueKind epilogueOf(tile::KernelOp kernel, ArrayRef<DotFacts> dots) {
  auto result = cast<RankedTensorType>(dots.back().op().getType());
  bool isNarrow = hasNarrowResults(kernel);
  EpilogueKind kind = EpilogueKind::None;
  kernel.walk([&](Operation *op) {
    auto type = op->getNumResults() == 1 ? dyn_cast<RankedTensorType>(op->getResult(0).getType()) : nullptr;
    bool works = type && type.getShape() == result.getShape() && OpTrait::hasElementwiseMappableTraits(op) &&
                 op->getNumOperands() > 0 && !isa<arith::TruncFOp, arith::ExtFOp, tile::CastOp>(op);
    if (works && !enclosingLoop(op))
      kind = std::max(kind, kindOf(op, isNarrow));
  });
  return kind;
}

static bool isOperandOfDot(tile::LoadOp load) {
  return llvm::any_of(load->getUsers(), [](Operation *user) { return isa<tile::DotOp, tile::CastOp>(user); });
}

// What a consumer's thread holds at once.
static int64_t peakRegisters(tile::KernelOp kernel, ArrayRef<DotFacts> dots, int64_t groups) {
  int64_t peak = registersBesideTiles;
  for (const DotFacts &facts : dots) {
    peak += registersOfSums(facts, groups);
    // An operand made from another product stays in registers, packed.
    if (facts.lhsFromDot)
      peak += facts.m / 64 / groups * facts.k * facts.lhs.getIntOrFloatBitWidth() / 64;
  }
  if (dots.size() == 1 && epilogueOf(kernel, dots) != EpilogueKind::None)
    peak += registersOfEpilogue;
  // Tiles loaded for the epilogue; a vector is held twice in each quad of columns.
  kernel.walk([&](tile::LoadOp load) {
    auto type = dyn_cast<RankedTensorType>(load.getType());
    if (type && !isOperandOfDot(load))
      peak += type.getRank() == 1 ? type.getNumElements() / 4 : type.getNumElements() / (128 * groups);
  });
  return peak;
}

bool tilec::fitsLaunchRegisters(tile::KernelOp kernel, ArrayRef<DotFacts> dots, int64_t groups) {
  return peakRegisters(kernel, dots, groups) + registersOfStores <= launchRegisters(groups);
}

// Beside a whole tile of accumulators all counts: vectors are held packed, parts of loaded tiles come with the units of
// the epilogue, and threads that store rows of any alignment have shifts and ends.
bool tilec::fitsOneGroup(tile::KernelOp kernel, ArrayRef<DotFacts> dots, int64_t groups) {
  constexpr int64_t registersOfShifts = 32;
  int64_t elements = dots.front().m * dots.front().n, tiles = 0, more = 0;
  kernel.walk([&](Operation *op) {
    if (op->hasAttr(stagedByThreads))
      more += registersOfShifts;
    auto load = dyn_cast<tile::LoadOp>(op);
    auto type = load ? dyn_cast<RankedTensorType>(load.getType()) : nullptr;
    if (!type || isOperandOfDot(load))
      return;
    if (type.getRank() > 1)
      ++tiles;
    else
      more += registersOfVector(elements, type.getNumElements(), tilegpu::elementBytes(type.getElementType()));
  });
  // Sums with loaded tiles need functions in full.
  EpilogueKind kind = tiles > 0 ? EpilogueKind::Functions : epilogueOf(kernel, dots);
  int64_t peak = registersOfWholeTile(elements, kind, tiles) + more;
  return peak <= registersBeside(groups, singleProducer);
}

// A quarter of a multiprocessor has 512 registers a lane, which 4-warp groups share at launch in steps of 8; one
// producer warp rounds up to a group. Where a thread's accumulators and registersBesideTiles other values exceed that,
// a whole producer group gives its registers to the consumers (`setmaxnreg`).
LogicalResult tilec::planRegisters(NamedAttrList &plan, tile::KernelOp kernel, ArrayRef<DotFacts> dots,
                                   ConsumerGroups consumers, IntegerAttr pinned, bool staged) {
  auto [groups, sharing] = consumers;
  // ptxas holds to the pinned number in all groups, whatever setmaxnreg says.
  if (pinned)
    return checkRegisters(kernel, dots, sharing, pinned.getInt());
  int64_t peak = peakRegisters(kernel, dots, sharing), launch = launchRegisters(groups);
  if (peak <= launch)
    return success();
  // A producer runs on from tile to tile where consumers can spare the registers. Where it does so anyway, with what
  // rounding leaves, consumers keep no more than they need.
  bool isChain = dots.size() > 1;
  int64_t remainder = (groups + 1) * launch - groups * registersBeside(groups, singleProducer);
  int64_t slack = !isChain ? slackOfProduct : remainder < leastRunningProducer ? slackOfChain : 0;
  bool spare = registersBeside(groups, runningProducer) >= peak + slack;
  int64_t producer = spare && (!isChain || staged) ? runningProducer : singleProducer;
  int64_t consumer = registersBeside(groups, producer);
  // What rounding leaves is the producer's.
  producer = std::max(producer, (groups + 1) * launch - groups * consumer);
  Builder builder(kernel.getContext());
  plan.set("producer_registers", builder.getI64IntegerAttr(producer));
  plan.set("consumer_registers", builder.getI64IntegerAttr(consumer));
  return success();
}

int64_t tilec::registersOfConsumers(const NamedAttrList &plan, int64_t groups, IntegerAttr pinned, bool staged) {
  auto planned = dyn_cast_or_null<IntegerAttr>(plan.get("consumer_registers"));
  int64_t registers = pinned ? pinned.getInt() : planned ? planned.getInt() : launchRegisters(groups);
  return registers - (staged ? 0 : registersOfStores);
}

bool tilec::isShortOfRegisters(const NamedAttrList &plan) {
  auto producer = dyn_cast_or_null<IntegerAttr>(plan.get("producer_registers"));
  return producer && producer.getInt() < leastRunningProducer;
}

bool tilec::canRunOn(const NamedAttrList &plan, tile::KernelOp kernel, ArrayRef<DotFacts> dots, bool queued) {
  if (dots.size() == 1 || !isShortOfRegisters(plan))
    return true;
  bool byThreads = false;
  kernel.walk(
      [&](tile::StoreOp store) { byThreads |= !store->hasAttr(stagedStore) || store->hasAttr(stagedByThreads); });
  return queued && !byThreads;
}
