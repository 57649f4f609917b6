// Intervals of places, clamped to 32 bits.
#include "Intervals.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilec;

// An index as i32 between 0 and `limit`.
static Value clamped(Lowering &lowering, Value index, int64_t limit) {
  OpBuilder &builder = lowering.builder;
  Location loc = lowering.loc();
  index = builder.createOrFold<arith::MaxSIOp>(loc, index, lowering.constantIndex(0));
  return lowering.toI32(builder.createOrFold<arith::MinSIOp>(loc, index, lowering.constantIndex(limit)));
}

Interval tilec::placesInside(Lowering &lowering, Value start, Value size, int64_t extent) {
  OpBuilder &builder = lowering.builder;
  Location loc = lowering.loc();
  Value before = builder.createOrFold<arith::SubIOp>(loc, lowering.constantIndex(0), start);
  Value left = builder.createOrFold<arith::SubIOp>(loc, size, start);
  return {clamped(lowering, before, extent), clamped(lowering, left, extent)};
}

Value tilec::isInside(Lowering &lowering, Value place, const Interval &interval) {
  OpBuilder &builder = lowering.builder;
  Location loc = lowering.loc();
  Value distance = builder.createOrFold<arith::SubIOp>(loc, place, interval.first);
  Value length = builder.createOrFold<arith::SubIOp>(loc, interval.limit, interval.first);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, distance, length);
}

bool tilec::isNarrowArgument(tile::ArgOp op) {
  if (!op.getType().isIndex() || op.getMin().value_or(-1) < 0 || op.getMax().value_or(INT64_MAX) > INT32_MAX)
    return false;
  WalkResult result =
      op->getParentOfType<tilegpu::KernelOp>().walk([](tilegpu::MmaOp) { return WalkResult::interrupt(); });
  return !result.wasInterrupted();
}

Value Lowering::narrowArgument(Value index) const {
  auto cast = index.getDefiningOp<arith::IndexCastUIOp>();
  return cast && narrowArguments.contains(index) ? cast.getIn() : Value();
}

// The largest number that a scalar of the lowering can be; none if it may be negative, or more than 31 bits.
static std::optional<int64_t> largest(Value value) {
  constexpr int64_t most = INT32_MAX;
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.isNegative() || constant.sgt(most) ? std::nullopt : std::optional(constant.getSExtValue());
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  auto operand = [&](unsigned i) { return largest(op->getOperand(i)); };
  std::optional<int64_t> result;
  if (isa<NVVM::ThreadIdXOp>(op))
    result = 1023;
  else if (isa<arith::IndexCastOp>(op))
    result = operand(0);
  else if (auto rest = dyn_cast<arith::RemUIOp>(op); rest && operand(1))
    result = *operand(1) - 1;
  else if (auto quotient = dyn_cast<arith::DivUIOp>(op); quotient && operand(0))
    result = operand(0);
  else if (isa<arith::AddIOp>(op) && operand(0) && operand(1))
    result = *operand(0) + *operand(1);
  else if (isa<arith::MulIOp>(op) && operand(0) && operand(1))
    result = *operand(0) * *operand(1);
  return result && *result >= 0 && *result <= most ? result : std::nullopt;
}

Value tilec::placesLeft(Lowering &lowering, Value size, Value first, int64_t limit) {
  OpBuilder &builder = lowering.builder;
  Location loc = lowering.loc();
  if (Value narrow = lowering.narrowArgument(size); narrow && largest(first)) {
    Value left = builder.createOrFold<arith::SubIOp>(loc, narrow, lowering.toI32(first));
    return builder.createOrFold<arith::MaxSIOp>(loc, left, lowering.constant32(0));
  }
  Value left = arith::SubIOp::create(builder, loc, size, first);
  left = arith::MinSIOp::create(builder, loc, left, lowering.constantIndex(limit));
  return lowering.toI32(arith::MaxSIOp::create(builder, loc, left, lowering.constantIndex(0)));
}
