// Reductions over named axes, and dot.
#include "Analyzer.h"
#include "Promotion.h"

using namespace tilec;
using namespace tilec::sema;

/// The arguments without a name; a named one must be among `named`.
std::vector<const ast::Argument *> Analyzer::positional(const ast::AxisCallExpr *expr,
                                                        llvm::ArrayRef<llvm::StringRef> named) {
  std::vector<const ast::Argument *> result;
  for (const ast::Argument &argument : expr->arguments) {
    if (!argument.name)
      result.push_back(&argument);
    else if (!llvm::is_contained(named, argument.name.name))
      report(argument.name.range, diag::err_named_argument) << expr->callee.name << argument.name.name;
  }
  return result;
}

Value Analyzer::checkAxisCall(const ast::AxisCallExpr *expr) {
  Symbol *symbol = resolve(expr->callee);
  if (!symbol || symbol->kind == SymbolKind::Poison)
    return Value::error(expr->range);
  if (symbol->kind == SymbolKind::Function) {
    if (expr->guard)
      report(expr->guard->range, diag::err_guard_not_allowed) << expr->callee.name;
    return inlineCall(symbol->function, expr->axes, expr->arguments, expr->range);
  }
  if (symbol->kind != SymbolKind::Builtin || !isAlongAxes(symbol->name)) {
    report(expr->callee.range, diag::err_no_axis_form) << expr->callee.name;
    return Value::error(expr->range);
  }
  llvm::StringRef name = symbol->name;
  llvm::SmallVector<const Axis *, 2> axes;
  bool failed = false;
  for (const ast::AxisArgument &argument : expr->axes) {
    const Axis *axis = resolveAxis(argument.axis);
    if (axis && llvm::is_contained(axes, axis))
      report(argument.axis.range, diag::err_repeated_axis) << axis->name;
    failed |= !axis;
    axes.push_back(axis);
    if (argument.target && name != "topk")
      report(argument.target.range, diag::err_arrow_not_allowed) << name;
  }
  if (failed) {
    // The operands are checked all the same, for their own errors.
    for (const ast::Argument &argument : expr->arguments)
      if (!argument.name && name != "reduce" && name != "scan")
        check(argument.value);
    return Value::error(expr->range);
  }
  static constexpr std::pair<llvm::StringLiteral, ReduceKind> reductions[] = {
      {"sum", ReduceKind::Sum}, {"prod", ReduceKind::Prod}, {"mean", ReduceKind::Mean}, {"max", ReduceKind::Max},
      {"min", ReduceKind::Min}, {"any", ReduceKind::Any},   {"all", ReduceKind::All}};
  for (const auto &[spelling, kind] : reductions)
    if (name == spelling)
      return checkReduce(kind, expr, axes);
  if (name == "dot")
    return checkDot(expr, axes);
  if (expr->guard && name != "softmax")
    report(expr->guard->range, diag::err_guard_not_allowed) << name;
  if (axes.size() != 1) {
    report(expr->range, diag::err_one_axis) << name << axes.size();
    return Value::error(expr->range);
  }
  refuse(name, expr->range);
  if (name == "topk")
    return checkTopK(expr, axes[0]);
  if (name == "reduce" || name == "scan")
    return checkFold(expr, axes[0], name == "scan");
  static constexpr std::pair<llvm::StringLiteral, AxisOperationKind> operations[] = {
      {"softmax", AxisOperationKind::Softmax}, {"cumsum", AxisOperationKind::Cumsum},
      {"cummax", AxisOperationKind::Cummax},   {"sort", AxisOperationKind::Sort},
      {"argsort", AxisOperationKind::Argsort}, {"argmax", AxisOperationKind::Argmax},
      {"argmin", AxisOperationKind::Argmin}};
  for (const auto &[spelling, kind] : operations)
    if (name == spelling)
      return checkAxisOperation(kind, expr, axes[0]);
  llvm_unreachable("every name of Builtins.def is handled");
}

Expr *Analyzer::checkGuard(const ast::AxisCallExpr *expr) {
  if (!expr->guard)
    return nullptr;
  // A guard compares positions; it is no operand in the sense of rule 5.
  llvm::SaveAndRestore<bool> stated(axesStated, true);
  Value guard = check(expr->guard);
  if (guard.isError)
    return nullptr;
  if (guard.number || guard.isTuple() || guard.element() != ScalarKind::Bool) {
    report(expr->guard->range, diag::err_condition_not_bool) << guard.type.str();
    return nullptr;
  }
  return guard.expr;
}

