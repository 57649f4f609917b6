// Scalar forms of element-wise operations: generic arithmetic, rule 12's divisions, combinations.
#include "ScalarOps.h"

#include "Lowering.h"
#include "MmaEmitter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace tilec;

static bool isF8(Type type) { return isa<Float8E4M3FNType, Float8E5M2Type>(type); }

Value ScalarOps::constant(Type type, double value) {
  return arith::ConstantOp::create(builder, loc, builder.getFloatAttr(type, value));
}

Value ScalarOps::integer(Type type, int64_t value) {
  return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, value));
}

// Rule 12: x / 0 and x % 0 are 0, MIN / -1 wraps, the quotient is floored unless `truncating`.
Value ScalarOps::divide(Value a, Value b, bool isUnsigned, bool truncating, bool remainder) {
  Type type = a.getType();
  Value zero = integer(type, 0), one = integer(type, 1);
  auto compare = [&](arith::CmpIPredicate predicate, Value x, Value y) -> Value {
    return builder.createOrFold<arith::CmpIOp>(loc, predicate, x, y);
  };
  auto select = [&](Value condition, Value x, Value y) -> Value {
    return builder.createOrFold<arith::SelectOp>(loc, condition, x, y);
  };
  Value byZero = compare(arith::CmpIPredicate::eq, b, zero);
  Value divisor = select(byZero, one, b), quotient, rest;
  if (isUnsigned) {
    quotient = builder.createOrFold<arith::DivUIOp>(loc, a, divisor);
    rest = builder.createOrFold<arith::RemUIOp>(loc, a, divisor);
  } else {
    // Division by -1 is a negation, which wraps; the instruction itself must not see MIN / -1.
    Value minusOne = integer(type, -1);
    Value negates = compare(arith::CmpIPredicate::eq, divisor, minusOne);
    Value safe = select(negates, one, divisor);
    quotient = builder.createOrFold<arith::DivSIOp>(loc, a, safe);
    rest = builder.createOrFold<arith::RemSIOp>(loc, a, safe);
    if (!truncating) {
      Value inexact = compare(arith::CmpIPredicate::ne, rest, zero);
      Value signs = builder.createOrFold<arith::XOrIOp>(loc, rest, safe);
      Value opposite = compare(arith::CmpIPredicate::slt, signs, zero);
      Value adjust = builder.createOrFold<arith::AndIOp>(loc, inexact, opposite);
      quotient = select(adjust, builder.createOrFold<arith::SubIOp>(loc, quotient, one), quotient);
      rest = select(adjust, builder.createOrFold<arith::AddIOp>(loc, rest, safe), rest);
    }
    quotient = select(negates, builder.createOrFold<arith::SubIOp>(loc, zero, a), quotient);
    rest = select(negates, zero, rest);
  }
  return select(byZero, zero, remainder ? rest : quotient);
}

Value ScalarOps::neutral(tile::CombineKind kind, Type type) {
  unsigned bits = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  auto bitPattern = [&](APInt value) -> Value {
    return arith::ConstantOp::create(builder, loc, IntegerAttr::get(type, value));
  };
  // The largest number where there is no infinity.
  auto infinity = [&](bool negative) -> Value {
    const llvm::fltSemantics &semantics = ::cast<FloatType>(type).getFloatSemantics();
    APFloat value =
        isa<Float8E4M3FNType>(type) ? APFloat::getLargest(semantics, negative) : APFloat::getInf(semantics, negative);
    if (isF8(type))
      return integer(builder.getI8Type(), value.bitcastToAPInt().getZExtValue());
    return arith::ConstantOp::create(builder, loc, FloatAttr::get(type, value));
  };
  switch (kind) {
  case tile::CombineKind::add:
    return isa<FloatType>(type) ? constant(type, 0.0) : integer(type, 0);
  case tile::CombineKind::mul:
    return isa<FloatType>(type) ? constant(type, 1.0) : integer(type, 1);
  case tile::CombineKind::maxf:
    return infinity(true);
  case tile::CombineKind::minf:
    return infinity(false);
  case tile::CombineKind::maxs:
    return bitPattern(APInt::getSignedMinValue(bits));
  case tile::CombineKind::mins:
    return bitPattern(APInt::getSignedMaxValue(bits));
  case tile::CombineKind::minu:
  case tile::CombineKind::andi:
    return bitPattern(APInt::getAllOnes(bits));
  case tile::CombineKind::maxu:
  case tile::CombineKind::ori:
  case tile::CombineKind::xori:
    return bitPattern(APInt::getZero(bits));
  }
  llvm_unreachable("all kinds are handled");
}

