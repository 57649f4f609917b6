// Comparisons of positions: one threshold a thread, one 32-bit comparison with a constant an element.
//
// Both sides are affine in the tile's coordinates, so their difference is D + C with a part D of the thread and a
// constant C of the register, and `left < right` is `C < -D`. D is computed once in 64 bits and clamped to a range
// that no C reaches, which keeps the comparison exact.
#include "Lowering.h"

#include "tilec/Transforms/AffineIndex.h"

using namespace mlir;
using namespace tilec;

static constexpr int64_t clampLimit = int64_t(1) << 30;

std::optional<AffineCompare> Lowering::planAffineCompare(Operation *op) {
  auto compare = dyn_cast<arith::CmpIOp>(op);
  if (!compare || !isTile(compare.getResult()) || !getElementTypeOrSelf(compare.getLhs()).isIndex())
    return std::nullopt;
  arith::CmpIPredicate predicate = compare.getPredicate();
  if (predicate == arith::CmpIPredicate::ult || predicate == arith::CmpIPredicate::ule ||
      predicate == arith::CmpIPredicate::ugt || predicate == arith::CmpIPredicate::uge)
    return std::nullopt;
  std::optional<AffineIndex> left = affineIndex(compare.getLhs()), right = affineIndex(compare.getRhs());
  if (!left || !right)
    return std::nullopt;
  const Layout &layout = layoutOf(compare.getResult());
  LinearSum base = left->base;
  base.add(right->base, -1);
  SmallVector<int64_t> coefficients;
  int64_t reach = 0;
  for (auto [d, a, b] : llvm::enumerate(left->coefficients, right->coefficients)) {
    coefficients.push_back(a - b);
    if (std::abs(a - b) > clampLimit)
      return std::nullopt;
    reach += std::abs(a - b) * layout.covered(d);
  }
  if (reach >= clampLimit)
    return std::nullopt;
  Value difference = constantIndex(base.constant);
  for (auto [value, coefficient] : base.terms)
    difference = add(difference, mulConstant(scalar(value), coefficient));
  for (auto [d, coefficient] : llvm::enumerate(coefficients))
    if (coefficient != 0)
      difference = add(difference, toIndex(mulConstant(threadCoordinate(layout, d), coefficient)));
  Value threshold = arith::SubIOp::create(builder, location, constantIndex(0), difference);
  threshold = arith::MinSIOp::create(builder, location, threshold, constantIndex(clampLimit));
  threshold = toI32(arith::MaxSIOp::create(builder, location, threshold, constantIndex(-clampLimit)));
  threshold = opaque(threshold);
  return AffineCompare{predicate, threshold, coefficients, &layout};
}

Value Lowering::emitAffineCompare(const AffineCompare &compare, uint32_t reg) {
  int64_t constant = 0;
  Coordinates offset = compare.layout->registerOffset(reg);
  for (auto [d, coefficient] : llvm::enumerate(compare.coefficients))
    constant += coefficient * offset[d];
  return arith::CmpIOp::create(builder, location, compare.predicate, constant32(constant), compare.threshold);
}
