// Calls: casts and element-wise built-ins.
#include "Analyzer.h"
#include "Promotion.h"

using namespace tilec;
using namespace tilec::sema;

Value Analyzer::makeCall(Builtin builtin, ScalarKind element, std::vector<Expr *> arguments, SourceRange range) {
  std::vector<const Expr *> operands(arguments.begin(), arguments.end());
  Type type = unionType(element, operands);
  return Value::of(context.create<Call>(range, type, builtin, std::move(arguments)), range);
}

Value Analyzer::checkCall(const ast::CallExpr *expr) {
  if (const auto *scalar = llvm::dyn_cast<ast::ScalarExpr>(expr->callee))
    return checkCast(scalar->scalar, expr);
  const auto *name = llvm::dyn_cast<ast::NameExpr>(expr->callee);
  if (!name) {
    report(expr->callee->range, diag::err_not_a_function) << quote(expr->callee->range);
    return Value::error(expr->range);
  }
  Symbol *symbol = resolve(name->name);
  if (!symbol || symbol->kind == SymbolKind::Poison)
    return Value::error(expr->range);
  switch (symbol->kind) {
  case SymbolKind::TypeConstant:
    return checkCast(symbol->scalar, expr);
  case SymbolKind::Function:
    return inlineCall(symbol->function, {}, expr->arguments, expr->range);
  case SymbolKind::Builtin:
    if (const ElementwiseBuiltin *builtin = findElementwise(symbol->name))
      return checkElementwise(*builtin, expr);
    if (isAlongAxes(symbol->name))
      reportMissingAxes(expr, *name);
    else
      report(expr->range, diag::err_not_a_function) << quote(name->range);
    return Value::error(expr->range);
  default:
    report(name->range, diag::err_not_a_function) << quote(name->range);
    return Value::error(expr->range);
  }
}

/// `sum(x)`: offers an axis that all operands have, the last one of the first.
void Analyzer::reportMissingAxes(const ast::CallExpr *expr, const ast::NameExpr &name) {
  Block ignored;
  llvm::SaveAndRestore<Block *> savedOut(out, &ignored);
  std::vector<Type> types;
  for (const ast::Argument &argument : expr->arguments)
    if (Value value = check(argument.value); !value.isError && value.expr)
      types.push_back(value.expr->type);
  std::string bracket = "[k]";
  for (const Axis *axis : types.empty() ? llvm::ArrayRef<const Axis *>() : llvm::ArrayRef(types.front().axes))
    if (llvm::all_of(types, [&](const Type &type) { return type.has(axis); }))
      bracket = "[" + axis->name + "]";
  report(expr->range, diag::err_needs_axes) << name.name.name << bracket << FixIt::insertion(name.range.end, bracket);
}

Value Analyzer::checkCast(ScalarKind element, const ast::CallExpr *expr) {
  if (expr->arguments.size() != 1 || expr->arguments[0].name) {
    report(expr->range, diag::err_argument_count)
        << getSpelling(element) << countArguments(1, 1) << expr->arguments.size();
    return Value::error(expr->range);
  }
  Value operand = check(expr->arguments[0].value);
  if (operand.isError)
    return Value::error(expr->range);
  if (operand.isTuple()) {
    materialize(operand);
    return Value::error(expr->range);
  }
  if (element == ScalarKind::Bool && (operand.number || operand.element() != ScalarKind::Bool)) {
    report(expr->range, diag::err_number_as_bool)
        << quote(operand.range) << FixIt::insertion(operand.range.end, " != 0");
    return Value::error(expr->range);
  }
  if (!operand.number)
    return Value::of(castTo(operand.expr, element, expr->range), expr->range);
  Number number = *operand.number;
  if (!isFloat(element)) {
    // Truncates, saturates, and maps NaN to 0 (rule 13).
    if (!number.isInteger()) {
      if (number.kind() == Number::Kind::NaN)
        number = Number::integer(int64_t(0));
      unsigned bits = getBitWidth(element);
      bool hasSign = isSigned(element);
      Number least =
          hasSign ? Number::integer(llvm::APInt::getSignedMinValue(bits), true) : Number::integer(int64_t(0));
      Number greatest = hasSign ? Number::integer(llvm::APInt::getSignedMaxValue(bits), true)
                                : Number::integer(llvm::APInt::getMaxValue(bits), false);
      number = number.truncated();
      if (Number::compare(BinaryOp::Less, number, least))
        number = least;
      if (Number::compare(BinaryOp::Greater, number, greatest))
        number = greatest;
    }
  }
  return Value::of(makeConstant(context, expr->range, element, number), expr->range);
}

