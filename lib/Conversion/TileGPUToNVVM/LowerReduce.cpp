// tile.reduce: registers, then lanes by butterflies, then warps through shared memory, each in a fixed order.
#include "Lowering.h"
#include "ScalarOps.h"
#include "SharedScratch.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "tilec/Layout/ReductionPlan.h"
#include "tilec/Transforms/AffineIndex.h"

using namespace mlir;
using namespace tilec;

namespace {

class Reduction {
public:
  Reduction(Lowering &lowering, tile::ReduceOp op, const ReductionPlan &plan)
      : lowering(lowering), op(op), plan(plan), builder(lowering.builder), loc(lowering.loc()),
        scalars(builder, loc, lowering.machine), layout(Lowering::layoutOf(op.getInput())) {
    element = cast<RankedTensorType>(op.getInput().getType()).getElementType();
    type = Lowering::registerType(element);
    neutral = scalars.neutral(op.getKind(), element);
  }

  Registers run() {
    Registers partial = inThread(masked());
    for (uint32_t mask : plan.laneMasks)
      for (Value &value : partial)
        value = scalars.combine(op.getKind(), value, shuffle(value, mask), element);
    return plan.warps.empty() ? partial : acrossWarps(partial);
  }

private:
  // Absent positions, those failing the predicate, and padding become the neutral element.
  Registers masked() {
    ArrayRef<Value> input = lowering.lowered(op.getInput());
    ArrayRef<Value> predicate = op.getPredicate() ? lowering.lowered(op.getPredicate()) : ArrayRef<Value>();
    unsigned dim = op.getDim();
    auto tileType = cast<RankedTensorType>(op.getInput().getType());
    bool pads = layout.covered(dim) > tileType.getDimSize(dim);
    Value threshold = op.getFull() && !pads ? Value() : presentCount(dim, tileType.getDimSize(dim));
    int64_t granule = presentTogether(dim, tileType.getDimSize(dim));
    Registers result;
    for (uint32_t reg = 0; reg < input.size(); ++reg) {
      Value value = input[reg];
      if (threshold) {
        Value offset = lowering.constant32(layout.registerOffset(reg)[dim] / granule * granule);
        Value present = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, offset, threshold);
        value = arith::SelectOp::create(builder, loc, present, value, neutral);
      }
      if (!predicate.empty())
        value = arith::SelectOp::create(builder, loc, predicate[reg], value, neutral);
      result.push_back(value);
    }
    return result;
  }

  // Positions in aligned runs of this length are present or absent together: one comparison serves a vector.
  int64_t presentTogether(unsigned dim, int64_t extent) {
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
  Value presentCount(unsigned dim, int64_t extent) {
    const LoweredAxis &axis = lowering.axis(op.getAxis());
    Value size = lowering.constant32(extent);
    if (!op.getFull()) {
      Value count = arith::SubIOp::create(builder, loc, axis.end, axis.start);
      count = arith::MinSIOp::create(builder, loc, count, lowering.constantIndex(extent));
      count = arith::MaxSIOp::create(builder, loc, count, lowering.constantIndex(0));
      size = lowering.toI32(count);
    }
    return lowering.opaque(arith::SubIOp::create(builder, loc, size, lowering.threadCoordinate(layout, dim)));
  }

  Registers inThread(const Registers &input) {
    Registers result;
    for (const auto &registers : plan.inThread) {
      // Four chains hide the latency of the combination; the order is fixed.
      SmallVector<Value, 4> chains;
      for (auto [i, reg] : llvm::enumerate(registers)) {
        if (i < 4)
          chains.push_back(input[reg]);
        else
          chains[i % 4] = scalars.combine(op.getKind(), chains[i % 4], input[reg], element);
      }
      while (chains.size() > 1) {
        Value last = chains.pop_back_val();
        chains.front() = scalars.combine(op.getKind(), chains.front(), last, element);
      }
      result.push_back(chains.empty() ? neutral : chains.front());
    }
    return result;
  }

  Value shuffle(Value value, uint32_t mask) { return shuffleXor(builder, loc, value, mask); }

  Registers acrossWarps(const Registers &partial) {
    SharedScratch scratch(lowering, lowering.scratchAddress(op), type);
    int64_t perSlot = plan.scratchElements() / plan.numSlots();
    if (!op->hasAttr("tilegpu.single_use"))
      lowering.groupBarrier();
    Value slot = lowering.constant32(0);
    int64_t weight = 1;
    for (const Digit &digit : plan.warps) {
      slot = lowering.add(slot, lowering.mulConstant(digitOf(lowering.warp, digit), weight));
      weight *= digit.radix;
    }
    Value first;
    for (const Digit &digit : plan.writers) {
      Value zero = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                         digitOf(digit.owner == Owner::Lane ? lowering.lane : lowering.warp, digit),
                                         lowering.constant32(0));
      first = first ? Value(arith::AndIOp::create(builder, loc, first, zero)) : zero;
    }
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
    lowering.groupBarrier();
    if (perSlot == 1 && plan.numSlots() <= lanesPerWarp)
      return {sumOfSlots(scratch)};
    Registers result;
    for (uint32_t reg = 0; reg < partial.size(); ++reg) {
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

  // One element: each lane reads one slot, and butterflies combine them.
  Value sumOfSlots(SharedScratch &scratch) {
    uint32_t slots = plan.numSlots();
    Value mine = arith::RemUIOp::create(builder, loc, lowering.lane, lowering.constant32(slots));
    Value sum = scratch.load(mine);
    for (uint32_t mask = 1; mask < slots; mask *= 2)
      sum = scalars.combine(op.getKind(), sum, shuffle(sum, mask), element);
    return sum;
  }

  Value digitOf(Value number, const Digit &digit) {
    Value quotient = builder.createOrFold<arith::DivUIOp>(loc, number, lowering.constant32(digit.weight));
    return builder.createOrFold<arith::RemUIOp>(loc, quotient, lowering.constant32(digit.radix));
  }

  // Row-major index within the positions that the result covers.
  Value elementOfThread() {
    Value sum = lowering.constant32(0);
    int64_t stride = 1;
    for (unsigned d = plan.result.rank(); d-- > 0;) {
      sum = lowering.add(sum, lowering.mulConstant(lowering.threadCoordinate(plan.result, d), stride));
      stride *= plan.result.covered(d);
    }
    return sum;
  }

  int64_t elementOfRegister(uint32_t reg) {
    int64_t sum = 0, stride = 1;
    Coordinates offset = plan.result.registerOffset(reg);
    for (unsigned d = plan.result.rank(); d-- > 0;) {
      sum += offset[d] * stride;
      stride *= plan.result.covered(d);
    }
    return sum;
  }

  Lowering &lowering;
  tile::ReduceOp op;
  const ReductionPlan &plan;
  OpBuilder &builder;
  Location loc;
  ScalarOps scalars;
  const Layout &layout;
  Type type;
  Type element;
  Value neutral;
};

} // namespace

LogicalResult Lowering::lowerReduce(tile::ReduceOp op) {
  std::optional<ReductionPlan> plan = planReduction(layoutOf(op.getInput()), op.getDim());
  if (!plan)
    return op.emitError("E0431: this reduction has no plan for its layout");
  set(op.getResult(), Reduction(*this, op, *plan).run());
  return success();
}