// The code of the greater or lesser number; a cast would saturate infinity.
Value ScalarOps::chooseF8(tile::CombineKind kind, Value a, Value b, Type element) {
  Type f32 = builder.getF32Type(), i32 = builder.getI32Type();
  Value x = floatFromF8(a, element, f32), y = floatFromF8(b, element, f32);
  Value chosen = combine(kind, x, y, f32);
  Value isFirst =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, arith::BitcastOp::create(builder, loc, i32, chosen),
                            arith::BitcastOp::create(builder, loc, i32, x));
  Value isNaN = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO, x, x);
  return arith::SelectOp::create(builder, loc, arith::OrIOp::create(builder, loc, isFirst, isNaN), a, b);
}

static arith::FastMathFlagsAttr contraction(OpBuilder &builder, bool allowed) {
  return arith::FastMathFlagsAttr::get(builder.getContext(),
                                       allowed ? arith::FastMathFlags::contract : arith::FastMathFlags::none);
}

Value ScalarOps::combine(tile::CombineKind kind, Value a, Value b, Type element, bool contract) {
  if (isF8(element))
    return chooseF8(kind, a, b, element);
  bool isFloat = isa<FloatType>(a.getType());
  switch (kind) {
  case tile::CombineKind::add:
    return isFloat ? Value(arith::AddFOp::create(builder, loc, a, b, contraction(builder, contract)))
                   : arith::AddIOp::create(builder, loc, a, b);
  case tile::CombineKind::mul:
    return isFloat ? Value(arith::MulFOp::create(builder, loc, a, b)) : arith::MulIOp::create(builder, loc, a, b);
  case tile::CombineKind::maxf:
    return arith::MaximumFOp::create(builder, loc, a, b);
  case tile::CombineKind::minf:
    return arith::MinimumFOp::create(builder, loc, a, b);
  case tile::CombineKind::maxs:
    return arith::MaxSIOp::create(builder, loc, a, b);
  case tile::CombineKind::mins:
    return arith::MinSIOp::create(builder, loc, a, b);
  case tile::CombineKind::maxu:
    return arith::MaxUIOp::create(builder, loc, a, b);
  case tile::CombineKind::minu:
    return arith::MinUIOp::create(builder, loc, a, b);
  case tile::CombineKind::andi:
    return arith::AndIOp::create(builder, loc, a, b);
  case tile::CombineKind::ori:
    return arith::OrIOp::create(builder, loc, a, b);
  case tile::CombineKind::xori:
    return arith::XOrIOp::create(builder, loc, a, b);
  }
  llvm_unreachable("all kinds are handled");
}

FailureOr<Value> ScalarOps::emit(Operation *op, ArrayRef<Value> inputs, Type element) {
  Type from = op->getNumOperands() > 0 ? getElementTypeOrSelf(op->getOperand(0).getType()) : Type();
  if (auto cast = dyn_cast<tile::CastOp>(op))
    return this->cast(inputs[0], from, element, cast.getFromUnsigned(), cast.getToUnsigned());
  if (auto div = dyn_cast<tile::DivOp>(op))
    return divide(inputs[0], inputs[1], div.getIsUnsigned(), div.getTruncating(), false);
  if (auto rem = dyn_cast<tile::RemOp>(op))
    return divide(inputs[0], inputs[1], rem.getIsUnsigned(), rem.getTruncating(), true);
  if (isa<arith::ExtFOp, arith::TruncFOp>(op))
    return this->cast(inputs[0], from, element, false, false);
  if (isa<arith::SIToFPOp, arith::UIToFPOp>(op))
    return this->cast(inputs[0], from, element, isa<arith::UIToFPOp>(op), false);
  if (isa<arith::FPToSIOp, arith::FPToUIOp>(op))
    return this->cast(inputs[0], from, element, false, isa<arith::FPToUIOp>(op));
  // f8 and tf32 values are compared and chosen as the wider float that contains them.
  if (op->getDialect()->getNamespace() == "math")
    return math(op, inputs, element);
  if (isa<arith::CmpFOp>(op) && isF8(from)) {
    SmallVector<Value, 2> wide;
    for (Value input : inputs)
      wide.push_back(floatFromF8(input, from, builder.getF32Type()));
    return Value(arith::CmpFOp::create(builder, loc, llvm::cast<arith::CmpFOp>(op).getPredicate(), wide[0], wide[1]));
  }
  if (isF8(element) && isa<arith::MaximumFOp, arith::MinimumFOp>(op))
    return chooseF8(isa<arith::MaximumFOp>(op) ? tile::CombineKind::maxf : tile::CombineKind::minf, inputs[0],
                    inputs[1], element);
  if (op->getDialect()->getNamespace() != "arith")
    return op->emitError("E0431: `") << op->getName() << "` cannot be lowered";
  OperationState state(loc, op->getName(), inputs, Lowering::registerType(element), {});
  state.attributes.append(op->getAttrs().begin(), op->getAttrs().end());
  // The user's products and sums may contract to one fma (rule 14); expansions of functions rely on each rounding.
  if (isa<arith::AddFOp, arith::SubFOp, arith::MulFOp>(op))
    state.attributes.set("fastmath", contraction(builder, true));
  return builder.create(state)->getResult(0);
}