Value Analyzer::checkElementwise(const ElementwiseBuiltin &builtin, const ast::CallExpr *expr) {
  size_t count = expr->arguments.size();
  for (const ast::Argument &argument : expr->arguments) {
    if (argument.name) {
      report(argument.name.range, diag::err_named_argument) << builtin.name << argument.name.name;
      return Value::error(expr->range);
    }
  }
  if (count < builtin.least || count > builtin.most) {
    report(expr->range, diag::err_argument_count)
        << builtin.name << countArguments(builtin.least, builtin.most) << count;
    return Value::error(expr->range);
  }
  if (builtin.builtin == Builtin::Bitcast)
    return checkBitcast(expr);
  std::vector<Value> arguments;
  bool failed = false;
  for (const ast::Argument &argument : expr->arguments) {
    arguments.push_back(check(argument.value));
    if (arguments.back().isTuple())
      materialize(arguments.back());
    failed |= arguments.back().isError || arguments.back().isTuple();
  }
  if (failed)
    return Value::error(expr->range);
  switch (builtin.builtin) {
  case Builtin::Select:
    return checkSelect(arguments, expr->range);
  case Builtin::Min:
  case Builtin::Max:
  case Builtin::Clamp:
  case Builtin::Abs:
    return checkKeeping(builtin.builtin, arguments, expr->range);
  case Builtin::Popcount:
  case Builtin::Clz:
  case Builtin::CeilDiv:
  case Builtin::AlignUp:
  case Builtin::DivTrunc:
  case Builtin::RemTrunc:
    return checkIntegerFunction(builtin.builtin, arguments, expr->range);
  case Builtin::Philox: {
    refuse("philox", expr->range);
    Expr *seed = convertTo(arguments[0], ScalarKind::U64);
    Expr *number = convertTo(arguments[1], ScalarKind::U64);
    return seed && number ? makeCall(Builtin::Philox, ScalarKind::U32, {seed, number}, expr->range)
                          : Value::error(expr->range);
  }
  case Builtin::Uniform: {
    refuse("uniform", expr->range);
    Expr *bits = convertTo(arguments[0], ScalarKind::U32);
    return bits ? makeCall(Builtin::Uniform, ScalarKind::F32, {bits}, expr->range) : Value::error(expr->range);
  }
  default:
    return checkFloatFunction(builtin.builtin, arguments, expr->range);
  }
}

Value Analyzer::checkSelect(llvm::ArrayRef<Value> arguments, SourceRange range) {
  const Value &condition = arguments[0];
  if (condition.number || condition.element() != ScalarKind::Bool) {
    report(condition.range, diag::err_operand_type) << "select" << "bool" << condition.type.str();
    return Value::error(range);
  }
  std::optional<ScalarKind> element = meet(arguments.drop_front(), /*keeping=*/true, range);
  if (!element)
    return Value::error(range);
  Expr *a = toElement(arguments[1], *element);
  Expr *b = toElement(arguments[2], *element);
  if (!a || !b)
    return Value::error(range);
  if (std::optional<bool> constant = getConstantCondition(condition)) {
    Expr *chosen = *constant ? a : b;
    if (chosen->type.axes.size() >= unionType(*element, {a, b}).axes.size())
      return Value::of(chosen, range);
  }
  return makeCall(Builtin::Select, *element, {condition.expr, a, b}, range);
}

