// Host expressions: what the launcher can evaluate, in the JSON form of the launch interface.
#include "tilec/Sema/TypedStmt.h"
#include "llvm/ADT/DenseMap.h"

using namespace tilec;
using namespace tilec::sema;
using llvm::json::Array;

std::optional<int64_t> sema::getConstantInteger(const Expr *expr) {
  const auto *constant = llvm::dyn_cast<Constant>(expr);
  if (!constant || isFloat(constant->type.element))
    return std::nullopt;
  if (isSigned(constant->type.element))
    return constant->integer.getSExtValue();
  if (constant->integer.getActiveBits() > 63)
    return std::nullopt;
  return static_cast<int64_t>(constant->integer.getZExtValue());
}

static llvm::StringRef getHostOperator(BinaryOp op) {
  switch (op) {
  case BinaryOp::Add:
    return "add";
  case BinaryOp::Subtract:
    return "sub";
  case BinaryOp::Multiply:
    return "mul";
  case BinaryOp::Divide:
    return "div";
  case BinaryOp::Remainder:
    return "rem";
  case BinaryOp::LogicalAnd:
    return "and";
  case BinaryOp::LogicalOr:
    return "or";
  case BinaryOp::Equal:
    return "eq";
  case BinaryOp::NotEqual:
    return "ne";
  case BinaryOp::Less:
    return "lt";
  case BinaryOp::LessEqual:
    return "le";
  case BinaryOp::Greater:
    return "gt";
  case BinaryOp::GreaterEqual:
    return "ge";
  default:
    return {};
  }
}

static llvm::StringRef mirrored(llvm::StringRef op) {
  if (op == "lt")
    return "gt";
  if (op == "le")
    return "ge";
  if (op == "gt")
    return "lt";
  if (op == "ge")
    return "le";
  return op;
}

/// A float scalar parameter; casts that keep its value are looked through.
static const VariableRef *asFloatScalar(const Expr *expr) {
  while (const auto *cast = llvm::dyn_cast<Cast>(expr)) {
    if (!isFloat(cast->operand->type.element) || !containsAll(cast->type.element, cast->operand->type.element))
      return nullptr;
    expr = cast->operand;
  }
  const auto *ref = llvm::dyn_cast<VariableRef>(expr);
  return ref && ref->variable->kind == VariableKind::Scalar ? ref : nullptr;
}

/// Float scalars occur only in comparisons with a finite number.
static std::optional<HostExpr> floatComparison(const Binary *binary, llvm::StringRef op) {
  const VariableRef *scalar = asFloatScalar(binary->lhs);
  const auto *number = llvm::dyn_cast<Constant>(binary->rhs);
  if (!scalar || !number) {
    scalar = asFloatScalar(binary->rhs);
    number = llvm::dyn_cast<Constant>(binary->lhs);
    op = mirrored(op);
  }
  if (!scalar || !number || !number->real.isFinite())
    return std::nullopt;
  llvm::APFloat value = number->real;
  bool losesInfo;
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  double exact = value.convertToDouble();
  // Whole numbers are written as such.
  if (exact == static_cast<double>(static_cast<int64_t>(exact)) && std::abs(exact) < 1e15)
    return HostExpr(Array{op, scalar->variable->name, static_cast<int64_t>(exact)});
  return HostExpr(Array{op, scalar->variable->name, exact});
}

static std::optional<HostExpr> operation(llvm::StringRef op, llvm::ArrayRef<const Expr *> operands) {
  Array result{op};
  for (const Expr *operand : operands) {
    std::optional<HostExpr> host = toHostExpr(operand);
    if (!host)
      return std::nullopt;
    result.push_back(std::move(*host));
  }
  return HostExpr(std::move(result));
}

std::optional<HostExpr> sema::toHostExpr(const Expr *expr) {
  if (auto *fixed = llvm::dyn_cast<Constant>(expr); fixed && fixed->dimension)
    return HostExpr(fixed->dimension->name);
  if (std::optional<int64_t> constant = getConstantInteger(expr))
    return HostExpr(*constant);
  switch (expr->kind) {
  case ExprKind::VariableRef: {
    const Variable *variable = llvm::cast<VariableRef>(expr)->variable;
    if (variable->kind == VariableKind::Let && variable->initial && variable->type.isScalar())
      return toHostExpr(variable->initial);
    bool isArgument = variable->kind == VariableKind::Dimension || variable->kind == VariableKind::Scalar;
    if (!isArgument || isFloat(variable->type.element))
      return std::nullopt;
    return HostExpr(variable->name);
  }
  case ExprKind::Cast: {
    const Expr *operand = llvm::cast<Cast>(expr)->operand;
    // Only casts that keep the value: the launcher computes in 64 bits.
    bool keeps = isInteger(expr->type.element) && isInteger(operand->type.element) &&
                 containsAll(ScalarKind::Index, operand->type.element) && getBitWidth(expr->type.element) == 64;
    return keeps || containsAll(expr->type.element, operand->type.element) ? toHostExpr(operand) : std::nullopt;
  }
  case ExprKind::Unary: {
    const auto *unary = llvm::cast<Unary>(expr);
    if (unary->op == UnaryOp::LogicalNot)
      return operation("not", unary->operand);
    if (unary->op != UnaryOp::Negate || !isInteger(expr->type.element))
      return std::nullopt;
    Constant zero(expr->range, ScalarKind::Index, llvm::APInt(64, 0));
    return operation("sub", {&zero, unary->operand});
  }
  case ExprKind::Binary: {
    const auto *binary = llvm::cast<Binary>(expr);
    llvm::StringRef op = getHostOperator(binary->op);
    if (op.empty())
      return std::nullopt;
    if (isFloat(binary->lhs->type.element))
      return isComparison(binary->op) ? floatComparison(binary, op) : std::nullopt;
    return operation(op, {binary->lhs, binary->rhs});
  }
  case ExprKind::Call: {
    const auto *call = llvm::cast<Call>(expr);
    if (!isInteger(expr->type.element))
      return std::nullopt;
    static const llvm::DenseMap<int, llvm::StringRef> names = {{static_cast<int>(Builtin::Min), "min"},
                                                               {static_cast<int>(Builtin::Max), "max"},
                                                               {static_cast<int>(Builtin::CeilDiv), "ceil_div"},
                                                               {static_cast<int>(Builtin::AlignUp), "align_up"}};
    auto it = names.find(static_cast<int>(call->builtin));
    if (it == names.end())
      return std::nullopt;
    return operation(it->second, std::vector<const Expr *>(call->arguments.begin(), call->arguments.end()));
  }
  default:
    return std::nullopt;
  }
}
