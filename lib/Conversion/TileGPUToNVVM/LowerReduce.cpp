// tile.reduce: registers, then lanes by butterflies, then warps through shared memory, each in a fixed order.
#include "AbsentElements.h"
#include "Intervals.h"
#include "ReductionEmitter.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "tilec/Dialect/TileGPU/Scratch.h"
#include "tilec/Transforms/AffineIndex.h"
#include "tilec/Transforms/CombineKinds.h"

using namespace mlir;
using namespace tilec;

// Four chains hide the latency of the combination; the order is fixed.
static constexpr size_t numChains = 4;

ReductionEmitter::ReductionEmitter(Lowering &lowering, tile::ReduceOp op, const ReductionPlan &plan)
    : lowering(lowering), op(op), plan(plan), builder(lowering.builder), loc(lowering.loc()),
      scalars(builder, loc, lowering.machine), layout(Lowering::layoutOf(op.getInput())) {
  auto tileType = cast<RankedTensorType>(op.getInput().getType());
  element = tileType.getElementType();
  type = Lowering::registerType(element);
  if (std::optional<JoinedReductions> joined = joinedReductionsOf(op); joined && joined->second == op)
    other = joined->first;
  neutral = scalars.neutral(op.getKind(), element);
  unsigned dim = op.getDim();
  int64_t extent = tileType.getDimSize(dim);
  granule = presentTogether(dim, extent);
  if (!op->hasAttr(absentIsNeutral) && (!op.getFull() || layout.covered(dim) > extent))
    threshold = presentCount(dim, extent);
}

bool ReductionEmitter::takesRegistersInOrder(tile::ReduceOp op, const ReductionPlan &plan) {
  return !op.getPredicate() && plan.inThread.size() == 1 &&
         plan.inThread.front().size() == Lowering::layoutOf(op.getInput()).numRegisters() &&
         llvm::is_sorted(plan.inThread.front());
}

void ReductionEmitter::addTo(Chains &own, Value value) {
  if (own.values.size() < numChains)
    own.values.push_back(value);
  else
    own.values[own.next] = scalars.combine(op.getKind(), own.values[own.next], value, element, /*contract=*/true);
  own.next = (own.next + 1) % numChains;
}

Value ReductionEmitter::combined(Chains &own) {
  SmallVectorImpl<Value> &values = own.values;
  while (values.size() > 1) {
    Value last = values.pop_back_val();
    values.front() = scalars.combine(op.getKind(), values.front(), last, element);
  }
  return values.empty() ? neutral : values.front();
}

void ReductionEmitter::add(ArrayRef<Value> input, size_t begin, size_t end) {
  addAll(chains, input, llvm::to_vector(llvm::seq<uint32_t>(begin, end)));
}

// Registers that are present or absent together join a chain one after another, so that sums take up products, and one
// select brings the chain back where they are absent.
void ReductionEmitter::addAll(Chains &own, ArrayRef<Value> input, ArrayRef<uint32_t> registers) {
  auto granuleOf = [&](uint32_t reg) { return layout.registerOffset(reg)[op.getDim()] / granule; };
  while (!registers.empty()) {
    ArrayRef<uint32_t> together = registers.take_front();
    if (threshold && !op.getPredicate())
      together = registers.take_while([&](uint32_t reg) { return granuleOf(reg) == granuleOf(registers.front()); });
    if (together.size() == 1)
      addTo(own, masked(input[together.front()], together.front()));
    else
      addTogether(own, input, together);
    registers = registers.drop_front(together.size());
  }
}

void ReductionEmitter::addTogether(Chains &own, ArrayRef<Value> input, ArrayRef<uint32_t> registers) {
  bool begins = own.values.size() < numChains;
  if (begins)
    own.values.push_back(input[registers.front()]);
  Value &chain = own.values[own.next];
  Value before = begins ? neutral : chain;
  for (uint32_t reg : begins ? registers.drop_front() : registers)
    chain = scalars.combine(op.getKind(), chain, input[reg], element, /*contract=*/true);
  chain = arith::SelectOp::create(builder, loc, isPresent(registers.front()), chain, before);
  own.next = (own.next + 1) % numChains;
}

void ReductionEmitter::finish() { acrossThreads(joined({combined(chains)})); }

void ReductionEmitter::run() { acrossThreads(joined(parts())); }

