// Constants: evaluation, conversion to a declared type, and the constants of files.
#include "Analyzer.h"

using namespace tilec;
using namespace tilec::sema;

void Analyzer::bindConstants(llvm::ArrayRef<ConstBinding> constants) {
  constantScope = std::make_unique<Scope>(nullptr);
  scope = constantScope.get();
  for (const ConstBinding &binding : constants)
    scope->add(binding.symbol);
}

Value Analyzer::checkConstant(const ast::Expr *expr) {
  Block ignored;
  llvm::SaveAndRestore<Block *> savedOut(out, &ignored);
  Value value = check(expr);
  if (value.isError || value.number || llvm::isa_and_nonnull<Constant>(value.expr))
    return value;
  report(expr->range, diag::err_not_constant) << quote(expr->range);
  return Value::error(expr->range);
}

Value Analyzer::convertConstant(const Value &value, ScalarKind type) {
  if (value.isError)
    return value;
  Value result = value;
  auto *constant = llvm::dyn_cast_or_null<Constant>(value.expr);
  // An integer constant of some type stands for its value.
  if (constant && isInteger(constant->type.element) && type != ScalarKind::Bool) {
    result.number = getNumber(constant);
    result.expr = nullptr;
  }
  if (result.number) {
    if (!literalTo(result, type))
      return Value::error(value.range);
    if (isFloat(type) && result.number->isInteger())
      result.number = Number::real(result.number->asInteger(), llvm::DynamicAPInt(1));
    result.type = Type(type);
    result.isDeclared = true;
    return result;
  }
  Expr *converted = convertTo(value, type);
  return converted ? Value::of(converted, value.range) : Value::error(value.range);
}

std::optional<int64_t> Analyzer::requireInteger(const ast::Expr *expr, diag::Kind kind) {
  Value value = checkConstant(expr);
  if (value.isError)
    return std::nullopt;
  std::optional<int64_t> number;
  if (value.number)
    number = value.number->asInt64();
  else if (isInteger(value.element()))
    number = getConstantInteger(value.expr);
  if (!number)
    report(expr->range, kind) << quote(expr->range);
  return number;
}

const Value &Globals::getConstant(Symbol *symbol) {
  const ast::ConstDecl *decl = symbol->declaration;
  if (!decl)
    return symbol->constant;
  symbol->declaration = nullptr;
  if (llvm::is_contained(underEvaluation, symbol)) {
    report(decl->name.range, diag::err_constant_cycle) << symbol->name;
    symbol->constant = Value::error(decl->name.range);
    return symbol->constant;
  }
  symbol->declaration = decl;
  underEvaluation.push_back(symbol);
  Analyzer analyzer(*this);
  analyzer.home = decl->name.range;
  Value value = analyzer.checkConstant(decl->value);
  if (decl->declaredType) {
    if (decl->declaredType->kind) {
      value = analyzer.convertConstant(value, *decl->declaredType->kind);
    } else {
      report(decl->declaredType->range, diag::err_not_a_type) << decl->declaredType->name.name << "no type";
      value = Value::error(decl->value->range);
    }
  }
  underEvaluation.pop_back();
  symbol->declaration = nullptr;
  symbol->constant = std::move(value);
  return symbol->constant;
}
