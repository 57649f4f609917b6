// Statements: let, var, assignments to variables, if, and the call statements.
#include "Analyzer.h"
#include "Promotion.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

using namespace tilec;
using namespace tilec::sema;

void Analyzer::checkBlock(const ast::Block *block) {
  for (const ast::Stmt *stmt : block->statements)
    checkStatement(stmt);
}

/// The statements of a nested block, in a scope and a list of their own.
Block *Analyzer::checkNested(const ast::Block *block) {
  Block *result = context.create<Block>();
  Scope inner(scope);
  llvm::SaveAndRestore<Scope *> savedScope(scope, &inner);
  llvm::SaveAndRestore<Block *> savedOut(out, result);
  checkBlock(block);
  return result;
}

/// Takes the values and axes of top-level statements out of sight: they live for their stage of one block.
void Analyzer::endSequentialStage() {
  for (Scope *level = scope; level; level = level->getParent()) {
    std::vector<Symbol *> ended;
    for (const auto &entry : level->getNames())
      if (entry.second->kind == SymbolKind::Variable || entry.second->kind == SymbolKind::Axis)
        ended.push_back(entry.second);
    for (Symbol *symbol : ended) {
      pastNames[symbol->name] = symbol->range;
      level->remove(symbol->name);
    }
    if (level == bodyScope)
      break;
  }
}

void Analyzer::beginStage(SourceRange range) {
  accesses.clear();
  if (inSequentialStage)
    endSequentialStage();
  inSequentialStage = false;
  if (++numStages == 2)
    refuse("several-stages", range);
}

void Analyzer::checkStatement(const ast::Stmt *stmt) {
  bool isTopLevel = kernelDecl && !inParallel && enclosing.empty() && functionStack.empty();
  if (isTopLevel && isAlgorithmLevel(stmt)) {
    refuse("algorithm-level", stmt->range);
    if (llvm::isa<ast::AssignStmt>(stmt))
      beginStage(stmt->range);
  } else if (isTopLevel && llvm::isa<ast::LetStmt, ast::VarStmt, ast::AssignStmt, ast::ForStmt, ast::WhileStmt,
                                     ast::AxisStmt, ast::CallStmt>(stmt)) {
    refuse("top-level-statement", stmt->range);
    if (!inSequentialStage)
      beginStage(stmt->range);
    inSequentialStage = true;
  }
  switch (stmt->kind) {
  case ast::StmtKind::ParallelStmt:
    return checkParallel(llvm::cast<ast::ParallelStmt>(stmt));
  case ast::StmtKind::ForStmt:
    return checkFor(llvm::cast<ast::ForStmt>(stmt), 0);
  case ast::StmtKind::WhileStmt:
    return checkWhile(llvm::cast<ast::WhileStmt>(stmt));
  case ast::StmtKind::IfStmt:
    return checkIfStatement(llvm::cast<ast::IfStmt>(stmt));
  case ast::StmtKind::AxisStmt:
    return checkAxisStatement(llvm::cast<ast::AxisStmt>(stmt));
  case ast::StmtKind::LetStmt:
    return checkLet(llvm::cast<ast::LetStmt>(stmt));
  case ast::StmtKind::VarStmt:
    return checkVar(llvm::cast<ast::VarStmt>(stmt));
  case ast::StmtKind::AssignStmt:
    return checkAssign(llvm::cast<ast::AssignStmt>(stmt));
  case ast::StmtKind::CallStmt:
    return checkCallStatement(llvm::cast<ast::CallStmt>(stmt));
  case ast::StmtKind::TempStmt:
    return checkTemp(llvm::cast<ast::TempStmt>(stmt));
  }
}

/// Declares a let or var with its checked value; null (and a poisoned name) after an error.
Variable *Analyzer::defineVariable(const ast::Identifier &name, VariableKind kind, const ast::TypeRef *declared,
                                   const Value &value) {
  std::optional<Type> type;
  if (declared) {
    type = resolveType(*declared);
    if (type && (type->element == ScalarKind::U2 || type->element == ScalarKind::I4 || type->element == ScalarKind::U4))
      refuse("packed", declared->range);
  }
  Expr *initial = nullptr;
  if (declared)
    initial = type ? convertTo(value, type->element) : nullptr;
  else
    initial = materialize(value);
  if (initial && declared && !requireOnLeft(initial, type->axes, value.range, "the declared type"))
    initial = nullptr;
  // A declared variable keeps its type even if its value is wrong: later uses are then checked.
  if (!initial && !type) {
    foundError = true;
    declare(name, SymbolKind::Poison);
    return nullptr;
  }
  Symbol *symbol = declare(name, SymbolKind::Variable);
  auto *variable = context.create<Variable>(kind, name.name.str(), name.range, declared ? *type : initial->type);
  variable->id = nextVariable++;
  variable->initial = initial;
  symbol->variable = variable;
  return variable;
}

