// Ranges: parallel, for, while and axis statements, tile sizes and extents (rule 1).
#include "Analyzer.h"

using namespace tilec;
using namespace tilec::sema;

/// Extents beyond this are refused: no tile value of that many positions can be compiled.
constexpr int64_t maxExtent = int64_t(1) << 24;

Axis *Analyzer::createAxis(AxisKind kind, const ast::Identifier &name) {
  Axis *axis = context.createAxis();
  axis->kind = kind;
  axis->name = name.name.str();
  axis->range = name.range;
  axis->id = nextAxis++;
  return axis;
}

/// A constant bound of upper - lower, by linear arithmetic over the facts.
std::optional<int64_t> Analyzer::boundExtent(const Expr *lower, const Expr *upper) {
  std::optional<int64_t> best;
  for (const Poly &high : facts.upperForms(upper)) {
    for (const Poly &low : facts.lowerForms(lower)) {
      std::optional<int64_t> bound = facts.upperBound(high - low);
      if (bound && (!best || *bound < *best))
        best = bound;
    }
  }
  return best;
}

/// The bounds of a span. `allowWhole`: in `tiles` a lone expression e means 0..e.
bool Analyzer::checkSpan(const ast::Span &span, Expr *&lower, Expr *&upper, const Axis *&rangeOf, bool allowWhole) {
  auto checkBound = [&](const ast::Expr *expr) -> Expr * {
    llvm::SaveAndRestore<bool> stated(axesStated, true);
    Expr *bound = toIndex(check(expr));
    if (bound && !bound->type.isScalar()) {
      report(expr->range, diag::err_bound_not_scalar) << quote(expr->range) << bound->type.str();
      return nullptr;
    }
    return bound;
  };
  if (span.isRange()) {
    lower = checkBound(span.lower);
    upper = checkBound(span.upper);
    return lower && upper;
  }
  const auto *member = llvm::dyn_cast_or_null<ast::MemberExpr>(span.whole);
  if (member && member->member.name == "range") {
    const auto *name = llvm::dyn_cast<ast::NameExpr>(member->base);
    if (!name) {
      report(span.range, diag::err_span_form) << quote(span.range);
      return false;
    }
    rangeOf = resolveAxis(name->name);
    if (!rangeOf)
      return false;
    lower = context.create<AxisAttribute>(span.range, rangeOf, AxisAttributeKind::Start);
    upper = context.create<AxisAttribute>(span.range, rangeOf, AxisAttributeKind::End);
    return true;
  }
  if (!allowWhole || !span.whole) {
    report(span.range, diag::err_span_form) << quote(span.range);
    return false;
  }
  lower = makeConstant(context, span.range, ScalarKind::Index, Number::integer(int64_t(0)));
  upper = checkBound(span.whole);
  return upper != nullptr;
}

std::optional<int64_t> Analyzer::getTileSize(const ast::Binding &binding, const Expr *lower, const Expr *upper) {
  if (llvm::isa<ast::AutoExpr>(binding.size)) {
    unsigned bits = 8;
    for (const ExistingParam &param : existingParams)
      if (param.symbol->kind == SymbolKind::Tensor)
        bits = std::max(bits, getBitWidth(param.symbol->tensor->element));
    int64_t size = globals.sizeOf(binding.name.name, bits);
    std::optional<int64_t> bound = boundExtent(lower, upper);
    return bound && *bound < size ? std::max<int64_t>(*bound, 1) : size;
  }
  Value value = check(binding.size);
  if (value.isError)
    return std::nullopt;
  std::optional<int64_t> size;
  if (value.number)
    size = value.number->asInt64();
  else if (value.expr)
    if (Poly p = facts.toPoly(value.expr); isInteger(value.element()) && p.isConstant())
      size = p.getConstant();
  if (!size || *size <= 0 || *size > maxExtent) {
    report(binding.size->range, diag::err_tile_size)
        << quote(binding.size->range) << (size ? std::to_string(*size) : "not a constant") << maxExtent;
    return std::nullopt;
  }
  return size;
}

