// Reads of tensors and of algorithm-level lets by subscripts, and the re-indexing of values.
#include "Analyzer.h"

using namespace tilec;
using namespace tilec::sema;

/// The axes that occur in subscripts, in order of first occurrence.
llvm::SmallVector<const Axis *, 4> Analyzer::axesOf(llvm::ArrayRef<Expr *> subscripts) const {
  llvm::SmallVector<const Axis *, 4> axes;
  for (const Expr *subscript : subscripts)
    for (const Axis *axis : subscript->type.axes)
      if (!llvm::is_contained(axes, axis))
        axes.push_back(axis);
  return axes;
}

/// A bare axis from 0 to a dimension that subscripts another, shorter or unrelated dimension reads zeros (or drops
/// stores) past its end: legal, and almost always a mistake. An `else` value says that it is meant.
void Analyzer::warnWrongDimension(const ast::Expr *index, const Expr *subscript, Tensor *tensor, unsigned dimension,
                                  bool hasElse, SourceLoc elsePlace, const ast::Expr *swapWith) {
  const auto *positions = llvm::dyn_cast<AxisPositions>(subscript);
  if (!positions || hasElse || !llvm::isa<ast::NameExpr>(index))
    return;
  const Axis *axis = positions->axis;
  while (axis->rangeOf)
    axis = axis->rangeOf;
  auto found = axisDimensions.find(axis);
  if (found == axisDimensions.end() || dimension >= tensor->shape.size())
    return;
  const Expr *size = tensor->shape[dimension];
  bool bothNamed = llvm::isa<VariableRef>(found->second.first) && llvm::isa<VariableRef>(size);
  if (!bothNamed || facts.isNonNegative(facts.toPoly(size) - facts.toPoly(found->second.first)))
    return;
  const std::string &sizeName = llvm::cast<VariableRef>(size)->variable->name;
  DiagnosticBuilder builder = report(index->range, diag::warn_axis_over_other_dimension)
                              << positions->axis->name << found->second.second << sizeName << tensor->name
                              << dimension + 1
                              << (elsePlace.isValid() ? "say what lies outside: `[... else 0]`"
                                                      : "turn the warning off with `-Wno-axis-dimension`: what a store "
                                                        "has outside is dropped");
  if (swapWith)
    builder << FixIt::replacement(index->range, text(swapWith->range))
            << FixIt::replacement(swapWith->range, text(index->range));
  else if (elsePlace.isValid())
    builder << FixIt::insertion(elsePlace, " else 0");
  builder.note(axis->range, diag::note_axis_ranges_over) << axis->name << found->second.second;
}

/// The size that a bare axis ranges over from 0; null for any other subscript.
const Variable *Analyzer::rangedDimension(const Expr *subscript) const {
  const auto *positions = llvm::dyn_cast_or_null<AxisPositions>(subscript);
  const Axis *axis = positions ? positions->axis : nullptr;
  while (axis && axis->rangeOf)
    axis = axis->rangeOf;
  auto found = axis ? axisDimensions.find(axis) : axisDimensions.end();
  const auto *size = found == axisDimensions.end() ? nullptr : llvm::dyn_cast<VariableRef>(found->second.first);
  return size ? size->variable : nullptr;
}

/// The subscript with which subscript `i` changed places: each ranges over the other's dimension.
const ast::Expr *Analyzer::findSwapped(llvm::ArrayRef<ast::Expr *> indices, llvm::ArrayRef<Expr *> subscripts,
                                       const Tensor *tensor, size_t i) const {
  auto sizeOf = [&](size_t d) -> const Variable * {
    const auto *size = d < tensor->shape.size() ? llvm::dyn_cast<VariableRef>(tensor->shape[d]) : nullptr;
    return size ? size->variable : nullptr;
  };
  const Variable *mine = rangedDimension(subscripts[i]);
  for (size_t j = 0; j < subscripts.size(); ++j)
    if (j != i && mine && mine != sizeOf(i) && mine == sizeOf(j) && sizeOf(i) &&
        rangedDimension(subscripts[j]) == sizeOf(i))
      return indices[j];
  return nullptr;
}

bool Analyzer::checkSubscripts(llvm::ArrayRef<ast::Expr *> indices, Tensor *tensor, SourceRange range,
                               std::vector<Expr *> &subscripts, bool isLoad, bool hasElse) {
  bool failed = false;
  // A subscript may mix axes freely: it computes positions.
  llvm::SaveAndRestore<bool> stated(axesStated, true);
  for (auto [i, index] : llvm::enumerate(indices)) {
    Value value;
    const auto *name = llvm::dyn_cast<ast::NameExpr>(index);
    if (name) {
      Symbol *symbol = resolve(name->name, i < tensor->shape.size() ? tensor->shape[i] : nullptr);
      value = symbol ? valueOf(symbol, name->name) : Value::error(index->range);
    } else {
      value = check(index);
    }
    Expr *subscript = toIndex(value);
    failed |= !subscript;
    subscripts.push_back(subscript);
  }
  for (auto [i, index] : llvm::enumerate(indices))
    if (const ast::Expr *other = subscripts[i] ? findSwapped(indices, subscripts, tensor, i) : nullptr;
        subscripts[i] && !(other && other->range.begin < index->range.begin))
      warnWrongDimension(index, subscripts[i], tensor, i, hasElse, isLoad ? range.end.advanced(-1) : SourceLoc(),
                         other);
  if (indices.size() != tensor->shape.size()) {
    DiagnosticBuilder builder = report(range, diag::err_rank) << tensor->name << tensor->shape.size() << indices.size();
    builder.note(tensor->range, diag::note_declared_here) << tensor->name;
    return false;
  }
  return !failed;
}