void Analyzer::checkLet(const ast::LetStmt *stmt) {
  if (stmt->form == ast::LetForm::Tuple)
    return checkTupleLet(stmt);
  if (stmt->form == ast::LetForm::Algorithm)
    return checkAlgorithmLet(stmt);
  llvm::SaveAndRestore<bool> stated(axesStated, stmt->declaredType != nullptr);
  Value value = check(stmt->value);
  requireCarrier(value, stmt->value->range);
  Variable *variable = defineVariable(stmt->names[0], VariableKind::Let, stmt->declaredType, value);
  if (!variable)
    return;
  if (variable->initial)
    annotateLoad(stmt, variable->initial);
  emit(context.create<LetStmt>(stmt->range, variable));
}

void Analyzer::checkTupleLet(const ast::LetStmt *stmt) {
  llvm::SaveAndRestore<bool> stated(axesStated, false);
  Value value = check(stmt->value);
  if (!value.isError && (!value.isTuple() || value.elements.size() != stmt->names.size())) {
    report(stmt->range, diag::err_tuple_size)
        << stmt->names.size() << (value.isTuple() ? value.elements.size() : size_t(1));
    value.isError = true;
  }
  for (auto [i, name] : llvm::enumerate(stmt->names)) {
    Value element = value.isError ? Value::error(stmt->range) : value.elements[i];
    if (Variable *variable = defineVariable(name, VariableKind::Let, nullptr, element))
      emit(context.create<LetStmt>(stmt->range, variable));
  }
}

void Analyzer::checkVar(const ast::VarStmt *stmt) {
  llvm::SaveAndRestore<bool> stated(axesStated, stmt->declaredType != nullptr);
  Value value = check(stmt->value);
  requireCarrier(value, stmt->value->range);
  if (Variable *variable = defineVariable(stmt->name, VariableKind::Var, stmt->declaredType, value))
    emit(context.create<VarStmt>(stmt->range, variable));
}

/// Refuses floats that meet an integer on the left: what is declared is to change, or the right side.
bool Analyzer::requireMeeting(const ast::AssignStmt *stmt, const Value &current, const Value &value,
                              const Variable *variable) {
  bool keeping = stmt->op == ast::AssignOp::Max || stmt->op == ast::AssignOp::Min;
  if (value.isError || value.isTuple() || !isInteger(current.element()) || !isFloat(value.element()) ||
      (!value.number && meetTwo(current, value, keeping)))
    return true;
  DiagnosticBuilder builder = report(value.range, diag::err_integer_accumulator)
                              << quote(current.range) << getSpelling(current.element()) << quote(value.range)
                              << getSpelling(value.element());
  if (!variable)
    return false;
  Type better(promote(value.element()), variable->type.axes);
  for (const Axis *axis : value.type.axes)
    if (!better.has(axis) && axis->range.begin < variable->range.begin)
      better.axes.push_back(axis);
  builder.note(variable->range, diag::note_declare_as) << variable->name << better.str();
  return false;
}

/// Refuses the wider result that arithmetic on narrow types gives: no cast of the right side helps. `result` is
/// `current op value`.
bool Analyzer::requireFitting(const ast::AssignStmt *stmt, const Value &result, ScalarKind element,
                              const Variable *variable) {
  if (result.isError || !result.expr || stmt->op == ast::AssignOp::Max || stmt->op == ast::AssignOp::Min ||
      getBitWidth(element) >= 32 || element == ScalarKind::Bool || result.element() == element)
    return true;
  llvm::StringRef narrow = getSpelling(element), wide = getSpelling(result.element());
  std::string target = text(stmt->targetRange()).str();
  std::string hint =
      variable ? "declare it `var " + variable->name + ": " + wide.str() + "...`, and convert where it is stored"
               : "write `" + target + " = " + narrow.str() + "(" + target + " " +
                     llvm::StringRef(ast::getSpelling(stmt->op)).drop_back().str() + " ...)`";
  report(stmt->value->range, diag::err_narrow_accumulator) << quote(stmt->targetRange()) << narrow << wide << hint;
  return false;
}

