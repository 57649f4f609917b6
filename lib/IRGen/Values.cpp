// Types, constants, locations, and the alignment of values by the identity of axes.
#include "Generator.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::sema;

mlir::Type Generator::elementType(ScalarKind kind) const {
  MLIRContext *context = builder.getContext();
  switch (kind) {
  case ScalarKind::F16:
    return Float16Type::get(context);
  case ScalarKind::BF16:
    return BFloat16Type::get(context);
  case ScalarKind::F32:
    return Float32Type::get(context);
  case ScalarKind::F64:
    return Float64Type::get(context);
  case ScalarKind::F8E4M3:
    return Float8E4M3FNType::get(context);
  case ScalarKind::F8E5M2:
    return Float8E5M2Type::get(context);
  case ScalarKind::TF32:
    return FloatTF32Type::get(context);
  case ScalarKind::Index:
    return IndexType::get(context);
  default:
    return IntegerType::get(context, getBitWidth(kind));
  }
}

int64_t Generator::extentOf(const sema::Axis &axis) const {
  const Variable *length = lengthOf(axis);
  if (!length)
    return axis.extent;
  auto facts = specialization.arguments.find(length->name);
  if (facts == specialization.arguments.end() || !facts->second.max)
    return axis.extent;
  return std::clamp<int64_t>(*facts->second.max, 1, axis.extent);
}

mlir::Type Generator::valueType(mlir::Type element, Axes axes) const {
  if (axes.empty())
    return element;
  SmallVector<int64_t> shape;
  for (const Axis *axis : axes)
    shape.push_back(extentOf(*axis));
  return RankedTensorType::get(shape, element);
}

Value Generator::index(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }

Value Generator::constantLike(mlir::Type type, Attribute value) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(tensor, value));
  return arith::ConstantOp::create(builder, loc, cast<TypedAttr>(value));
}

Value Generator::integerLike(mlir::Type type, int64_t value) {
  mlir::Type element = getElementTypeOrSelf(type);
  unsigned width = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  return constantLike(type,
                      builder.getIntegerAttr(element, APInt(64, static_cast<uint64_t>(value)).sextOrTrunc(width)));
}

Value Generator::realLike(mlir::Type type, double value) {
  return constantLike(type, builder.getFloatAttr(getElementTypeOrSelf(type), value));
}

Value Generator::align(Value value, Axes from, Axes to) {
  if (from == to)
    return value;
  mlir::Type element = getElementTypeOrSelf(value);
  SmallVector<const Axis *> ordered;
  SmallVector<int64_t> order, dims;
  for (auto [d, axis] : llvm::enumerate(to))
    if (auto *it = llvm::find(from, axis); it != from.end()) {
      ordered.push_back(axis);
      order.push_back(it - from.begin());
      dims.push_back(static_cast<int64_t>(d));
    }
  assert(ordered.size() == from.size() && "the axes of an operand are those of its user");
  if (!llvm::is_sorted(order))
    value = tile::PermuteOp::create(builder, loc, valueType(element, ordered), value, order);
  if (ordered.size() < to.size())
    value = builder.createOrFold<tile::BroadcastOp>(loc, valueType(element, to), value, dims);
  return value;
}

Location Generator::location(SourceRange range) const {
  if (!range.isValid())
    return builder.getUnknownLoc();
  const SourceManager &sources = diagnostics.getSources();
  LineColumn place = sources.getLineColumn(range.begin);
  return FileLineColLoc::get(builder.getContext(), sources.getName(sources.getFile(range.begin)), place.line,
                             place.column);
}

Value Generator::unsupported(SourceRange range, StringRef what, mlir::Type type) {
  diagnostics.report(range, diag::err_cannot_lower) << (what + " cannot be compiled yet").str();
  failed = true;
  if (isa<FloatType>(getElementTypeOrSelf(type)))
    return realLike(type, 0);
  return integerLike(type, 0);
}
