// Intervals of places, clamped to 32 bits.
#include "Intervals.h"

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