/// min, max, clamp and abs: the operands' type is kept.
Value Analyzer::checkKeeping(Builtin builtin, llvm::ArrayRef<Value> arguments, SourceRange range) {
  for (const Value &argument : arguments) {
    if (argument.element() == ScalarKind::Bool) {
      report(argument.range, diag::err_operand_type) << getSpelling(builtin) << "a number" << argument.type.str();
      return Value::error(range);
    }
  }
  bool allExact = llvm::all_of(arguments, [](const Value &value) { return value.number.has_value(); });
  if (allExact) {
    auto less = [&](const Value &a, const Value &b) { return Number::compare(BinaryOp::Less, *a.number, *b.number); };
    Value result = arguments[0];
    if (builtin == Builtin::Abs && Number::compare(BinaryOp::Less, *result.number, Number::integer(int64_t(0))))
      result.number = result.number->negated();
    for (size_t i = 1; i < arguments.size(); ++i) {
      bool takesGreater = builtin == Builtin::Max || (builtin == Builtin::Clamp && i == 1);
      if (takesGreater ? less(result, arguments[i]) : less(arguments[i], result))
        result = arguments[i];
    }
    result.range = range;
    return result;
  }
  std::optional<ScalarKind> element = meet(arguments, /*keeping=*/true, range);
  if (!element)
    return Value::error(range);
  std::vector<Expr *> operands;
  for (const Value &argument : arguments) {
    operands.push_back(toElement(argument, *element));
    if (!operands.back())
      return Value::error(range);
  }
  bool constant = isInteger(*element) && builtin != Builtin::Abs && builtin != Builtin::Clamp &&
                  llvm::all_of(operands, [](Expr *operand) { return llvm::isa<Constant>(operand); });
  if (!constant)
    return makeCall(builtin, *element, std::move(operands), range);
  Expr *best = operands[0];
  for (Expr *operand : llvm::drop_begin(operands)) {
    bool less = Number::compare(BinaryOp::Less, getNumber(llvm::cast<Constant>(operand)),
                                getNumber(llvm::cast<Constant>(best)));
    if (less == (builtin == Builtin::Min))
      best = operand;
  }
  return Value::of(best, range);
}

/// exp, sqrt, floor, pow, ...: floats, done in f32 for narrower ones.
Value Analyzer::checkFloatFunction(Builtin builtin, llvm::ArrayRef<Value> arguments, SourceRange range) {
  for (const Value &argument : arguments) {
    if (argument.number || isFloat(argument.element()))
      continue;
    DiagnosticBuilder builder = report(argument.range, diag::err_expected_float)
                                << getSpelling(builtin) << quote(argument.range) << argument.type.str();
    if (isInteger(argument.element()))
      builder << FixIt::insertion(argument.range.begin, "f32(") << FixIt::insertion(argument.range.end, ")");
    return Value::error(range);
  }
  bool isTest = builtin == Builtin::IsNan || builtin == Builtin::IsInf;
  std::optional<ScalarKind> element = meet(arguments, /*keeping=*/isTest, range);
  if (!element)
    return Value::error(range);
  if (isInteger(*element))
    element = ScalarKind::F32;
  std::vector<Expr *> operands;
  for (const Value &argument : arguments) {
    operands.push_back(toElement(argument, *element));
    if (!operands.back())
      return Value::error(range);
  }
  return makeCall(builtin, isTest ? ScalarKind::Bool : *element, std::move(operands), range);
}