/// `current op value` of a compound assignment.
Value Analyzer::combine(ast::AssignOp op, Value current, Value value, SourceRange range) {
  switch (op) {
  case ast::AssignOp::Set:
    return value;
  case ast::AssignOp::Add:
    return makeBinary(BinaryOp::Add, current, value, range);
  case ast::AssignOp::Subtract:
    return makeBinary(BinaryOp::Subtract, current, value, range);
  case ast::AssignOp::Multiply:
    return makeBinary(BinaryOp::Multiply, current, value, range);
  case ast::AssignOp::Divide:
    return makeBinary(BinaryOp::Divide, current, value, range);
  case ast::AssignOp::And:
    return makeBinary(BinaryOp::And, current, value, range);
  case ast::AssignOp::Or:
    return makeBinary(BinaryOp::Or, current, value, range);
  case ast::AssignOp::Xor:
    return makeBinary(BinaryOp::Xor, current, value, range);
  case ast::AssignOp::Max:
  case ast::AssignOp::Min:
    if (value.isError || value.isTuple())
      return Value::error(range);
    return checkKeeping(op == ast::AssignOp::Max ? Builtin::Max : Builtin::Min, {current, value}, range);
  }
  llvm_unreachable("not an assignment operator");
}

void Analyzer::checkAssign(const ast::AssignStmt *stmt) {
  Symbol *symbol = resolve(stmt->target);
  if (!symbol || symbol->kind == SymbolKind::Poison) {
    // The value is checked for its own errors.
    llvm::SaveAndRestore<bool> stated(axesStated, true);
    if (!isAlgorithmLevel(stmt))
      check(stmt->value);
    foundError = true;
    return;
  }
  if (symbol->kind == SymbolKind::Tensor) {
    if (stmt->hasBrackets)
      return checkStore(stmt, symbol->tensor);
    report(stmt->target.range, diag::err_tensor_without_subscripts) << symbol->name << symbol->tensor->shape.size();
    return;
  }
  if (symbol->kind == SymbolKind::Absent) {
    valueOf(symbol, stmt->target);
    return;
  }
  if (symbol->kind == SymbolKind::Variable && symbol->variable->kind == VariableKind::Var) {
    if (stmt->hasBrackets)
      report(stmt->targetRange(), diag::err_subscript_of_value) << symbol->name;
    else if (stmt->modifier != ast::AssignModifier::None)
      report(stmt->range, diag::err_modifier_needs_tensor)
          << (stmt->modifier == ast::AssignModifier::Atomic ? "atomic" : "unique") << symbol->name;
    else
      checkVariableAssign(stmt, symbol->variable);
    return;
  }
  DiagnosticBuilder builder = report(stmt->targetRange(), diag::err_not_assignable) << symbol->name;
  if (!symbol->range.isValid())
    return;
  builder.note(symbol->range, diag::note_declared_here) << symbol->name;
  SourceRange before(symbol->range.begin.advanced(-4), symbol->range.begin);
  if (symbol->kind == SymbolKind::Variable && symbol->variable->kind == VariableKind::Let && text(before) == "let ")
    builder << FixIt::replacement(before, "var ");
}

void Analyzer::checkVariableAssign(const ast::AssignStmt *stmt, Variable *variable) {
  llvm::SaveAndRestore<bool> stated(axesStated, true);
  Value value = check(stmt->value);
  // The caret of a conversion belongs to the right side as it is written.
  SourceRange written = stmt->value->range;
  value.range = written;
  if (stmt->op != ast::AssignOp::Set) {
    auto *current = context.create<VariableRef>(stmt->target.range, variable, variable->type);
    Value before = Value::of(current, stmt->target.range);
    if (!requireMeeting(stmt, before, value, variable))
      return;
    value = combine(stmt->op, before, value, stmt->range);
    value.range = written;
    if (!requireFitting(stmt, value, variable->type.element, variable))
      return;
  }
  Expr *converted = convertTo(value, variable->type.element);
  if (!converted || !requireOnLeft(converted, variable->type.axes, written, "`" + variable->name + "`",
                                   {stmt->op, variable, /*isAtomic=*/false}))
    return;
  emit(context.create<AssignStmt>(stmt->range, variable, converted));
}

