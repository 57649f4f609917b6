// Expressions other than element-wise arithmetic.
#include "Generator.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::sema;

// The operands of an element-wise expression, which align by name; nothing for other expressions.
static SmallVector<const sema::Expr *> elementwiseOperands(const sema::Expr *expr) {
  if (auto *unary = llvm::dyn_cast<Unary>(expr))
    return {unary->operand};
  if (auto *cast = llvm::dyn_cast<Cast>(expr))
    return {cast->operand};
  if (auto *binary = llvm::dyn_cast<Binary>(expr))
    return {binary->lhs, binary->rhs};
  if (auto *call = llvm::dyn_cast<Call>(expr))
    return SmallVector<const sema::Expr *>(call->arguments.begin(), call->arguments.end());
  return {};
}

static SmallVector<const Axis *> restrictTo(ArrayRef<const Axis *> order, ArrayRef<const Axis *> axes) {
  SmallVector<const Axis *> result;
  llvm::copy_if(order, std::back_inserter(result), [&](const Axis *axis) { return llvm::is_contained(axes, axis); });
  return result;
}

// Whether an expression has its axes in this order once element-wise operations take it from their users.
static bool canTakeOrder(const sema::Expr *expr, ArrayRef<const Axis *> order) {
  if (restrictTo(order, expr->type.axes) == ArrayRef<const Axis *>(expr->type.axes))
    return true;
  SmallVector<const sema::Expr *> operands = elementwiseOperands(expr);
  return !operands.empty() &&
         llvm::all_of(operands, [&](const sema::Expr *operand) { return canTakeOrder(operand, order); });
}

Value Generator::emitAligned(const sema::Expr *expr, Axes to) {
  SmallVector<const Axis *> order = restrictTo(to, expr->type.axes);
  if (!canTakeOrder(expr, order))
    order.assign(expr->type.axes.begin(), expr->type.axes.end());
  return align(emit(expr, order), order, to);
}

Value Generator::emit(const sema::Expr *expr, Axes order) {
  Location outer = loc;
  loc = location(expr->range);
  Value result = emitUnlocated(expr, order);
  loc = outer;
  return result;
}

Value Generator::emitUnlocated(const sema::Expr *expr, Axes order) {
  switch (expr->kind) {
  case sema::ExprKind::Constant:
    return emitConstant(*llvm::cast<Constant>(expr));
  case sema::ExprKind::VariableRef:
    return variables.lookup(llvm::cast<VariableRef>(expr)->variable);
  case sema::ExprKind::AxisPositions:
    return axes.lookup(llvm::cast<AxisPositions>(expr)->axis).positions;
  case sema::ExprKind::AxisAttribute:
    return emitAxisAttribute(*llvm::cast<AxisAttribute>(expr));
  case sema::ExprKind::Unary:
    return emitUnary(*llvm::cast<Unary>(expr), order);
  case sema::ExprKind::Binary:
    return emitBinary(*llvm::cast<Binary>(expr), order);
  case sema::ExprKind::Cast: {
    const sema::Expr *operand = llvm::cast<Cast>(expr)->operand;
    return emitCast(emitAligned(operand, order), operand->type.element, expr->type.element);
  }
  case sema::ExprKind::Call:
    return emitCall(*llvm::cast<Call>(expr), order);
  case sema::ExprKind::Load:
    return emitLoad(*llvm::cast<Load>(expr));
  case sema::ExprKind::Reduce:
    return emitReduce(*llvm::cast<Reduce>(expr));
  case sema::ExprKind::Dot:
    return emitDot(*llvm::cast<Dot>(expr));
  case sema::ExprKind::AxisOperation:
    return emitAxisOperation(*llvm::cast<AxisOperation>(expr));
  case sema::ExprKind::Substitute:
    return unsupported(expr->range, "re-indexing a value", valueType(expr->type));
  case sema::ExprKind::BlockValue: {
    auto *block = llvm::cast<BlockValue>(expr);
    emit(*block->block);
    return emitAligned(block->value, expr->type.axes);
  }
  case sema::ExprKind::IfValue:
    return emitIf(*llvm::cast<IfValue>(expr));
  }
  llvm_unreachable("unknown expression");
}

Value Generator::emitConstant(const Constant &expr) {
  mlir::Type type = elementType(expr.type);
  if (auto floatType = dyn_cast<FloatType>(type))
    return constantLike(type, builder.getFloatAttr(floatType, expr.real));
  return constantLike(type, builder.getIntegerAttr(type, expr.integer));
}

Value Generator::emitAxisAttribute(const AxisAttribute &expr) {
  const AxisValues values = axes.lookup(expr.axis);
  switch (expr.attribute) {
  case AxisAttributeKind::Start:
    return values.start;
  case AxisAttributeKind::End:
    return values.end;
  case AxisAttributeKind::Size: {
    Value size = builder.createOrFold<arith::SubIOp>(loc, values.end, values.start);
    return builder.createOrFold<arith::MaxSIOp>(loc, size, index(0));
  }
  case AxisAttributeKind::Index:
    return values.number;
  }
  llvm_unreachable("unknown attribute");
}

Value Generator::emitIf(const IfValue &expr) {
  Value condition = emit(expr.condition);
  auto op = scf::IfOp::create(builder, loc, TypeRange{valueType(expr.type)}, condition, /*withElseRegion=*/true);
  auto arm = [&](mlir::Block *block, const sema::Expr *value) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(block);
    scf::YieldOp::create(builder, loc, emitAligned(value, expr.type.axes));
  };
  arm(op.thenBlock(), expr.thenValue);
  arm(op.elseBlock(), expr.elseValue);
  return op.getResult(0);
}