bool Analyzer::requireAxisIn(llvm::ArrayRef<const Axis *> axes, const ast::AxisCallExpr *expr, const Value &operand) {
  for (auto [axis, argument] : llvm::zip(axes, expr->axes)) {
    if (operand.type.has(axis))
      continue;
    DiagnosticBuilder builder = report(argument.axis.range, diag::err_axis_not_in_operand)
                                << axis->name << quote(operand.range) << operand.type.str();
    builder << operand.range;
    return false;
  }
  return true;
}

/// Whether every reduced axis occurs in both factors of a product: rule 5's exemption.
static bool reducesBothFactors(const Expr *operand, llvm::ArrayRef<const Axis *> axes) {
  while (const auto *cast = llvm::dyn_cast<Cast>(operand))
    operand = cast->operand;
  const auto *product = llvm::dyn_cast<Binary>(operand);
  return product && product->op == BinaryOp::Multiply && llvm::all_of(axes, [&](const Axis *axis) {
           return product->lhs->type.has(axis) && product->rhs->type.has(axis);
         });
}

Value Analyzer::checkReduce(ReduceKind kind, const ast::AxisCallExpr *expr, llvm::ArrayRef<const Axis *> axes) {
  std::vector<const ast::Argument *> arguments = positional(expr, {});
  if (arguments.size() != 1) {
    report(expr->range, diag::err_argument_count) << expr->callee.name << countArguments(1, 1) << arguments.size();
    return Value::error(expr->range);
  }
  size_t numRemoved = removedAxes.size();
  removedAxes.insert(removedAxes.end(), axes.begin(), axes.end());
  Value operand = check(arguments[0]->value);
  if (operand.expr && !reducesBothFactors(operand.expr, axes))
    requireCarrier(operand, operand.range);
  removedAxes.resize(numRemoved);
  Expr *guard = checkGuard(expr);
  if (operand.isError || (expr->guard && !guard))
    return Value::error(expr->range);
  Expr *value = materialize(operand);
  if (!value || !requireAxisIn(axes, expr, Value::of(value, operand.range)))
    return Value::error(expr->range);

  ScalarKind element = value->type.element;
  ScalarKind target = element;
  bool isLogical = kind == ReduceKind::Any || kind == ReduceKind::All;
  bool accumulates = kind == ReduceKind::Sum || kind == ReduceKind::Prod;
  if (isLogical ? element != ScalarKind::Bool : (element == ScalarKind::Bool && !accumulates)) {
    report(operand.range, diag::err_operand_type)
        << expr->callee.name << (isLogical ? "bool" : "a number") << operand.type.str();
    return Value::error(expr->range);
  }
  if (accumulates) {
    target = getAccumulator(element);
  } else if (kind == ReduceKind::Mean) {
    target = isFloat(element) ? getAccumulator(element) : ScalarKind::F32;
    if (!containsAll(target, element)) {
      report(operand.range, diag::err_needs_cast)
          << quote(operand.range) << getSpelling(element) << "f32" << "f32(x)"
          << FixIt::insertion(operand.range.begin, "f32(") << FixIt::insertion(operand.range.end, ")");
      return Value::error(expr->range);
    }
  }
  value = castTo(value, target, operand.range);
  Type type = guard ? unionType(target, {value, guard}) : value->type;
  llvm::erase_if(type.axes, [&](const Axis *axis) { return llvm::is_contained(axes, axis); });
  auto *reduce = context.create<Reduce>(expr->range, type, kind, axes, value, guard);
  if (Expr *dot = asDot(reduce))
    return Value::of(dot, expr->range);
  return Value::of(reduce, expr->range);
}

