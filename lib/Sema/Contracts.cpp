// Contracts (rule 17): conditions that the launcher checks, the facts that follow from them, and variants.
#include "Analyzer.h"

using namespace tilec;
using namespace tilec::sema;

/// More variants of one kernel are refused.
constexpr size_t maxVariants = 64;

using Choices = std::vector<std::pair<const ast::Contract *, int64_t>>;

std::vector<Choices> Analyzer::enumerateVariants(const ast::KernelDecl *decl) {
  std::vector<Choices> variants(1);
  for (const ast::Contract &contract : decl->contracts) {
    if (contract.condition)
      continue;
    std::vector<int64_t> values;
    for (const ast::Expr *choice : contract.choices) {
      // Names that are no constants are reported with the contract, where they are known.
      std::vector<ast::Identifier> unknown;
      collectImplicitNames(choice, unknown);
      std::optional<int64_t> value =
          unknown.empty() ? requireInteger(choice, diag::err_choice_not_constant) : std::nullopt;
      if (value && !llvm::is_contained(values, *value))
        values.push_back(*value);
      else if (value)
        report(choice->range, diag::err_repeated_choice) << *value;
    }
    if (values.empty())
      continue;
    if (variants.size() * values.size() > maxVariants) {
      report(contract.range, diag::err_too_many_variants) << decl->name.name << maxVariants;
      return variants;
    }
    std::vector<Choices> extended;
    for (const Choices &variant : variants) {
      for (int64_t value : values) {
        extended.push_back(variant);
        extended.back().emplace_back(&contract, value);
      }
    }
    variants = std::move(extended);
  }
  return variants;
}

/// Gives the chosen dimensions their values, before anything depends on them.
void Analyzer::fixChoices() {
  for (const auto &[contract, value] : choices) {
    Symbol *symbol = find(contract->name.name);
    if (!symbol || symbol->kind != SymbolKind::Variable || !isInteger(symbol->variable->type.element))
      continue;
    symbol->fixedValue = value;
    symbol->variable->min = symbol->variable->max = value;
  }
}

void Analyzer::checkChoice(const ast::Contract &contract) {
  Symbol *symbol = resolve(contract.name);
  if (!symbol || symbol->kind == SymbolKind::Poison)
    return;
  if (symbol->kind != SymbolKind::Variable || !isInteger(symbol->variable->type.element)) {
    DiagnosticBuilder builder = report(contract.name.range, diag::err_choice_name) << contract.name.name;
    if (symbol->range.isValid())
      builder.note(symbol->range, diag::note_declared_here) << contract.name.name;
    return;
  }
  HostExpr any(nullptr);
  for (const ast::Expr *choice : contract.choices) {
    std::optional<int64_t> value = requireInteger(choice, diag::err_choice_not_constant);
    if (!value)
      return;
    HostExpr equal = llvm::json::Array{"eq", symbol->name, *value};
    any = any.getAsNull() ? std::move(equal) : llvm::json::Array{"or", std::move(any), std::move(equal)};
  }
  kernel->contracts.push_back({std::move(any), text(contract.range).str(), contract.range});
  for (const auto &[chosen, value] : choices)
    if (chosen == &contract)
      kernel->when.push_back(llvm::json::Array{"eq", symbol->name, value});
}

/// `M % 8 == 0` gives M a divisor.
void Analyzer::recordDivisibility(const Expr *condition) {
  const auto *binary = llvm::dyn_cast<Binary>(condition);
  if (!binary)
    return;
  if (binary->op == BinaryOp::LogicalAnd) {
    recordDivisibility(binary->lhs);
    recordDivisibility(binary->rhs);
    return;
  }
  const auto *remainder = llvm::dyn_cast<Binary>(binary->lhs);
  std::optional<int64_t> zero = getConstantInteger(binary->rhs);
  if (binary->op != BinaryOp::Equal || zero != 0 || !remainder || remainder->op != BinaryOp::Remainder)
    return;
  const auto *ref = llvm::dyn_cast<VariableRef>(remainder->lhs);
  std::optional<int64_t> divisor = getConstantInteger(remainder->rhs);
  if (ref && divisor && *divisor > 1 && ref->variable->divisible % *divisor != 0)
    ref->variable->divisible = *divisor;
}

/// The condition as the launcher checks it, the same for all variants: with the names of the chosen dimensions.
Value Analyzer::checkGeneralCondition(const ast::Expr *condition) {
  std::vector<std::pair<Symbol *, int64_t>> fixed;
  for (const auto &[contract, value] : choices) {
    Symbol *symbol = find(contract->name.name);
    if (!symbol || !symbol->fixedValue)
      continue;
    fixed.emplace_back(symbol, *symbol->fixedValue);
    symbol->fixedValue.reset();
  }
  Value general = checkScalarCondition(condition);
  for (auto [symbol, value] : fixed)
    symbol->fixedValue = value;
  return general;
}

void Analyzer::checkCondition(const ast::Contract &contract) {
  Value condition = checkScalarCondition(contract.condition);
  if (condition.isError)
    return;
  facts.assume(condition.expr);
  recordDivisibility(condition.expr);
  Value general = checkGeneralCondition(contract.condition);
  if (std::optional<bool> constant = getConstantCondition(general)) {
    if (!*constant)
      report(contract.range, diag::err_contract_never_holds) << quote(contract.range);
    return;
  }
  std::optional<HostExpr> host = general.isError ? std::nullopt : toHostExpr(general.expr);
  if (!host) {
    report(contract.range, diag::err_contract_form) << quote(contract.range);
    return;
  }
  kernel->contracts.push_back({std::move(*host), text(contract.range).str(), contract.range});
}

void Analyzer::checkContracts(const ast::KernelDecl *decl) {
  for (const ast::Contract &contract : decl->contracts) {
    if (contract.condition)
      checkCondition(contract);
    else
      checkChoice(contract);
  }
  recordBounds();
}

/// The constant bounds of dimensions and integer scalars that the contracts imply.
void Analyzer::recordBounds() {
  for (const Parameter &parameter : kernel->parameters) {
    Variable *variable = parameter.variable;
    // A dimension that the variant fixes has its bounds already.
    if (!variable || !isInteger(variable->type.element) || variable->min)
      continue;
    Poly self = Poly::atom(facts.getVariable(variable));
    variable->max = facts.upperBound(self);
    variable->min = facts.lowerBound(self);
  }
}
