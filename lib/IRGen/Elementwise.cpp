// Operators and element-wise built-ins.
#include "Generator.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::sema;

Value Generator::emitUnary(const Unary &expr, Axes order) {
  Value value = emitAligned(expr.operand, order);
  mlir::Type type = value.getType();
  if (expr.op == sema::UnaryOp::LogicalNot || expr.op == sema::UnaryOp::BitNot)
    return builder.createOrFold<arith::XOrIOp>(loc, value, integerLike(type, -1));
  if (isFloat(expr.type.element))
    return builder.createOrFold<arith::NegFOp>(loc, value);
  return builder.createOrFold<arith::SubIOp>(loc, integerLike(type, 0), value);
}

Value Generator::emitBinary(const Binary &expr, Axes order) {
  Value a = emitAligned(expr.lhs, order), b = emitAligned(expr.rhs, order);
  if (isComparison(expr.op))
    return emitComparison(expr, a, b);
  bool isReal = isFloat(expr.type.element), isUnsigned = !isReal && !isSigned(expr.type.element);
  mlir::Type type = a.getType();
  // Shift counts are taken modulo the width.
  auto count = [&] {
    return builder.createOrFold<arith::AndIOp>(loc, b, integerLike(type, getBitWidth(expr.type.element) - 1));
  };
  switch (expr.op) {
  case sema::BinaryOp::Add:
    return isReal ? builder.createOrFold<arith::AddFOp>(loc, a, b) : builder.createOrFold<arith::AddIOp>(loc, a, b);
  case sema::BinaryOp::Subtract:
    return isReal ? builder.createOrFold<arith::SubFOp>(loc, a, b) : builder.createOrFold<arith::SubIOp>(loc, a, b);
  case sema::BinaryOp::Multiply:
    return isReal ? builder.createOrFold<arith::MulFOp>(loc, a, b) : builder.createOrFold<arith::MulIOp>(loc, a, b);
  case sema::BinaryOp::Divide:
    return isReal ? builder.createOrFold<arith::DivFOp>(loc, a, b)
                  : builder.createOrFold<tile::DivOp>(loc, type, a, b, isUnsigned, /*truncating=*/false);
  case sema::BinaryOp::Remainder:
    return builder.createOrFold<tile::RemOp>(loc, type, a, b, isUnsigned, /*truncating=*/false);
  case sema::BinaryOp::And:
  case sema::BinaryOp::LogicalAnd:
    return builder.createOrFold<arith::AndIOp>(loc, a, b);
  case sema::BinaryOp::Or:
  case sema::BinaryOp::LogicalOr:
    return builder.createOrFold<arith::OrIOp>(loc, a, b);
  case sema::BinaryOp::Xor:
    return builder.createOrFold<arith::XOrIOp>(loc, a, b);
  case sema::BinaryOp::ShiftLeft:
    return builder.createOrFold<arith::ShLIOp>(loc, a, count());
  case sema::BinaryOp::ShiftRight:
    return isUnsigned ? builder.createOrFold<arith::ShRUIOp>(loc, a, count())
                      : builder.createOrFold<arith::ShRSIOp>(loc, a, count());
  default:
    llvm_unreachable("a comparison");
  }
}

Value Generator::emitComparison(const Binary &expr, Value a, Value b) {
  using I = arith::CmpIPredicate;
  using F = arith::CmpFPredicate;
  static const F reals[] = {F::OEQ, F::UNE, F::OLT, F::OLE, F::OGT, F::OGE};
  static const I signedIntegers[] = {I::eq, I::ne, I::slt, I::sle, I::sgt, I::sge};
  static const I unsignedIntegers[] = {I::eq, I::ne, I::ult, I::ule, I::ugt, I::uge};
  unsigned which = static_cast<unsigned>(expr.op) - static_cast<unsigned>(sema::BinaryOp::Equal);
  ScalarKind kind = expr.lhs->type.element;
  if (isFloat(kind))
    return arith::CmpFOp::create(builder, loc, reals[which], a, b);
  I predicate = isSigned(kind) ? signedIntegers[which] : unsignedIntegers[which];
  return builder.createOrFold<arith::CmpIOp>(loc, predicate, a, b);
}

Value Generator::emitMinMax(bool isMax, ScalarKind kind, Value a, Value b) {
  if (isFloat(kind))
    return isMax ? builder.createOrFold<arith::MaximumFOp>(loc, a, b)
                 : builder.createOrFold<arith::MinimumFOp>(loc, a, b);
  if (isSigned(kind))
    return isMax ? builder.createOrFold<arith::MaxSIOp>(loc, a, b) : builder.createOrFold<arith::MinSIOp>(loc, a, b);
  return isMax ? builder.createOrFold<arith::MaxUIOp>(loc, a, b) : builder.createOrFold<arith::MinUIOp>(loc, a, b);
}

