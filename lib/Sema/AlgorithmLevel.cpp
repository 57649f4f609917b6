// The algorithm level (rule 4): axes bound by subscripts and reduction brackets, and the dimensions that they range
// over.
#include "Analyzer.h"
#include "tilec/Syntax/ASTVisitor.h"
#include "llvm/Support/FormatVariadic.h"

using namespace tilec;
using namespace tilec::sema;

namespace {

/// Calls a function for every expression below a root.
struct Walker : ast::ExprVisitor<Walker> {
  llvm::function_ref<void(const ast::Expr *)> enter;
  explicit Walker(llvm::function_ref<void(const ast::Expr *)> enter) : enter(enter) {}

  void walk(ast::Expr *expr) {
    if (!expr)
      return;
    enter(expr);
    visit(expr);
  }
  void walkBlock(ast::Block *block) {
    for (ast::Stmt *stmt : block->statements)
      if (auto *let = llvm::dyn_cast<ast::LetStmt>(stmt))
        walk(let->value);
    walk(block->value);
  }
  void visitIntegerLiteral(ast::IntegerLiteral *) {}
  void visitRealLiteral(ast::RealLiteral *) {}
  void visitBoolLiteral(ast::BoolLiteral *) {}
  void visitStringLiteral(ast::StringLiteral *) {}
  void visitNameExpr(ast::NameExpr *) {}
  void visitScalarExpr(ast::ScalarExpr *) {}
  void visitAutoExpr(ast::AutoExpr *) {}
  void visitErrorExpr(ast::ErrorExpr *) {}
  void visitTupleExpr(ast::TupleExpr *expr) {
    for (ast::Expr *element : expr->elements)
      walk(element);
  }
  void visitUnaryExpr(ast::UnaryExpr *expr) { walk(expr->operand); }
  void visitBinaryExpr(ast::BinaryExpr *expr) {
    walk(expr->lhs);
    walk(expr->rhs);
  }
  void visitIfExpr(ast::IfExpr *expr) {
    walk(expr->condition);
    walkBlock(expr->thenBlock);
    walkBlock(expr->elseBlock);
  }
  void visitIndexExpr(ast::IndexExpr *expr) {
    walk(expr->base);
    for (ast::Expr *index : expr->indices)
      walk(index);
    walk(expr->fallback);
  }
  void visitSubstituteExpr(ast::SubstituteExpr *expr) {
    walk(expr->base);
    for (ast::Substitution &substitution : expr->substitutions)
      walk(substitution.value);
    walk(expr->fallback);
  }
  void visitAxisCallExpr(ast::AxisCallExpr *expr) {
    walk(expr->guard);
    for (ast::Argument &argument : expr->arguments)
      walk(argument.value);
  }
  void visitCallExpr(ast::CallExpr *expr) {
    for (ast::Argument &argument : expr->arguments)
      walk(argument.value);
  }
  void visitMemberExpr(ast::MemberExpr *expr) { walk(expr->base); }
};

void forEach(const ast::Expr *root, llvm::function_ref<void(const ast::Expr *)> enter) {
  Walker(enter).walk(const_cast<ast::Expr *>(root));
}

/// One bare use of an axis: a dimension of a tensor, or an axis of an algorithm-level let.
struct BareUse {
  Expr *size;
  SourceRange range;
};

} // namespace

/// A top-level store or algorithm-form let that binds an axis or that stands where nothing else binds one.
bool Analyzer::isAlgorithmLevel(const ast::Stmt *stmt) const {
  if (const auto *let = llvm::dyn_cast<ast::LetStmt>(stmt))
    return let->form == ast::LetForm::Algorithm;
  const auto *assign = llvm::dyn_cast<ast::AssignStmt>(stmt);
  if (!assign || !assign->hasBrackets || !functionStack.empty() || inParallel || !enclosing.empty() ||
      conditionalDepth != 0)
    return false;
  std::vector<ast::Identifier> names;
  for (const ast::Expr *index : assign->indices)
    collectImplicitNames(index, names);
  bool reduces = false;
  forEach(assign->value, [&](const ast::Expr *expr) {
    const auto *call = llvm::dyn_cast<ast::AxisCallExpr>(expr);
    reduces |= call && llvm::any_of(call->axes, [&](const ast::AxisArgument &axis) { return !find(axis.axis.name); });
  });
  return !names.empty() || reduces;
}

