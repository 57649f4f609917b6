// Bounds of polynomials by combination of facts.
#include "Facts.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace tilec;
using namespace tilec::sema;

/// Alternatives of min and max that are followed.
constexpr size_t maxForms = 8;
/// Nested operations that are followed for forms, facts combined in one proof, and steps of a search.
constexpr unsigned maxFormDepth = 10;
constexpr unsigned maxCombined = 7;
constexpr unsigned maxSteps = 4000;

void Facts::forms(const Expr *expr, bool upper, std::vector<Poly> &result, unsigned depth) {
  result.push_back(toPoly(expr));
  if (depth == 0)
    return;
  auto combine = [&](const Expr *a, bool upperA, const Expr *b, bool upperB, int64_t sign) {
    std::vector<Poly> left, right;
    forms(a, upperA, left, depth - 1);
    forms(b, upperB, right, depth - 1);
    for (const Poly &x : left)
      for (const Poly &y : right)
        if (result.size() < maxForms)
          result.push_back(x + Poly(sign) * y);
  };
  if (const auto *ref = llvm::dyn_cast<VariableRef>(expr)) {
    // An unstable definition is not followed: toPoly gave it a fresh atom.
    if (ref->variable->kind == VariableKind::Let && ref->variable->initial) {
      std::optional<unsigned> atom = result.back().asAtom();
      if (!atom || atoms[*atom].role != AtomRole::Unknown)
        forms(ref->variable->initial, upper, result, depth - 1);
    }
  } else if (const auto *cast = llvm::dyn_cast<Cast>(expr)) {
    if (isInteger(cast->operand->type.element) && containsAll(expr->type.element, cast->operand->type.element))
      forms(cast->operand, upper, result, depth - 1);
  } else if (const auto *call = llvm::dyn_cast<Call>(expr)) {
    if (call->builtin == (upper ? Builtin::Min : Builtin::Max))
      for (const Expr *argument : call->arguments)
        forms(argument, upper, result, depth - 1);
  } else if (const auto *binary = llvm::dyn_cast<Binary>(expr)) {
    if (binary->op == BinaryOp::Add)
      combine(binary->lhs, upper, binary->rhs, upper, 1);
    else if (binary->op == BinaryOp::Subtract)
      combine(binary->lhs, upper, binary->rhs, !upper, -1);
  } else if (const auto *attribute = llvm::dyn_cast<AxisAttribute>(expr)) {
    if (attribute->attribute == AxisAttributeKind::End && upper) {
      AxisAttribute start(expr->range, attribute->axis, AxisAttributeKind::Start);
      result.push_back(toPoly(&start) + Poly(attribute->axis->extent));
      if (attribute->axis->upper && !attribute->axis->rangeOf)
        forms(attribute->axis->upper, upper, result, depth - 1);
    }
  }
  if (result.size() > maxForms)
    result.resize(maxForms);
}

std::vector<Poly> Facts::upperForms(const Expr *expr) {
  std::vector<Poly> result;
  forms(expr, /*upper=*/true, result, maxFormDepth);
  return result;
}

std::vector<Poly> Facts::lowerForms(const Expr *expr) {
  std::vector<Poly> result;
  forms(expr, /*upper=*/false, result, maxFormDepth);
  return result;
}

void Facts::assumeCondition(Poly p) {
  if (p.isValid() && !p.isConstant())
    conditions.push_back(std::move(p));
}

void Facts::assume(const Expr *condition) {
  const auto *binary = llvm::dyn_cast<Binary>(condition);
  if (!binary)
    return;
  if (binary->op == BinaryOp::LogicalAnd) {
    assume(binary->lhs);
    assume(binary->rhs);
    return;
  }
  if (!isComparison(binary->op) || !isInteger(binary->lhs->type.element))
    return;
  Poly difference = toPoly(binary->lhs) - toPoly(binary->rhs);
  switch (binary->op) {
  case BinaryOp::Equal:
    assumeCondition(difference);
    assumeCondition(Poly() - difference);
    break;
  case BinaryOp::Less:
    assumeCondition(difference + Poly(1));
    break;
  case BinaryOp::LessEqual:
    assumeCondition(difference);
    break;
  case BinaryOp::Greater:
    assumeCondition(Poly(1) - difference);
    break;
  case BinaryOp::GreaterEqual:
    assumeCondition(Poly() - difference);
    break;
  default:
    break;
  }
}

/// Eliminates the last non-constant monomial with each fact that has it with the same sign: from F <= 0 and p = q + l F
/// with l >= 0 follows p <= q.
std::optional<int64_t> Facts::search(const Poly &p, unsigned depth, unsigned &budget) {
  if (!p.isValid() || budget == 0)
    return std::nullopt;
  --budget;
  if (p.isConstant())
    return p.getConstant();
  if (depth == 0)
    return std::nullopt;
  const auto &[monomial, coefficient] = *p.getTerms().rbegin();
  std::optional<int64_t> best;
  for (size_t i = 0; i < facts.size() + conditions.size(); ++i) {
    const Poly &fact = i < facts.size() ? facts[i] : conditions[i - facts.size()];
    int64_t own = fact.coefficient(monomial);
    if (own == 0 || (own < 0) != (coefficient < 0))
      continue;
    int64_t divisor = std::abs(own);
    Poly rest = Poly(divisor) * p - Poly(std::abs(coefficient)) * fact;
    std::optional<int64_t> bound = search(rest, depth - 1, budget);
    if (!bound)
      continue;
    int64_t scaled = *bound >= 0 ? *bound / divisor : -((-*bound + divisor - 1) / divisor);
    if (!best || scaled < *best)
      best = scaled;
  }
  return best;
}

std::optional<int64_t> Facts::upperBound(const Poly &p) {
  unsigned budget = maxSteps;
  return search(p, maxCombined, budget);
}

std::optional<int64_t> Facts::lowerBound(const Poly &p) {
  std::optional<int64_t> bound = upperBound(Poly() - p);
  if (!bound || *bound == INT64_MIN)
    return std::nullopt;
  return -*bound;
}

bool Facts::isNonNegative(const Poly &p) {
  std::optional<int64_t> bound = lowerBound(p);
  return bound && *bound >= 0;
}

bool Facts::areEqual(const Poly &a, const Poly &b) { return a == b || (isNonNegative(a - b) && isNonNegative(b - a)); }
