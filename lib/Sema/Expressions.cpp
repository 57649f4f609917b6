// Expressions: dispatch, names, attributes, and if as a value.
#include "Analyzer.h"
#include "Promotion.h"

using namespace tilec;
using namespace tilec::sema;

Value Analyzer::check(const ast::Expr *expr) {
  switch (expr->kind) {
  case ast::ExprKind::IntegerLiteral:
    return Value::exact(Number::integer(llvm::cast<ast::IntegerLiteral>(expr)->value), expr->range);
  case ast::ExprKind::RealLiteral: {
    std::optional<Number> number = Number::parseReal(llvm::cast<ast::RealLiteral>(expr)->text);
    if (number)
      return Value::exact(*number, expr->range);
    report(expr->range, diag::err_constant_does_not_fit) << text(expr->range) << "f64";
    return Value::error(expr->range);
  }
  case ast::ExprKind::BoolLiteral:
    return Value::of(context.create<Constant>(expr->range, ScalarKind::Bool,
                                              llvm::APInt(1, llvm::cast<ast::BoolLiteral>(expr)->value)),
                     expr->range);
  case ast::ExprKind::NameExpr:
    return checkName(llvm::cast<ast::NameExpr>(expr));
  case ast::ExprKind::ScalarExpr:
    report(expr->range, diag::err_type_as_value) << text(expr->range);
    return Value::error(expr->range);
  case ast::ExprKind::TupleExpr: {
    Value result;
    result.range = expr->range;
    for (const ast::Expr *element : llvm::cast<ast::TupleExpr>(expr)->elements) {
      result.elements.push_back(check(element));
      result.isError |= result.elements.back().isError;
    }
    return result;
  }
  case ast::ExprKind::UnaryExpr:
    return checkUnary(llvm::cast<ast::UnaryExpr>(expr));
  case ast::ExprKind::BinaryExpr:
    return checkBinary(llvm::cast<ast::BinaryExpr>(expr));
  case ast::ExprKind::IfExpr:
    return checkIf(llvm::cast<ast::IfExpr>(expr));
  case ast::ExprKind::IndexExpr:
    return checkIndex(llvm::cast<ast::IndexExpr>(expr));
  case ast::ExprKind::SubstituteExpr:
    return checkSubstitute(llvm::cast<ast::SubstituteExpr>(expr));
  case ast::ExprKind::AxisCallExpr:
    return checkAxisCall(llvm::cast<ast::AxisCallExpr>(expr));
  case ast::ExprKind::CallExpr:
    return checkCall(llvm::cast<ast::CallExpr>(expr));
  case ast::ExprKind::MemberExpr:
    return checkMember(llvm::cast<ast::MemberExpr>(expr));
  case ast::ExprKind::StringLiteral:
  case ast::ExprKind::AutoExpr:
  case ast::ExprKind::ErrorExpr:
    // The parser reports strings and `auto` out of place, and every ErrorExpr.
    foundError = true;
    return Value::error(expr->range);
  }
  llvm_unreachable("not a kind of expression");
}

Value Analyzer::checkName(const ast::NameExpr *expr) {
  Symbol *symbol = resolve(expr->name);
  return symbol ? valueOf(symbol, expr->name) : Value::error(expr->range);
}

