// A thread beside the producer's deals the tiles out to the processes of its block: through a ring in shared memory it
// hands them the number of each tile and what they would have to divide for. The first tile is that of the block's own
// number; for each next one the thread adds one to a counter in global memory, as soon as the tile before the last has
// been left by all, or, where a queue does not pay, it adds the grid to the number. All loops end when the ring says
// so. Consumers hold no numbers in registers while they multiply: what stands behind their loops reads the ring again.
#include "TileQueue.h"

#include "Channels.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "tilec/Dialect/Tile/AttributeNames.h"
#include "tilec/Dialect/TileGPU/Queue.h"
#include "tilec/Transforms/HostExpression.h"
#include "tilec/Transforms/StagedStore.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace tilec;

// Bytes of an mbarrier object.
static constexpr int64_t barrierBytes = 8;
// What stands for the number of a tile when there are no more.
static constexpr int64_t noTile = -1;

static bool isPersistent(scf::ForOp loop) { return loop->hasAttr(persistentLoop); }

static scf::ForOp loopOf(tilegpu::ProcessOp process) {
  auto loops = process.getBody().front().getOps<scf::ForOp>();
  return *llvm::find_if(loops, isPersistent);
}

// Values of the whole kernel, which every process may read.
static bool isOfKernel(Value value) {
  Operation *op = value.getDefiningOp();
  return op && isa<tilegpu::KernelOp>(op->getParentOp());
}

bool tilec::hasQueue(tilegpu::KernelOp kernel) {
  if (!kernel->hasAttr(tilegpu::queueName))
    return false;
  int64_t producers = 0;
  bool simple = true;
  for (auto process : kernel.getOps<tilegpu::ProcessOp>()) {
    int64_t loops = 0;
    // A second warp asks the queue.
    simple &= !isElected(process) || process.getWarps() > 1;
    process.walk([&](scf::ForOp loop) {
      if (!isPersistent(loop))
        return;
      ++loops;
      simple &= loop.getInitArgs().empty() && loop->getParentOp() == process && isOfKernel(loop.getLowerBound()) &&
                isOfKernel(loop.getUpperBound()) && isOfKernel(loop.getStep());
    });
    producers += isElected(process);
    simple &= loops == 1;
  }
  return simple && producers == 1;
}

// 1 where a launch is worth a queue, else 0; a host expression. Clearing the counter costs a launch about 2 us. Without
// an expectation of the launch's time, rounds count.
static Attribute queuePays(tilegpu::KernelOp kernel) {
  constexpr int64_t leastPicoseconds = 40'000'000, leastRounds = 8;
  MLIRContext *context = kernel.getContext();
  Builder builder(context);
  auto constant = [&](int64_t value) { return builder.getI64IntegerAttr(value); };
  Attribute tiles = kernel->getAttr(tilegpu::queueName), blocks = builder.getStringAttr("sm_count");
  Attribute cost = kernel->getAttr(tile::costName);
  if (!cost)
    return hostOperation(context, "gt", {tiles, hostOperation(context, "mul", {blocks, constant(leastRounds)})});
  return hostOperation(context, "mul",
                       {hostOperation(context, "gt", {tiles, blocks}),
                        hostOperation(context, "gt", {cost, constant(leastPicoseconds - 1)})});
}

SmallVector<Attribute, 2> tilec::queueParameters(tilegpu::KernelOp kernel) {
  Builder builder(kernel.getContext());
  auto entry = [&](StringRef name, Attribute value) { return builder.getNamedAttr(name, value); };
  return {builder.getDictionaryAttr({entry("kind", builder.getStringAttr("pointer")),
                                     entry("tensor", builder.getStringAttr(tilegpu::queueWorkspace))}),
          builder.getDictionaryAttr({entry("kind", builder.getStringAttr("int")),
                                     entry("type", builder.getStringAttr("i32")), entry("value", queuePays(kernel))})};
}