/// A sum of products whose factors each lack an axis of the product is a dot: the product need not be formed. The
/// products of narrow floats are exact in f32, and the contraction of f32 products is licensed (rule 14).
Expr *Analyzer::asDot(Reduce *reduce) {
  if (reduce->reduction != ReduceKind::Sum || reduce->guard || !isFloat(reduce->type.element) ||
      !reducesBothFactors(reduce->operand, reduce->axes))
    return nullptr;
  auto *product = llvm::dyn_cast<Binary>(reduce->operand);
  if (!product)
    return nullptr;
  size_t all = product->type.axes.size();
  if (product->lhs->type.axes.size() == all || product->rhs->type.axes.size() == all)
    return nullptr;
  auto narrow = [](Expr *factor) {
    auto *cast = llvm::dyn_cast<Cast>(factor);
    bool widens =
        cast && isFloat(cast->operand->type.element) && containsAll(ScalarKind::F32, cast->operand->type.element);
    return widens ? cast->operand : factor;
  };
  Expr *lhs = narrow(product->lhs), *rhs = narrow(product->rhs);
  if (lhs->type.element != rhs->type.element) {
    lhs = product->lhs;
    rhs = product->rhs;
  }
  Type type(reduce->type.element);
  for (const Expr *side : {lhs, rhs})
    for (const Axis *axis : side->type.axes)
      if (!type.has(axis) && !llvm::is_contained(reduce->axes, axis))
        type.axes.push_back(axis);
  return context.create<Dot>(reduce->range, type, reduce->axes, lhs, rhs, nullptr);
}

/// The element types of the operands and of the result; nothing after an error.
std::optional<std::pair<ScalarKind, ScalarKind>> Analyzer::dotTypes(Value &lhs, Value &rhs, ScalarKind &result,
                                                                    SourceRange range) {
  ScalarKind a = lhs.element(), b = rhs.element();
  for (const Value *side : {&lhs, &rhs}) {
    ScalarKind element = side->element();
    if (element == ScalarKind::Bool || (isInteger(element) && getBitWidth(element) > 8)) {
      report(side->range, diag::err_dot_operand) << quote(side->range) << side->type.str();
      return std::nullopt;
    }
  }
  if (isInteger(a) && isInteger(b)) {
    result = isSigned(a) || isSigned(b) ? ScalarKind::I32 : ScalarKind::U32;
    return std::pair(a, b);
  }
  std::optional<ScalarKind> met = a == b ? std::optional(a) : meetKeeping(a, b);
  if (!met) {
    reportNoMeeting(lhs, rhs);
    return std::nullopt;
  }
  result = *met == ScalarKind::F64 ? ScalarKind::F64 : ScalarKind::F32;
  return std::pair(*met, *met);
}

Value Analyzer::checkDot(const ast::AxisCallExpr *expr, llvm::ArrayRef<const Axis *> axes) {
  std::vector<const ast::Argument *> arguments = positional(expr, {"accumulate"});
  if (arguments.size() != 2) {
    report(expr->range, diag::err_argument_count) << "dot" << countArguments(2, 2) << arguments.size();
    return Value::error(expr->range);
  }
  bool fast = false;
  for (const ast::Argument &argument : expr->arguments) {
    if (argument.name.name != "accumulate")
      continue;
    const auto *word = llvm::dyn_cast<ast::NameExpr>(argument.value);
    if (!word || (word->name.name != "fast" && word->name.name != "exact"))
      report(argument.value->range, diag::err_accumulate_word) << quote(argument.value->range);
    fast = word && word->name.name == "fast";
  }
  size_t numRemoved = removedAxes.size();
  removedAxes.insert(removedAxes.end(), axes.begin(), axes.end());
  Value lhs = check(arguments[0]->value), rhs = check(arguments[1]->value);
  requireCarrier(lhs, lhs.range);
  requireCarrier(rhs, rhs.range);
  removedAxes.resize(numRemoved);
  Expr *guard = checkGuard(expr);
  if (lhs.isError || rhs.isError || (expr->guard && !guard))
    return Value::error(expr->range);
  for (Value *side : {&lhs, &rhs}) {
    Expr *value = materialize(*side);
    if (!value)
      return Value::error(expr->range);
    *side = Value::of(value, side->range);
    if (!requireAxisIn(axes, expr, *side))
      return Value::error(expr->range);
  }
  ScalarKind result = ScalarKind::F32;
  auto types = dotTypes(lhs, rhs, result, expr->range);
  if (!types)
    return Value::error(expr->range);
  Expr *left = castTo(lhs.expr, types->first, lhs.range);
  Expr *right = castTo(rhs.expr, types->second, rhs.range);
  Type type(result);
  for (const Expr *side : {left, right})
    for (const Axis *axis : side->type.axes)
      if (!type.has(axis) && !llvm::is_contained(axes, axis))
        type.axes.push_back(axis);
  if (guard)
    refuse("dot-guard", expr->guard->range);
  auto *dot = context.create<Dot>(expr->range, type, axes, left, right, guard);
  dot->fast = fast;
  return Value::of(dot, expr->range);
}