Value Analyzer::checkIndex(const ast::IndexExpr *expr) {
  const auto *name = llvm::dyn_cast<ast::NameExpr>(expr->base);
  Symbol *symbol = name ? resolve(name->name) : nullptr;
  if (name && (!symbol || symbol->kind == SymbolKind::Poison)) {
    foundError = true;
    return Value::error(expr->range);
  }
  if (symbol && symbol->kind == SymbolKind::Absent)
    return valueOf(symbol, name->name);
  if (symbol && symbol->kind == SymbolKind::AlgorithmLet)
    return checkLetIndex(expr, symbol);
  if (!symbol || symbol->kind != SymbolKind::Tensor) {
    report(expr->range, diag::err_subscript_of_value) << quote(expr->base->range);
    return Value::error(expr->range);
  }
  Tensor *tensor = symbol->tensor;
  std::vector<Expr *> subscripts;
  bool good =
      checkSubscripts(expr->indices, tensor, expr->range, subscripts, /*isLoad=*/true, expr->fallback != nullptr);
  if (tensor->access == TensorAccess::Out) {
    DiagnosticBuilder builder = report(expr->range, diag::err_read_of_out) << tensor->name;
    offerInout(builder, tensor);
    builder.note(tensor->range, diag::note_declared_here) << tensor->name;
    good = false;
  }
  Expr *fallback = nullptr;
  if (expr->fallback) {
    Value value = check(expr->fallback);
    fallback = convertTo(value, tensor->element);
    good &= fallback != nullptr;
  }
  if (!good)
    return Value::error(expr->range);
  Type type(tensor->element, axesOf(subscripts));
  if (fallback && !requireOnLeft(fallback, type.axes, expr->fallback->range, "the subscripts"))
    return Value::error(expr->range);
  if (tensor->access != TensorAccess::In)
    recordAccess(Access::Read, tensor, expr->range, subscripts);
  return Value::of(context.create<Load>(expr->range, type, tensor, std::move(subscripts), fallback), expr->range);
}

Value Analyzer::checkLetIndex(const ast::IndexExpr *expr, Symbol *symbol) {
  llvm::SaveAndRestore<bool> stated(axesStated, true);
  std::vector<Expr *> subscripts;
  bool failed = false;
  for (const ast::Expr *index : expr->indices) {
    subscripts.push_back(toIndex(check(index)));
    failed |= !subscripts.back();
  }
  if (expr->indices.size() != symbol->letAxes.size()) {
    DiagnosticBuilder builder = report(expr->range, diag::err_rank)
                                << symbol->name << symbol->letAxes.size() << expr->indices.size();
    builder.note(symbol->range, diag::note_declared_here) << symbol->name;
    failed = true;
  }
  Tensor *tensor = symbol->tensor;
  Expr *fallback = nullptr;
  if (expr->fallback) {
    fallback = convertTo(check(expr->fallback), tensor->element);
    failed |= !fallback;
  }
  if (failed)
    return Value::error(expr->range);
  Type type(tensor->element, axesOf(subscripts));
  return Value::of(context.create<Load>(expr->range, type, tensor, std::move(subscripts), fallback), expr->range);
}

Value Analyzer::checkSubstitute(const ast::SubstituteExpr *expr) {
  refuse("substitution", expr->range);
  if (const auto *name = llvm::dyn_cast<ast::NameExpr>(expr->base)) {
    Symbol *symbol = find(name->name.name);
    if (symbol && symbol->kind == SymbolKind::Tensor) {
      report(expr->range, diag::err_substitution_in_tensor) << symbol->name;
      return Value::error(expr->range);
    }
  }
  Value base = check(expr->base);
  Expr *value = materialize(base);
  std::vector<std::pair<const Axis *, Expr *>> substitutions;
  bool failed = !value;
  for (const ast::Substitution &substitution : expr->substitutions) {
    const Axis *axis = resolveAxis(substitution.axis);
    llvm::SaveAndRestore<bool> stated(axesStated, true);
    Expr *position = toIndex(check(substitution.value));
    if (axis && value && !value->type.has(axis)) {
      report(substitution.axis.range, diag::err_axis_not_in_operand)
          << axis->name << quote(base.range) << value->type.str();
      failed = true;
    }
    failed |= !axis || !position;
    substitutions.emplace_back(axis, position);
  }
  Expr *fallback = nullptr;
  if (expr->fallback && value) {
    fallback = convertTo(check(expr->fallback), value->type.element);
    failed |= !fallback;
  }
  if (failed)
    return Value::error(expr->range);
  // Each substituted axis gives way to the axes of its position.
  Type type(value->type.element);
  for (const Axis *axis : value->type.axes) {
    auto it = llvm::find_if(substitutions, [&](const auto &entry) { return entry.first == axis; });
    if (it == substitutions.end()) {
      if (!type.has(axis))
        type.axes.push_back(axis);
      continue;
    }
    for (const Axis *other : it->second->type.axes)
      if (!type.has(other))
        type.axes.push_back(other);
  }
  return Value::of(context.create<Substitute>(expr->range, type, value, std::move(substitutions), fallback),
                   expr->range);
}
