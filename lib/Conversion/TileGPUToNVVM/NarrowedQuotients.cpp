// Which quotients are narrowed by all of their uses, and the arithmetic of such a quotient.
#include "NarrowedQuotients.h"

#include "Lowering.h"
#include "UsualWork.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "tilec/Dialect/Tile/AttributeNames.h"
#include "tilec/Dialect/Tile/TileDialect.h"

using namespace mlir;
using namespace tilec;

static bool isNarrowFloat(Type type) {
  Type element = getElementTypeOrSelf(type);
  return isa<FloatType>(element) && element.getIntOrFloatBitWidth() <= 16;
}

static bool narrows(OpOperand &use, bool throughProducts) {
  Operation *user = use.getOwner();
  if (isa<arith::TruncFOp, tile::CastOp>(user))
    return isNarrowFloat(user->getResult(0).getType());
  if (isa<arith::SelectOp, tilegpu::ConvertOp, tile::BroadcastOp, tile::PermuteOp>(user) ||
      (throughProducts && isa<arith::MulFOp>(user)))
    return isNarrowed(user->getResult(0), throughProducts);
  return false;
}

bool tilec::isNarrowed(Value value, bool throughProducts) {
  return llvm::all_of(value.getUses(), [&](OpOperand &use) { return narrows(use, throughProducts); });
}

void tilec::markNarrowedQuotients(tilegpu::KernelOp kernel) {
  kernel.walk([](arith::DivFOp division) {
    if (getElementTypeOrSelf(division.getType()).isF32() && isNarrowed(division.getResult()))
      division->setAttr(narrowedQuotient, UnitAttr::get(division.getContext()));
  });
}

// A number, or a tile of it.
static Value constant(OpBuilder &builder, Location loc, Type type, float value) {
  TypedAttr number = builder.getF32FloatAttr(value);
  if (auto tile = dyn_cast<RankedTensorType>(type))
    number = DenseElementsAttr::get(tile, APFloat(value));
  return arith::ConstantOp::create(builder, loc, number);
}

static Value compare(OpBuilder &builder, Location loc, arith::CmpFPredicate predicate, Value magnitude, float limit) {
  return arith::CmpFOp::create(builder, loc, predicate, magnitude, constant(builder, loc, magnitude.getType(), limit));
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
  Type type = divisor.getType();
  Value magnitude = math::AbsFOp::create(builder, loc, divisor);
  Value small = compare(builder, loc, arith::CmpFPredicate::OLT, magnitude, leastNormal);
  Value large = compare(builder, loc, arith::CmpFPredicate::OGT, magnitude, largestOfNormalReciprocal);
  Value scale = arith::SelectOp::create(builder, loc, small, constant(builder, loc, type, 0x1p64f),
                                        constant(builder, loc, type, 1));
  return arith::SelectOp::create(builder, loc, large, constant(builder, loc, type, 0x1p-64f), scale);
}

Value tilec::divideForNarrowing(OpBuilder &builder, Location loc, Value dividend, Value scale, Value reciprocal) {
  Value scaled = arith::MulFOp::create(builder, loc, dividend, scale);
  return arith::MulFOp::create(builder, loc, scaled, reciprocal);
}

// Fewer quotients of a divisor do not pay for a branch.
static constexpr size_t leastQuotientsOfRow = 16;

// The tile of divisors, one a row of many quotients; null if there are as many divisors.
static Value divisorsOfRows(arith::DivFOp division) {
  auto divisor = division.getRhs().getDefiningOp<tile::BroadcastOp>();
  if (!division->hasAttr(narrowedQuotient) || !divisor || !Lowering::isTile(divisor.getInput()))
    return nullptr;
  size_t rows = Lowering::layoutOf(divisor.getInput()).numRegisters();
  size_t quotients = Lowering::layoutOf(division.getResult()).numRegisters();
  return rows * leastQuotientsOfRow <= quotients ? divisor.getInput() : Value();
}

void tilec::divideRowsByReciprocals(tilegpu::KernelOp kernel) {
  SmallVector<arith::DivFOp> divisions;
  kernel.walk([&](arith::DivFOp division) {
    if (Lowering::isTile(division.getResult()) && divisorsOfRows(division))
      divisions.push_back(division);
  });
  for (arith::DivFOp division : divisions) {
    OpBuilder builder(division);
    Location loc = division.getLoc();
    Value rows = divisorsOfRows(division), scale = scaleOfDivisor(builder, loc, rows);
    Value reciprocals = arith::DivFOp::create(builder, loc, constant(builder, loc, rows.getType(), 1),
                                              arith::MulFOp::create(builder, loc, rows, scale).getResult());
    auto spread = [&](Value row) {
      auto dims = division.getRhs().getDefiningOp<tile::BroadcastOp>().getDims();
      return tile::BroadcastOp::create(builder, loc, division.getType(), row, dims);
    };
    auto scaled = arith::MulFOp::create(builder, loc, division.getLhs(), spread(scale));
    scaled->setAttr(tile::usuallyOneName, builder.getUnitAttr());
    Value quotient = arith::MulFOp::create(builder, loc, scaled, spread(reciprocals));
    // A row without a sum, as of a softmax over nothing, is as rare.
    if (division->hasOneUse())
      if (auto select = dyn_cast<arith::SelectOp>(*division->user_begin());
          select && select.getTrueValue() == division.getResult() && hasFewConditions(select) &&
          matchPattern(select.getFalseValue(), m_Constant()))
        select->setAttr(usuallyTrue, builder.getUnitAttr());
    division.getResult().replaceAllUsesWith(quotient);
    division.erase();
  }
}