void tilec::addQueueWorkspace(tilegpu::KernelOp kernel) {
  constexpr int64_t counterBytes = 4;
  auto module = kernel->getParentOfType<ModuleOp>();
  auto kernels = module->getAttrOfType<ArrayAttr>("tilec.kernels");
  if (!kernels)
    return;
  MLIRContext *context = kernel.getContext();
  Builder builder(context);
  Attribute bytes = hostOperation(context, "mul", {queuePays(kernel), builder.getI64IntegerAttr(counterBytes)});
  SmallVector<Attribute> entries(kernels.begin(), kernels.end());
  for (Attribute &entry : entries) {
    auto dict = dyn_cast<DictionaryAttr>(entry);
    if (!dict || dict.get("name") != kernel.getKernelAttr())
      continue;
    SmallVector<Attribute> workspaces;
    if (auto known = dict.getAs<ArrayAttr>("workspaces"))
      for (Attribute workspace : known) {
        // Another variant's queue: one of them runs.
        if (auto other = dyn_cast<DictionaryAttr>(workspace);
            other && other.getAs<StringAttr>("name") == tilegpu::queueWorkspace)
          bytes = hostOperation(context, "max", {other.get("bytes"), bytes});
        else
          workspaces.push_back(workspace);
      }
    workspaces.push_back(builder.getDictionaryAttr({
        builder.getNamedAttr("bytes", bytes),
        builder.getNamedAttr("clear", builder.getBoolAttr(true)),
        builder.getNamedAttr("name", builder.getStringAttr(tilegpu::queueWorkspace)),
    }));
    NamedAttrList changed(dict);
    changed.set("workspaces", builder.getArrayAttr(workspaces));
    entry = changed.getDictionary(context);
  }
  module->setAttr("tilec.kernels", builder.getArrayAttr(entries));
}

namespace {

// What processes need of a tile's number, from divisions: they get it beside the number.
struct Decoding {
  Value number;
  /// Arithmetic in 32 bits at the top of a loop, and the results that are used behind it in any process.
  SmallVector<Operation *> chain;
  SmallVector<Value> results;
};

// The ring of tile numbers at the lowering's insertion point, for the tile of this number among the block's.
class NumberRing {
public:
  NumberRing(Lowering &lowering, Value turn)
      : lowering(lowering), builder(lowering.builder), loc(lowering.loc()), ptx(builder, loc) {
    static_assert(tilegpu::queueSlots == 2, "the lowest bit of the tile's number is its slot, the next its phase");
    Value one = lowering.constant32(1);
    slot = arith::AndIOp::create(builder, loc, turn, one);
    phase = arith::AndIOp::create(builder, loc, arith::ShRUIOp::create(builder, loc, turn, one).getResult(), one);
  }

  void acquire() {
    Value flipped = arith::XOrIOp::create(builder, loc, phase, lowering.constant32(1));
    ptx.mbarrierWait(barrier(/*empty=*/true), flipped, lowering.machine.hasTma);
  }

  void send(ValueRange words) {
    for (auto [i, word] : llvm::enumerate(words))
      LLVM::StoreOp::create(builder, loc, word, ptx.sharedPointer(wordAddress(i)));
    ptx.mbarrierArrive(barrier(/*empty=*/false));
  }

  void receive() { ptx.mbarrierWait(barrier(/*empty=*/false), phase, lowering.machine.hasTma); }

  /// A word of the slot, read here.
  Value word(size_t number, bool byWarp) {
    Value value = ptx.loadShared(wordAddress(number));
    return byWarp ? ptx.broadcastFirstLane(value) : value;
  }

