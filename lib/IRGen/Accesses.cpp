// Loads, stores and atomics.
#include "Generator.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::sema;

// `axes` are the dimensions of the access; each subscript keeps its own axes.
Generator::Subscripts Generator::emitSubscripts(ArrayRef<sema::Expr *> subscripts, Axes axes) {
  Subscripts result;
  SmallVector<Attribute> dims;
  for (const sema::Expr *subscript : subscripts) {
    result.values.push_back(emit(subscript));
    SmallVector<Attribute> list;
    for (const Axis *axis : subscript->type.axes)
      list.push_back(builder.getI64IntegerAttr(llvm::find(axes, axis) - axes.begin()));
    dims.push_back(builder.getArrayAttr(list));
  }
  result.dims = builder.getArrayAttr(dims);
  return result;
}

Value Generator::toMemory(Value value) {
  if (!getElementTypeOrSelf(value).isIndex())
    return value;
  return emitCast(value, ScalarKind::Index, ScalarKind::I64);
}

Value Generator::emitLoad(const Load &expr) {
  Subscripts subscripts = emitSubscripts(expr.subscripts, expr.type.axes);
  Value otherwise;
  if (expr.fallback)
    otherwise =
        toMemory(expr.fallback->type.isScalar() ? emit(expr.fallback) : emitAligned(expr.fallback, expr.type.axes));
  SmallVector<NamedAttribute> annotations;
  if (!expr.evict.empty())
    annotations.push_back(builder.getNamedAttr("evict", builder.getStringAttr(expr.evict)));
  if (expr.noTma)
    annotations.push_back(builder.getNamedAttr("no_tma", builder.getUnitAttr()));
  Value view = tensors.lookup(expr.tensor);
  mlir::Type element = cast<tile::ViewType>(view.getType()).getElementType();
  Value result =
      tile::LoadOp::create(builder, loc, valueType(element, expr.type.axes), view, subscripts.values, otherwise,
                           subscripts.dims, /*inbounds=*/DenseBoolArrayAttr(), builder.getDictionaryAttr(annotations));
  if (expr.tensor->element == ScalarKind::Index)
    result = emitCast(result, ScalarKind::I64, ScalarKind::Index);
  return result;
}

void Generator::emitStore(const StoreStmt &stmt) {
  Value value = toMemory(emitAligned(stmt.value, stmt.axes));
  Subscripts subscripts = emitSubscripts(stmt.subscripts, stmt.axes);
  SmallVector<Value> present;
  for (const Axis *axis : stmt.axes)
    present.push_back(axes.lookup(axis).axis);
  tile::StoreOp::create(builder, loc, value, tensors.lookup(stmt.tensor), subscripts.values, present, subscripts.dims,
                        /*inbounds=*/DenseBoolArrayAttr(), /*full=*/DenseBoolArrayAttr(), stmt.unique);
}

static tile::CombineKind combineKind(AtomicOp op, ScalarKind kind) {
  using tile::CombineKind;
  switch (op) {
  case AtomicOp::Add:
    return CombineKind::add;
  case AtomicOp::Max:
    return isFloat(kind) ? CombineKind::maxf : isSigned(kind) ? CombineKind::maxs : CombineKind::maxu;
  case AtomicOp::Min:
    return isFloat(kind) ? CombineKind::minf : isSigned(kind) ? CombineKind::mins : CombineKind::minu;
  case AtomicOp::And:
    return CombineKind::andi;
  case AtomicOp::Or:
    return CombineKind::ori;
  case AtomicOp::Xor:
    return CombineKind::xori;
  }
  llvm_unreachable("unknown atomic");
}

void Generator::emitAtomic(const AtomicStmt &stmt) {
  Value value = toMemory(emitAligned(stmt.value, stmt.axes));
  Subscripts subscripts = emitSubscripts(stmt.subscripts, stmt.axes);
  SmallVector<Value> present;
  for (const Axis *axis : stmt.axes)
    present.push_back(axes.lookup(axis).axis);
  tile::AtomicOp::create(builder, loc, combineKind(stmt.op, stmt.tensor->element), value, tensors.lookup(stmt.tensor),
                         subscripts.values, present, subscripts.dims, /*inbounds=*/DenseBoolArrayAttr(),
                         /*full=*/DenseBoolArrayAttr());
}