Registers ReductionEmitter::joined(Registers parts) {
  if (other)
    parts.front() = scalars.combine(op.getKind(), parts.front(), partOfOther(), element);
  return parts;
}

Value ReductionEmitter::partOfOther() {
  ReductionEmitter emitter(lowering, other, *tilegpu::planOf(other));
  Value part = emitter.parts().front();
  Value first = lowering.isFirstOf(emitter.layout.replicated());
  return first ? arith::SelectOp::create(builder, loc, first, part, neutral).getResult() : part;
}

Registers ReductionEmitter::parts() {
  Registers partial;
  for (const auto &registers : plan.inThread) {
    Chains own;
    addAll(own, lowering.lowered(op.getInput()), registers);
    partial.push_back(combined(own));
  }
  return partial;
}

void ReductionEmitter::acrossThreads(Registers partial) {
  if (plan.warps.empty())
    lowering.set(op.getResult(), acrossLanes(std::move(partial)));
  else
    acrossWarps(std::move(partial));
}

Registers ReductionEmitter::acrossLanes(Registers partial) {
  for (uint32_t mask : plan.laneMasks)
    for (Value &value : partial)
      value = scalars.combine(op.getKind(), value, shuffle(value, mask), element);
  return partial;
}

Value ReductionEmitter::isPresent(uint32_t reg) {
  Value offset = lowering.constant32(layout.registerOffset(reg)[op.getDim()] / granule * granule);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, offset, threshold);
}

// Absent positions, those failing the predicate, and padding become the neutral element.
Value ReductionEmitter::masked(Value value, uint32_t reg) {
  if (threshold)
    value = arith::SelectOp::create(builder, loc, isPresent(reg), value, neutral);
  if (op.getPredicate())
    value = arith::SelectOp::create(builder, loc, lowering.lowered(op.getPredicate())[reg], value, neutral);
  return value;
}

// Positions in aligned runs of this length are present or absent together: one comparison serves a vector.
int64_t ReductionEmitter::presentTogether(unsigned dim, int64_t extent) {
  int64_t length = extent & -extent;
  if (!op.getFull()) {
    auto axis = op.getAxis().getDefiningOp<tile::AxisOp>();
    length = axis ? std::min({length, divisorOf(axis.getStart()), divisorOf(axis.getEnd())}) : 1;
  }
  for (const Term &term : layout.terms(dim))
    length = std::min<int64_t>(length, term.stride & -term.stride);
  return std::max<int64_t>(length, 1);
}

// Positions from the thread's first one to the end, in 32 bits: register r is present if its offset is less.
Value ReductionEmitter::presentCount(unsigned dim, int64_t extent) {
  const LoweredAxis &axis = lowering.axis(op.getAxis());
  Value size = lowering.constant32(extent);
  auto axisOp = op.getAxis().getDefiningOp<tile::AxisOp>();
  auto narrow = axisOp ? axisOp.getEnd().getDefiningOp<arith::IndexCastUIOp>() : arith::IndexCastUIOp();
  bool isNarrow = narrow && narrow.getIn().getType().isInteger(32) && matchPattern(axisOp.getStart(), m_Zero());
  if (!op.getFull() && isNarrow) {
    // An axis has no more positions than its extent.
    size = lowering.scalar(narrow.getIn());
  } else if (!op.getFull()) {
    size = placesLeft(lowering, axis.end, axis.start, extent);
  }
  Value left = arith::SubIOp::create(builder, loc, size, lowering.threadCoordinate(layout, dim));
  return lowering.opaque(left, lowering.newThresholdNumber(layout.numRegisters() / granule));
}

Value ReductionEmitter::shuffle(Value value, uint32_t mask) { return shuffleXor(builder, loc, value, mask); }

Value ReductionEmitter::slotOfWarp() {
  Value slot = lowering.constant32(0);
  int64_t weight = 1;
  for (const Digit &digit : plan.warps) {
    slot = lowering.add(slot, lowering.mulConstant(lowering.digitOf(digit), weight));
    weight *= digit.radix;
  }
  return slot;
}

