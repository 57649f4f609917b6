// Names: look-up, declaration, and what is said of names that are unknown.
#include "Analyzer.h"
#include "llvm/ADT/STLExtras.h"

using namespace tilec;
using namespace tilec::sema;

DiagnosticBuilder Analyzer::report(SourceRange range, diag::Kind kind) {
  if (getKindInfo(kind).severity == Severity::Error)
    foundError = true;
  return globals.report(range, kind);
}

void Analyzer::refuse(llvm::StringRef key, SourceRange range) {
  if (!getNotBuilt(key).empty())
    refusals.emplace_back(key.str(), range);
}

Symbol *Analyzer::find(llvm::StringRef name) const {
  if (scope)
    if (Symbol *symbol = scope->find(name))
      return symbol;
  Symbol *symbol = globals.find(name);
  return symbol && globals.isVisible(symbol, getPlace()) ? symbol : nullptr;
}

/// The declaration whose text is analysed: a called function's own, not the caller's.
SourceRange Analyzer::getPlace() const {
  if (!functionStack.empty())
    return functionStack.back()->name.range;
  return kernelDecl ? kernelDecl->name.range : home;
}

/// Declares a name in the innermost scope; a visible one is never redeclared (rule 3). After the error the new
/// declaration holds, so that its uses are not reported as well.
Symbol *Analyzer::declare(const ast::Identifier &name, SymbolKind kind) {
  Symbol *symbol = globals.create(kind, name.name, name.range);
  Symbol *previous = find(name.name);
  // An unknown name that was reported is no declaration.
  bool isReported = previous && previous->kind == SymbolKind::Poison && !previous->range.isValid();
  if (previous && !isReported) {
    if (!previous->range.isValid()) {
      report(name.range, diag::err_redeclares_builtin) << name.name;
    } else {
      DiagnosticBuilder builder = report(name.range, diag::err_redeclared) << name.name;
      builder.note(previous->range, diag::note_declared_here) << name.name;
    }
  }
  scope->add(symbol);
  return symbol;
}

static llvm::StringRef describe(const Symbol *symbol) {
  switch (symbol->kind) {
  case SymbolKind::Constant:
    return "a constant";
  case SymbolKind::TypeConstant:
    return "a type";
  case SymbolKind::Function:
    return "a function";
  case SymbolKind::Builtin:
    return "a built-in function";
  case SymbolKind::Variable:
    return symbol->variable->kind == VariableKind::Dimension ? "a dimension" : "a value";
  case SymbolKind::Tensor:
    return "a tensor";
  case SymbolKind::Axis:
    return "an axis";
  case SymbolKind::AlgorithmLet:
    return "an algorithm-level value";
  case SymbolKind::Absent:
  case SymbolKind::Poison:
    return "a name";
  }
  return "a name";
}

/// Functions that other languages have under other names.
static llvm::StringRef adviseOnFunction(llvm::StringRef name) {
  static constexpr std::pair<llvm::StringLiteral, llvm::StringLiteral> others[] = {
      {"relu", "write `max(x, 0)`"},
      {"fabs", "write `abs(x)`"},
      {"fmax", "write `max(a, b)`"},
      {"fmin", "write `min(a, b)`"},
      {"ln", "write `log(x)`"},
      {"where", "write `select(c, a, b)`"},
      {"gelu", "write a function: `fn gelu(x: f32) -> f32 { 0.5 * x * (1 + erf(x * 0.7071067811865476)) }`"},
      {"silu", "write a function: `fn silu(x: f32) -> f32 { x * sigmoid(x) }`"},
      {"matmul", "write `dot[k](a, b)`"},
      {"threadIdx", "a kernel says what is computed for a tile; the compiler spreads it over threads"},
      {"blockIdx", "`t.index` is the number of a tile `t`"}};
  for (const auto &[other, advice] : others)
    if (name == other)
      return advice;
  return {};
}

/// In a tiled nest an unknown subscript is a typo or an axis that needs a loop, which is offered. The name is then
/// poisoned in this scope, so that it is reported once.
void Analyzer::reportUnknown(const ast::Identifier &name, const Expr *subscriptOf) {
  if (auto past = pastNames.find(name.name); past != pastNames.end() && functionStack.empty()) {
    DiagnosticBuilder builder = report(name.range, diag::err_past_stage) << name.name;
    builder.note(past->second, diag::note_declared_here) << name.name;
    scope->add(globals.create(SymbolKind::Poison, name.name, {}));
    return;
  }
  std::vector<llvm::StringRef> candidates;
  for (const Scope *s = scope; s; s = s->getParent())
    for (const auto &entry : s->getNames())
      candidates.push_back(entry.getKey());
  for (const auto &entry : globals.getNames())
    if (globals.isVisible(entry.getValue(), getPlace()))
      candidates.push_back(entry.getKey());
  llvm::StringRef similar = findSimilar(name.name, candidates);
  bool needsAxis = subscriptOf && inParallel && functionStack.empty();
  DiagnosticBuilder builder =
      report(name.range, needsAxis ? diag::err_unknown_axis_in_parallel : diag::err_unknown_name) << name.name;
  if (needsAxis)
    builder << (llvm::isa<VariableRef>(subscriptOf) ? toString(subscriptOf) : std::string("N"));
  if (!similar.empty())
    builder << FixIt::replacement(name.range, similar);
  else if (llvm::StringRef advice = adviseOnFunction(name.name); !advice.empty())
    builder.note(name.range, diag::note_advice) << advice;
  if (const Symbol *hidden = globals.find(name.name))
    builder.note(hidden->range, diag::note_not_imported) << name.name;
  if (scope)
    scope->add(globals.create(SymbolKind::Poison, name.name, {}));
}

