// Evaluates host expressions.
#include "tilec/Runner/HostExpression.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace tilec::runner;

static int64_t wrapped(uint64_t value) { return static_cast<int64_t>(value); }

static int64_t floorDivide(int64_t a, int64_t b) {
  if (b == 0)
    return 0;
  if (b == -1)
    return wrapped(0 - static_cast<uint64_t>(a));
  int64_t quotient = a / b;
  return quotient - (a % b != 0 && (a < 0) != (b < 0));
}

static int64_t floorRemainder(int64_t a, int64_t b) {
  return b == 0 ? 0 : wrapped(uint64_t(a) - uint64_t(floorDivide(a, b)) * uint64_t(b));
}

static int64_t ceilDivide(int64_t a, int64_t b) { return b == 0 ? 0 : floorDivide(a, b) + (floorRemainder(a, b) != 0); }

// The result of a comparison by its name, from signs: -1, 0, 1, or 2 for unordered.
static std::optional<int64_t> compare(StringRef op, int order) {
  return StringSwitch<std::optional<int64_t>>(op)
      .Case("eq", order == 0)
      .Case("ne", order != 0)
      .Case("lt", order == -1)
      .Case("le", order == -1 || order == 0)
      .Case("gt", order == 1)
      .Case("ge", order == 1 || order == 0)
      .Default(std::nullopt);
}

static int orderOf(const Number &a, const Number &b) {
  if (!a.isReal && !b.isReal)
    return a.integer < b.integer ? -1 : a.integer > b.integer;
  return a.real < b.real ? -1 : a.real > b.real ? 1 : a.real == b.real ? 0 : 2;
}

static std::optional<int64_t> binary(StringRef op, int64_t a, int64_t b) {
  return StringSwitch<std::optional<int64_t>>(op)
      .Case("add", wrapped(uint64_t(a) + uint64_t(b)))
      .Case("sub", wrapped(uint64_t(a) - uint64_t(b)))
      .Case("mul", wrapped(uint64_t(a) * uint64_t(b)))
      .Case("div", floorDivide(a, b))
      .Case("rem", floorRemainder(a, b))
      .Case("ceil_div", ceilDivide(a, b))
      .Case("align_up", wrapped(uint64_t(ceilDivide(a, b)) * uint64_t(b)))
      .Case("min", std::min(a, b))
      .Case("max", std::max(a, b))
      .Case("and", a && b)
      .Case("or", a || b)
      .Default(std::nullopt);
}

static Expected<Number> number(const json::Value &expression, const HostValues &values);

static Error malformed(const json::Value &expression) {
  return createStringError("the reflection file has the malformed expression " + expressionText(expression));
}

static Expected<Number> operation(const json::Array &list, const json::Value &whole, const HostValues &values) {
  std::optional<StringRef> op = list.empty() ? std::nullopt : list[0].getAsString();
  if (!op || list.size() < 2)
    return malformed(whole);
  if (*op == "aligned") {
    std::optional<StringRef> tensor = list[1].getAsString();
    std::optional<int64_t> bytes = list.size() == 3 ? list[2].getAsInteger() : std::nullopt;
    if (!tensor || !bytes)
      return malformed(whole);
    return Number(values.aligned(*tensor, *bytes));
  }
  SmallVector<Number, 4> operands;
  for (const json::Value &operand : drop_begin(list)) {
    Expected<Number> value = number(operand, values);
    if (!value)
      return value.takeError();
    operands.push_back(*value);
  }
  if (*op == "not" && operands.size() == 1)
    return Number(!operands[0].integer);
  if (operands.size() == 2)
    if (std::optional<int64_t> result = compare(*op, orderOf(operands[0], operands[1])))
      return Number(*result);
  int64_t result = operands[0].integer;
  if (operands.size() == 1 && !binary(*op, 0, 0))
    return malformed(whole);
  for (const Number &operand : ArrayRef(operands).drop_front()) {
    std::optional<int64_t> next = binary(*op, result, operand.integer);
    if (!next)
      return malformed(whole);
    result = *next;
  }
  return Number(result);
}

static Expected<Number> number(const json::Value &expression, const HostValues &values) {
  if (std::optional<int64_t> integer = expression.getAsInteger())
    return Number(*integer);
  if (std::optional<double> real = expression.getAsNumber())
    return Number::ofReal(*real);
  if (std::optional<bool> flag = expression.getAsBoolean())
    return Number(*flag);
  if (std::optional<StringRef> name = expression.getAsString()) {
    auto found = values.names.find(name->str());
    if (found == values.names.end())
      return createStringError("the reflection file mentions `" + *name + "`, which the launch does not define");
    return found->second;
  }
  if (const json::Array *list = expression.getAsArray())
    return operation(*list, expression, values);
  return malformed(expression);
}

Expected<int64_t> tilec::runner::evaluate(const json::Value &expression, const HostValues &values) {
  Expected<Number> value = number(expression, values);
  if (!value)
    return value.takeError();
  return value->integer;
}

static StringRef symbolOf(StringRef op) {
  return StringSwitch<StringRef>(op)
      .Case("add", "+")
      .Case("sub", "-")
      .Case("mul", "*")
      .Case("div", "/")
      .Case("rem", "%")
      .Case("eq", "==")
      .Case("ne", "!=")
      .Case("lt", "<")
      .Case("le", "<=")
      .Case("gt", ">")
      .Case("ge", ">=")
      .Case("and", "&&")
      .Case("or", "||")
      .Default("");
}

std::string tilec::runner::expressionText(const json::Value &expression) {
  const json::Array *list = expression.getAsArray();
  if (std::optional<StringRef> name = expression.getAsString())
    return name->str();
  std::optional<StringRef> op = list && !list->empty() ? (*list)[0].getAsString() : std::nullopt;
  if (!op)
    return formatv("{0}", expression).str();
  std::string text, separator = symbolOf(*op).empty() ? ", " : (" " + symbolOf(*op) + " ").str();
  for (const json::Value &operand : drop_begin(*list)) {
    const json::Array *inner = operand.getAsArray();
    bool parentheses = inner && !symbolOf(*op).empty() && !inner->empty() && inner->front().getAsString() &&
                       !symbolOf(*inner->front().getAsString()).empty();
    std::string part = expressionText(operand);
    text += (text.empty() ? "" : separator) + (parentheses ? "(" + part + ")" : part);
  }
  return symbolOf(*op).empty() ? (*op + "(" + text + ")").str() : text;
}