// Those whose scratch nobody else uses wait together, where no result is needed before.
void ReductionEmitter::acrossWarps(Registers partial) {
  lowering.pendingReductions.push_back({op, std::make_shared<ReductionEmitter>(*this), std::move(partial)});
  SmallVector<tile::ReduceOp> ops = llvm::map_to_vector(
      lowering.pendingReductions, [](const Lowering::PendingReduction &pending) { return pending.op; });
  if (waitsForNext(ops))
    return;
  SmallVector<Lowering::PendingReduction> all = std::exchange(lowering.pendingReductions, {});
  SmallVector<std::function<void()>> receive;
  for (ArrayRef<Lowering::PendingReduction> rest = all; !rest.empty();) {
    size_t alike = ReductionExchange::countAlike(lowering, rest);
    if (alike > 1) {
      auto exchange = std::make_shared<ReductionExchange>(rest.take_front(alike));
      exchange->send();
      receive.push_back([exchange] { exchange->receive(); });
    } else {
      rest.front().emitter->send(rest.front().partial);
      receive.push_back([emitter = rest.front().emitter] { emitter->receive(); });
    }
    rest = rest.drop_front(std::max<size_t>(alike, 1));
  }
  if (lowering.clusterBlocks == 1)
    lowering.groupBarrier();
  for (const std::function<void()> &each : receive)
    each();
}

void ReductionEmitter::send(Registers partial) {
  partial = acrossLanes(std::move(partial));
  if (lowering.clusterBlocks > 1)
    return sendInCluster(partial.front());
  SharedScratch scratch = slots();
  int64_t perSlot = plan.scratchElements() / plan.numSlots();
  if (!op->hasAttr(tilegpu::singleUseName))
    lowering.groupBarrier();
  Value slot = slotOfWarp();
  Value first = lowering.isFirstOf(plan.writers);
  Value threadElement = elementOfThread();
  auto write = [&] {
    for (uint32_t reg = 0; reg < partial.size(); ++reg)
      scratch.store(partial[reg], lowering.add(lowering.mulConstant(slot, perSlot),
                                               lowering.addConstant(threadElement, elementOfRegister(reg))));
  };
  if (first)
    lowering.emitIf(first, write);
  else
    write();
}

// One element: lane i of each warp sends its partial result to block i of the cluster.
void ReductionEmitter::sendInCluster(Value partial) {
  if (slotType() != type)
    partial = toWord(builder, loc, partial);
  SharedScratch scratch = slots();
  Value barrier = lowering.clusterBarrier(op);
  lowering.awaitCluster();
  Value sends = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, lowering.lane,
                                      lowering.constant32(lowering.clusterBlocks));
  lowering.emitIf(sends, [&] { scratch.sendInCluster(partial, slotOfWarp(), lowering.lane, barrier); });
}

// Elements of a cluster's slots are words at least.
Type ReductionEmitter::slotType() {
  bool inWords = lowering.clusterBlocks > 1 && tilegpu::clusterSlotBytes(op) * 8 > type.getIntOrFloatBitWidth();
  return inWords ? builder.getI32Type() : type;
}

SharedScratch ReductionEmitter::slots() { return SharedScratch(lowering, lowering.scratchAddress(op), slotType()); }

void ReductionEmitter::receive() { lowering.set(op.getResult(), received()); }

// In a cluster, after the partial results of all warps have come. All lanes have the result.
Registers ReductionEmitter::received() {
  SharedScratch scratch = slots();
  if (lowering.clusterBlocks > 1) {
    Ptx(builder, loc).mbarrierWaitForCluster(lowering.clusterBarrier(op), lowering.constant32(0));
    return {sumOfSlots(scratch)};
  }
  int64_t perSlot = plan.scratchElements() / plan.numSlots();
  if (perSlot == 1 && plan.numSlots() <= lanesPerWarp)
    return {sumOfSlots(scratch)};
  Value threadElement = elementOfThread();
  Registers result;
  for (uint32_t reg = 0; reg < plan.inThread.size(); ++reg) {
    SmallVector<Value> parts;
    for (uint32_t s = 0; s < plan.numSlots(); ++s)
      parts.push_back(scratch.load(lowering.addConstant(threadElement, elementOfRegister(reg) + s * perSlot)));
    // A tree of fixed shape: short chains, the same order in every thread.
    for (; parts.size() > 1; parts.resize(parts.size() / 2))
      for (size_t i = 0; i < parts.size() / 2; ++i)
        parts[i] = scalars.combine(op.getKind(), parts[i], parts[i + parts.size() / 2], element);
    result.push_back(parts.front());
  }
  return result;
}

// Narrow elements are in words.
Value ReductionEmitter::fromSlot(Value value) {
  return value.getType() == type ? value : fromWord(builder, loc, value, type);
}

