// Parameters of kernels and the dimensions of their shapes (rule 16).
#include "Analyzer.h"

using namespace tilec;
using namespace tilec::sema;

void Analyzer::declareParameters(const ast::KernelDecl *decl) {
  for (const ast::Param &param : decl->params) {
    bool exists = true;
    if (param.condition) {
      Value condition = checkConstant(param.condition);
      std::optional<bool> constant = getConstantCondition(condition);
      if (!constant && !condition.isError)
        report(param.condition->range, diag::err_condition_not_bool) << condition.type.str();
      exists = constant.value_or(true);
    }
    if (!exists) {
      declare(param.name, SymbolKind::Absent);
      continue;
    }
    std::optional<ScalarKind> element = param.isDim ? ScalarKind::Index : resolveScalar(param.element);
    bool isTensor = param.hasShape;
    if (element == ScalarKind::TF32) {
      report(param.element.range, diag::err_tf32_parameter) << param.name.name;
      element = std::nullopt;
    }
    if (!isTensor && param.direction != ast::ParamDirection::In)
      report(param.name.range, diag::err_scalar_output) << param.name.name;
    SymbolKind kind = !element ? SymbolKind::Poison : (isTensor ? SymbolKind::Tensor : SymbolKind::Variable);
    Symbol *symbol = declare(param.name, kind);
    // Its shape declares dimensions in any case.
    existingParams.push_back({&param, symbol});
    if (!element)
      continue;
    if (isTensor) {
      auto *tensor = context.create<Tensor>();
      tensor->name = param.name.name.str();
      tensor->range = param.name.range;
      tensor->element = *element;
      tensor->access = param.direction == ast::ParamDirection::In
                           ? TensorAccess::In
                           : (param.direction == ast::ParamDirection::Out ? TensorAccess::Out : TensorAccess::InOut);
      symbol->tensor = tensor;
      if (getBitWidth(*element) < 8)
        refuse(*element == ScalarKind::Bool ? "bool-tensor" : "packed", param.element.range);
      kernel->parameters.push_back({tensor, nullptr});
      continue;
    }
    auto *variable = context.create<Variable>(param.isDim ? VariableKind::Dimension : VariableKind::Scalar,
                                              param.name.name.str(), param.name.range, Type(*element));
    variable->id = nextVariable++;
    symbol->variable = variable;
    kernel->parameters.push_back({nullptr, variable});
  }
}

/// Names of a shape that nothing else declares are dimensions, in order of first appearance.
void Analyzer::collectDimensions(const ast::Expr *expr) {
  switch (expr->kind) {
  case ast::ExprKind::NameExpr: {
    const ast::Identifier &name = llvm::cast<ast::NameExpr>(expr)->name;
    Symbol *symbol = find(name.name);
    if (!symbol) {
      symbol = declare(name, SymbolKind::Variable);
      auto *variable =
          context.create<Variable>(VariableKind::Dimension, name.name.str(), name.range, Type(ScalarKind::Index));
      variable->id = nextVariable++;
      symbol->variable = variable;
      dimensions.push_back(symbol);
      return;
    }
    bool isParameter = symbol->kind == SymbolKind::Tensor || symbol->kind == SymbolKind::Absent ||
                       (symbol->kind == SymbolKind::Variable && symbol->variable->kind == VariableKind::Scalar);
    bool isConstant = symbol->kind == SymbolKind::Constant || symbol->kind == SymbolKind::Poison ||
                      (symbol->kind == SymbolKind::Variable && !isParameter);
    if (isConstant)
      return;
    bool isScalar = isParameter && symbol->kind == SymbolKind::Variable;
    DiagnosticBuilder builder =
        report(name.range, !isParameter ? diag::err_dimension_is_function
                                        : (isScalar ? diag::err_dimension_is_scalar : diag::err_dimension_is_parameter))
        << name.name;
    if (symbol->range.isValid())
      builder.note(symbol->range, diag::note_declared_here) << name.name;
    return;
  }
  case ast::ExprKind::UnaryExpr:
    return collectDimensions(llvm::cast<ast::UnaryExpr>(expr)->operand);
  case ast::ExprKind::BinaryExpr:
    collectDimensions(llvm::cast<ast::BinaryExpr>(expr)->lhs);
    return collectDimensions(llvm::cast<ast::BinaryExpr>(expr)->rhs);
  case ast::ExprKind::CallExpr:
    for (const ast::Argument &argument : llvm::cast<ast::CallExpr>(expr)->arguments)
      collectDimensions(argument.value);
    return;
  default:
    return;
  }
}