/// The variables of outer scopes that blocks assign, in order of declaration.
static void collectAssigned(const Block *block, llvm::DenseSet<Variable *> &declared,
                            llvm::SetVector<Variable *> &assigned) {
  for (const Stmt *stmt : block->statements) {
    llvm::ArrayRef<Variable *> inner;
    if (const auto *var = llvm::dyn_cast<VarStmt>(stmt))
      declared.insert(var->variable);
    else if (const auto *assign = llvm::dyn_cast<AssignStmt>(stmt))
      assigned.insert(assign->variable);
    else if (const auto *loop = llvm::dyn_cast<ForStmt>(stmt))
      inner = loop->carried;
    else if (const auto *loop = llvm::dyn_cast<WhileStmt>(stmt))
      inner = loop->carried;
    else if (const auto *branch = llvm::dyn_cast<IfStmt>(stmt))
      inner = branch->carried;
    assigned.insert(inner.begin(), inner.end());
  }
}

std::vector<Variable *> sema::findCarried(llvm::ArrayRef<const Block *> blocks) {
  llvm::DenseSet<Variable *> declared;
  llvm::SetVector<Variable *> assigned;
  for (const Block *block : blocks)
    if (block)
      collectAssigned(block, declared, assigned);
  std::vector<Variable *> result;
  llvm::copy_if(assigned, std::back_inserter(result), [&](Variable *variable) { return !declared.count(variable); });
  llvm::sort(result, [](const Variable *a, const Variable *b) { return a->id < b->id; });
  return result;
}

void Analyzer::checkIfStatement(const ast::IfStmt *stmt) {
  Value condition = checkScalarCondition(stmt->condition);
  if (std::optional<bool> constant = getConstantCondition(condition)) {
    const ast::Block *taken = *constant ? stmt->thenBlock : stmt->elseBlock;
    if (!taken)
      return;
    Scope inner(scope);
    llvm::SaveAndRestore<Scope *> savedScope(scope, &inner);
    checkBlock(taken);
    return;
  }
  if (kernelDecl && !inParallel && enclosing.empty() && functionStack.empty()) {
    refuse("top-level-statement", stmt->range);
    if (!inSequentialStage)
      beginStage(stmt->range);
    inSequentialStage = true;
  }
  auto *result = context.create<IfStmt>(stmt->range);
  result->condition = condition.expr;
  ++conditionalDepth;
  size_t mark = facts.mark();
  if (condition.expr) {
    facts.assume(condition.expr);
    guards.push_back(condition.expr);
  }
  result->thenBlock = checkNested(stmt->thenBlock);
  facts.rollback(mark);
  if (condition.expr)
    guards.pop_back();
  if (stmt->elseBlock)
    result->elseBlock = checkNested(stmt->elseBlock);
  --conditionalDepth;
  result->carried = findCarried({result->thenBlock, result->elseBlock});
  if (condition.expr)
    emit(result);
}

void Analyzer::checkCallStatement(const ast::CallStmt *stmt) {
  refuse(stmt->isAssert ? "assert" : "print", stmt->range);
  llvm::SaveAndRestore<bool> stated(axesStated, true);
  auto arguments = stmt->call->arguments;
  size_t textAt = stmt->isAssert ? 1 : 0;
  if (arguments.size() <= textAt || !llvm::isa<ast::StringLiteral>(arguments[textAt].value) ||
      (stmt->isAssert && arguments.size() != 2)) {
    report(stmt->range, diag::err_call_statement_form)
        << (stmt->isAssert ? "assert(condition, \"message\")" : "print(\"format\", values...)");
    return;
  }
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    if (i == textAt)
      continue;
    Value value = check(argument.value);
    if (stmt->isAssert && !value.isError && (value.number || value.element() != ScalarKind::Bool))
      report(argument.value->range, diag::err_condition_not_bool) << value.type.str();
    else
      materialize(value);
  }
}

void Analyzer::checkTemp(const ast::TempStmt *stmt) {
  refuse("temp", stmt->range);
  std::optional<ScalarKind> element = resolveScalar(stmt->element);
  auto *tensor = context.create<Tensor>();
  tensor->name = stmt->name.name.str();
  tensor->range = stmt->name.range;
  tensor->access = TensorAccess::Temp;
  bool failed = !element;
  for (const ast::Expr *size : stmt->shape) {
    tensor->shape.push_back(toIndex(check(size)));
    failed |= !tensor->shape.back();
  }
  Symbol *symbol = declare(stmt->name, failed ? SymbolKind::Poison : SymbolKind::Tensor);
  if (failed)
    return;
  tensor->element = *element;
  symbol->tensor = tensor;
  kernel->temps.push_back(tensor);
}