  /// By whole warps, whose lanes have shuffled what they read, or by one thread alone.
  void release(bool byWarp) {
    if (!byWarp) {
      ptx.mbarrierArrive(barrier(/*empty=*/true));
      return;
    }
    Value isFirst =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, lowering.lane, lowering.constant32(0));
    ptx.mbarrierArrive(barrier(/*empty=*/true), isFirst);
  }

private:
  Value place(int64_t offset, int64_t bytesOfSlot) {
    int64_t first = lowering.kernel->getAttrOfType<IntegerAttr>(tilegpu::queueOffsetName).getInt();
    return lowering.addConstant(lowering.add(lowering.sharedAddress(0), lowering.mulConstant(slot, bytesOfSlot)),
                                first + offset);
  }
  Value barrier(bool empty) { return place(empty ? tilegpu::queueSlots * barrierBytes : 0, barrierBytes); }
  Value wordAddress(size_t number) {
    constexpr int64_t wordBytes = 4;
    return place(tilegpu::queueSlots * 2 * barrierBytes + static_cast<int64_t>(number) * wordBytes,
                 tilegpu::queueWords * wordBytes);
  }

  Lowering &lowering;
  OpBuilder &builder;
  Location loc;
  Ptx ptx;
  Value slot, phase;
};

} // namespace

