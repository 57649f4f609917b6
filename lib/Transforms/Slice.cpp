// slice: the sequential program projected onto a producer process and replicated consumer processes.
#include "AlternateGroups.h"
#include "OwnTrips.h"
#include "SlotTurnover.h"

#include "mlir/IR/IRMapping.h"
#include "tilec/Dialect/TileGPU/Queue.h"
#include "tilec/Transforms/AxisClasses.h"
#include "tilec/Transforms/Passes.h"
#include "llvm/ADT/SetVector.h"

namespace tilec {
#define GEN_PASS_DEF_SLICE
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

namespace {

bool isProducerOp(Operation *op) { return isa<tilegpu::AcquireOp, tilegpu::FillOp, tilegpu::CommitOp>(op); }

// An operation with an effect of its own, which belongs to exactly one role.
bool isEffect(Operation *op) {
  if (isa<scf::ForOp, scf::IfOp, scf::WhileOp, scf::YieldOp, scf::ConditionOp, tilegpu::ChanOp, tilegpu::AllocOp,
          tilegpu::StagingOp>(op))
    return false;
  return !isMemoryEffectFree(op) && !isa<tile::LoadOp, tilegpu::MmaOp, tilegpu::LocalLoadOp>(op);
}

// Clones the part of a program that one role needs: the effects it owns, and the values and control flow these use.
class Projection {
public:
  /// `ownTrips`: loops that the role leaves before others do.
  explicit Projection(function_ref<bool(Operation *)> owns, ArrayRef<OwnTrips> ownTrips = {})
      : owns(owns), ownTrips(ownTrips) {}

  // Closes the set of needed values and operations over `body`.
  void close(Block &body) {
    body.walk([&](Operation *op) {
      if (isEffect(op) && owns(op))
        needOp(op);
    });
    while (!work.empty())
      needDefinition(work.pop_back_val());
  }

  ArrayRef<Operation *> operations() const { return ops.getArrayRef(); }

  void cloneBlock(Block &from, OpBuilder &builder, IRMapping &map) {
    for (Operation &op : from.without_terminator())
      if (ops.contains(&op))
        cloneOp(&op, builder, map);
  }

  bool isNeeded(Operation *op) const { return ops.contains(op); }

  /// Behind each loop with a bound of its own: receives and releases what other groups still need.
  void drain(IRMapping &map) {
    for (auto [number, trips] : llvm::enumerate(ownTrips)) {
      auto loop = cast<scf::ForOp>(clones.lookup(trips.loop));
      Operation *top = clones.lookup(trips.top);
      OpBuilder builder(top->getContext());
      builder.setInsertionPointAfter(top);
      auto drain = scf::ForOp::create(builder, loop.getLoc(), map.lookup(trips.own), wholes.lookup(number),
                                      arith::ConstantIndexOp::create(builder, loop.getLoc(), 1));
      Attribute name = builder.getI64IntegerAttr(number);
      loop->setAttr(ownTripsName, name);
      drain->setAttr(restName, name);
      builder.setInsertionPointToStart(drain.getBody());
      for (auto receive : loop.getBody()->getOps<tilegpu::ReceiveOp>()) {
        Operation *item = builder.clone(*receive);
        tilegpu::ReleaseOp::create(builder, receive.getLoc(), item->getResult(0), receive.getChan());
      }
    }
  }

  void cloneTopLevel(Operation *op, OpBuilder &builder, IRMapping &map) { cloneOp(op, builder, map); }

private:
  void needValue(Value value) {
    if (!values.insert(value))
      return;
    work.push_back(value);
    for (const OwnTrips &trips : ownTrips)
      if (trips.whole == value)
        needValue(trips.own);
  }

  // An operation is needed: with it its operands and the regions it stands in.
  void needOp(Operation *op) {
    if (!ops.insert(op))
      return;
    if (Operation *parent = op->getParentOp(); isa<scf::ForOp, scf::IfOp, scf::WhileOp>(parent))
      needOp(parent);
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      needValue(loop.getLowerBound());
      needValue(loop.getUpperBound());
      needValue(loop.getStep());
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      needValue(branch.getCondition());
    } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      // Its carried scalars decide how often it runs: all of them are needed.
      for (Value init : loop.getInits())
        needValue(init);
      for (Operation *terminator : {loop.getConditionOp().getOperation(), loop.getYieldOp().getOperation()})
        for (Value operand : terminator->getOperands())
          needValue(operand);
    } else {
      for (Value operand : op->getOperands())
        needValue(operand);
    }
  }

