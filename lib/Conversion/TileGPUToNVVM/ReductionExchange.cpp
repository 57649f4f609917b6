// Several reductions at once: each step of the butterflies leaves a lane half of the values, until lane i has the
// member i modulo their number, rounded up to a power of two (docs/decisions/reductions-that-wait-together.md).
#include "ReductionEmitter.h"

#include "tilec/Dialect/TileGPU/Scratch.h"

using namespace mlir;
using namespace tilec;

// Whether all lanes of a warp have addends, each one word, and warps have slots for as many as a warp has lanes.
static bool isOneWord(Lowering &lowering, tile::ReduceOp op) {
  std::optional<ReductionPlan> plan = tilegpu::planOf(op);
  Type type = Lowering::registerType(getElementTypeOrSelf(op.getInput().getType()));
  uint32_t slots = plan->numSlots();
  return lowering.clusterBlocks == 1 && plan->inThread.size() == 1 && plan->laneMasks.size() == 5 &&
         plan->scratchElements() == slots && llvm::isPowerOf2_32(slots) && slots <= lanesPerWarp &&
         Lowering::layoutOf(op.getInput()).replicated().empty() && (type.isF32() || type.isInteger(32)) &&
         op->hasAttr(tilegpu::singleUseName);
}

static int64_t scratchOf(tile::ReduceOp op) { return op->getAttrOfType<IntegerAttr>(tilegpu::scratchName).getInt(); }

size_t ReductionExchange::countAlike(Lowering &lowering, Pending pending) {
  tile::ReduceOp first = pending.front().op;
  if (!isOneWord(lowering, first))
    return 0;
  constexpr int64_t wordBytes = 4;
  int64_t bytes = tilegpu::planOf(first)->numSlots() * wordBytes;
  size_t count = 1;
  // Their slots are one array.
  while (count < pending.size() && count < lanesPerWarp) {
    tile::ReduceOp next = pending[count].op;
    if (!isOneWord(lowering, next) || next.getKind() != first.getKind() ||
        next.getInput().getType() != first.getInput().getType() ||
        scratchOf(next) != scratchOf(first) + static_cast<int64_t>(count) * bytes)
      break;
    ++count;
  }
  return count;
}

ReductionExchange::ReductionExchange(Pending members)
    : members(members), first(*members.front().emitter), width(llvm::PowerOf2Ceil(members.size())) {}

Value ReductionExchange::address(Value slot, Value member) {
  return first.lowering.add(first.lowering.mulConstant(slot, members.size()), member);
}

void ReductionExchange::send() {
  Lowering &lowering = first.lowering;
  OpBuilder &builder = lowering.builder;
  Location loc = first.loc;
  Registers values;
  for (const Lowering::PendingReduction &member : members)
    values.push_back(member.partial.front());
  auto combine = [&](Value a, Value b) { return first.scalars.combine(first.op.getKind(), a, b, first.element); };
  for (uint32_t mask = 1; mask < width; mask *= 2) {
    Value bit = arith::AndIOp::create(builder, loc, lowering.lane, lowering.constant32(mask));
    Value odd = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, bit, lowering.constant32(0));
    Registers halves;
    for (size_t i = 0; i < values.size(); i += 2) {
      Value second = i + 1 < values.size() ? values[i + 1] : first.neutral;
      Value kept = arith::SelectOp::create(builder, loc, odd, second, values[i]);
      Value sent = arith::SelectOp::create(builder, loc, odd, values[i], second);
      halves.push_back(combine(kept, first.shuffle(sent, mask)));
    }
    values = std::move(halves);
  }
  Value value = values.front();
  for (uint32_t mask = width; mask < lanesPerWarp; mask *= 2)
    value = combine(value, first.shuffle(value, mask));
  Value writes = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, lowering.lane,
                                       lowering.constant32(members.size()));
  SharedScratch scratch = first.slots();
  lowering.emitIf(writes, [&] { scratch.store(value, address(first.slotOfWarp(), lowering.lane)); });
}

// Each lane reads its member's slots of every n-th warp; those that differ in the warp alone combine them.
void ReductionExchange::receive() {
  Lowering &lowering = first.lowering;
  OpBuilder &builder = lowering.builder;
  Location loc = first.loc;
  SharedScratch scratch = first.slots();
  auto combine = [&](Value a, Value b) { return first.scalars.combine(first.op.getKind(), a, b, first.element); };
  uint32_t slots = first.plan.numSlots(), atOnce = std::min(lanesPerWarp / width, slots);
  Value member = arith::AndIOp::create(builder, loc, lowering.lane, lowering.constant32(width - 1));
  // Lanes beyond the last member do the work of it.
  member = arith::MinUIOp::create(builder, loc, member, lowering.constant32(members.size() - 1));
  Value slot = arith::ShRUIOp::create(builder, loc, lowering.lane, lowering.constant32(llvm::Log2_32(width)));
  slot = arith::AndIOp::create(builder, loc, slot, lowering.constant32(atOnce - 1));
  Value value;
  for (uint32_t begin = 0; begin < slots; begin += atOnce) {
    Value part = scratch.load(address(lowering.addConstant(slot, begin), member));
    value = value ? combine(value, part) : part;
  }
  for (uint32_t mask = width; mask < width * atOnce; mask *= 2)
    value = combine(value, first.shuffle(value, mask));
  for (auto [i, pending] : llvm::enumerate(members)) {
    Value result = shuffleIndex(builder, loc, value, lowering.constant32(i));
    lowering.set(pending.op->getResult(0), {result});
  }
}
