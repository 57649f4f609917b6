// Comparisons of positions: one threshold a thread, one 32-bit comparison with a constant an element.
//
// Both sides are affine in the tile's coordinates, so their difference is D + C with a part D of the thread and a
// constant C of the register, and `left < right` is `C < -D`. D is computed once in 64 bits and clamped to a range
// that no C reaches, which keeps the comparison exact.
//
// Several comparisons that must all hold, such as `t <= q` and `t < end`, have constants that mostly differ by the same
// number: `C <= a` and `C + e <= b` are `C <= min(a, b - e)`, one minimum for each e and one comparison an element.
#include "Lowering.h"

#include "tilec/Transforms/AffineIndex.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace tilec;

using Predicate = arith::CmpIPredicate;

static constexpr int64_t clampLimit = int64_t(1) << 30;
// Differences of thresholds and of constants must not leave 32 bits.
static constexpr int64_t farthestOfConjunction = int64_t(1) << 28;
// Fewer registers for each threshold do not pay for its minimum.
static constexpr size_t leastRegistersOfThreshold = 4;

namespace {

// left - right in the dimensions of the tile, `difference predicate 0`.
struct Comparison {
  Predicate predicate;
  LinearSum base;
  SmallVector<int64_t> coefficients;
};

} // namespace

static bool isSignedOrEquality(Predicate predicate) {
  return predicate != Predicate::ult && predicate != Predicate::ule && predicate != Predicate::ugt &&
         predicate != Predicate::uge;
}

static std::optional<Comparison> comparisonOf(arith::CmpIOp compare) {
  if (!getElementTypeOrSelf(compare.getLhs()).isIndex() || !isSignedOrEquality(compare.getPredicate()))
    return std::nullopt;
  std::optional<AffineIndex> left = affineIndex(compare.getLhs()), right = affineIndex(compare.getRhs());
  if (!left || !right)
    return std::nullopt;
  Comparison result{compare.getPredicate(), left->base, {}};
  result.base.add(right->base, -1);
  for (auto [a, b] : llvm::zip(left->coefficients, right->coefficients))
    result.coefficients.push_back(a - b);
  return result;
}

// Difference <= 0; none of an equality.
static bool makeAtMost(Comparison &comparison) {
  Predicate predicate = comparison.predicate;
  if (predicate == Predicate::eq || predicate == Predicate::ne)
    return false;
  if (predicate == Predicate::sgt || predicate == Predicate::sge) {
    LinearSum negated;
    negated.add(comparison.base, -1);
    comparison.base = negated;
    for (int64_t &coefficient : comparison.coefficients)
      coefficient = -coefficient;
  }
  if (predicate == Predicate::slt || predicate == Predicate::sgt)
    comparison.base.constant += 1;
  comparison.predicate = Predicate::sle;
  return true;
}

// The comparisons that must all hold for an element of the tile, each as `<=`; false if it is something else.
static bool collectConjunction(Value tile, SmallVectorImpl<Comparison> &found) {
  if (auto both = tile.getDefiningOp<arith::AndIOp>())
    return collectConjunction(both.getLhs(), found) && collectConjunction(both.getRhs(), found);
  if (auto compare = tile.getDefiningOp<arith::CmpIOp>()) {
    std::optional<Comparison> comparison = comparisonOf(compare);
    if (!comparison || !makeAtMost(*comparison))
      return false;
    found.push_back(*comparison);
    return true;
  }
  auto broadcast = tile.getDefiningOp<tile::BroadcastOp>();
  size_t first = found.size();
  if (!broadcast || !Lowering::isTile(broadcast.getInput()) || !collectConjunction(broadcast.getInput(), found))
    return false;
  for (Comparison &comparison : llvm::drop_begin(found, first)) {
    SmallVector<int64_t> coefficients(cast<RankedTensorType>(tile.getType()).getRank(), 0);
    for (auto [dim, coefficient] : llvm::zip_equal(broadcast.getDims(), comparison.coefficients))
      coefficients[dim] = coefficient;
    comparison.coefficients = coefficients;
  }
  return true;
}

// Whether no constant of a register, and no part of a thread, reaches the limit.
static bool isWithin(const Comparison &comparison, const Layout &layout, int64_t limit) {
  int64_t reach = 0;
  for (auto [d, coefficient] : llvm::enumerate(comparison.coefficients)) {
    if (std::abs(coefficient) > limit)
      return false;
    reach += std::abs(coefficient) * layout.covered(d);
  }
  return reach < limit;
}

