// Ranges of float numbers: interval arithmetic in the type of each operation.
#include "FloatRanges.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

#include <cmath>

using namespace mlir;
using namespace tilec;

Value tilec::behindBroadcasts(Value value) {
  while (auto broadcast = value.getDefiningOp<tile::BroadcastOp>())
    value = broadcast.getInput();
  return value;
}

Value tilec::uniformNumber(Value tile) {
  if (auto broadcast = tile.getDefiningOp<tile::BroadcastOp>())
    return isa<ShapedType>(broadcast.getInput().getType()) ? Value() : Value(broadcast.getInput());
  APFloat constant(0.0);
  return matchPattern(tile, m_ConstantFloat(&constant)) ? tile : Value();
}

int tilec::usualExponent(Type type) { return type.isF16() ? 10 : 40; }

FloatRanges::FloatRanges(Operation *kernel) {
  if (auto contracts = kernel->getAttrOfType<ArrayAttr>("contracts"))
    for (auto contract : contracts.getAsRange<DictionaryAttr>())
      assume(contract.get("condition"));
  if (auto when = kernel->getAttrOfType<ArrayAttr>("when"))
    for (Attribute condition : when)
      assume(condition);
}

// The number of a condition, if a double holds it.
static std::optional<double> numberOf(Attribute attribute) {
  if (auto number = dyn_cast<FloatAttr>(attribute))
    return number.getValueAsDouble();
  constexpr int64_t exact = int64_t(1) << 53;
  auto integer = dyn_cast<IntegerAttr>(attribute);
  if (!integer || integer.getInt() > exact || integer.getInt() < -exact)
    return std::nullopt;
  return static_cast<double>(integer.getInt());
}

void FloatRanges::assume(Attribute condition) {
  auto list = dyn_cast_or_null<ArrayAttr>(condition);
  auto op = list && list.size() > 1 ? dyn_cast<StringAttr>(list[0]) : StringAttr();
  if (!op)
    return;
  if (op.getValue() == "and") {
    for (Attribute part : list.getValue().drop_front())
      assume(part);
    return;
  }
  auto name = dyn_cast<StringAttr>(list[1]);
  std::optional<double> number = list.size() == 3 ? numberOf(list[2]) : std::nullopt;
  // No comparison but `ne` holds for NaN.
  if (name && number && is_contained({"lt", "le", "gt", "ge", "eq"}, op.getValue()))
    bounds[name.getValue()].push_back({op.getValue(), *number});
}

static bool hasRange(Type type) { return type.isF16() || type.isBF16() || type.isF32() || type.isF64(); }

static const llvm::fltSemantics &semanticsOf(Type type) { return cast<FloatType>(type).getFloatSemantics(); }

// The numbers of a type that are at least (most) `value`, or beyond it if `strict`: the end next to it.
static APFloat endOf(double value, Type type, bool isLow, bool strict) {
  APFloat end(value);
  bool loses = false;
  end.convert(semanticsOf(type), isLow ? APFloat::rmTowardPositive : APFloat::rmTowardNegative, &loses);
  if (strict && !loses)
    end.next(/*nextDown=*/!isLow);
  return end;
}

static void raise(FloatRange &range, const APFloat &low) {
  if (range.low < low)
    range.low = low;
}

static void lower(FloatRange &range, const APFloat &high) {
  if (high < range.high)
    range.high = high;
}

std::optional<FloatRange> FloatRanges::known(tile::ArgOp argument) const {
  auto found = bounds.find(argument.getName());
  if (found == bounds.end())
    return std::nullopt;
  Type type = argument.getType();
  FloatRange result{APFloat::getInf(semanticsOf(type), /*Negative=*/true), APFloat::getInf(semanticsOf(type))};
  for (const Bound &bound : found->second) {
    if (is_contained({"gt", "ge", "eq"}, bound.comparison))
      raise(result, endOf(bound.value, type, /*isLow=*/true, bound.comparison == "gt"));
    if (is_contained({"lt", "le", "eq"}, bound.comparison))
      lower(result, endOf(bound.value, type, /*isLow=*/false, bound.comparison == "lt"));
  }
  return result;
}

static FloatRange usualRange(Type type) {
  int exponent = usualExponent(type);
  return {endOf(std::ldexp(1.0, -exponent), type, /*isLow=*/true, /*strict=*/false),
          endOf(std::ldexp(1.0, exponent), type, /*isLow=*/false, /*strict=*/false)};
}

