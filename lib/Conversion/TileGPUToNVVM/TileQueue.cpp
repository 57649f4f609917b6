// A thread beside the producer's deals the tiles out to the processes of its block: through a ring in shared memory it
// hands them the number of each tile and what they would have to divide for. The first tile is that of the block's own
// number; for each next one the thread adds one to a counter in global memory, when the producer has little left to do
// for the latest one, or, where a queue does not pay, it adds the grid to the number. All loops end when the ring says
// so. Consumers hold no numbers in registers while they multiply: what stands behind their loops reads the ring again.
#include "TileQueue.h"

#include "Channels.h"
#include "TileDecoding.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "tilec/Dialect/Tile/AttributeNames.h"
#include "tilec/Dialect/TileGPU/Queue.h"
#include "tilec/Transforms/HostExpression.h"
#include "tilec/Transforms/StagedStore.h"

using namespace mlir;
using namespace tilec;

// Bytes of an mbarrier object.
static constexpr int64_t barrierBytes = 8;
// What stands for the number of a tile when there are no more.
static constexpr int64_t noTile = -1;

static bool isPersistent(scf::ForOp loop) { return loop->hasAttr(persistentLoop); }

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

  /// The producer has asked for everything that its tile needs, and wants the next one.
  void want() { ptx.mbarrierArrive(wanted()); }

  /// Until the next tile is wanted, which is the one of this number among the block's.
  void awaitWanted(Value turn) {
    Value before = lowering.addConstant(turn, -1);
    Value parity = arith::AndIOp::create(builder, loc, before, lowering.constant32(1));
    ptx.mbarrierWait(wanted(), parity, lowering.machine.hasTma);
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
  Value wanted() {
    int64_t first = lowering.kernel->getAttrOfType<IntegerAttr>(tilegpu::queueOffsetName).getInt();
    return lowering.sharedAddress(first + tilegpu::queueBytes - barrierBytes);
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
  ptx.mbarrierInit(lowering.sharedAddress(full + tilegpu::queueBytes - barrierBytes), 1);
}

//===----------------------------------------------------------------------===//
// The loops
//===----------------------------------------------------------------------===//

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
    if (result)
      words.push_back(lowering.scalar(result));
  return words;
}

// do { hand the number on } while (it is a tile's), with the next one.
LogicalResult tilec::emitQueue(Lowering &lowering) {
  OpBuilder &builder = lowering.builder;
  Location loc = lowering.loc();
  tilegpu::ProcessOp process = decoderOf(lowering.kernel);
  scf::ForOp loop = persistentLoopOf(process);
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
  NumberRing ring(lowering, turn);
  ring.acquire();
  ring.awaitWanted(turn);
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
  void renumberThreads();
  void want(Value turn, Value condition);
  LogicalResult lowerProducer(Value turn);
  LogicalResult lowerBody(Value turn);

  Lowering &lowering;
  OpBuilder &builder;
  Location loc;
  scf::ForOp loop;
  Decoding decoding;
  bool isProducer;
  /// Memory of the producer: whether its block's next tile has been asked for.
  Value hasAsked;
};

} // namespace

// What the body uses of the tile, from the ring.
void QueuedLoop::read(Value turn) {
  NumberRing ring(lowering, turn);
  lowering.setScalar(loop.getInductionVar(), lowering.toIndex(ring.word(0, /*byWarp=*/!isProducer)));
  for (auto [i, result] : llvm::enumerate(decoding.results))
    if (result)
      lowering.setScalar(result, ring.word(i + 1, /*byWarp=*/!isProducer));
}

// What follows from a thread's number is computed anew behind the loops, instead of once for all tiles: to each number
// comes the sign of the tile's, which is 0 although no compiler knows.
void QueuedLoop::renumberThreads() {
  Value number = lowering.toI32(lowering.scalar(loop.getInductionVar()));
  Value zero = arith::ShRUIOp::create(builder, loc, number, lowering.constant32(31));
  for (Value *value : {&lowering.threadInGroup, &lowering.lane, &lowering.warp})
    *value = lowering.add(*value, zero);
}

// Scalars that stand before loops and are used behind them are computed again there.
LogicalResult QueuedLoop::lowerBody(Value turn) {
  Block *body = loop.getBody();
  Operation *behind = nullptr;
  llvm::SmallSetVector<Operation *, 16> again;
  llvm::SmallPtrSet<Value, 16> ofTile;
  for (Value result : decoding.results)
    if (result)
      ofTile.insert(result);
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
  lowering.resume = behind;
  Value thread = lowering.threadInGroup, lane = lowering.lane, warp = lowering.warp;
  lowering.whenResumed = [&]() -> LogicalResult {
    read(turn);
    if (lowering.kernel.getPlan().get("renumber"))
      renumberThreads();
    for (Operation *op : again)
      if (op->isBeforeInBlock(behind) && failed(lowering.lowerOp(op)))
        return failure();
    return success();
  };
  LogicalResult result = lowering.lowerBlock(*body);
  lowering.resume = nullptr;
  lowering.threadInGroup = thread;
  lowering.lane = lane;
  lowering.warp = warp;
  return result;
}

// Asks for the next tile, once for each, and only if the condition holds, where there is one.
void QueuedLoop::want(Value turn, Value condition) {
  Type i32 = builder.getI32Type();
  auto hasNotAsked = [&] {
    Value asked = LLVM::LoadOp::create(builder, loc, i32, hasAsked);
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, asked, lowering.constant32(0)).getResult();
  };
  Value asks = hasNotAsked();
  if (condition)
    asks = arith::AndIOp::create(builder, loc, asks, condition);
  lowering.emitIf(asks, [&] {
    NumberRing(lowering, turn).want();
    LLVM::StoreOp::create(builder, loc, lowering.constant32(1), hasAsked);
  });
}

// A tile that is taken early may be one that another block would begin sooner: the next one is asked for when only some
// transfers are left, which is time enough for the answer.
LogicalResult QueuedLoop::lowerProducer(Value turn) {
  constexpr int64_t lead = 2;
  scf::ForOp last;
  loop.getBody()->walk([&](scf::ForOp inner) { last = inner; });
  hasAsked = lowering.emitCounter();
  if (last) {
    lowering.resume = &last.getBody()->front();
    lowering.whenResumed = [&]() -> LogicalResult {
      auto number = [&](Value index) { return lowering.toI32(lowering.scalar(index)); };
      Value left = arith::SubIOp::create(builder, loc, number(last.getUpperBound()), number(last.getInductionVar()));
      want(turn, arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sle, left, lowering.constant32(lead)));
      return success();
    };
  }
  LogicalResult result = lowering.lowerBlock(*loop.getBody());
  lowering.resume = nullptr;
  want(turn, nullptr);
  LLVM::StoreOp::create(builder, loc, lowering.constant32(0), hasAsked);
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
  LogicalResult result = isProducer ? lowerProducer(turn) : lowerBody(turn);
  lowering.given.clear();
  if (failed(result))
    return failure();
  if (!isProducer)
    NumberRing(lowering, turn).release(/*byWarp=*/true);
  scf::YieldOp::create(builder, loc, lowering.addConstant(turn, 1));
  return success();
}

LogicalResult tilec::lowerQueuedLoop(Lowering &lowering, scf::ForOp loop) { return QueuedLoop(lowering, loop).run(); }
