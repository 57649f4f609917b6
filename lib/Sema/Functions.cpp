// Functions: checking a body by itself, and inlining it at a call.
#include "Analyzer.h"

using namespace tilec;
using namespace tilec::sema;

/// Functions are inlined: limits on their nesting and on the calls of one kernel.
constexpr unsigned maxInlineDepth = 64;
constexpr unsigned maxInlinedCalls = 4096;

/// Binds the parameters in `< >`: types from the arguments whose parameters are declared with them, constants from
/// their defaults.
bool Analyzer::bindFunctionConstants(const ast::FunctionDecl *decl, llvm::ArrayRef<Value> arguments) {
  bool good = true;
  for (const ast::ConstParam &param : decl->constParams) {
    Symbol *symbol = declare(param.name, param.isType ? SymbolKind::TypeConstant : SymbolKind::Constant);
    if (!param.isType) {
      std::optional<ScalarKind> type = resolveScalar(param.type);
      if (!param.defaultValue || llvm::isa<ast::AutoExpr>(param.defaultValue) || !type) {
        if (type)
          report(param.range, diag::err_function_constant) << param.name.name << decl->name.name;
        symbol->kind = SymbolKind::Poison;
        good = false;
        continue;
      }
      symbol->constant = convertConstant(checkConstant(param.defaultValue), *type);
      good &= !symbol->constant.isError;
      continue;
    }
    std::optional<ScalarKind> deduced;
    for (auto [argument, declared] : llvm::zip(arguments, decl->params))
      if (!deduced && !declared.type.scalar.kind && declared.type.scalar.name.name == param.name.name)
        deduced = argument.element();
    if (!deduced && param.defaultValue)
      if (const auto *scalar = llvm::dyn_cast<ast::ScalarExpr>(param.defaultValue))
        deduced = scalar->scalar;
    if (!deduced)
      deduced = probeType;
    if (deduced) {
      symbol->scalar = *deduced;
      continue;
    }
    symbol->kind = SymbolKind::Poison;
    good = false;
    report(param.range, diag::err_type_not_deduced) << param.name.name << decl->name.name;
  }
  return good;
}

/// The lets and the value of a body, in the present scope and output block; converted to the declared results.
Value Analyzer::checkBody(const ast::FunctionDecl *decl, llvm::ArrayRef<Type> parameterTypes, SourceRange callRange) {
  llvm::SaveAndRestore<bool> stated(axesStated, false);
  for (const ast::Stmt *stmt : decl->body->statements) {
    if (!llvm::isa<ast::LetStmt>(stmt))
      report(stmt->range, diag::err_statement_in_function) << decl->name.name;
    // The name that a var declares is known to what follows.
    if (llvm::isa<ast::LetStmt, ast::VarStmt>(stmt))
      checkStatement(stmt);
  }
  Value value = decl->body->value ? check(decl->body->value) : Value::error(decl->range);
  if (value.isError)
    return Value::error(callRange);
  size_t numValues = value.isTuple() ? value.elements.size() : 1;
  if (numValues != decl->results.size()) {
    report(decl->body->value->range, diag::err_result_count) << decl->name.name << decl->results.size() << numValues;
    return Value::error(callRange);
  }
  Value result;
  result.range = callRange;
  for (auto [i, declared] : llvm::enumerate(decl->results)) {
    const Value &one = value.isTuple() ? value.elements[i] : value;
    std::optional<Type> type = resolveType(declared);
    Expr *converted = type ? convertTo(one, type->element) : nullptr;
    if (!converted || !requireOnLeft(converted, type->axes, one.range, "the result type of the function"))
      return Value::error(callRange);
    Value element = Value::of(converted, callRange);
    if (!value.isTuple())
      return element;
    result.elements.push_back(std::move(element));
  }
  return result;
}

void Analyzer::checkFunction(const ast::FunctionDecl *decl) {
  // A generic function is checked for the types of its calls, and for those of GenericChecker.
  if (!probeType && llvm::any_of(decl->constParams, [](const ast::ConstParam &param) { return param.isType; }))
    return;
  Scope body(nullptr);
  llvm::SaveAndRestore<Scope *> savedScope(scope, &body);
  llvm::SaveAndRestore<Block *> savedOut(out, context.create<Block>());
  functionStack.push_back(decl);
  bindFunctionConstants(decl, {});
  for (const ast::Identifier &name : decl->axes)
    declare(name, SymbolKind::Axis)->axis = createAxis(AxisKind::Parameter, name);
  std::vector<Type> types;
  for (const ast::FunctionParam &param : decl->params) {
    std::optional<Type> type = resolveType(param.type);
    Symbol *symbol = declare(param.name, type ? SymbolKind::Variable : SymbolKind::Poison);
    if (!type)
      continue;
    symbol->variable = context.create<Variable>(VariableKind::Scalar, param.name.name.str(), param.name.range, *type);
    symbol->variable->id = nextVariable++;
    types.push_back(*type);
  }
  checkBody(decl, types, decl->range);
  functionStack.pop_back();
  if (foundError)
    globals.wrongFunctions[decl->name.name] = true;
}

