// Expressions other than element-wise arithmetic.
#include "Generator.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::sema;

Value Generator::emit(const sema::Expr *expr) {
  Location outer = loc;
  loc = location(expr->range);
  Value result = emitUnlocated(expr);
  loc = outer;
  return result;
}

Value Generator::emitUnlocated(const sema::Expr *expr) {
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
    return emitUnary(*llvm::cast<Unary>(expr));
  case sema::ExprKind::Binary:
    return emitBinary(*llvm::cast<Binary>(expr));
  case sema::ExprKind::Cast: {
    const sema::Expr *operand = llvm::cast<Cast>(expr)->operand;
    Value value = emitCast(emit(operand), operand->type.element, expr->type.element);
    return align(value, operand->type.axes, expr->type.axes);
  }
  case sema::ExprKind::Call:
    return emitCall(*llvm::cast<Call>(expr));
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
