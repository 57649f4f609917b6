// Translation of scalar SSA values to host expressions.
#include "tilec/Transforms/HostExpression.h"
#include "tilec/Transforms/AffineIndex.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "tilec/Dialect/Tile/TileDialect.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilec;

static std::optional<int64_t> constantOf(Attribute attr) {
  if (auto integer = dyn_cast<IntegerAttr>(attr))
    return integer.getInt();
  return std::nullopt;
}

// The value of `op` on constants, as the launcher would compute it.
static std::optional<int64_t> evaluate(StringRef op, int64_t a, int64_t b) {
  auto floorDiv = [](int64_t x, int64_t y) { return y == 0 ? 0 : x / y - (x % y != 0 && (x < 0) != (y < 0)); };
  if (op == "add")
    return a + b;
  if (op == "sub")
    return a - b;
  if (op == "mul")
    return a * b;
  if (op == "div")
    return floorDiv(a, b);
  if (op == "rem")
    return b == 0 ? 0 : a - floorDiv(a, b) * b;
  if (op == "ceil_div")
    return -floorDiv(-a, b);
  if (op == "min")
    return std::min(a, b);
  if (op == "max")
    return std::max(a, b);
  return std::nullopt;
}

Attribute tilec::hostOperation(MLIRContext *context, StringRef op, ArrayRef<Attribute> operands) {
  Builder builder(context);
  if (operands.size() == 2) {
    std::optional<int64_t> a = constantOf(operands[0]), b = constantOf(operands[1]);
    if (a && b)
      if (std::optional<int64_t> value = evaluate(op, *a, *b))
        return builder.getI64IntegerAttr(*value);
    if ((op == "mul" && b == 1) || ((op == "add" || op == "sub") && b == 0) ||
        ((op == "div" || op == "ceil_div") && b == 1))
      return operands[0];
    if ((op == "mul" && a == 1) || (op == "add" && a == 0))
      return operands[1];
  }
  SmallVector<Attribute> list = {builder.getStringAttr(op)};
  list.append(operands.begin(), operands.end());
  return builder.getArrayAttr(list);
}

static StringRef hostName(Operation *op) {
  return llvm::TypeSwitch<Operation *, StringRef>(op)
      .Case<arith::AddIOp>([](auto) { return "add"; })
      .Case<arith::SubIOp>([](auto) { return "sub"; })
      .Case<arith::MulIOp>([](auto) { return "mul"; })
      .Case<arith::FloorDivSIOp>([](auto) { return "div"; })
      .Case<arith::CeilDivSIOp>([](auto) { return "ceil_div"; })
      .Case<arith::DivUIOp>(
          [](arith::DivUIOp div) { return isNonNegative(div.getLhs()) && isNonNegative(div.getRhs()) ? "div" : ""; })
      .Case<arith::MinSIOp>([](auto) { return "min"; })
      .Case<arith::MaxSIOp>([](auto) { return "max"; })
      .Case<tile::DivOp>([](tile::DivOp div) { return div.getIsUnsigned() || div.getTruncating() ? "" : "div"; })
      .Case<tile::RemOp>([](tile::RemOp rem) { return rem.getIsUnsigned() || rem.getTruncating() ? "" : "rem"; })
      .Default([](Operation *) { return ""; });
}

// A comparison of signed numbers: 1 or 0.
static StringRef hostName(arith::CmpIPredicate predicate) {
  switch (predicate) {
  case arith::CmpIPredicate::slt:
    return "lt";
  case arith::CmpIPredicate::sle:
    return "le";
  case arith::CmpIPredicate::sgt:
    return "gt";
  case arith::CmpIPredicate::sge:
    return "ge";
  default:
    return "";
  }
}

static Attribute hostSelect(arith::SelectOp select) {
  auto compare = select.getCondition().getDefiningOp<arith::CmpIOp>();
  StringRef name = compare ? hostName(compare.getPredicate()) : "";
  SmallVector<Attribute, 4> parts;
  if (name.empty())
    return {};
  for (Value value : {compare.getLhs(), compare.getRhs(), select.getTrueValue(), select.getFalseValue()})
    if (!parts.emplace_back(hostExpression(value)))
      return {};
  MLIRContext *context = select.getContext();
  Attribute holds = hostOperation(context, name, {parts[0], parts[1]});
  Attribute change = hostOperation(context, "sub", {parts[2], parts[3]});
  return hostOperation(context, "add", {parts[3], hostOperation(context, "mul", {holds, change})});
}

Attribute tilec::hostExpression(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !value.getType().isIntOrIndex())
    return {};
  Builder builder(value.getContext());
  IntegerAttr constant;
  if (matchPattern(value, m_Constant(&constant)))
    return builder.getI64IntegerAttr(constant.getInt());
  if (auto arg = dyn_cast<tile::ArgOp>(op))
    return builder.getStringAttr(arg.getName());
  if (isa<arith::IndexCastOp, arith::ExtSIOp>(op))
    return hostExpression(op->getOperand(0));
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return hostSelect(select);
  StringRef name = hostName(op);
  if (name.empty())
    return {};
  SmallVector<Attribute> operands;
  for (Value operand : op->getOperands()) {
    operands.push_back(hostExpression(operand));
    if (!operands.back())
      return {};
  }
  return hostOperation(value.getContext(), name, operands);
}