  void needDefinition(Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      Operation *parent = argument.getOwner()->getParentOp();
      needOp(parent);
      if (auto loop = dyn_cast<scf::ForOp>(parent); loop && argument != loop.getInductionVar())
        needCarried(loop, argument.getArgNumber() - 1);
      return;
    }
    auto result = cast<OpResult>(value);
    needOp(result.getOwner());
    if (auto loop = dyn_cast<scf::ForOp>(result.getOwner()))
      needCarried(loop, result.getResultNumber());
    if (auto branch = dyn_cast<scf::IfOp>(result.getOwner()))
      for (Region *region : {&branch.getThenRegion(), &branch.getElseRegion()})
        needValue(region->front().getTerminator()->getOperand(result.getResultNumber()));
  }

  void needCarried(scf::ForOp loop, unsigned index) {
    needValue(loop.getRegionIterArg(index));
    needValue(loop.getResult(index));
    needValue(loop.getInitArgs()[index]);
    needValue(loop.getYieldedValues()[index]);
  }

  void cloneOp(Operation *op, OpBuilder &builder, IRMapping &map) {
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return cloneFor(loop, builder, map);
    if (auto branch = dyn_cast<scf::IfOp>(op))
      return cloneIf(branch, builder, map);
    if (auto loop = dyn_cast<scf::WhileOp>(op))
      return cloneWhile(loop, builder, map);
    builder.clone(*op, map);
    // From here on the own bound takes the place of the whole one.
    for (auto [number, trips] : llvm::enumerate(ownTrips))
      if (trips.own.getDefiningOp() == op) {
        wholes[number] = map.lookup(trips.whole);
        map.map(trips.whole, map.lookup(trips.own));
      }
  }

  void cloneFor(scf::ForOp loop, OpBuilder &builder, IRMapping &map) {
    SmallVector<unsigned> kept;
    SmallVector<Value> inits;
    for (unsigned i = 0; i < loop.getNumResults(); ++i)
      if (values.contains(loop.getRegionIterArg(i))) {
        kept.push_back(i);
        inits.push_back(map.lookup(loop.getInitArgs()[i]));
      }
    auto copy = scf::ForOp::create(builder, loop.getLoc(), map.lookup(loop.getLowerBound()),
                                   map.lookup(loop.getUpperBound()), map.lookup(loop.getStep()), inits);
    copy->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
    clones[loop] = copy;
    map.map(loop.getInductionVar(), copy.getInductionVar());
    for (auto [j, i] : llvm::enumerate(kept)) {
      map.map(loop.getRegionIterArg(i), copy.getRegionIterArg(j));
      map.map(loop.getResult(i), copy.getResult(j));
    }
    Block *body = copy.getBody();
    if (!body->empty())
      body->back().erase();
    OpBuilder inner = OpBuilder::atBlockEnd(body);
    cloneBlock(*loop.getBody(), inner, map);
    SmallVector<Value> yielded;
    for (unsigned i : kept)
      yielded.push_back(map.lookup(loop.getYieldedValues()[i]));
    scf::YieldOp::create(inner, loop.getLoc(), yielded);
  }

  void cloneIf(scf::IfOp branch, OpBuilder &builder, IRMapping &map) {
    SmallVector<unsigned> kept;
    SmallVector<Type> types;
    for (auto [i, result] : llvm::enumerate(branch.getResults()))
      if (values.contains(result)) {
        kept.push_back(i);
        types.push_back(result.getType());
      }
    bool hasElse = !branch.getElseRegion().empty();
    auto copy = scf::IfOp::create(builder, branch.getLoc(), types, map.lookup(branch.getCondition()),
                                  /*addThenBlock=*/true, /*addElseBlock=*/hasElse);
    clones[branch] = copy;
    for (unsigned r = 0; r < (hasElse ? 2u : 1u); ++r) {
      Block *body = &copy->getRegion(r).front();
      if (!body->empty())
        body->back().erase();
      OpBuilder inner = OpBuilder::atBlockEnd(body);
      Block &source = branch->getRegion(r).front();
      cloneBlock(source, inner, map);
      SmallVector<Value> yielded;
      for (unsigned i : kept)
        yielded.push_back(map.lookup(source.getTerminator()->getOperand(i)));
      scf::YieldOp::create(inner, branch.getLoc(), yielded);
    }
    for (auto [j, i] : llvm::enumerate(kept))
      map.map(branch.getResult(i), copy.getResult(j));
  }

  void cloneWhile(scf::WhileOp loop, OpBuilder &builder, IRMapping &map) {
    SmallVector<Value> inits;
    for (Value init : loop.getInits())
      inits.push_back(map.lookup(init));
    auto copy = scf::WhileOp::create(builder, loop.getLoc(), loop.getResultTypes(), inits);
    for (unsigned r : {0u, 1u}) {
      Block &source = loop->getRegion(r).front();
      Block *body = builder.createBlock(&copy->getRegion(r), {}, source.getArgumentTypes(),
                                        SmallVector<Location>(source.getNumArguments(), loop.getLoc()));
      map.map(source.getArguments(), body->getArguments());
      OpBuilder inner = OpBuilder::atBlockEnd(body);
      cloneBlock(source, inner, map);
      inner.clone(*source.getTerminator(), map);
    }
    builder.setInsertionPointAfter(copy);
    map.map(loop.getResults(), copy.getResults());
  }

  function_ref<bool(Operation *)> owns;
  ArrayRef<OwnTrips> ownTrips;
  /// Of loops and branches, and by the number of `ownTrips`, the bounds of the others.
  llvm::DenseMap<Operation *, Operation *> clones;
  llvm::DenseMap<size_t, Value> wholes;
  llvm::SetVector<Operation *> ops;
  llvm::SetVector<Value> values;
  SmallVector<Value> work;
};