/// Declares the name of a binding; false after an error (the name is then poisoned).
bool Analyzer::checkBinding(const ast::Binding &binding, bool isParallel, Binding &result) {
  Expr *lower = nullptr, *upper = nullptr;
  const Axis *rangeOf = nullptr;
  bool good = checkSpan(binding.span, lower, upper, rangeOf, binding.isTiles);
  if (!binding.isTiles) {
    good = good && !rangeOf; // The grammar has no `i.range` here.
    Symbol *symbol = declare(binding.name, good ? SymbolKind::Variable : SymbolKind::Poison);
    if (!good)
      return false;
    auto *variable = context.create<Variable>(VariableKind::LoopIndex, binding.name.name.str(), binding.name.range,
                                              Type(ScalarKind::Index));
    variable->id = nextVariable++;
    variable->lower = lower;
    variable->upper = upper;
    symbol->variable = variable;
    result.index = variable;
    return true;
  }
  std::optional<int64_t> size = good ? getTileSize(binding, lower, upper) : std::nullopt;
  if (!good && !llvm::isa<ast::AutoExpr>(binding.size))
    check(binding.size);
  Symbol *symbol = declare(binding.name, size ? SymbolKind::Axis : SymbolKind::Poison);
  if (!size)
    return false;
  Axis *axis = createAxis(isParallel ? AxisKind::ParallelTiles : AxisKind::ForTiles, binding.name);
  axis->extent = *size;
  axis->lower = lower;
  axis->upper = upper;
  symbol->axis = axis;
  if (const auto *zero = llvm::dyn_cast<Constant>(lower); zero && zero->integer.isZero())
    axisDimensions[axis] = {upper, text(binding.span.isRange() ? binding.span.upper->range : binding.span.range).str()};
  result.axis = axis;
  result.reverse = binding.isReverse;
  return true;
}

/// Whether an expression mentions one of the bindings, or reads a tensor.
static void inspectBound(const Expr *expr, llvm::ArrayRef<Binding> earlier, bool &dependent, bool &loads) {
  switch (expr->kind) {
  case ExprKind::VariableRef: {
    const Variable *variable = llvm::cast<VariableRef>(expr)->variable;
    dependent |= llvm::any_of(earlier, [&](const Binding &binding) { return binding.index == variable; });
    return;
  }
  case ExprKind::AxisAttribute: {
    const Axis *axis = llvm::cast<AxisAttribute>(expr)->axis;
    dependent |= llvm::any_of(earlier, [&](const Binding &binding) { return binding.axis == axis; });
    return;
  }
  case ExprKind::Load:
    loads = true;
    for (const Expr *subscript : llvm::cast<Load>(expr)->subscripts)
      inspectBound(subscript, earlier, dependent, loads);
    return;
  case ExprKind::Unary:
    return inspectBound(llvm::cast<Unary>(expr)->operand, earlier, dependent, loads);
  case ExprKind::Cast:
    return inspectBound(llvm::cast<Cast>(expr)->operand, earlier, dependent, loads);
  case ExprKind::Binary:
    inspectBound(llvm::cast<Binary>(expr)->lhs, earlier, dependent, loads);
    return inspectBound(llvm::cast<Binary>(expr)->rhs, earlier, dependent, loads);
  case ExprKind::Call:
    for (const Expr *argument : llvm::cast<Call>(expr)->arguments)
      inspectBound(argument, earlier, dependent, loads);
    return;
  case ExprKind::Constant:
    return;
  default:
    loads = true;
    return;
  }
}

void Analyzer::checkParallel(const ast::ParallelStmt *stmt) {
  if (inParallel || !enclosing.empty() || !functionStack.empty() || conditionalDepth != 0)
    report(stmt->range, diag::err_parallel_not_top_level);
  else
    beginStage(stmt->range);
  auto *result = context.create<ParallelStmt>(stmt->range);
  applyAnnotations(stmt->annotations, result->annotations);
  Scope inner(scope);
  llvm::SaveAndRestore<Scope *> savedScope(scope, &inner);
  llvm::SaveAndRestore<bool> savedParallel(inParallel, true);
  size_t numEnclosing = enclosing.size();
  for (const ast::Binding &binding : stmt->bindings) {
    Binding typed;
    if (!checkBinding(binding, /*isParallel=*/true, typed))
      continue;
    bool dependent = false, loads = false;
    for (const Expr *bound : {typed.lower(), typed.upper()})
      inspectBound(bound, result->bindings, dependent, loads);
    result->dependent |= dependent;
    if (dependent)
      refuse("dependent-parallel", binding.range);
    if (loads)
      refuse("loaded-parallel", binding.range);
    result->bindings.push_back(typed);
    enclosing.push_back({true, typed.index, typed.axis, binding.name.range});
  }
  checkRaster(result);
  checkCluster(result);
  result->body = checkNested(stmt->body);
  checkRaces();
  accesses.clear();
  enclosing.resize(numEnclosing);
  emit(result);
}