Value Analyzer::valueOf(Symbol *symbol, const ast::Identifier &name) {
  SourceRange range = name.range;
  switch (symbol->kind) {
  case SymbolKind::Constant: {
    Value value = globals.getConstant(symbol);
    value.range = range;
    foundError |= value.isError;
    return value;
  }
  case SymbolKind::Variable:
    if (symbol->fixedValue) {
      Constant *fixed =
          makeConstant(context, range, symbol->variable->type.element, Number::integer(*symbol->fixedValue));
      fixed->dimension = symbol->variable;
      return Value::of(fixed, range);
    }
    return Value::of(context.create<VariableRef>(range, symbol->variable, symbol->variable->type), range);
  case SymbolKind::Axis:
    return Value::of(context.create<AxisPositions>(range, symbol->axis), range);
  case SymbolKind::Tensor:
    report(range, diag::err_tensor_without_subscripts) << name.name << symbol->tensor->shape.size();
    return Value::error(range);
  case SymbolKind::AlgorithmLet:
    report(range, diag::err_tensor_without_subscripts) << name.name << symbol->letAxes.size();
    return Value::error(range);
  case SymbolKind::TypeConstant:
    report(range, diag::err_type_as_value) << name.name;
    return Value::error(range);
  case SymbolKind::Function:
  case SymbolKind::Builtin:
    report(range, diag::err_function_as_value) << name.name;
    return Value::error(range);
  case SymbolKind::Absent: {
    DiagnosticBuilder builder = report(range, diag::err_absent_parameter) << name.name;
    builder.note(symbol->range, diag::note_declared_here) << name.name;
    return Value::error(range);
  }
  case SymbolKind::Poison:
    foundError = true;
    return Value::error(range);
  }
  llvm_unreachable("not a kind of symbol");
}

/// `f32.lowest` and the like: typed constants.
static std::optional<Constant *> makeLimit(TypedContext &context, ScalarKind element, llvm::StringRef member,
                                           SourceRange range) {
  if (element == ScalarKind::Bool)
    return std::nullopt;
  if (isFloat(element)) {
    const llvm::fltSemantics &semantics = getFloatSemantics(element);
    if (member == "max" || member == "lowest")
      return context.create<Constant>(range, element, llvm::APFloat::getLargest(semantics, member == "lowest"));
    if (member == "min")
      return context.create<Constant>(range, element, llvm::APFloat::getSmallestNormalized(semantics));
    if (member == "eps")
      return context.create<Constant>(range, element,
                                      scalbn(llvm::APFloat::getOne(semantics),
                                             1 - static_cast<int>(llvm::APFloat::semanticsPrecision(semantics)),
                                             llvm::APFloat::rmNearestTiesToEven));
    return std::nullopt;
  }
  unsigned bits = getBitWidth(element);
  if (member == "max")
    return context.create<Constant>(
        range, element, isSigned(element) ? llvm::APInt::getSignedMaxValue(bits) : llvm::APInt::getMaxValue(bits));
  if (member == "min" || member == "lowest")
    return context.create<Constant>(range, element,
                                    isSigned(element) ? llvm::APInt::getSignedMinValue(bits) : llvm::APInt(bits, 0));
  return std::nullopt;
}

Value Analyzer::checkMember(const ast::MemberExpr *expr) {
  llvm::StringRef member = expr->member.name;
  std::optional<ScalarKind> type;
  const Axis *axis = nullptr;
  if (const auto *scalar = llvm::dyn_cast<ast::ScalarExpr>(expr->base)) {
    type = scalar->scalar;
  } else if (const auto *name = llvm::dyn_cast<ast::NameExpr>(expr->base)) {
    Symbol *symbol = resolve(name->name);
    if (!symbol || symbol->kind == SymbolKind::Poison)
      return Value::error(expr->range);
    if (symbol->kind == SymbolKind::TypeConstant)
      type = symbol->scalar;
    else if (symbol->kind == SymbolKind::Axis)
      axis = symbol->axis;
  }
  if (type) {
    if (std::optional<Constant *> limit = makeLimit(context, *type, member, expr->range))
      return Value::of(*limit, expr->range);
    report(expr->member.range, diag::err_unknown_attribute)
        << member << getSpelling(*type) << (isFloat(*type) ? "`lowest`, `max`, `min` and `eps`" : "`max` and `min`");
    return Value::error(expr->range);
  }
  if (!axis) {
    report(expr->range, diag::err_attribute_of_value) << text(expr->base->range) << member;
    return Value::error(expr->range);
  }
  if (member == "extent") {
    if (axis->kind == AxisKind::Implicit || axis->kind == AxisKind::Parameter)
      return Value::of(context.create<AxisAttribute>(expr->range, axis, AxisAttributeKind::Size), expr->range);
    Value value = Value::exact(Number::integer(axis->extent), expr->range);
    value.isDeclared = true;
    value.type.element = ScalarKind::Index;
    return value;
  }
  if (member == "range") {
    report(expr->range, diag::err_range_as_value) << axis->name;
    return Value::error(expr->range);
  }
  static constexpr std::pair<llvm::StringLiteral, AxisAttributeKind> attributes[] = {
      {"start", AxisAttributeKind::Start},
      {"end", AxisAttributeKind::End},
      {"size", AxisAttributeKind::Size},
      {"index", AxisAttributeKind::Index}};
  for (const auto &[name, kind] : attributes)
    if (member == name)
      return Value::of(context.create<AxisAttribute>(expr->range, axis, kind), expr->range);
  report(expr->member.range, diag::err_unknown_attribute)
      << member << axis->name << "`start`, `end`, `size`, `extent`, `index` and `range`";
  return Value::error(expr->range);
}

