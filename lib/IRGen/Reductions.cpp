// Reductions, dot products, softmax, argmax and argmin.
#include "Generator.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::sema;
using tile::CombineKind;

static CombineKind combineKind(ReduceKind reduction, ScalarKind kind) {
  switch (reduction) {
  case ReduceKind::Sum:
  case ReduceKind::Mean:
    return CombineKind::add;
  case ReduceKind::Prod:
    return CombineKind::mul;
  case ReduceKind::Max:
    return isFloat(kind) ? CombineKind::maxf : isSigned(kind) ? CombineKind::maxs : CombineKind::maxu;
  case ReduceKind::Min:
    return isFloat(kind) ? CombineKind::minf : isSigned(kind) ? CombineKind::mins : CombineKind::minu;
  case ReduceKind::Any:
    return CombineKind::ori;
  case ReduceKind::All:
    return CombineKind::andi;
  }
  llvm_unreachable("unknown reduction");
}

static SmallVector<const Axis *> unionOf(ArrayRef<const Axis *> a, ArrayRef<const Axis *> b) {
  SmallVector<const Axis *> result(a);
  for (const Axis *axis : b)
    if (!llvm::is_contained(result, axis))
      result.push_back(axis);
  return result;
}

// Reduces one axis of a value with the dimensions `all`, from which it removes the axis.
Value Generator::reduceOver(CombineKind kind, Value value, Value guard, SmallVectorImpl<const Axis *> &all,
                            const Axis *axis) {
  int64_t dim = llvm::find(all, axis) - all.begin();
  all.erase(all.begin() + dim);
  return tile::ReduceOp::create(builder, loc, valueType(getElementTypeOrSelf(value), all), kind, value, guard,
                                axes.lookup(axis).axis, dim, /*full=*/false);
}

Value Generator::emitReduce(const Reduce &expr) {
  SmallVector<const Axis *> all = unionOf(expr.operand->type.axes, {});
  if (expr.guard)
    all = unionOf(all, expr.guard->type.axes);
  Value value = emitAligned(expr.operand, all);
  Value guard = expr.guard ? emitAligned(expr.guard, all) : Value();
  Value count = expr.reduction == ReduceKind::Mean ? emitCount(expr, all, guard) : Value();
  CombineKind kind = combineKind(expr.reduction, expr.type.element);
  // After the first reduction the guard has done its work: what it excluded counts as neutral.
  for (const Axis *axis : expr.axes) {
    value = reduceOver(kind, value, guard, all, axis);
    guard = Value();
  }
  value = align(value, all, expr.type.axes);
  if (count)
    value = arith::DivFOp::create(builder, loc, value, count);
  return value;
}

// The number of positions that take part in a mean, as the result's type.
Value Generator::emitCount(const Reduce &expr, Axes operandAxes, Value guard) {
  ScalarKind kind = expr.type.element;
  if (!guard) {
    Value count = index(1);
    for (const Axis *axis : expr.axes) {
      AxisValues values = axes.lookup(axis);
      Value size = builder.createOrFold<arith::SubIOp>(loc, values.end, values.start);
      size = builder.createOrFold<arith::MaxSIOp>(loc, size, index(0));
      count = builder.createOrFold<arith::MulIOp>(loc, count, size);
    }
    return align(emitCast(count, ScalarKind::Index, kind), {}, expr.type.axes);
  }
  SmallVector<const Axis *> all(operandAxes);
  Value ones = emitCast(guard, ScalarKind::Bool, kind);
  for (const Axis *axis : expr.axes)
    ones = reduceOver(CombineKind::add, ones, Value(), all, axis);
  return align(ones, all, expr.type.axes);
}

