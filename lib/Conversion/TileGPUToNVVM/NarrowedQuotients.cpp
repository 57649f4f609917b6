// Which quotients are narrowed by all of their uses, and the arithmetic of such a quotient.
#include "NarrowedQuotients.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "tilec/Dialect/Tile/TileDialect.h"

using namespace mlir;
using namespace tilec;

static bool isNarrowFloat(Type type) {
  Type element = getElementTypeOrSelf(type);
  return isa<FloatType>(element) && element.getIntOrFloatBitWidth() <= 16;
}

static bool isNarrowed(Value value);

static bool narrows(OpOperand &use) {
  Operation *user = use.getOwner();
  if (isa<arith::TruncFOp, tile::CastOp>(user))
    return isNarrowFloat(user->getResult(0).getType());
  if (isa<arith::SelectOp, tilegpu::ConvertOp, tile::BroadcastOp, tile::PermuteOp>(user))
    return isNarrowed(user->getResult(0));
  return false;
}

static bool isNarrowed(Value value) { return llvm::all_of(value.getUses(), narrows); }

void tilec::markNarrowedQuotients(tilegpu::KernelOp kernel) {
  kernel.walk([](arith::DivFOp division) {
    if (getElementTypeOrSelf(division.getType()).isF32() && isNarrowed(division.getResult()))
      division->setAttr(narrowedQuotient, UnitAttr::get(division.getContext()));
  });
}

static Value constant(OpBuilder &builder, Location loc, float value) {
  return arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(value));
}

static Value compare(OpBuilder &builder, Location loc, arith::CmpFPredicate predicate, Value magnitude, float limit) {
  return arith::CmpFOp::create(builder, loc, predicate, magnitude, constant(builder, loc, limit));
}

// The least normal number; its reciprocal is the largest number whose reciprocal is normal.
static constexpr float leastNormal = 0x1p-126f, largestOfNormalReciprocal = 0x1p126f;

Value tilec::hasNormalReciprocal(OpBuilder &builder, Location loc, Value divisor) {
  Value magnitude = math::AbsFOp::create(builder, loc, divisor);
  Value above = compare(builder, loc, arith::CmpFPredicate::OGE, magnitude, leastNormal);
  Value below = compare(builder, loc, arith::CmpFPredicate::OLE, magnitude, largestOfNormalReciprocal);
  return arith::AndIOp::create(builder, loc, above, below);
}

Value tilec::scaleOfDivisor(OpBuilder &builder, Location loc, Value divisor) {
  Value magnitude = math::AbsFOp::create(builder, loc, divisor);
  Value small = compare(builder, loc, arith::CmpFPredicate::OLT, magnitude, leastNormal);
  Value large = compare(builder, loc, arith::CmpFPredicate::OGT, magnitude, largestOfNormalReciprocal);
  Value scale =
      arith::SelectOp::create(builder, loc, small, constant(builder, loc, 0x1p64f), constant(builder, loc, 1));
  return arith::SelectOp::create(builder, loc, large, constant(builder, loc, 0x1p-64f), scale);
}

Value tilec::divideForNarrowing(OpBuilder &builder, Location loc, Value dividend, Value scale, Value reciprocal) {
  Value scaled = arith::MulFOp::create(builder, loc, dividend, scale);
  return arith::MulFOp::create(builder, loc, scaled, reciprocal);
}
