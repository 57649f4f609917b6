// Which functions are narrowed by all of their uses.
#include "NarrowedFunctions.h"

#include "NarrowedQuotients.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;
using namespace tilec;

// y where `value` is 1 + y; null elsewhere.
static Value besideOne(Value value) {
  auto sum = value.getDefiningOp<arith::AddFOp>();
  if (sum && matchPattern(sum.getLhs(), m_OneFloat()))
    return sum.getRhs();
  return sum && matchPattern(sum.getRhs(), m_OneFloat()) ? sum.getLhs() : Value();
}

Value tilec::sigmoidArgument(Operation *op) {
  auto quotient = dyn_cast<arith::DivFOp>(op);
  if (!quotient || !matchPattern(quotient.getLhs(), m_OneFloat()))
    return nullptr;
  Value power = besideOne(quotient.getRhs());
  auto exp = power ? power.getDefiningOp<math::ExpOp>() : nullptr;
  auto negation = exp ? exp.getOperand().getDefiningOp<arith::NegFOp>() : nullptr;
  return negation ? negation.getOperand() : Value();
}

// The tanh or erf where `op` is the sum of 1 and it, which has no other use; null elsewhere.
static Operation *functionBesideOne(Operation *op) {
  Value other = isa<arith::AddFOp>(op) ? besideOne(op->getResult(0)) : Value();
  Operation *function = other ? other.getDefiningOp() : nullptr;
  return isa_and_nonnull<math::TanhOp, math::ErfOp>(function) && function->hasOneUse() ? function : nullptr;
}

void tilec::markNarrowedFunctions(tilegpu::KernelOp kernel) {
  kernel.walk([](Operation *op) {
    if ((sigmoidArgument(op) || functionBesideOne(op)) && getElementTypeOrSelf(op->getResult(0).getType()).isF32() &&
        isNarrowed(op->getResult(0), /*throughProducts=*/true))
      op->setAttr(narrowedFunction, UnitAttr::get(op->getContext()));
  });
}

// y and a number where `value` is their product; null elsewhere.
static std::pair<Value, double> matchMultiple(Value value) {
  auto product = value.getDefiningOp<arith::MulFOp>();
  for (unsigned i : {0u, 1u})
    if (APFloat factor(0.0f); product && matchPattern(product->getOperand(i), m_ConstantFloat(&factor)))
      return {product->getOperand(1 - i), factor.convertToDouble()};
  return {};
}

// Powers of two that neither overflow nor lose bits of what they are multiplied with.
static bool isSmallPowerOfTwo(double number) {
  int exponent;
  return std::frexp(number, &exponent) == 0.5 && std::abs(exponent) <= 8;
}

bool tilec::expandNarrowedFunction(Operation *op, MathFunctions &functions) {
  Value sigmoid = sigmoidArgument(op);
  Operation *function = sigmoid ? nullptr : functionBesideOne(op);
  if (!sigmoid && !function)
    return false;
  MathFunctions::Scaled scaled{sigmoid ? sigmoid : function->getOperand(0)};
  if (auto [value, factor] = matchMultiple(scaled.x); value && factor > 0x1p-64 && factor < 0x1p64)
    scaled = {value, factor};
  // The product with a value that is a multiple by a power of two.
  auto product = op->hasOneUse() ? dyn_cast<arith::MulFOp>(*op->user_begin()) : arith::MulFOp();
  Value multiple;
  if (product)
    if (auto [value, factor] = matchMultiple(product->getOperand(product.getLhs() == op->getResult(0) ? 1 : 0));
        value && isSmallPowerOfTwo(factor)) {
      multiple = value;
      scaled.times = factor;
    }
  Value result = sigmoid                       ? functions.narrowSigmoid(scaled)
                 : isa<math::TanhOp>(function) ? functions.narrowOnePlusTanh(scaled)
                                               : functions.narrowOnePlusErf(scaled);
  op->getResult(0).replaceAllUsesWith(result);
  op->erase();
  if (multiple)
    product->setOperands({multiple, result});
  return true;
}
