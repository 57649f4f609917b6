// Reductions, products and operations along an axis of a reference: loops over positions, a block of them at a time.
#include "Evaluator.h"

#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <limits>
#include <numeric>

using namespace tilec;
using namespace tilec::runner;
using namespace tilec::sema;
using llvm::cast;
using llvm::dyn_cast;

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

void Evaluator::forEachBlock(llvm::ArrayRef<const Axis *> axes, llvm::function_ref<void()> body) {
  auto [lower, upper] = rangeOf(axes.front());
  FrameChange change(*this);
  ++frame.activeAxes;
  if (axes.size() > 1) {
    for (int64_t position = lower; position < upper; ++position) {
      frame.at(axes.front()) = position;
      forEachBlock(axes.drop_front(), body);
    }
    return;
  }
  frame.vectorAxis = axes.front();
  for (int64_t position = lower; position < upper; position += static_cast<int64_t>(frame.count)) {
    frame.start = position;
    frame.count = static_cast<size_t>(std::min<int64_t>(upper - position, mostLanes));
    body();
  }
}

std::vector<bool> Evaluator::presentLanes(const Expr *guard) {
  std::vector<bool> present(frame.count, true);
  if (!guard)
    return present;
  Lanes values = evaluate(guard);
  for (size_t i = 0; i < frame.count; ++i)
    present[i] = values.integerAt(i) != 0;
  return present;
}

int64_t Evaluator::keyOf(llvm::ArrayRef<const Axis *> axes) {
  int64_t key = 0;
  for (const Axis *axis : axes) {
    auto [lower, upper] = rangeOf(axis);
    key = key * std::max<int64_t>(upper - lower, 1) + frame.at(axis) - lower;
  }
  return key;
}

// Positions of other axes than those of the result do not matter, so that a number is computed once.
Lanes Evaluator::evaluateAlongAxes(const Expr *expr) {
  const auto *operation = dyn_cast<AxisOperation>(expr);
  if (operation && operation->type.has(operation->axis))
    return evaluateRow(operation);
  bool dependsOnLane = frame.vectorAxis && expr->type.has(frame.vectorAxis);
  bool isAskedOnce = expr->type.axes.size() >= frame.activeAxes;
  auto remembered = [&]() -> Scalar {
    if (isAskedOnce)
      return reduceAt(expr);
    auto memo = memos.try_emplace(expr, isFloat(expr->type.element)).first;
    int64_t key = keyOf(expr->type.axes);
    if (const Scalar *known = memo->second.find(key))
      return *known;
    Scalar result = reduceAt(expr);
    memos.find(expr)->second.set(key, result);
    return result;
  };
  if (dependsOnLane)
    return laneByLane(isFloat(expr->type.element), remembered);
  return Lanes::of(isFloat(expr->type.element), remembered());
}

Scalar Evaluator::reduceAt(const Expr *expr) {
  FrameChange change(*this);
  change.single();
  if (const auto *product = dyn_cast<Dot>(expr))
    return dot(product);
  if (const auto *reduction = dyn_cast<Reduce>(expr))
    return reduce(reduction);
  return argumentOf(cast<AxisOperation>(expr));
}

//===----------------------------------------------------------------------===//
// Sums and products
//===----------------------------------------------------------------------===//

// The products of 8-bit floats are added with about 14 bits in the Tensor Core.
static double unitOfProducts(const Expr *operand, double unit) {
  while (const auto *conversion = dyn_cast<Cast>(operand))
    operand = conversion->operand;
  if (const auto *product = dyn_cast<Binary>(operand); product && product->op == BinaryOp::Multiply)
    return unitOfProducts(product->lhs, unit);
  ScalarKind element = operand->type.element;
  bool isNarrow = element == ScalarKind::F8E4M3 || element == ScalarKind::F8E5M2;
  return isNarrow ? std::max(unit, 0x1p-13) : unit;
}