struct SlicePass : tilec::impl::SliceBase<SlicePass> {
  void runOnOperation() override {
    tilegpu::KernelOp kernel = getOperation();
    // Rings that wgmma reads have a producer of their own, a thread for TMA and a group for copies by threads.
    bool hasTma = false, hasCopies = false;
    kernel.walk([&](tilegpu::ChanOp chan) { (chan.getEngine() == "tma" ? hasTma : hasCopies) = true; });
    bool hasProducer = hasTma || (hasCopies && usesWgmma(kernel));
    if (!hasProducer && kernel.getGroups() > 1)
      return replicate(kernel);
    if (!hasProducer)
      return;
    releaseEarly(kernel);
    Block &body = kernel.getBody().front();
    auto producerOwns = [](Operation *op) { return isProducerOp(op); };
    auto consumerOwns = [](Operation *op) { return !isProducerOp(op); };
    SmallVector<OwnTrips> ownTrips;
    if (kernel.getGroups() > 1)
      ownTrips = findOwnTrips(kernel);
    Projection producer(producerOwns), consumer(consumerOwns, ownTrips);
    producer.close(body);
    consumer.close(body);
    if (Operation *feedback = feedbackOf(producer)) {
      feedback->emitRemark("the transfers depend on values computed from tiles: the block stays one process");
      return;
    }
    // What both roles read and nothing guards stays before the processes: rings, views, arguments.
    OpBuilder builder = OpBuilder::atBlockEnd(&body);
    llvm::DenseSet<Operation *> shared = sharedScalars(body);
    SmallVector<Operation *> old;
    for (Operation &op : body)
      if (!isa<tilegpu::ChanOp, tilegpu::AllocOp, tilegpu::StagingOp, tile::ArgOp, tile::ViewOp>(op) &&
          !shared.contains(&op))
        old.push_back(&op);
    auto registers = [&](StringRef name) {
      auto planned = kernel.getPlan().getAs<IntegerAttr>(name);
      return planned ? planned.getInt() : 0;
    };
    int64_t given = registers("producer_registers");
    tilegpu::ProcessOp consumers =
        emitProcess(builder, kernel, consumer, old,
                    {"consumer", static_cast<int64_t>(kernel.getWarps()), static_cast<int64_t>(kernel.getGroups()),
                     registers("consumer_registers"), false});
    // A second warp asks the queue.
    int64_t warps = given || hasCopies ? 4 : kernel->hasAttr(tilegpu::queueName) ? 2 : 1;
    fillLate(emitProcess(builder, kernel, producer, old, {"producer", warps, 1, given, !hasCopies}));
    for (Operation *op : llvm::reverse(old)) {
      op->dropAllUses();
      op->erase();
    }
    if (int64_t groups = kernel.getConsumers();
        groups > static_cast<int64_t>(kernel.getGroups()) && alternateGroups(consumers, groups)) {
      consumers.setReplicas(groups);
      kernel.setGroups(groups);
    }
  }