// What the constants of the registers are compared with, as i32.
static Value thresholdOf(Lowering &lowering, const Comparison &comparison, const Layout &layout) {
  OpBuilder &builder = lowering.builder;
  Location loc = lowering.loc();
  Value difference = lowering.constantIndex(comparison.base.constant);
  for (auto [value, coefficient] : comparison.base.terms)
    difference = lowering.add(difference, lowering.mulConstant(lowering.scalar(value), coefficient));
  for (auto [d, coefficient] : llvm::enumerate(comparison.coefficients))
    if (coefficient != 0)
      difference = lowering.add(
          difference, lowering.toIndex(lowering.mulConstant(lowering.threadCoordinate(layout, d), coefficient)));
  Value threshold = arith::SubIOp::create(builder, loc, lowering.constantIndex(0), difference);
  threshold = arith::MinSIOp::create(builder, loc, threshold, lowering.constantIndex(clampLimit));
  return lowering.toI32(arith::MaxSIOp::create(builder, loc, threshold, lowering.constantIndex(-clampLimit)));
}

static int64_t constantOf(ArrayRef<int64_t> coefficients, const Layout &layout, uint32_t reg) {
  int64_t constant = 0;
  for (auto [d, offset] : llvm::enumerate(layout.registerOffset(reg)))
    constant += coefficients[d] * offset;
  return constant;
}

// Thresholds for the constants of the first comparison, which have those of the others in them.
static std::optional<AffineCompare> planConjunction(Lowering &lowering, ArrayRef<Comparison> comparisons,
                                                    const Layout &layout) {
  for (const Comparison &comparison : comparisons)
    if (!isWithin(comparison, layout, farthestOfConjunction))
      return std::nullopt;
  const Comparison &first = comparisons.front();
  auto excessOf = [&](uint32_t reg) {
    std::vector<int64_t> excess;
    for (const Comparison &other : llvm::drop_begin(comparisons))
      excess.push_back(constantOf(other.coefficients, layout, reg) - constantOf(first.coefficients, layout, reg));
    return excess;
  };
  size_t registers = layout.numRegisters();
  llvm::MapVector<std::vector<int64_t>, Value, std::map<std::vector<int64_t>, unsigned>> minima;
  for (uint32_t reg = 0; reg < registers; ++reg)
    minima.insert({excessOf(reg), Value()});
  if (minima.size() * leastRegistersOfThreshold > registers)
    return std::nullopt;
  OpBuilder &builder = lowering.builder;
  Location loc = lowering.loc();
  SmallVector<Value> own;
  for (const Comparison &comparison : comparisons)
    own.push_back(thresholdOf(lowering, comparison, layout));
  for (auto &[excess, minimum] : minima) {
    minimum = own.front();
    for (auto [number, threshold] : llvm::zip_equal(excess, llvm::drop_begin(own))) {
      Value shifted = arith::SubIOp::create(builder, loc, threshold, lowering.constant32(number));
      minimum = arith::MinSIOp::create(builder, loc, minimum, shifted);
    }
    minimum = lowering.opaque(minimum);
  }
  AffineCompare result{Predicate::sle, {}, first.coefficients, &layout};
  for (uint32_t reg = 0; reg < registers; ++reg)
    result.thresholds.push_back(minima.lookup(excessOf(reg)));
  return result;
}

std::optional<AffineCompare> Lowering::planAffineCompare(Operation *op) {
  if (!isa<arith::CmpIOp, arith::AndIOp>(op) || !isTile(op->getResult(0)))
    return std::nullopt;
  const Layout &layout = layoutOf(op->getResult(0));
  if (isa<arith::AndIOp>(op)) {
    SmallVector<Comparison> comparisons;
    if (!getElementTypeOrSelf(op->getResult(0)).isInteger(1) || !collectConjunction(op->getResult(0), comparisons))
      return std::nullopt;
    return planConjunction(*this, comparisons, layout);
  }
  std::optional<Comparison> comparison = comparisonOf(cast<arith::CmpIOp>(op));
  if (!comparison || !isWithin(*comparison, layout, clampLimit))
    return std::nullopt;
  Value threshold = opaque(thresholdOf(*this, *comparison, layout));
  return AffineCompare{comparison->predicate, {threshold}, comparison->coefficients, &layout};
}

Value Lowering::emitAffineCompare(const AffineCompare &compare, uint32_t reg) {
  Value threshold = compare.thresholds.size() == 1 ? compare.thresholds.front() : compare.thresholds[reg];
  Value constant = constant32(constantOf(compare.coefficients, *compare.layout, reg));
  return arith::CmpIOp::create(builder, location, compare.predicate, constant, threshold);
}