// One element: each lane reads every 32nd slot, and butterflies combine them.
Value ReductionEmitter::sumOfSlots(SharedScratch &scratch) {
  uint32_t slots = plan.numSlots(), lanes = std::min(slots, lanesPerWarp);
  Value mine = arith::RemUIOp::create(builder, loc, lowering.lane, lowering.constant32(lanes)), sum;
  for (uint32_t first = 0; first < slots; first += lanes) {
    Value part = fromSlot(scratch.load(lowering.addConstant(mine, first)));
    sum = sum ? scalars.combine(op.getKind(), sum, part, element) : part;
  }
  for (uint32_t mask = 1; mask < lanes; mask *= 2)
    sum = scalars.combine(op.getKind(), sum, shuffle(sum, mask), element);
  return sum;
}

// Row-major index within the positions that the result covers.
Value ReductionEmitter::elementOfThread() {
  Value sum = lowering.constant32(0);
  int64_t stride = 1;
  for (unsigned d = plan.result.rank(); d-- > 0;) {
    sum = lowering.add(sum, lowering.mulConstant(lowering.threadCoordinate(plan.result, d), stride));
    stride *= plan.result.covered(d);
  }
  return sum;
}

int64_t ReductionEmitter::elementOfRegister(uint32_t reg) {
  int64_t sum = 0, stride = 1;
  Coordinates offset = plan.result.registerOffset(reg);
  for (unsigned d = plan.result.rank(); d-- > 0;) {
    sum += offset[d] * stride;
    stride *= plan.result.covered(d);
  }
  return sum;
}

std::optional<JoinedReductions> tilec::matchJoinedReductions(Operation *combination) {
  std::optional<tile::CombineKind> kind = combineKindOf(combination);
  if (!kind || Lowering::isTile(combination->getResult(0)))
    return std::nullopt;
  JoinedReductions joined;
  for (unsigned i : {0, 1}) {
    auto reduce = combination->getOperand(i).getDefiningOp<tile::ReduceOp>();
    if (!reduce || reduce.getKind() != *kind || !reduce->hasOneUse() || !tilegpu::planOf(reduce) ||
        cast<RankedTensorType>(reduce.getInput().getType()).getRank() != 1)
      return std::nullopt;
    (i ? joined.second : joined.first) = reduce;
  }
  // Threads with copies would have to take the other part alike.
  bool fits = joined.first->getBlock() == joined.second->getBlock() && joined.first->isBeforeInBlock(joined.second) &&
              Lowering::layoutOf(joined.second.getInput()).replicated().empty();
  return fits ? std::optional(joined) : std::nullopt;
}

std::optional<JoinedReductions> tilec::joinedReductionsOf(tile::ReduceOp reduce) {
  bool isScalar = !Lowering::isTile(reduce.getResult()) && reduce->hasOneUse();
  return isScalar ? matchJoinedReductions(*reduce->user_begin()) : std::nullopt;
}

// Whether a reduction across warps has its scratch, or its part of a cluster's, for itself.
static bool mayWait(tile::ReduceOp op) {
  std::optional<ReductionPlan> plan = tilegpu::planOf(op);
  std::optional<JoinedReductions> joined = joinedReductionsOf(op);
  bool isLeft = joined && joined->first == op;
  return plan && !plan->warps.empty() && !isLeft && op->hasAttr(tilegpu::singleUseName);
}

bool tilec::waitsForNext(ArrayRef<tile::ReduceOp> pending) {
  if (!mayWait(pending.back()))
    return false;
  for (Operation *op = pending.back()->getNextNode(); op; op = op->getNextNode()) {
    bool uses = llvm::any_of(op->getOperands(), [&](Value operand) {
      return llvm::is_contained(pending, operand.getDefiningOp<tile::ReduceOp>());
    });
    if (uses || op->getNumRegions() > 0)
      return false;
    if (auto reduce = dyn_cast<tile::ReduceOp>(op); reduce && mayWait(reduce))
      return true;
  }
  return false;
}

LogicalResult Lowering::lowerReduce(tile::ReduceOp op) {
  if (std::optional<JoinedReductions> joined = joinedReductionsOf(op); joined && joined->first == op)
    return success();
  std::optional<ReductionPlan> plan = tilegpu::planOf(op);
  if (!plan)
    return op.emitError("E0431: this reduction has no plan for its layout");
  ReductionEmitter(*this, op, *plan).run();
  return success();
}
