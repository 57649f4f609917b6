// Casts by rule 13 of the language: arith's where they mean it, tile.cast for saturation and for tf32.
#include "Generator.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::sema;

static mlir::Type withElement(Value like, mlir::Type element) {
  if (auto tensor = dyn_cast<RankedTensorType>(like.getType()))
    return tensor.clone(element);
  return element;
}

Value Generator::emitCast(Value value, ScalarKind from, ScalarKind to) {
  if (from == to)
    return value;
  if (isFloat(from) && isFloat(to))
    return emitFloatCast(value, from, to);
  bool fromUnsigned = !isFloat(from) && !isSigned(from), toUnsigned = !isFloat(to) && !isSigned(to);
  if (!isFloat(from) && !isFloat(to))
    return emitIntegerCast(value, from, to);
  // Conversions between floats and integers know i64, not index.
  if (from == ScalarKind::Index)
    return emitCast(arith::IndexCastOp::create(builder, loc, withElement(value, builder.getI64Type()), value),
                    ScalarKind::I64, to);
  if (to == ScalarKind::Index)
    return arith::IndexCastOp::create(builder, loc, withElement(value, builder.getIndexType()),
                                      emitCast(value, from, ScalarKind::I64));
  mlir::Type type = withElement(value, elementType(to));
  bool saturates = to == ScalarKind::F8E4M3 || to == ScalarKind::F8E5M2 || to == ScalarKind::TF32;
  if (isFloat(from) || saturates)
    return tile::CastOp::create(builder, loc, type, value, fromUnsigned, toUnsigned);
  if (fromUnsigned)
    return arith::UIToFPOp::create(builder, loc, type, value);
  return arith::SIToFPOp::create(builder, loc, type, value);
}

Value Generator::emitFloatCast(Value value, ScalarKind from, ScalarKind to) {
  mlir::Type type = withElement(value, elementType(to));
  if (to == ScalarKind::F8E4M3 || to == ScalarKind::F8E5M2 || to == ScalarKind::TF32)
    return tile::CastOp::create(builder, loc, type, value, /*from_unsigned=*/false, /*to_unsigned=*/false);
  unsigned fromWidth = elementType(from).getIntOrFloatBitWidth(), toWidth = elementType(to).getIntOrFloatBitWidth();
  if (fromWidth < toWidth)
    return arith::ExtFOp::create(builder, loc, type, value);
  if (fromWidth > toWidth)
    return arith::TruncFOp::create(builder, loc, type, value);
  // f16 and bf16 meet in f32.
  return emitFloatCast(emitFloatCast(value, from, ScalarKind::F32), ScalarKind::F32, to);
}

Value Generator::emitIntegerCast(Value value, ScalarKind from, ScalarKind to) {
  mlir::Type type = withElement(value, elementType(to));
  if (type == value.getType())
    return value;
  bool isUnsigned = !isSigned(from);
  if (from == ScalarKind::Index || to == ScalarKind::Index) {
    if (isUnsigned)
      return builder.createOrFold<arith::IndexCastUIOp>(loc, type, value);
    return builder.createOrFold<arith::IndexCastOp>(loc, type, value);
  }
  if (getBitWidth(from) > getBitWidth(to))
    return builder.createOrFold<arith::TruncIOp>(loc, type, value);
  if (isUnsigned)
    return builder.createOrFold<arith::ExtUIOp>(loc, type, value);
  return builder.createOrFold<arith::ExtSIOp>(loc, type, value);
}