void Analyzer::checkFor(const ast::ForStmt *stmt, size_t first) {
  auto *result = context.create<ForStmt>(stmt->range);
  if (first == 0)
    applyAnnotations(stmt->annotations, result->annotations);
  Scope inner(scope);
  llvm::SaveAndRestore<Scope *> savedScope(scope, &inner);
  bool good = checkBinding(stmt->bindings[first], /*isParallel=*/false, result->binding);
  enclosing.push_back({false, result->binding.index, result->binding.axis, stmt->bindings[first].name.range});
  if (first + 1 < stmt->bindings.size()) {
    result->body = context.create<Block>();
    llvm::SaveAndRestore<Block *> savedOut(out, result->body);
    checkFor(stmt, first + 1);
  } else {
    result->body = checkNested(stmt->body);
  }
  enclosing.pop_back();
  result->carried = findCarried(result->body);
  if (good)
    emit(result);
}

void Analyzer::checkWhile(const ast::WhileStmt *stmt) {
  refuse("while", stmt->range);
  auto *result = context.create<WhileStmt>(stmt->range);
  Value condition = checkScalarCondition(stmt->condition);
  enclosing.push_back({false, nullptr, nullptr, stmt->range});
  result->body = checkNested(stmt->body);
  enclosing.pop_back();
  result->condition = condition.expr;
  result->carried = findCarried(result->body);
  if (condition.expr)
    emit(result);
}

/// Names the dimension without a bound and offers the contract that gives one.
void Analyzer::reportUnbounded(const ast::Span &span, const Expr *upper, llvm::StringRef name) {
  const auto *ref = llvm::dyn_cast<VariableRef>(upper);
  bool isDimension = ref && ref->variable->kind == VariableKind::Dimension;
  DiagnosticBuilder builder = report(span.range, diag::err_unbounded_extent)
                              << name << text(span.range) << (isDimension ? ref->variable->name : std::string("N"));
  if (!isDimension || !kernelDecl)
    return;
  std::string bound = ref->variable->name + " <= 256";
  if (kernelDecl->contracts.empty())
    builder << FixIt::insertion(kernelDecl->body->range.begin, "where " + bound + " ");
  else
    builder << FixIt::insertion(kernelDecl->contracts.back().range.end, ", " + bound);
}

void Analyzer::checkAxisStatement(const ast::AxisStmt *stmt) {
  Expr *lower = nullptr, *upper = nullptr;
  const Axis *rangeOf = nullptr;
  std::optional<int64_t> extent;
  if (checkSpan(stmt->span, lower, upper, rangeOf, /*allowWhole=*/false)) {
    extent = rangeOf ? std::optional(rangeOf->extent) : boundExtent(lower, upper);
    if (!extent)
      reportUnbounded(stmt->span, upper, stmt->name.name);
    else if (*extent > maxExtent)
      report(stmt->span.range, diag::err_extent_too_large) << stmt->name.name << *extent << maxExtent;
  }
  Symbol *symbol = declare(stmt->name, extent ? SymbolKind::Axis : SymbolKind::Poison);
  if (!extent)
    return;
  Axis *axis = createAxis(AxisKind::Range, stmt->name);
  // A range that is always empty still has a place for one position.
  axis->extent = std::max<int64_t>(*extent, 1);
  axis->lower = lower;
  axis->upper = upper;
  axis->rangeOf = rangeOf;
  symbol->axis = axis;
  const auto *zero = llvm::dyn_cast<Constant>(lower);
  if (zero && zero->integer.isZero())
    axisDimensions[axis] = {upper, text(stmt->span.upper->range).str()};
  emit(context.create<AxisStmt>(stmt->range, axis));
}