void Analyzer::collectImplicitNames(const ast::Expr *root, std::vector<ast::Identifier> &names) const {
  forEach(root, [&](const ast::Expr *expr) {
    const auto *name = llvm::dyn_cast<ast::NameExpr>(expr);
    auto same = [&](const ast::Identifier &other) { return other.name == name->name.name; };
    if (name && !find(name->name.name) && llvm::none_of(names, same))
      names.push_back(name->name);
  });
}

/// Declares the axes and gives each the range of its bare subscript uses, which must agree by name or contract.
void Analyzer::bindImplicitAxes(llvm::ArrayRef<ast::Identifier> names, const ast::Expr *value,
                                llvm::ArrayRef<ast::Expr *> leftIndices, Tensor *leftTensor) {
  for (const ast::Identifier &name : names) {
    std::vector<BareUse> uses;
    auto isBare = [&](const ast::Expr *index) {
      const auto *ref = llvm::dyn_cast<ast::NameExpr>(index);
      return ref && ref->name.name == name.name;
    };
    if (leftTensor)
      for (auto [i, index] : llvm::enumerate(leftIndices))
        if (isBare(index) && i < leftTensor->shape.size())
          uses.push_back({leftTensor->shape[i], index->range});
    auto useOf = [&](const ast::Expr *expr) {
      const auto *access = llvm::dyn_cast<ast::IndexExpr>(expr);
      const auto *base = access ? llvm::dyn_cast<ast::NameExpr>(access->base) : nullptr;
      const Symbol *symbol = base ? find(base->name.name) : nullptr;
      for (size_t i = 0; symbol && i < access->indices.size(); ++i) {
        if (!isBare(access->indices[i]))
          continue;
        if (symbol->kind == SymbolKind::Tensor && i < symbol->tensor->shape.size())
          uses.push_back({symbol->tensor->shape[i], access->indices[i]->range});
        else if (symbol->kind == SymbolKind::AlgorithmLet && i < symbol->letAxes.size())
          uses.push_back({symbol->letAxes[i]->upper, access->indices[i]->range});
      }
    };
    for (const ast::Expr *index : leftIndices)
      forEach(index, useOf);
    forEach(value, useOf);
    Symbol *symbol = declare(name, SymbolKind::Axis);
    Axis *axis = createAxis(AxisKind::Implicit, name);
    symbol->axis = axis;
    axis->lower = makeConstant(context, name.range, ScalarKind::Index, Number::integer(int64_t(0)));
    if (uses.empty()) {
      report(name.range, diag::err_implicit_axis_without_range) << name.name;
      symbol->kind = SymbolKind::Poison;
      continue;
    }
    axis->upper = uses[0].size;
    axis->extent = boundExtent(axis->lower, axis->upper).value_or(0);
    for (const BareUse &use : uses) {
      if (facts.areEqual(facts.toPoly(use.size), facts.toPoly(uses[0].size)))
        continue;
      std::string first = toString(uses[0].size), second = toString(use.size);
      DiagnosticBuilder builder = report(use.range, diag::err_axis_over_two_dimensions) << name.name << first << second;
      std::string contract = llvm::formatv("{0} == {1}", first, second);
      if (kernelDecl->contracts.empty())
        builder << FixIt::insertion(kernelDecl->body->range.begin, llvm::formatv("where {0} ", contract).str());
      else
        builder << FixIt::insertion(kernelDecl->contracts.back().range.end, ", " + contract);
      builder.note(uses[0].range, diag::note_axis_ranges_over) << name.name << first;
      break;
    }
  }
}

/// The names in brackets of reductions that no scope has; each is bound once for the statement.
static void collectBracketNames(const ast::Expr *value, std::vector<ast::Identifier> &names,
                                llvm::function_ref<bool(llvm::StringRef)> isKnown) {
  forEach(value, [&](const ast::Expr *expr) {
    const auto *call = llvm::dyn_cast<ast::AxisCallExpr>(expr);
    if (!call)
      return;
    for (const ast::AxisArgument &argument : call->axes) {
      auto same = [&](const ast::Identifier &other) { return other.name == argument.axis.name; };
      if (!isKnown(argument.axis.name) && llvm::none_of(names, same))
        names.push_back(argument.axis);
    }
  });
}

