// share-divisors: a tile's elements divided by one number of their row, without a branch for each.
//
// ptxas makes of every division a reciprocal, two corrections and a call for operands near the ends of the range. A row
// of accumulators has one divisor: its reciprocal is computed once, and one branch for all of them tells whether
// everything is well inside the range. The results are those of IEEE division, bit by bit, except for quotients that
// are narrowed to 16 bits or fewer: those are products with the reciprocal.
#include "SharedDivisions.h"

#include "NarrowedQuotients.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace tilec;

// Fewer divisions do not pay for the comparisons; narrowed ones need none of the dividends.
static constexpr size_t leastDivisions = 16, leastNarrowed = 2;
// Quotients, products and remainders of numbers within these stay normal.
static constexpr float smallest = 0x1p-60f, largest = 0x1p60f;

// With a correctly rounded reciprocal, the first correction leaves an error of at most one unit in the last place, and
// the second rounds correctly (Markstein, IBM J. Res. Dev. 34, 1990, theorem on quotients): the remainders are exact.
Value tilec::divideByReciprocal(OpBuilder &builder, Location loc, Value a, Value b, Value reciprocal) {
  Value quotient = arith::MulFOp::create(builder, loc, a, reciprocal);
  for (int i = 0; i < 2; ++i) {
    Value negated = arith::NegFOp::create(builder, loc, quotient);
    Value remainder = math::FmaOp::create(builder, loc, negated, b, a);
    quotient = math::FmaOp::create(builder, loc, remainder, reciprocal, quotient);
  }
  return quotient;
}

namespace {

using Divisions = SmallVector<arith::DivFOp, 0>;

Value constant(OpBuilder &builder, Location loc, float value) {
  return arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(value));
}

// Whether all dividends exist in front of the first division.
bool areReady(const Divisions &divisions) {
  Operation *first = *divisions.begin();
  return llvm::all_of(divisions, [&](arith::DivFOp division) {
    Operation *definition = division.getLhs().getDefiningOp();
    return !definition || definition->getBlock() != first->getBlock() || definition->isBeforeInBlock(first);
  });
}

Value isWithinRange(OpBuilder &builder, Location loc, Value low, Value high) {
  Value above = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OGE, low, constant(builder, loc, smallest));
  Value below = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLE, high, constant(builder, loc, largest));
  return arith::AndIOp::create(builder, loc, above, below);
}

void shareDivisor(const Divisions &divisions) {
  arith::DivFOp first = divisions.front();
  OpBuilder builder(first);
  Location loc = first.getLoc();
  Value divisor = first.getRhs(), magnitude = math::AbsFOp::create(builder, loc, divisor), low, high;
  // NaN dividends are passed over here and come out as NaN.
  for (arith::DivFOp division : divisions) {
    Value size = math::AbsFOp::create(builder, loc, division.getLhs());
    low = low ? arith::MinNumFOp::create(builder, loc, low, size).getResult() : size;
    high = high ? arith::MaxNumFOp::create(builder, loc, high, size).getResult() : size;
  }
  Value inside = arith::AndIOp::create(builder, loc, isWithinRange(builder, loc, low, high),
                                       isWithinRange(builder, loc, magnitude, magnitude));
  SmallVector<Type> types(divisions.size(), divisor.getType());
  auto branch = scf::IfOp::create(builder, loc, types, inside, /*addThenBlock=*/true, /*addElseBlock=*/true);
  SmallVector<Value> quotients, general;
  OpBuilder fast = OpBuilder::atBlockEnd(branch.thenBlock()), slow = OpBuilder::atBlockEnd(branch.elseBlock());
  Value reciprocal = arith::DivFOp::create(fast, loc, constant(fast, loc, 1), divisor);
  for (arith::DivFOp division : divisions) {
    quotients.push_back(divideByReciprocal(fast, loc, division.getLhs(), divisor, reciprocal));
    general.push_back(arith::DivFOp::create(slow, loc, division.getLhs(), divisor));
  }
  scf::YieldOp::create(fast, loc, quotients);
  scf::YieldOp::create(slow, loc, general);
  for (auto [i, division] : llvm::enumerate(Divisions(divisions))) {
    division.getResult().replaceAllUsesWith(branch.getResult(i));
    division.erase();
  }
}

// Divisor and dividends, multiplied by the scale outside of the range of normal reciprocals.
SmallVector<Value> scaleUnlessNormal(OpBuilder &builder, Location loc, Value divisor, const Divisions &divisions) {
  SmallVector<Value> operands = {divisor}, scaled;
  for (arith::DivFOp division : divisions)
    operands.push_back(division.getLhs());
  Value normal = hasNormalReciprocal(builder, loc, divisor);
  auto branch = scf::IfOp::create(builder, loc, SmallVector<Type>(operands.size(), divisor.getType()), normal,
                                  /*addThenBlock=*/true, /*addElseBlock=*/true);
  OpBuilder same = OpBuilder::atBlockEnd(branch.thenBlock()), other = OpBuilder::atBlockEnd(branch.elseBlock());
  Value scale = scaleOfDivisor(other, loc, divisor);
  for (Value operand : operands)
    scaled.push_back(arith::MulFOp::create(other, loc, operand, scale));
  scf::YieldOp::create(same, loc, operands);
  scf::YieldOp::create(other, loc, scaled);
  return llvm::to_vector(ValueRange(branch.getResults()));
}

void multiplyByReciprocal(const Divisions &divisions) {
  arith::DivFOp first = divisions.front();
  OpBuilder builder(first);
  Location loc = first.getLoc();
  Value divisor = first.getRhs(), scale;
  SmallVector<Value> scaled;
  if (divisions.size() >= leastDivisions && areReady(divisions)) {
    scaled = scaleUnlessNormal(builder, loc, divisor, divisions);
    divisor = scaled.front();
  } else {
    scale = scaleOfDivisor(builder, loc, divisor);
    divisor = arith::MulFOp::create(builder, loc, divisor, scale);
  }
  Value reciprocal = arith::DivFOp::create(builder, loc, constant(builder, loc, 1), divisor);
  for (auto [i, division] : llvm::enumerate(Divisions(divisions))) {
    OpBuilder here(division);
    Value quotient = scale ? divideForNarrowing(here, loc, division.getLhs(), scale, reciprocal)
                           : arith::MulFOp::create(here, loc, scaled[i + 1], reciprocal);
    division.getResult().replaceAllUsesWith(quotient);
    division.erase();
  }
}

struct ShareDivisorsPass : PassWrapper<ShareDivisorsPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ShareDivisorsPass)

  StringRef getArgument() const override { return "share-divisors"; }
  StringRef getDescription() const override { return "divide many numbers by one with its reciprocal"; }

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, math::MathDialect, scf::SCFDialect>();
  }

  void runOnOperation() override {
    using Groups = llvm::MapVector<std::pair<Block *, Value>, Divisions>;
    Groups exact, narrowed;
    getOperation().walk([&](arith::DivFOp division) {
      Groups &groups = division->hasAttr(narrowedQuotient) ? narrowed : exact;
      if (division.getType().isF32())
        groups[{division->getBlock(), division.getRhs()}].push_back(division);
    });
    for (auto &entry : narrowed)
      if (entry.second.size() >= leastNarrowed)
        multiplyByReciprocal(entry.second);
    for (auto &entry : exact)
      if (entry.second.size() >= leastDivisions && areReady(entry.second))
        shareDivisor(entry.second);
  }
};

} // namespace

std::unique_ptr<Pass> tilec::createShareDivisorsPass() { return std::make_unique<ShareDivisorsPass>(); }
