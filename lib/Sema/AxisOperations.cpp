// The other built-ins along one axis: softmax, scans, sorts, arguments of extrema, topk, reduce and scan.
#include "Analyzer.h"
#include "Promotion.h"

using namespace tilec;
using namespace tilec::sema;

/// The value of a boolean named argument; false where it is absent.
bool Analyzer::takeFlag(const ast::AxisCallExpr *expr, llvm::StringRef name) {
  for (const ast::Argument &argument : expr->arguments) {
    if (argument.name.name != name)
      continue;
    Value value = checkScalarCondition(argument.value);
    if (std::optional<bool> constant = getConstantCondition(value))
      return *constant;
    if (!value.isError)
      report(argument.value->range, diag::err_flag_not_constant) << name;
  }
  return false;
}

Value Analyzer::checkAxisOperation(AxisOperationKind kind, const ast::AxisCallExpr *expr, const Axis *axis) {
  bool isScan = kind == AxisOperationKind::Cumsum || kind == AxisOperationKind::Cummax;
  bool isSort = kind == AxisOperationKind::Sort || kind == AxisOperationKind::Argsort;
  llvm::StringRef flag = isScan ? "reverse" : (isSort ? "descending" : "");
  std::vector<const ast::Argument *> arguments = positional(expr, flag);
  if (arguments.size() != 1) {
    report(expr->range, diag::err_argument_count) << expr->callee.name << countArguments(1, 1) << arguments.size();
    return Value::error(expr->range);
  }
  Value operand = check(arguments[0]->value);
  requireCarrier(operand, operand.range);
  Expr *guard = checkGuard(expr);
  bool flagValue = !flag.empty() && takeFlag(expr, flag);
  Expr *value = materialize(operand);
  if (!value || (expr->guard && !guard) || !requireAxisIn(axis, expr, Value::of(value, operand.range)))
    return Value::error(expr->range);
  ScalarKind element = value->type.element;
  if (element == ScalarKind::Bool && kind != AxisOperationKind::Cumsum) {
    report(operand.range, diag::err_operand_type) << expr->callee.name << "a number" << operand.type.str();
    return Value::error(expr->range);
  }
  ScalarKind result = element;
  switch (kind) {
  case AxisOperationKind::Softmax:
    if (!isFloat(element)) {
      report(operand.range, diag::err_expected_float) << "softmax" << quote(operand.range) << operand.type.str();
      return Value::error(expr->range);
    }
    result = ScalarKind::F32;
    value = castTo(value, result, operand.range);
    break;
  case AxisOperationKind::Cumsum:
    result = getAccumulator(element);
    value = castTo(value, result, operand.range);
    break;
  case AxisOperationKind::Argsort:
  case AxisOperationKind::Argmax:
  case AxisOperationKind::Argmin:
    result = ScalarKind::Index;
    break;
  case AxisOperationKind::Cummax:
  case AxisOperationKind::Sort:
    break;
  }
  Type type = guard ? unionType(result, {value, guard}) : value->type.withElement(result);
  if (kind == AxisOperationKind::Argmax || kind == AxisOperationKind::Argmin)
    llvm::erase(type.axes, axis);
  auto *operation = context.create<AxisOperation>(expr->range, type, kind, axis, value, guard);
  operation->flag = flagValue;
  return Value::of(operation, expr->range);
}

Value Analyzer::checkTopK(const ast::AxisCallExpr *expr, const Axis *axis) {
  std::vector<const ast::Argument *> arguments = positional(expr, {});
  if (arguments.size() != 1 || !expr->axes[0].target) {
    report(expr->range, diag::err_topk_form);
    return Value::error(expr->range);
  }
  const Axis *target = resolveAxis(expr->axes[0].target);
  Value operand = check(arguments[0]->value);
  Expr *value = materialize(operand);
  if (!value || !target || !requireAxisIn(axis, expr, Value::of(value, operand.range)))
    return Value::error(expr->range);
  Value result;
  result.range = expr->range;
  for (ScalarKind element : {value->type.element, ScalarKind::Index}) {
    Type type = value->type.withElement(element);
    llvm::replace(type.axes, axis, target);
    auto *variable = context.create<Variable>(VariableKind::Let, "topk", expr->range, type);
    result.elements.push_back(Value::of(context.create<VariableRef>(expr->range, variable, type), expr->range));
  }
  return result;
}

/// `reduce[k](f, init, x, ...)` and `scan`: the operands are checked, and the results have the types of f's results.
Value Analyzer::checkFold(const ast::AxisCallExpr *expr, const Axis *axis, bool isScan) {
  std::vector<const ast::Argument *> arguments =
      positional(expr, isScan ? llvm::StringRef("reverse") : llvm::StringRef());
  if (arguments.size() < 3) {
    report(expr->range, diag::err_fold_arguments) << expr->callee.name;
    return Value::error(expr->range);
  }
  if (isScan)
    takeFlag(expr, "reverse");
  const auto *name = llvm::dyn_cast<ast::NameExpr>(arguments[0]->value);
  Symbol *symbol = name ? resolve(name->name) : nullptr;
  if (!symbol || symbol->kind != SymbolKind::Function) {
    if (symbol || !name)
      report(arguments[0]->value->range, diag::err_not_a_function) << quote(arguments[0]->value->range);
    return Value::error(expr->range);
  }
  const ast::FunctionDecl *function = symbol->function;
  Value init = check(arguments[1]->value);
  bool failed = init.isError;
  std::vector<const Expr *> operands;
  for (const ast::Argument *argument : llvm::drop_begin(arguments, 2)) {
    Value operand = check(argument->value);
    Expr *value = materialize(operand);
    failed |= !value;
    operands.push_back(value);
  }
  size_t numState = function->results.size();
  size_t numInit = init.isTuple() ? init.elements.size() : 1;
  if (!init.isError && (numInit != numState || function->params.size() != numState + operands.size())) {
    report(expr->range, diag::err_fold_function)
        << expr->callee.name << function->name.name << numState + operands.size() << numState;
    return Value::error(expr->range);
  }
  if (failed)
    return Value::error(expr->range);
  Type type = unionType(ScalarKind::I32, operands);
  if (!type.has(axis)) {
    report(expr->axes[0].axis.range, diag::err_axis_not_in_operand) << axis->name << "the operand" << type.str();
    return Value::error(expr->range);
  }
  if (!isScan)
    llvm::erase(type.axes, axis);
  std::vector<Value> results;
  for (const ast::TypeRef &result : function->results) {
    // A result of generic type has the type of the state.
    type.element = result.scalar.kind.value_or(operands[0]->type.element);
    auto *variable = context.create<Variable>(VariableKind::Let, "state", expr->range, type);
    results.push_back(Value::of(context.create<VariableRef>(expr->range, variable, type), expr->range));
  }
  if (results.size() == 1)
    return results[0];
  Value tuple;
  tuple.range = expr->range;
  tuple.elements = std::move(results);
  return tuple;
}