Value Generator::emitCall(const Call &expr, Axes order) {
  SmallVector<Value> arguments;
  for (const sema::Expr *argument : expr.arguments)
    arguments.push_back(emitAligned(argument, order));
  ScalarKind kind = expr.arguments.front()->type.element;
  switch (expr.builtin) {
  case Builtin::Select:
    return builder.createOrFold<arith::SelectOp>(loc, arguments[0], arguments[1], arguments[2]);
  case Builtin::Min:
  case Builtin::Max: {
    Value result = arguments[0];
    for (Value next : llvm::drop_begin(arguments))
      result = emitMinMax(expr.builtin == Builtin::Max, kind, result, next);
    return result;
  }
  case Builtin::Clamp:
    return emitMinMax(false, kind, emitMinMax(true, kind, arguments[0], arguments[1]), arguments[2]);
  case Builtin::Bitcast:
    return emitBitcast(expr, arguments[0]);
  case Builtin::Philox:
    return emitPhilox(arguments[0], arguments[1]);
  case Builtin::Uniform: {
    // The upper 24 bits are exact in f32.
    Value bits = arith::ShRUIOp::create(builder, loc, arguments[0], integerLike(arguments[0].getType(), 8));
    Value number = emitCast(bits, ScalarKind::U32, ScalarKind::F32);
    return arith::MulFOp::create(builder, loc, number, realLike(number.getType(), 0x1p-24));
  }
  default:
    break;
  }
  if (isFloat(kind))
    return emitFloatFunction(expr.builtin, arguments);
  return emitIntegerFunction(expr, arguments);
}

Value Generator::emitFloatFunction(Builtin builtin, ArrayRef<Value> x) {
  mlir::Type type = x[0].getType();
  switch (builtin) {
  case Builtin::Abs:
    return math::AbsFOp::create(builder, loc, x[0]);
  case Builtin::Exp:
    return math::ExpOp::create(builder, loc, x[0]);
  case Builtin::Exp2:
    return math::Exp2Op::create(builder, loc, x[0]);
  case Builtin::Log:
    return math::LogOp::create(builder, loc, x[0]);
  case Builtin::Log2:
    return math::Log2Op::create(builder, loc, x[0]);
  case Builtin::Sqrt:
    return math::SqrtOp::create(builder, loc, x[0]);
  case Builtin::Rsqrt:
    return math::RsqrtOp::create(builder, loc, x[0]);
  case Builtin::Sin:
    return math::SinOp::create(builder, loc, x[0]);
  case Builtin::Cos:
    return math::CosOp::create(builder, loc, x[0]);
  case Builtin::Tanh:
    return math::TanhOp::create(builder, loc, x[0]);
  case Builtin::Erf:
    return math::ErfOp::create(builder, loc, x[0]);
  case Builtin::Pow:
    return math::PowFOp::create(builder, loc, x[0], x[1]);
  case Builtin::Fma:
    return math::FmaOp::create(builder, loc, x[0], x[1], x[2]);
  case Builtin::Fmod:
    return arith::RemFOp::create(builder, loc, x[0], x[1]);
  case Builtin::Floor:
    return math::FloorOp::create(builder, loc, x[0]);
  case Builtin::Ceil:
    return math::CeilOp::create(builder, loc, x[0]);
  case Builtin::Round:
    return math::RoundEvenOp::create(builder, loc, x[0]);
  case Builtin::Trunc:
    return math::TruncOp::create(builder, loc, x[0]);
  case Builtin::IsNan:
    return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO, x[0], x[0]);
  case Builtin::IsInf: {
    Value magnitude = math::AbsFOp::create(builder, loc, x[0]);
    return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, magnitude, realLike(type, HUGE_VAL));
  }
  case Builtin::Sigmoid: {
    Value power = math::ExpOp::create(builder, loc, arith::NegFOp::create(builder, loc, x[0]));
    Value one = realLike(type, 1);
    return arith::DivFOp::create(builder, loc, one, arith::AddFOp::create(builder, loc, power, one));
  }
  default:
    llvm_unreachable("not a function of floats");
  }
}