// Products and quotients of numbers that are not 0 are extreme at the ends of their ranges, rounded ones too.
static std::optional<FloatRange> combine(const std::optional<FloatRange> &a, const std::optional<FloatRange> &b,
                                         bool divide) {
  auto isFactor = [](const std::optional<FloatRange> &range) {
    return range && (range->isPositive() || range->isNegative());
  };
  if (!isFactor(a) || !isFactor(b))
    return std::nullopt;
  std::optional<FloatRange> result;
  for (const APFloat &x : {a->low, a->high}) {
    for (const APFloat &y : {b->low, b->high}) {
      APFloat value = x;
      if (divide)
        value.divide(y, APFloat::rmNearestTiesToEven);
      else
        value.multiply(y, APFloat::rmNearestTiesToEven);
      if (!result)
        result = FloatRange{value, value};
      result->low = minimum(result->low, value);
      result->high = maximum(result->high, value);
    }
  }
  return result;
}

static std::optional<FloatRange> converted(std::optional<FloatRange> range, Type type) {
  if (!range)
    return std::nullopt;
  bool loses;
  range->low.convert(semanticsOf(type), APFloat::rmNearestTiesToEven, &loses);
  range->high.convert(semanticsOf(type), APFloat::rmNearestTiesToEven, &loses);
  return range;
}

std::optional<FloatRange> FloatRanges::range(Value number, bool assume) const {
  Operation *op = number.getDefiningOp();
  Type type = getElementTypeOrSelf(number.getType());
  if (!op || !hasRange(type))
    return std::nullopt;
  APFloat constant(0.0);
  if (matchPattern(number, m_ConstantFloat(&constant)))
    return constant.isNaN() ? std::nullopt : std::optional(FloatRange{constant, constant});
  if (auto argument = dyn_cast<tile::ArgOp>(op)) {
    std::optional<FloatRange> result = known(argument);
    if (!assume)
      return result;
    FloatRange usual = usualRange(type);
    if (result)
      raise(usual, result->low), lower(usual, result->high);
    return usual.high < usual.low ? result : usual;
  }
  if (isa<arith::MulFOp, arith::DivFOp>(op))
    return combine(range(op->getOperand(0), assume), range(op->getOperand(1), assume), isa<arith::DivFOp>(op));
  if (isa<arith::ExtFOp, arith::TruncFOp>(op))
    return converted(range(op->getOperand(0), assume), type);
  if (isa<arith::NegFOp>(op)) {
    std::optional<FloatRange> operand = range(op->getOperand(0), assume);
    return operand ? std::optional(FloatRange{neg(operand->high), neg(operand->low)}) : std::nullopt;
  }
  return std::nullopt;
}

static void collectParameters(Value number, llvm::SmallSetVector<Operation *, 2> &parameters) {
  Operation *op = number.getDefiningOp();
  if (!op)
    return;
  if (isa<tile::ArgOp>(op))
    parameters.insert(op);
  else if (isa<arith::MulFOp, arith::DivFOp, arith::ExtFOp, arith::TruncFOp, arith::NegFOp>(op))
    for (Value operand : op->getOperands())
      collectParameters(operand, parameters);
}

SmallVector<tile::ArgOp> tilec::parametersOf(Value number) {
  llvm::SmallSetVector<Operation *, 2> parameters;
  collectParameters(number, parameters);
  return llvm::map_to_vector(parameters, [](Operation *op) { return cast<tile::ArgOp>(op); });
}

SmallVector<Attribute> FloatRanges::conditionsOf(Value number) const {
  SmallVector<Attribute> conditions;
  for (tile::ArgOp argument : parametersOf(number)) {
    std::optional<FloatRange> range = known(argument);
    FloatRange usual = usualRange(argument.getType());
    Builder builder(argument.getContext());
    auto require = [&](StringRef comparison, int exponent) {
      conditions.push_back(builder.getArrayAttr({builder.getStringAttr(comparison), argument.getNameAttr(),
                                                 builder.getF64FloatAttr(std::ldexp(1.0, exponent))}));
    };
    if (!range || range->low < usual.low)
      require("ge", -usualExponent(argument.getType()));
    if (!range || usual.high < range->high)
      require("le", usualExponent(argument.getType()));
  }
  return conditions;
}