static std::optional<Number> foldInteger(Builtin builtin, const Number &a, const Number &b) {
  Number zero = Number::integer(int64_t(0));
  if (Number::compare(BinaryOp::Equal, b, zero))
    return zero;
  Number floor = *Number::fold(BinaryOp::Divide, a, b);
  bool exact = Number::compare(BinaryOp::Equal, *Number::fold(BinaryOp::Multiply, floor, b), a);
  Number ceiling = exact ? floor : *Number::fold(BinaryOp::Add, floor, Number::integer(int64_t(1)));
  bool negative = Number::compare(BinaryOp::Less, a, zero) != Number::compare(BinaryOp::Less, b, zero);
  Number truncated = negative ? ceiling : floor;
  switch (builtin) {
  case Builtin::CeilDiv:
    return ceiling;
  case Builtin::AlignUp:
    return Number::fold(BinaryOp::Multiply, ceiling, b);
  case Builtin::DivTrunc:
    return truncated;
  case Builtin::RemTrunc:
    return Number::fold(BinaryOp::Subtract, a, *Number::fold(BinaryOp::Multiply, truncated, b));
  default:
    return std::nullopt;
  }
}

Value Analyzer::checkIntegerFunction(Builtin builtin, llvm::ArrayRef<Value> arguments, SourceRange range) {
  for (const Value &argument : arguments) {
    if (isInteger(argument.element()))
      continue;
    report(argument.range, diag::err_operand_type) << getSpelling(builtin) << "an integer" << argument.type.str();
    return Value::error(range);
  }
  if (arguments.size() == 2 && arguments[0].number && arguments[1].number) {
    Value result = arguments[0];
    result.range = range;
    result.number = foldInteger(builtin, *arguments[0].number, *arguments[1].number);
    return result;
  }
  if (arguments.size() == 1) {
    // The width is that of the operand; the count itself is an i32.
    Expr *operand = arguments[0].number ? materialize(arguments[0]) : arguments[0].expr;
    if (!operand)
      return Value::error(range);
    Value counted = makeCall(builtin, operand->type.element, {operand}, range);
    return Value::of(castTo(counted.expr, ScalarKind::I32, range), range);
  }
  std::optional<ScalarKind> element = meet(arguments, /*keeping=*/false, range);
  if (!element)
    return Value::error(range);
  Expr *a = toElement(arguments[0], *element);
  Expr *b = toElement(arguments[1], *element);
  if (!a || !b)
    return Value::error(range);
  auto *left = llvm::dyn_cast<Constant>(a);
  auto *right = llvm::dyn_cast<Constant>(b);
  if (left && right)
    if (std::optional<Number> number = foldInteger(builtin, getNumber(left), getNumber(right)))
      return Value::of(makeConstant(context, range, *element, *number), range);
  return makeCall(builtin, *element, {a, b}, range);
}

Value Analyzer::checkBitcast(const ast::CallExpr *expr) {
  const ast::Expr *target = expr->arguments[0].value;
  std::optional<ScalarKind> element;
  if (const auto *scalar = llvm::dyn_cast<ast::ScalarExpr>(target)) {
    element = scalar->scalar;
  } else if (const auto *name = llvm::dyn_cast<ast::NameExpr>(target)) {
    Symbol *symbol = resolve(name->name);
    if (!symbol)
      return Value::error(expr->range);
    if (symbol->kind == SymbolKind::TypeConstant)
      element = symbol->scalar;
  }
  if (!element) {
    report(target->range, diag::err_bitcast_needs_type) << quote(target->range);
    return Value::error(expr->range);
  }
  Value value = check(expr->arguments[1].value);
  Expr *operand = materialize(value);
  if (!operand)
    return Value::error(expr->range);
  if (getBitWidth(operand->type.element) != getBitWidth(*element) || *element == ScalarKind::Bool ||
      operand->type.element == ScalarKind::Bool) {
    report(expr->range, diag::err_bitcast_width)
        << getSpelling(operand->type.element) << getBitWidth(operand->type.element) << getSpelling(*element)
        << getBitWidth(*element);
    return Value::error(expr->range);
  }
  return makeCall(Builtin::Bitcast, *element, {operand}, expr->range);
}
