// Evaluates the host expressions of launch conditions and grids.
#include "tilec/Interpreter/Launch.h"

#include "mlir/IR/BuiltinAttributes.h"
#include <cmath>

using namespace mlir;
using namespace tilec::interpreter;

static llvm::Error fault(const Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

static int64_t floorDivide(int64_t a, int64_t b) {
  if (b == 0)
    return 0;
  int64_t q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

static llvm::Expected<double> apply(StringRef op, ArrayRef<double> x) {
  auto integer = [&](size_t i) { return static_cast<int64_t>(x[i]); };
  auto fold = [&](auto f) {
    double result = x[0];
    for (double value : x.drop_front())
      result = f(result, value);
    return result;
  };
  if (op == "not" && x.size() == 1)
    return x[0] == 0;
  if (x.size() < 2)
    return fault("the host operation '" + op + "' lacks operands");
  if (op == "add")
    return fold([](double a, double b) { return a + b; });
  if (op == "mul")
    return fold([](double a, double b) { return a * b; });
  if (op == "min")
    return fold([](double a, double b) { return std::min(a, b); });
  if (op == "max")
    return fold([](double a, double b) { return std::max(a, b); });
  if (op == "and")
    return fold([](double a, double b) { return a != 0 && b != 0; });
  if (op == "or")
    return fold([](double a, double b) { return a != 0 || b != 0; });
  if (op == "sub")
    return x[0] - x[1];
  if (op == "div")
    return static_cast<double>(floorDivide(integer(0), integer(1)));
  if (op == "rem")
    return x[1] == 0 ? 0 : static_cast<double>(integer(0) - integer(1) * floorDivide(integer(0), integer(1)));
  if (op == "ceil_div")
    return static_cast<double>(-floorDivide(-integer(0), integer(1)));
  if (op == "align_up")
    return static_cast<double>(-floorDivide(-integer(0), integer(1)) * integer(1));
  if (op == "eq")
    return x[0] == x[1];
  if (op == "ne")
    return x[0] != x[1];
  if (op == "lt")
    return x[0] < x[1];
  if (op == "le")
    return x[0] <= x[1];
  if (op == "gt")
    return x[0] > x[1];
  if (op == "ge")
    return x[0] >= x[1];
  return fault("unknown host operation '" + op + "'");
}

llvm::Expected<double> tilec::interpreter::evaluateHostExpression(Attribute expression,
                                                                  const LaunchArguments &arguments) {
  if (auto integer = dyn_cast<IntegerAttr>(expression))
    return static_cast<double>(integer.getInt());
  if (auto number = dyn_cast<FloatAttr>(expression))
    return number.getValueAsDouble();
  if (auto name = dyn_cast<StringAttr>(expression)) {
    if (name.getValue() == "sm_count")
      return 4;
    auto integer = arguments.integers.find(name.str());
    if (integer != arguments.integers.end())
      return static_cast<double>(integer->second);
    auto number = arguments.floats.find(name.str());
    if (number != arguments.floats.end())
      return number->second;
    return fault("the value of '" + name.getValue() + "' is not known");
  }
  auto list = dyn_cast<ArrayAttr>(expression);
  auto op = list && !list.empty() ? dyn_cast<StringAttr>(list[0]) : StringAttr();
  if (!op)
    return fault("not a host expression");
  if (op.getValue() == "aligned") {
    auto found = arguments.addresses.find(cast<StringAttr>(list[1]).str());
    auto tensor = arguments.tensors.find(cast<StringAttr>(list[1]).str());
    if (tensor == arguments.tensors.end() || tensor->second.bytes.empty() || found == arguments.addresses.end())
      return 1;
    return found->second % cast<IntegerAttr>(list[2]).getInt() == 0;
  }
  SmallVector<double, 4> operands;
  for (Attribute operand : list.getValue().drop_front()) {
    llvm::Expected<double> value = evaluateHostExpression(operand, arguments);
    if (!value)
      return value;
    operands.push_back(*value);
  }
  return apply(op.getValue(), operands);
}