std::optional<bool> Analyzer::getConstantCondition(const Value &value) const {
  if (value.expr && value.expr->type.element == ScalarKind::Bool)
    if (const auto *constant = llvm::dyn_cast<Constant>(value.expr))
      return constant->integer.isOne();
  return std::nullopt;
}

Value Analyzer::checkScalarCondition(const ast::Expr *expr) {
  Value value = check(expr);
  if (value.isError)
    return value;
  if (value.isTuple() || value.number || value.element() != ScalarKind::Bool) {
    report(expr->range, diag::err_condition_not_bool) << (value.isTuple() ? std::string("a tuple") : value.type.str());
    return Value::error(expr->range);
  }
  if (!value.type.isScalar()) {
    report(expr->range, diag::err_condition_not_scalar) << value.type.str();
    return Value::error(expr->range);
  }
  return value;
}

/// One arm of an if-expression: lets and axes, then the value.
Value Analyzer::checkArm(const ast::Block *block, bool &hasStatements, Block *&statements) {
  Scope inner(scope);
  llvm::SaveAndRestore<Scope *> savedScope(scope, &inner);
  statements = context.create<Block>();
  llvm::SaveAndRestore<Block *> savedOut(out, statements);
  for (const ast::Stmt *stmt : block->statements) {
    if (llvm::isa<ast::LetStmt, ast::AxisStmt>(stmt)) {
      checkStatement(stmt);
      continue;
    }
    report(stmt->range, diag::err_statement_in_value);
    // The name that a var declares is known to what follows.
    if (llvm::isa<ast::VarStmt>(stmt))
      checkStatement(stmt);
  }
  Value value = block->value ? check(block->value) : Value::error(block->range);
  hasStatements = !statements->statements.empty();
  return value;
}

Value Analyzer::checkIf(const ast::IfExpr *expr) {
  Value condition = checkScalarCondition(expr->condition);
  bool hasStatements = false;
  Block *statements = nullptr;
  if (std::optional<bool> constant = getConstantCondition(condition)) {
    Value value = checkArm(*constant ? expr->thenBlock : expr->elseBlock, hasStatements, statements);
    value.range = expr->range;
    if (value.expr && hasStatements)
      value.expr = context.create<BlockValue>(expr->range, statements, value.expr);
    return value;
  }
  Block *thenStatements = nullptr;
  bool thenHas = false;
  Value thenValue = checkArm(expr->thenBlock, thenHas, thenStatements);
  Value elseValue = checkArm(expr->elseBlock, hasStatements, statements);
  if (condition.isError || thenValue.isError || elseValue.isError)
    return Value::error(expr->range);
  std::optional<ScalarKind> element = meet({thenValue, elseValue}, /*keeping=*/true, expr->range);
  if (!element)
    return Value::error(expr->range);
  Expr *thenExpr = toElement(thenValue, *element);
  Expr *elseExpr = toElement(elseValue, *element);
  if (!thenExpr || !elseExpr)
    return Value::error(expr->range);
  if (thenHas)
    thenExpr = context.create<BlockValue>(thenExpr->range, thenStatements, thenExpr);
  if (hasStatements)
    elseExpr = context.create<BlockValue>(elseExpr->range, statements, elseExpr);
  Type type = unionType(*element, {thenExpr, elseExpr});
  return Value::of(context.create<IfValue>(expr->range, type, condition.expr, thenExpr, elseExpr), expr->range);
}
