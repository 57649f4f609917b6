// Operations of the `math` dialect: floats narrower than f32 compute in f32. Functions that the hardware lacks are
// expanded later, by expand-math.
#include "Lowering.h"
#include "ScalarOps.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tilec;

Value ScalarOps::math(Operation *op, ArrayRef<Value> inputs, Type element) {
  Type from = getElementTypeOrSelf(op->getOperand(0).getType());
  bool isF8 = isa<Float8E4M3FNType, Float8E5M2Type>(from);
  if (isF8 && isa<math::AbsFOp>(op))
    return arith::AndIOp::create(builder, loc, inputs[0], integer(builder.getI8Type(), 0x7f));
  bool narrow = isa<FloatType>(from) && from.getIntOrFloatBitWidth() < 32 && !isa<math::AbsFOp>(op);
  Type f32 = builder.getF32Type();
  SmallVector<Value, 3> wide(inputs);
  if (narrow)
    for (Value &input : wide)
      input = isF8 ? floatFromF8(input, from, f32) : Value(arith::ExtFOp::create(builder, loc, f32, input));
  Type type = isa<FloatType>(element) && narrow ? f32 : Lowering::registerType(element);
  OperationState state(loc, op->getName(), wide, type, op->getAttrs());
  Value result = builder.create(state)->getResult(0);
  if (type == Lowering::registerType(element))
    return result;
  return isF8 ? f8FromFloat(result, element) : Value(arith::TruncFOp::create(builder, loc, element, result));
}