Symbol *Analyzer::resolve(const ast::Identifier &name, const Expr *subscriptOf) {
  Symbol *symbol = find(name.name);
  if (!symbol) {
    reportUnknown(name, subscriptOf);
    return nullptr;
  }
  return symbol;
}

/// The axes in scope, outermost first.
std::vector<std::string> Analyzer::axesInScope() const {
  std::vector<const Axis *> axes;
  for (const Scope *s = scope; s; s = s->getParent())
    for (const auto &entry : s->getNames())
      if (entry.getValue()->kind == SymbolKind::Axis)
        axes.push_back(entry.getValue()->axis);
  llvm::sort(axes, [](const Axis *a, const Axis *b) { return a->id < b->id; });
  std::vector<std::string> names;
  names.reserve(axes.size());
  for (const Axis *axis : axes)
    names.push_back(axis->name);
  return names;
}

/// What other languages call a type, or a type with a similar name; empty if there is none.
static llvm::StringRef suggestType(llvm::StringRef name) {
  static constexpr std::pair<llvm::StringLiteral, llvm::StringLiteral> others[] = {
      {"float", "f32"},    {"double", "f64"},  {"half", "f16"},    {"float16", "f16"},  {"fp16", "f16"},
      {"float32", "f32"},  {"fp32", "f32"},    {"float64", "f64"}, {"fp64", "f64"},     {"bfloat16", "bf16"},
      {"int", "i32"},      {"int8", "i8"},     {"int16", "i16"},   {"int32", "i32"},    {"int64", "i64"},
      {"int8_t", "i8"},    {"int32_t", "i32"}, {"int64_t", "i64"}, {"uint", "u32"},     {"uint8", "u8"},
      {"uint8_t", "u8"},   {"uint16", "u16"},  {"uint32", "u32"},  {"uint32_t", "u32"}, {"uint64", "u64"},
      {"uint64_t", "u64"}, {"char", "i8"},     {"byte", "u8"},     {"long", "i64"},     {"size_t", "index"},
      {"boolean", "bool"}, {"e4m3", "f8e4m3"}, {"e5m2", "f8e5m2"}, {"fp8", "f8e4m3"},   {"float8_e4m3", "f8e4m3"}};
  for (const auto &[other, ours] : others)
    if (name == other)
      return ours;
  return {};
}

const Axis *Analyzer::resolveAxis(const ast::Identifier &name) {
  Symbol *symbol = find(name.name);
  if (symbol && symbol->kind == SymbolKind::Axis)
    return symbol->axis;
  if (symbol && symbol->kind == SymbolKind::Poison)
    return nullptr;
  if (symbol) {
    DiagnosticBuilder builder = report(name.range, diag::err_not_an_axis) << name.name << describe(symbol);
    if (symbol->range.isValid())
      builder.note(symbol->range, diag::note_declared_here) << name.name;
    return nullptr;
  }
  if (!functionStack.empty()) {
    const ast::FunctionDecl *function = functionStack.back();
    DiagnosticBuilder builder = report(name.range, diag::err_function_foreign_axis) << name.name << function->name.name;
    if (function->axes.empty())
      builder << FixIt::insertion(function->name.range.end, ("[" + name.name + "]").str());
    return nullptr;
  }
  std::string inScope;
  for (const std::string &axis : axesInScope())
    inScope += (inScope.empty() ? "`" : ", `") + axis + "`";
  report(name.range, diag::err_unknown_axis) << name.name << (inScope.empty() ? std::string("there is none") : inScope);
  return nullptr;
}

std::optional<ScalarKind> Analyzer::resolveScalar(const ast::ScalarRef &scalar) {
  if (scalar.kind)
    return scalar.kind;
  if (llvm::StringRef meant = suggestType(scalar.name.name); !meant.empty() && !find(scalar.name.name)) {
    report(scalar.range, diag::err_unknown_name) << scalar.name.name << FixIt::replacement(scalar.range, meant);
    return std::nullopt;
  }
  Symbol *symbol = resolve(scalar.name);
  if (!symbol || symbol->kind == SymbolKind::Poison)
    return std::nullopt;
  if (symbol->kind == SymbolKind::TypeConstant)
    return symbol->scalar;
  DiagnosticBuilder builder = report(scalar.range, diag::err_not_a_type) << scalar.name.name << describe(symbol);
  if (symbol->range.isValid())
    builder.note(symbol->range, diag::note_declared_here) << scalar.name.name;
  return std::nullopt;
}

/// A declared type; in a function the axes that its call lifts over are added.
std::optional<Type> Analyzer::resolveType(const ast::TypeRef &type) {
  std::optional<ScalarKind> element = resolveScalar(type.scalar);
  bool failed = !element;
  Type result;
  for (const ast::Identifier &name : type.axes) {
    const Axis *axis = resolveAxis(name);
    if (!axis) {
      failed = true;
    } else if (result.has(axis)) {
      report(name.range, diag::err_repeated_axis) << name.name;
      failed = true;
    } else {
      result.axes.push_back(axis);
    }
  }
  if (failed)
    return std::nullopt;
  result.element = *element;
  for (const Axis *axis : liftedAxes)
    if (!result.has(axis))
      result.axes.push_back(axis);
  return result;
}