Value Generator::emitIntegerFunction(const Call &expr, ArrayRef<Value> x) {
  ScalarKind kind = expr.arguments.front()->type.element;
  mlir::Type type = x[0].getType();
  bool isUnsigned = !isSigned(kind);
  switch (expr.builtin) {
  case Builtin::Abs:
    if (isUnsigned)
      return x[0];
    return arith::MaxSIOp::create(builder, loc, x[0], arith::SubIOp::create(builder, loc, integerLike(type, 0), x[0]));
  case Builtin::Popcount:
  case Builtin::Clz: {
    // math counts bits of integers of a fixed width.
    Value bits = kind == ScalarKind::Index ? emitCast(x[0], ScalarKind::Index, ScalarKind::I64) : x[0];
    Value count = expr.builtin == Builtin::Clz ? Value(math::CountLeadingZerosOp::create(builder, loc, bits))
                                               : Value(math::CtPopOp::create(builder, loc, bits));
    return emitCast(count, kind == ScalarKind::Index ? ScalarKind::I64 : kind, expr.type.element);
  }
  case Builtin::CeilDiv:
    return emitCeilDiv(x[0], x[1], isUnsigned);
  case Builtin::AlignUp:
    return builder.createOrFold<arith::MulIOp>(loc, emitCeilDiv(x[0], x[1], isUnsigned), x[1]);
  case Builtin::DivTrunc:
    return builder.createOrFold<tile::DivOp>(loc, type, x[0], x[1], isUnsigned, /*truncating=*/true);
  case Builtin::RemTrunc:
    return builder.createOrFold<tile::RemOp>(loc, type, x[0], x[1], isUnsigned, /*truncating=*/true);
  default:
    return unsupported(expr.range, getSpelling(expr.builtin), type);
  }
}

// The floor of the quotient, plus 1 where there is a remainder; 0 for division by zero.
Value Generator::emitCeilDiv(Value a, Value b, bool isUnsigned) {
  APInt divisor;
  if (a.getType().isIndex() && matchPattern(b, m_ConstantInt(&divisor)) && divisor.isStrictlyPositive())
    return builder.createOrFold<arith::CeilDivSIOp>(loc, a, b);
  mlir::Type type = a.getType();
  Value quotient = tile::DivOp::create(builder, loc, type, a, b, isUnsigned, /*truncating=*/false);
  Value rest = tile::RemOp::create(builder, loc, type, a, b, isUnsigned, /*truncating=*/false);
  Value inexact = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, rest, integerLike(type, 0));
  Value next = arith::AddIOp::create(builder, loc, quotient, integerLike(type, 1));
  return arith::SelectOp::create(builder, loc, inexact, next, quotient);
}

Value Generator::emitBitcast(const Call &expr, Value value) {
  ScalarKind from = expr.arguments.front()->type.element, to = expr.type.element;
  if (from == ScalarKind::Index)
    value = emitCast(value, from, ScalarKind::I64);
  ScalarKind target = to == ScalarKind::Index ? ScalarKind::I64 : to;
  mlir::Type type = elementType(target);
  if (auto tensor = dyn_cast<RankedTensorType>(value.getType()))
    type = tensor.clone(type);
  if (type != value.getType())
    value = arith::BitcastOp::create(builder, loc, type, value);
  return emitCast(value, target, to);
}

// Word n % 4 of Philox4x32-10 block n / 4 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011):
// ten rounds over four words, with keys that grow by Weyl constants.
Value Generator::emitPhilox(Value seed, Value counter) {
  mlir::Type wide = seed.getType();
  auto low = [&](Value x) { return emitCast(x, ScalarKind::U64, ScalarKind::U32); };
  auto high = [&](Value x) { return low(arith::ShRUIOp::create(builder, loc, x, integerLike(wide, 32))); };
  auto exclusiveOr = [&](Value a, Value b) -> Value { return arith::XOrIOp::create(builder, loc, a, b); };
  auto product = [&](Value word, int64_t factor) -> Value {
    return arith::MulIOp::create(builder, loc, emitCast(word, ScalarKind::U32, ScalarKind::U64),
                                 integerLike(wide, factor));
  };
  Value block = arith::ShRUIOp::create(builder, loc, counter, integerLike(wide, 2));
  Value key0 = low(seed), key1 = high(seed);
  mlir::Type narrow = key0.getType();
  Value zero = integerLike(narrow, 0);
  std::array<Value, 4> words = {low(block), high(block), zero, zero};
  for (int round = 0; round < 10; ++round) {
    Value first = product(words[0], 0xD2511F53), second = product(words[2], 0xCD9E8D57);
    words = {exclusiveOr(exclusiveOr(high(second), words[1]), key0), low(second),
             exclusiveOr(exclusiveOr(high(first), words[3]), key1), low(first)};
    key0 = arith::AddIOp::create(builder, loc, key0, integerLike(narrow, 0x9E3779B9));
    key1 = arith::AddIOp::create(builder, loc, key1, integerLike(narrow, 0xBB67AE85));
  }
  Value which = arith::AndIOp::create(builder, loc, low(counter), integerLike(narrow, 3));
  Value result = words[3];
  for (int64_t i : {2, 1, 0}) {
    Value chosen = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, which, integerLike(narrow, i));
    result = arith::SelectOp::create(builder, loc, chosen, words[i], result);
  }
  return result;
}