Value Analyzer::inlineCall(const ast::FunctionDecl *decl, llvm::ArrayRef<ast::AxisArgument> axes,
                           llvm::ArrayRef<ast::Argument> arguments, SourceRange range) {
  // Arguments and axes belong to the caller's scope.
  std::vector<Value> values;
  bool failed = false;
  {
    llvm::SaveAndRestore<bool> stated(axesStated, false);
    for (const ast::Argument &argument : arguments) {
      if (argument.name) {
        report(argument.name.range, diag::err_named_argument) << decl->name.name << argument.name.name;
        failed = true;
      }
      values.push_back(check(argument.value));
      if (values.back().isTuple())
        materialize(values.back());
      failed |= values.back().isError || values.back().isTuple();
      requireCarrier(values.back(), argument.value->range);
    }
  }
  std::vector<const Axis *> actualAxes;
  for (const ast::AxisArgument &argument : axes) {
    actualAxes.push_back(resolveAxis(argument.axis));
    failed |= !actualAxes.back();
  }
  if (arguments.size() != decl->params.size() || axes.size() != decl->axes.size()) {
    DiagnosticBuilder builder = report(range, diag::err_function_arguments)
                                << decl->name.name << decl->params.size() << arguments.size() << decl->axes.size()
                                << axes.size();
    builder.note(decl->name.range, diag::note_declared_here) << decl->name.name;
    failed = true;
  }
  if (llvm::is_contained(functionStack, decl)) {
    report(range, diag::err_recursive_function) << decl->name.name;
    failed = true;
  }
  if (functionStack.size() >= maxInlineDepth || ++numInlined > maxInlinedCalls) {
    // Said once: every call beyond the limit has the same reason.
    if (functionStack.size() >= maxInlineDepth || numInlined == maxInlinedCalls + 1)
      report(range, diag::err_too_many_calls) << decl->name.name << maxInlineDepth << maxInlinedCalls;
    failed = true;
  }
  if (globals.wrongFunctions.count(decl->name.name)) {
    foundError = true;
    failed = true;
  }
  if (failed)
    return Value::error(range);

  Scope body(nullptr);
  Block *block = context.create<Block>();
  llvm::SaveAndRestore<Scope *> savedScope(scope, &body);
  // The statements of a tuple's function precede the let that destructures it.
  llvm::SaveAndRestore<Block *> savedOut(out, decl->returnsTuple ? out : block);
  functionStack.push_back(decl);
  size_t numLifted = liftedAxes.size();
  if (!bindFunctionConstants(decl, values))
    failed = true;
  for (auto [name, axis] : llvm::zip(decl->axes, actualAxes))
    declare(name, SymbolKind::Axis)->axis = axis;

  std::vector<Type> types;
  std::vector<std::pair<Variable *, Symbol *>> parameters;
  for (auto [param, value] : llvm::zip(decl->params, values)) {
    llvm::SaveAndRestore<std::vector<const Axis *>> noLift(liftedAxes, {});
    std::optional<Type> type = resolveType(param.type);
    Expr *argument = type ? convertTo(value, type->element) : nullptr;
    if (!argument) {
      failed = true;
      continue;
    }
    // The parameter has the declared axes and those that the call lifts over.
    Type actual = argument->type;
    for (const Axis *axis : type->axes)
      if (!actual.has(axis))
        actual.axes.push_back(axis);
    auto *variable = context.create<Variable>(VariableKind::Let, param.name.name.str(), param.name.range, actual);
    variable->id = nextVariable++;
    variable->initial = argument;
    emit(context.create<LetStmt>(range, variable));
    declare(param.name, SymbolKind::Variable)->variable = variable;
    types.push_back(actual);
  }
  for (const Type &type : types)
    for (const Axis *axis : type.axes)
      if (!llvm::is_contained(actualAxes, axis) && !llvm::is_contained(liftedAxes, axis))
        liftedAxes.push_back(axis);
  Value result = failed ? Value::error(range) : checkBody(decl, types, range);
  liftedAxes.resize(numLifted);
  functionStack.pop_back();
  if (result.isError) {
    foundError = true;
    return result;
  }
  if (result.expr && !decl->returnsTuple)
    result.expr = context.create<BlockValue>(range, block, result.expr);
  return result;
}