namespace {
// A sum with what bounds the error of computing it.
struct Sum {
  double value = 0, magnitudes = 0, bounds = 0;
  uint64_t integer = 0;
  int64_t count = 0;

  void add(double term, double bound) {
    value += term;
    magnitudes += std::abs(term);
    bounds += bound;
    ++count;
  }
  double bound(double unit) const {
    double rounding = count > 1 ? sumFactor(static_cast<double>(count)) * unit * magnitudes : 0;
    return usableBound(bounds + rounding);
  }
};
} // namespace

Scalar Evaluator::dot(const Dot *product) {
  Sum sum;
  bool floats = isFloat(product->type.element);
  forEachBlock(product->axes, [&] {
    Lanes lhs = evaluate(product->lhs), rhs = evaluate(product->rhs);
    work += frame.count;
    bool isPlain = floats && !product->guard && lhs.bound.empty() && rhs.bound.empty();
    for (size_t i = 0; isPlain && i < frame.count; ++i)
      sum.add(lhs.realAt(i) * rhs.realAt(i), 0);
    if (isPlain)
      return;
    std::vector<bool> present = presentLanes(product->guard);
    for (size_t i = 0; i < frame.count; ++i) {
      if (!present[i])
        continue;
      if (!floats) {
        sum.integer += static_cast<uint64_t>(lhs.integerAt(i)) * static_cast<uint64_t>(rhs.integerAt(i));
        continue;
      }
      double a = lhs.realAt(i), b = rhs.realAt(i);
      sum.add(a * b, std::abs(a) * rhs.boundAt(i) + std::abs(b) * lhs.boundAt(i));
    }
  });
  if (!floats)
    return {0, wrapInteger(product->type.element, static_cast<int64_t>(sum.integer)), 0};
  return {sum.value, 0, sum.bound(unitOfProducts(product->lhs, rounding.unit))};
}

static Scalar startOf(ReduceKind kind, ScalarKind type) {
  bool wantsMax = kind == ReduceKind::Max;
  if (kind == ReduceKind::Prod)
    return {1, 1, 0};
  if (kind == ReduceKind::All)
    return {0, 1, 0};
  if (kind != ReduceKind::Max && kind != ReduceKind::Min)
    return {};
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (isFloat(type))
    return {wantsMax ? -infinity : infinity, 0, 0};
  unsigned bits = getBitWidth(type);
  if (!isSigned(type))
    return {0, wantsMax ? 0 : wrapInteger(type, -1), 0};
  int64_t least = wrapInteger(type, static_cast<int64_t>(uint64_t(1) << (bits - 1)));
  return {0, wantsMax ? least : wrapInteger(type, ~least), 0};
}

static Scalar combine(ReduceKind kind, ScalarKind type, const Scalar &a, const Scalar &b, Rounding rounding) {
  bool floats = isFloat(type);
  Lanes x = Lanes::of(floats, a), y = Lanes::of(floats, b);
  if (kind == ReduceKind::Prod)
    return evaluateBinary(BinaryOp::Multiply, type, x, y, rounding).scalarAt(0);
  if (kind == ReduceKind::Any || kind == ReduceKind::All)
    return {0, kind == ReduceKind::Any ? a.integer | b.integer : a.integer & b.integer, 0};
  Builtin which = kind == ReduceKind::Max ? Builtin::Max : Builtin::Min;
  return evaluateCall(which, type, type, {x, y}, rounding).scalarAt(0);
}