Value Generator::emitDot(const Dot &expr) {
  if (expr.guard)
    return unsupported(expr.range, "`dot` with `where`", valueType(expr.type));
  ArrayRef<const Axis *> left = expr.lhs->type.axes, right = expr.rhs->type.axes;
  auto dimension = [](ArrayRef<const Axis *> list, const Axis *axis) -> int64_t {
    return llvm::find(list, axis) - list.begin();
  };
  SmallVector<Value> contracted;
  SmallVector<int64_t> lhsContract, rhsContract, lhsBatch, rhsBatch;
  SmallVector<const Axis *> result;
  for (const Axis *axis : expr.axes) {
    contracted.push_back(axes.lookup(axis).axis);
    lhsContract.push_back(dimension(left, axis));
    rhsContract.push_back(dimension(right, axis));
  }
  auto isContracted = [&](const Axis *axis) { return llvm::is_contained(expr.axes, axis); };
  for (const Axis *axis : left)
    if (!isContracted(axis) && llvm::is_contained(right, axis)) {
      lhsBatch.push_back(dimension(left, axis));
      rhsBatch.push_back(dimension(right, axis));
      result.push_back(axis);
    }
  for (ArrayRef<const Axis *> list : {left, right})
    for (const Axis *axis : list)
      if (!isContracted(axis) && !llvm::is_contained(result, axis))
        result.push_back(axis);
  Value lhs = emit(expr.lhs), rhs = emit(expr.rhs);
  auto isUnsigned = [](const sema::Expr *operand) {
    return isInteger(operand->type.element) && !isSigned(operand->type.element);
  };
  Value value = tile::DotOp::create(builder, loc, valueType(elementType(expr.type), result), lhs, rhs, /*acc=*/Value(),
                                    contracted, lhsContract, rhsContract, lhsBatch, rhsBatch, isUnsigned(expr.lhs),
                                    isUnsigned(expr.rhs), expr.fast, /*full=*/DenseBoolArrayAttr());
  return align(value, result, expr.type.axes);
}

Value Generator::emitAxisOperation(const AxisOperation &expr) {
  switch (expr.operation) {
  case AxisOperationKind::Softmax:
    return emitSoftmax(expr);
  case AxisOperationKind::Argmax:
    return emitArgument(expr, true);
  case AxisOperationKind::Argmin:
    return emitArgument(expr, false);
  default:
    return unsupported(expr.range, "a scan or sort", valueType(expr.type));
  }
}

// Positions that fail the guard give 0; where all that pass are -inf, the result is NaN as in exp(-inf - -inf).
Value Generator::emitSoftmax(const AxisOperation &expr) {
  ArrayRef<const Axis *> all = expr.type.axes;
  Value x = emitAligned(expr.operand, all);
  Value guard = expr.guard ? emitAligned(expr.guard, all) : Value();
  SmallVector<const Axis *> rest(all);
  Value top = reduceOver(CombineKind::maxf, x, guard, rest, expr.axis);
  Value shifted = arith::SubFOp::create(builder, loc, x, align(top, rest, all));
  Value weights = math::ExpOp::create(builder, loc, shifted);
  Value zero = realLike(x.getType(), 0);
  if (guard)
    weights = arith::SelectOp::create(builder, loc, guard, weights, zero);
  SmallVector<const Axis *> summed(all);
  Value total = reduceOver(CombineKind::add, weights, Value(), summed, expr.axis);
  Value result = arith::DivFOp::create(builder, loc, weights, align(total, summed, all));
  return guard ? arith::SelectOp::create(builder, loc, guard, result, zero) : result;
}

// The least position that holds the extreme value (NaN is extreme), or -1.
Value Generator::emitArgument(const AxisOperation &expr, bool isMax) {
  ScalarKind kind = expr.operand->type.element;
  SmallVector<const Axis *> all = unionOf(expr.operand->type.axes, {});
  Value x = emit(expr.operand);
  SmallVector<const Axis *> rest(all);
  CombineKind kindOfExtreme = combineKind(isMax ? ReduceKind::Max : ReduceKind::Min, kind);
  Value extreme = reduceOver(kindOfExtreme, x, Value(), rest, expr.axis);
  extreme = align(extreme, rest, all);
  Value holds;
  if (isFloat(kind)) {
    using P = arith::CmpFPredicate;
    Value equal = arith::CmpFOp::create(builder, loc, P::OEQ, x, extreme);
    Value isNan = arith::CmpFOp::create(builder, loc, P::UNO, x, x);
    holds = arith::OrIOp::create(builder, loc, equal, isNan);
  } else {
    holds = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, x, extreme);
  }
  Value positions = align(axes.lookup(expr.axis).positions, {expr.axis}, all);
  SmallVector<const Axis *> reduced(all);
  Value least = reduceOver(CombineKind::mins, positions, holds, reduced, expr.axis);
  Value none = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, least,
                                     integerLike(least.getType(), std::numeric_limits<int64_t>::max()));
  Value result = arith::SelectOp::create(builder, loc, none, integerLike(least.getType(), -1), least);
  return emitCast(align(result, reduced, expr.type.axes), ScalarKind::Index, expr.type.element);
}