void Analyzer::declareDimensions(const ast::KernelDecl *decl) {
  for (const ExistingParam &existing : existingParams)
    for (const ast::Expr *size : existing.param->shape)
      collectDimensions(size);
  fixChoices();
  for (const ExistingParam &existing : existingParams)
    if (existing.symbol->kind == SymbolKind::Tensor)
      completeTensor(*existing.param, existing.symbol->tensor);
  for (Symbol *symbol : dimensions)
    kernel->parameters.push_back({nullptr, symbol->variable});
  checkDimensionsStandAlone(decl);
}

void Analyzer::completeTensor(const ast::Param &param, Tensor *tensor) {
  auto checkSize = [&](const ast::Expr *expr) -> Expr * {
    // A name that was reported as no dimension says nothing twice.
    if (const auto *name = llvm::dyn_cast<ast::NameExpr>(expr)) {
      Symbol *symbol = find(name->name.name);
      bool isValue = symbol && (symbol->kind == SymbolKind::Constant || symbol->kind == SymbolKind::Variable);
      if (!isValue)
        return nullptr;
    }
    Expr *size = toIndex(check(expr));
    if (size && size->type.isScalar())
      return size;
    return nullptr;
  };
  auto zero = [&](SourceRange range) {
    return makeConstant(context, range, ScalarKind::Index, Number::integer(int64_t(0)));
  };
  for (const ast::Expr *expr : param.shape) {
    Expr *size = checkSize(expr);
    foundError |= !size;
    if (size && llvm::isa<Constant>(size) && *getConstantInteger(size) < 0) {
      report(expr->range, diag::err_negative_size) << quote(expr->range);
      size = nullptr;
    }
    tensor->shape.push_back(size ? size : zero(expr->range));
  }
  size_t rank = tensor->shape.size();
  if (param.stridesKind == ast::StridesKind::Dynamic) {
    tensor->stridesKind = TensorStrides::Dynamic;
    return;
  }
  if (param.stridesKind == ast::StridesKind::Explicit) {
    tensor->stridesKind = TensorStrides::Explicit;
    if (param.strides.size() != rank) {
      report(param.range, diag::err_stride_count) << tensor->name << rank << param.strides.size();
      return;
    }
    for (const ast::Expr *expr : param.strides) {
      Expr *stride = toIndex(check(expr));
      if (stride && llvm::isa<Constant>(stride)) {
        int64_t value = *getConstantInteger(stride);
        if (value < 0 || (value == 0 && tensor->access != TensorAccess::In))
          report(expr->range, diag::err_stride_value) << quote(expr->range);
      }
      tensor->strides.push_back(stride ? stride : zero(expr->range));
    }
    return;
  }
  // Row-major: each stride is the product of the later sizes.
  tensor->strides.resize(rank);
  Expr *stride = makeConstant(context, param.range, ScalarKind::Index, Number::integer(int64_t(1)));
  for (size_t i = rank; i-- > 0;) {
    tensor->strides[i] = stride;
    Value product = makeBinary(BinaryOp::Multiply, Value::of(tensor->shape[i], param.range),
                               Value::of(stride, param.range), param.range);
    if (i > 0 && i + 1 == rank)
      stride = tensor->shape[i];
    else if (i > 0)
      stride = product.expr;
  }
}

/// Every dimension is some whole size, so that the launcher and the runner can find its value.
void Analyzer::checkDimensionsStandAlone(const ast::KernelDecl *decl) {
  for (Symbol *symbol : dimensions) {
    bool standsAlone = llvm::any_of(existingParams, [&](const ExistingParam &existing) {
      return llvm::any_of(existing.param->shape, [&](const ast::Expr *size) {
        const auto *name = llvm::dyn_cast<ast::NameExpr>(size);
        return name && name->name.name == symbol->name;
      });
    });
    if (!standsAlone)
      report(symbol->range, diag::err_dimension_not_alone)
          << symbol->name << FixIt::insertion(decl->params.back().range.end, ", " + symbol->name + ": dim");
  }
}