Scalar Evaluator::reduce(const Reduce *reduction) {
  ReduceKind kind = reduction->reduction;
  ScalarKind type = reduction->type.element;
  bool adds = kind == ReduceKind::Sum || kind == ReduceKind::Mean;
  Sum sum;
  Scalar folded = startOf(kind, type);
  forEachBlock(reduction->axes, [&] {
    Lanes values = evaluate(reduction->operand);
    std::vector<bool> present = presentLanes(reduction->guard);
    for (size_t i = 0; i < frame.count; ++i) {
      if (!present[i])
        continue;
      if (!adds)
        folded = combine(kind, type, folded, values.scalarAt(i), rounding);
      else if (values.isFloat)
        sum.add(values.realAt(i), values.boundAt(i));
      else
        sum.integer += static_cast<uint64_t>(values.integerAt(i));
    }
    work += frame.count;
  });
  if (!adds)
    return folded;
  if (!isFloat(type))
    return {0, wrapInteger(type, static_cast<int64_t>(sum.integer)), 0};
  double bound = sum.bound(unitOfProducts(reduction->operand, rounding.unit));
  if (kind == ReduceKind::Sum)
    return {sum.value, 0, bound};
  double count = static_cast<double>(sum.count), mean = sum.value / count;
  return {mean, 0, usableBound(bound / count + 2 * rounding.unit * std::abs(mean))};
}

//===----------------------------------------------------------------------===//
// Along one axis
//===----------------------------------------------------------------------===//

// -1 where there is no position; the first NaN wins, else the least of equals.
Scalar Evaluator::argumentOf(const AxisOperation *operation) {
  bool wantsMax = operation->operation == AxisOperationKind::Argmax;
  ScalarKind type = operation->operand->type.element;
  Rounding exact{0};
  int64_t best = -1;
  Scalar bestValue;
  forEachBlock(operation->axis, [&] {
    Lanes values = evaluate(operation->operand);
    for (size_t i = 0; i < frame.count; ++i) {
      Scalar value = values.scalarAt(i);
      Lanes x = Lanes::of(values.isFloat, value), y = Lanes::of(values.isFloat, bestValue);
      BinaryOp op = wantsMax ? BinaryOp::Greater : BinaryOp::Less;
      bool isBetter = best < 0 || (std::isnan(value.real) && !std::isnan(bestValue.real)) ||
                      evaluateBinary(op, type, x, y, exact).integer[0];
      if (!isBetter)
        continue;
      best = frame.start + static_cast<int64_t>(i);
      bestValue = value;
    }
    work += frame.count;
  });
  return {0, best, 0};
}

// The row is kept until another is asked for.
Lanes Evaluator::evaluateRow(const AxisOperation *operation) {
  llvm::SmallVector<const Axis *, 4> others(operation->type.axes);
  llvm::erase(others, operation->axis);
  auto rowHere = [&]() -> const Lanes & {
    int64_t key = keyOf(others);
    Row &row = rows[operation];
    if (row.key != key) {
      Lanes values = computeRow(operation);
      row.values = std::move(values);
      row.key = key;
    }
    return row.values;
  };
  int64_t lower = rangeOf(operation->axis).first;
  bool floats = isFloat(operation->type.element);
  if (frame.vectorAxis != operation->axis)
    return laneByLane(floats,
                      [&] { return rowHere().scalarAt(static_cast<size_t>(frame.at(operation->axis) - lower)); });
  const Lanes &row = rowHere();
  Lanes result = floats ? Lanes::floats(frame.count) : Lanes::integers(frame.count);
  for (size_t i = 0; i < frame.count; ++i)
    result.set(i, row.scalarAt(static_cast<size_t>(frame.start - lower) + i));
  return result;
}

// Weights of present elements; the others are 0.
static Lanes softmaxOf(const Lanes &values, const std::vector<bool> &present, Rounding rounding) {
  size_t count = values.size();
  double greatest = -std::numeric_limits<double>::infinity(), bound = 0;
  for (size_t i = 0; i < count; ++i) {
    if (!present[i])
      continue;
    greatest = std::isnan(values.real[i]) ? values.real[i] : std::max(greatest, values.real[i]);
    bound = std::max(bound, values.boundAt(i));
  }
  Lanes result = Lanes::floats(count);
  double sum = 0;
  for (size_t i = 0; i < count; ++i)
    sum += result.real[i] = present[i] ? std::exp(values.real[i] - greatest) : 0;
  double units = 8 + sumFactor(static_cast<double>(count));
  result.bound.resize(count);
  for (size_t i = 0; i < count; ++i) {
    double distance = std::abs(values.real[i] - greatest);
    result.real[i] = present[i] ? result.real[i] / sum : 0;
    result.bound[i] =
        usableBound(result.real[i] == 0 ? 0 : result.real[i] * (2 * bound + rounding.unit * (units + 2 * distance)));
  }
  return result;
}

