// Mathematical functions. exp2 is the hardware's; what it builds on keeps the language's licences (rule 14: exp, exp2
// and log may flush subnormal numbers). The rest becomes `math` operations that the pass expands to polynomials.
#include "ScalarOps.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tilec;

// exp2 of an f32 by ex2.approx (2 ulp, PTX ISA 9.7.3.20): the backend chooses it for `afn`.
static Value hardwareExp2(OpBuilder &builder, Location loc, Value input) {
  auto flags = arith::FastMathFlags::afn;
  return math::Exp2Op::create(builder, loc, input, flags);
}

Value ScalarOps::math(Operation *op, ArrayRef<Value> inputs, Type element) {
  Type f32 = builder.getF32Type();
  bool narrow = isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32;
  SmallVector<Value, 3> wide(inputs);
  if (narrow && !isa<math::AbsFOp>(op))
    for (Value &input : wide)
      input = arith::ExtFOp::create(builder, loc, f32, input);
  Type type = narrow && !isa<math::AbsFOp>(op) ? f32 : element;
  Value result;
  if (isa<math::Exp2Op>(op) && type.isF32()) {
    result = hardwareExp2(builder, loc, wide[0]);
  } else if (isa<math::ExpOp>(op) && type.isF32()) {
    // x * log2(e) in two pieces: the product's rounding error would grow with |x|.
    Value high = constant(f32, 1.44269502162933349609375), low = constant(f32, 1.92596299112661746887e-8);
    Value product = arith::MulFOp::create(builder, loc, wide[0], high);
    Value error = math::FmaOp::create(builder, loc, wide[0], high, arith::NegFOp::create(builder, loc, product));
    Value rest = math::FmaOp::create(builder, loc, wide[0], low, error);
    // exp2(p + r) = exp2(p) * (1 + r * ln 2); r is tiny. Infinite products have no error term.
    Value power = hardwareExp2(builder, loc, product);
    Value scaled = arith::MulFOp::create(builder, loc, rest, constant(f32, 0.693147182464599609375));
    Value corrected = math::FmaOp::create(builder, loc, power, scaled, power);
    Value magnitude = math::AbsFOp::create(builder, loc, wide[0]);
    Value usual = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT, magnitude, constant(f32, 87.0));
    result = arith::SelectOp::create(builder, loc, usual, corrected, power);
  } else {
    OperationState state(loc, op->getName(), wide, type, op->getAttrs());
    result = builder.create(state)->getResult(0);
  }
  return result.getType() == element || !narrow ? result
                                                : Value(arith::TruncFOp::create(builder, loc, element, result));
}