void Analyzer::checkAlgorithmStore(const ast::AssignStmt *stmt, Tensor *tensor) {
  Scope inner(scope);
  llvm::SaveAndRestore<Scope *> savedScope(scope, &inner);
  std::vector<ast::Identifier> names;
  for (const ast::Expr *index : stmt->indices)
    collectImplicitNames(index, names);
  collectBracketNames(stmt->value, names, [&](llvm::StringRef name) { return find(name) != nullptr; });
  bindImplicitAxes(names, stmt->value, stmt->indices, tensor);
  // With the axes bound the statement is an ordinary store whose iterations are the positions of its axes.
  enclosing.push_back({false, nullptr, nullptr, stmt->range});
  checkStore(stmt, tensor);
  enclosing.pop_back();
  accesses.clear();
}

void Analyzer::checkAlgorithmLet(const ast::LetStmt *stmt) {
  const ast::Identifier &letName = stmt->names[0];
  std::vector<const Axis *> axes;
  Expr *converted = nullptr;
  if (inParallel || !enclosing.empty() || !functionStack.empty() || !kernelDecl) {
    report(stmt->range, diag::err_algorithm_let_not_top_level) << letName.name;
    declare(letName, SymbolKind::Poison);
    return;
  }
  {
    Scope inner(scope);
    llvm::SaveAndRestore<Scope *> savedScope(scope, &inner);
    std::vector<ast::Identifier> names;
    for (const ast::LetAxis &axis : stmt->axes) {
      if (!axis.hasSpan) {
        names.push_back(axis.name);
        continue;
      }
      Symbol *symbol = declare(axis.name, SymbolKind::Axis);
      Axis *created = createAxis(AxisKind::Implicit, axis.name);
      const Axis *rangeOf = nullptr;
      if (checkSpan(axis.span, created->lower, created->upper, rangeOf, /*allowWhole=*/false))
        created->extent = boundExtent(created->lower, created->upper).value_or(0);
      else
        symbol->kind = SymbolKind::Poison;
      symbol->axis = created;
    }
    collectBracketNames(stmt->value, names, [&](llvm::StringRef name) {
      return find(name) || llvm::any_of(names, [&](const ast::Identifier &other) { return other.name == name; });
    });
    bindImplicitAxes(names, stmt->value, {}, nullptr);
    for (const ast::LetAxis &axis : stmt->axes)
      if (Symbol *symbol = scope->find(axis.name.name); symbol && symbol->kind == SymbolKind::Axis)
        axes.push_back(symbol->axis);
    llvm::SaveAndRestore<bool> stated(axesStated, true);
    enclosing.push_back({false, nullptr, nullptr, stmt->range});
    Value value = check(stmt->value);
    enclosing.pop_back();
    converted = materialize(value);
    if (converted && !requireOnLeft(converted, axes, stmt->value->range, quote(letName.range)))
      converted = nullptr;
  }
  bool good = converted && axes.size() == stmt->axes.size();
  Symbol *symbol = declare(letName, good ? SymbolKind::AlgorithmLet : SymbolKind::Poison);
  if (!good)
    return;
  symbol->letAxes = axes;
  symbol->tensor = defineLetTensor(letName, axes, converted);
}

/// An algorithm-level let in the typed tree: a tensor of its own that one statement stores.
Tensor *Analyzer::defineLetTensor(const ast::Identifier &name, llvm::ArrayRef<const Axis *> axes, Expr *value) {
  auto *tensor = context.create<Tensor>();
  tensor->name = name.name.str();
  tensor->range = name.range;
  tensor->element = value->type.element;
  tensor->access = TensorAccess::Temp;
  std::vector<Expr *> subscripts;
  for (const Axis *axis : axes) {
    tensor->shape.push_back(axis->upper);
    subscripts.push_back(context.create<AxisPositions>(axis->range, axis));
  }
  emit(context.create<StoreStmt>(name.range, tensor, std::move(subscripts), axes.vec(), value));
  return tensor;
}