// Stable; NaN last in both directions.
static std::vector<size_t> sortedOrder(const Lanes &values, ScalarKind type, bool descending) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t(0));
  bool isUnsigned = !values.isFloat && !isSigned(type);
  auto less = [&](size_t a, size_t b) {
    if (values.isFloat)
      return values.real[a] < values.real[b];
    return isUnsigned ? static_cast<uint64_t>(values.integer[a]) < static_cast<uint64_t>(values.integer[b])
                      : values.integer[a] < values.integer[b];
  };
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    bool aIsNan = values.isFloat && std::isnan(values.real[a]), bIsNan = values.isFloat && std::isnan(values.real[b]);
    if (aIsNan || bIsNan)
      return !aIsNan && bIsNan;
    return descending ? less(b, a) : less(a, b);
  });
  return order;
}

static Lanes scanOf(const Lanes &values, AxisOperationKind kind, ScalarKind type, bool reverse, Rounding rounding) {
  Lanes result = values;
  size_t count = values.size();
  Sum sum;
  Scalar folded = startOf(ReduceKind::Max, type);
  for (size_t step = 0; step < count; ++step) {
    size_t i = reverse ? count - 1 - step : step;
    if (kind == AxisOperationKind::Cummax) {
      folded = combine(ReduceKind::Max, type, folded, values.scalarAt(i), rounding);
      result.set(i, folded);
    } else if (values.isFloat) {
      sum.add(values.real[i], values.boundAt(i));
      result.set(i, {sum.value, 0, sum.bound(rounding.unit)});
    } else {
      sum.integer += static_cast<uint64_t>(values.integer[i]);
      result.set(i, {0, wrapInteger(type, static_cast<int64_t>(sum.integer)), 0});
    }
  }
  return result;
}

static void append(Lanes &row, const Lanes &block, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    Scalar value = block.scalarAt(i);
    row.real.push_back(value.real);
    row.integer.push_back(value.integer);
    row.bound.push_back(value.bound);
  }
}

Lanes Evaluator::computeRow(const AxisOperation *operation) {
  Lanes values;
  values.isFloat = isFloat(operation->operand->type.element);
  std::vector<bool> present;
  forEachBlock(operation->axis, [&] {
    append(values, evaluate(operation->operand), frame.count);
    std::vector<bool> block = presentLanes(operation->guard);
    present.insert(present.end(), block.begin(), block.end());
  });
  if (values.isFloat)
    values.integer.clear();
  else
    values.real.clear();
  ScalarKind type = operation->operand->type.element;
  switch (operation->operation) {
  case AxisOperationKind::Softmax:
    return softmaxOf(values, present, rounding);
  case AxisOperationKind::Cumsum:
  case AxisOperationKind::Cummax:
    return scanOf(values, operation->operation, type, operation->flag, rounding);
  default:
    break;
  }
  bool wantsPlaces = operation->operation == AxisOperationKind::Argsort;
  int64_t lower = rangeOf(operation->axis).first;
  std::vector<size_t> order = sortedOrder(values, type, operation->flag);
  Lanes result = wantsPlaces ? Lanes::integers(order.size()) : values;
  for (auto [i, from] : llvm::enumerate(order))
    result.set(i, wantsPlaces ? Scalar{0, lower + static_cast<int64_t>(from), 0} : values.scalarAt(from));
  return result;
}