void tilec::initializeQueue(Lowering &lowering) {
  Ptx ptx(lowering.builder, lowering.loc());
  // A warp of consumers each, and the producer's thread.
  int64_t readers = 1, full = lowering.kernel->getAttrOfType<IntegerAttr>(tilegpu::queueOffsetName).getInt();
  for (auto process : lowering.kernel.getOps<tilegpu::ProcessOp>())
    if (!isElected(process))
      readers += process.getWarps() * process.getReplicas();
  for (int64_t slot = 0; slot < tilegpu::queueSlots; ++slot) {
    ptx.mbarrierInit(lowering.sharedAddress(full + slot * barrierBytes), 1);
    ptx.mbarrierInit(lowering.sharedAddress(full + (tilegpu::queueSlots + slot) * barrierBytes), readers);
  }
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

static bool isInteger32(Operation &op) {
  return op.getNumResults() == 1 && op.getNumRegions() == 0 && op.getResult(0).getType().isInteger(32) &&
         isa<arith::ArithDialect>(op.getDialect());
}

// Operations of a loop that depend on nothing but the tile's number and values of the whole kernel.
static Decoding chainOf(scf::ForOp loop) {
  Decoding decoding{loop.getInductionVar(), {}, {}};
  llvm::SmallPtrSet<Operation *, 16> chain;
  auto isKnown = [&](Value value) {
    Operation *op = value.getDefiningOp();
    return value == decoding.number || chain.contains(op) || isOfKernel(value);
  };
  for (Operation &op : *loop.getBody()) {
    if (!isInteger32(op) || !llvm::all_of(op.getOperands(), isKnown))
      continue;
    chain.insert(&op);
    decoding.chain.push_back(&op);
  }
  return decoding;
}

// Which results of the chain depend on the number and are used behind it.
static llvm::SmallBitVector usedResults(const Decoding &decoding) {
  llvm::SmallPtrSet<Operation *, 16> chain(decoding.chain.begin(), decoding.chain.end());
  llvm::SmallPtrSet<Value, 16> ofNumber;
  ofNumber.insert(decoding.number);
  llvm::SmallBitVector used(decoding.chain.size());
  for (auto [i, op] : llvm::enumerate(decoding.chain)) {
    if (llvm::none_of(op->getOperands(), [&](Value operand) { return ofNumber.contains(operand); }))
      continue;
    ofNumber.insert(op->getResult(0));
    used[i] = llvm::any_of(op->getUsers(), [&](Operation *user) { return !chain.contains(user); });
  }
  return used;
}

// Whether two processes compute the same from a number, operation by operation.
static bool areAlike(const Decoding &a, const Decoding &b) {
  llvm::SmallDenseMap<Value, Value> counterparts = {{a.number, b.number}};
  auto isSame = [&](Value left, Value right) {
    auto known = counterparts.find(left);
    return (known == counterparts.end() ? left : known->second) == right;
  };
  return llvm::equal(a.chain, b.chain, [&](Operation *left, Operation *right) {
    counterparts[left->getResult(0)] = right->getResult(0);
    return left->getName() == right->getName() && left->getAttrDictionary() == right->getAttrDictionary() &&
           llvm::equal(left->getOperands(), right->getOperands(), isSame);
  });
}

// What the ring holds of the tile, as values of one process; nothing where processes differ, a slot is too small, or
// nobody would divide.
static Decoding decodingOf(tilegpu::ProcessOp process) {
  llvm::SmallBitVector used;
  Decoding own = chainOf(loopOf(process));
  for (auto other : process->getParentOfType<tilegpu::KernelOp>().getOps<tilegpu::ProcessOp>()) {
    Decoding decoding = chainOf(loopOf(other));
    if (!areAlike(own, decoding))
      return {};
    used.resize(decoding.chain.size());
    used |= usedResults(decoding);
  }
  for (unsigned i : used.set_bits())
    own.results.push_back(own.chain[i]->getResult(0));
  return !own.results.empty() && own.results.size() < tilegpu::queueWords ? own : Decoding();
}

// The number and what it decodes to.
static SmallVector<Value> decode(Lowering &lowering, const Decoding &decoding, Value number) {
  SmallVector<Value> words = {number};
  if (decoding.results.empty())
    return words;
  lowering.setScalar(decoding.number, lowering.toIndex(number));
  for (Operation *op : decoding.chain)
    if (failed(lowering.lowerOp(op)))
      return {};
  for (Value result : decoding.results)
    words.push_back(lowering.scalar(result));
  return words;
}

//===----------------------------------------------------------------------===//
// The loops
//===----------------------------------------------------------------------===//

// do { hand the number on } while (it is a tile's), with the next one.
LogicalResult tilec::emitQueue(Lowering &lowering) {
  OpBuilder &builder = lowering.builder;
  Location loc = lowering.loc();
  tilegpu::ProcessOp process = *lowering.kernel.getOps<tilegpu::ProcessOp>().begin();
  scf::ForOp loop = loopOf(process);
  auto toI32 = [&](Value bound) { return lowering.toI32(lowering.scalar(bound)); };
  Value first = toI32(loop.getLowerBound()), count = toI32(loop.getUpperBound()), grid = toI32(loop.getStep());
  Value isQueued =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, lowering.queueFlag, lowering.constant32(0));
  Decoding decoding = decodingOf(process);
  SmallVector<Type> types(2, builder.getI32Type());
  auto copy = scf::WhileOp::create(builder, loc, types, ValueRange{lowering.constant32(0), first});
  OpBuilder::InsertionGuard guard(builder);
  Block *before = builder.createBlock(&copy.getBefore(), {}, types, {loc, loc});
  Value turn = before->getArgument(0), number = before->getArgument(1);
  // The number that ends the loops decodes to what the last tile's does.
  Value last = arith::SubIOp::create(builder, loc, count, lowering.constant32(1));
  SmallVector<Value> words = decode(lowering, decoding, arith::MinUIOp::create(builder, loc, number, last));
  if (words.empty())
    return failure();
  Value exists = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, number, count);
  words.front() = arith::SelectOp::create(builder, loc, exists, number, lowering.constant32(noTile));
  NumberRing(lowering, turn).send(words);
  scf::ConditionOp::create(builder, loc, exists, before->getArguments());
  Block *after = builder.createBlock(&copy.getAfter(), {}, types, {loc, loc});
  turn = lowering.addConstant(after->getArgument(0), 1);
  NumberRing(lowering, turn).acquire();
  auto branch = scf::IfOp::create(builder, loc, builder.getI32Type(), isQueued, /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard inBranch(builder);
    builder.setInsertionPointToEnd(branch.thenBlock());
    Value taken = Ptx(builder, loc).fetchAndAdd(lowering.queueCounter, lowering.constant32(1));
    scf::YieldOp::create(builder, loc, taken);
    builder.setInsertionPointToEnd(branch.elseBlock());
    scf::YieldOp::create(builder, loc, after->getArgument(1));
  }
  Value next = arith::AddIOp::create(builder, loc, branch.getResult(0), grid);
  scf::YieldOp::create(builder, loc, ValueRange{turn, next});
  return success();
}