  static bool usesWgmma(tilegpu::KernelOp kernel) {
    return kernel
        .walk([](tilegpu::MmaOp mma) {
          return mma.getMma().getKind() == "wgmma" ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  }

  // Groups that run side by side without a producer: one process, replicated.
  static void replicate(tilegpu::KernelOp kernel) {
    Block &body = kernel.getBody().front();
    llvm::DenseSet<Operation *> shared = sharedScalars(body);
    SmallVector<Operation *> moved;
    for (Operation &op : body)
      if (!isa<tile::ArgOp, tile::ViewOp>(op) && !shared.contains(&op))
        moved.push_back(&op);
    OpBuilder builder = OpBuilder::atBlockEnd(&body);
    auto process = tilegpu::ProcessOp::create(builder, kernel.getLoc(), "group", kernel.getWarps(), kernel.getGroups(),
                                              /*registers=*/0, /*elected=*/false);
    Block *inner = &process.getBody().emplaceBlock();
    for (Operation *op : moved)
      op->moveBefore(inner, inner->end());
  }

  // Scalars without effect, in front of everything, that do not name the group.
  static llvm::DenseSet<Operation *> sharedScalars(Block &body) {
    llvm::DenseSet<Operation *> shared;
    for (Operation &op : body) {
      bool scalar = op.getNumRegions() == 0 && isPure(&op) && !isa<tilegpu::GroupOp>(op) &&
                    llvm::all_of(op.getResultTypes(), [](Type type) { return type.isIntOrIndexOrFloat(); });
      bool ready = llvm::all_of(op.getOperands(), [&](Value operand) {
        Operation *definition = operand.getDefiningOp();
        return definition && (isa<tile::ArgOp>(definition) || shared.contains(definition));
      });
      if (scalar && ready)
        shared.insert(&op);
    }
    return shared;
  }

  static Operation *feedbackOf(const Projection &producer) {
    for (Operation *op : producer.operations()) {
      if (isa<tilegpu::GroupOp>(op))
        return op;
      if (auto load = dyn_cast<tile::LoadOp>(op)) {
        auto view = load.getView().getDefiningOp<tile::ViewOp>();
        if (rankOf(load.getResult()) > 0 || view.getAccess() != tile::Access::in)
          return op;
      }
      if (op->getNumRegions() == 0 && llvm::any_of(op->getResults(), [](Value result) { return rankOf(result) > 0; }))
        return op;
    }
    return nullptr;
  }

  struct Role {
    StringRef name;
    int64_t warps, replicas, registers;
    bool elected;
  };

  static tilegpu::ProcessOp emitProcess(OpBuilder &builder, tilegpu::KernelOp kernel, Projection &projection,
                                        ArrayRef<Operation *> old, const Role &role) {
    auto process = tilegpu::ProcessOp::create(builder, kernel.getLoc(), role.name, role.warps, role.replicas,
                                              role.registers, role.elected);
    Block *block = &process.getBody().emplaceBlock();
    OpBuilder inner = OpBuilder::atBlockEnd(block);
    IRMapping map;
    // Values defined before the processes map to themselves.
    for (Operation &op : kernel.getBody().front())
      if (!llvm::is_contained(old, &op))
        for (Value result : op.getResults())
          map.map(result, result);
    for (Operation *op : old)
      if (projection.isNeeded(op))
        projection.cloneTopLevel(op, inner, map);
    projection.drain(map);
    return process;
  }
};

} // namespace