namespace {

// The loop of one process; it carries the number of the tile among the block's.
class QueuedLoop {
public:
  QueuedLoop(Lowering &lowering, scf::ForOp loop)
      : lowering(lowering), builder(lowering.builder), loc(lowering.loc()), loop(loop),
        decoding(decodingOf(loop->getParentOfType<tilegpu::ProcessOp>())),
        isProducer(isElected(loop->getParentOfType<tilegpu::ProcessOp>())) {}

  LogicalResult run();

private:
  void read(Value turn);
  LogicalResult lowerBody(Value turn);

  Lowering &lowering;
  OpBuilder &builder;
  Location loc;
  scf::ForOp loop;
  Decoding decoding;
  bool isProducer;
};

} // namespace

// What the body uses of the tile, from the ring.
void QueuedLoop::read(Value turn) {
  NumberRing ring(lowering, turn);
  lowering.setScalar(loop.getInductionVar(), lowering.toIndex(ring.word(0, /*byWarp=*/!isProducer)));
  for (auto [i, result] : llvm::enumerate(decoding.results))
    lowering.setScalar(result, ring.word(i + 1, /*byWarp=*/!isProducer));
}

// Scalars that stand before loops and are used behind them are computed again there.
LogicalResult QueuedLoop::lowerBody(Value turn) {
  Block *body = loop.getBody();
  Operation *behind = nullptr;
  llvm::SmallSetVector<Operation *, 16> again;
  llvm::SmallPtrSet<Value, 16> ofTile(decoding.results.begin(), decoding.results.end());
  ofTile.insert(loop.getInductionVar());
  for (Operation &op : *body) {
    if (op.getNumRegions() > 0)
      behind = op.getNextNode();
    if (lowering.given.contains(&op) || op.getNumResults() != 1 || op.getNumRegions() > 0 || !isPure(&op) ||
        !op.getResult(0).getType().isIntOrIndex() ||
        llvm::none_of(op.getOperands(), [&](Value operand) { return ofTile.contains(operand); }))
      continue;
    again.insert(&op);
    ofTile.insert(op.getResult(0));
  }
  lowering.resume = isProducer ? nullptr : behind;
  lowering.whenResumed = [&]() -> LogicalResult {
    read(turn);
    for (Operation *op : again)
      if (op->isBeforeInBlock(behind) && failed(lowering.lowerOp(op)))
        return failure();
    return success();
  };
  LogicalResult result = lowering.lowerBlock(*body);
  lowering.resume = nullptr;
  return result;
}

LogicalResult QueuedLoop::run() {
  Type i32 = builder.getI32Type();
  // What does not depend on the tile.
  if (decode(lowering, decoding, lowering.toI32(lowering.scalar(loop.getLowerBound()))).empty())
    return failure();
  auto copy = scf::WhileOp::create(builder, loc, TypeRange{i32}, ValueRange{lowering.constant32(0)});
  OpBuilder::InsertionGuard guard(builder);
  Block *before = builder.createBlock(&copy.getBefore(), {}, {i32}, {loc});
  NumberRing ring(lowering, before->getArgument(0));
  ring.receive();
  Value number = ring.word(0, /*byWarp=*/!isProducer);
  Value exists = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, number, lowering.constant32(noTile));
  scf::ConditionOp::create(builder, loc, exists, before->getArguments());
  Block *body = builder.createBlock(&copy.getAfter(), {}, {i32}, {loc});
  Value turn = body->getArgument(0);
  read(turn);
  if (isProducer)
    NumberRing(lowering, turn).release(/*byWarp=*/false);
  lowering.given.insert_range(decoding.chain);
  LogicalResult result = lowerBody(turn);
  lowering.given.clear();
  if (failed(result))
    return failure();
  if (!isProducer)
    NumberRing(lowering, turn).release(/*byWarp=*/true);
  scf::YieldOp::create(builder, loc, lowering.addConstant(turn, 1));
  return success();
}

LogicalResult tilec::lowerQueuedLoop(Lowering &lowering, scf::ForOp loop) { return QueuedLoop(lowering, loop).run(); }
