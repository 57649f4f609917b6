// Operators: their types by rule 11, and the folding of constants.
#include "Analyzer.h"
#include "Promotion.h"

using namespace tilec;
using namespace tilec::sema;

static BinaryOp translate(ast::BinaryOp op) {
  switch (op) {
  case ast::BinaryOp::LogicalOr:
    return BinaryOp::LogicalOr;
  case ast::BinaryOp::LogicalAnd:
    return BinaryOp::LogicalAnd;
  case ast::BinaryOp::Equal:
    return BinaryOp::Equal;
  case ast::BinaryOp::NotEqual:
    return BinaryOp::NotEqual;
  case ast::BinaryOp::Less:
    return BinaryOp::Less;
  case ast::BinaryOp::LessEqual:
    return BinaryOp::LessEqual;
  case ast::BinaryOp::Greater:
    return BinaryOp::Greater;
  case ast::BinaryOp::GreaterEqual:
    return BinaryOp::GreaterEqual;
  case ast::BinaryOp::BitOr:
    return BinaryOp::Or;
  case ast::BinaryOp::BitXor:
    return BinaryOp::Xor;
  case ast::BinaryOp::BitAnd:
    return BinaryOp::And;
  case ast::BinaryOp::ShiftLeft:
    return BinaryOp::ShiftLeft;
  case ast::BinaryOp::ShiftRight:
    return BinaryOp::ShiftRight;
  case ast::BinaryOp::Add:
    return BinaryOp::Add;
  case ast::BinaryOp::Subtract:
    return BinaryOp::Subtract;
  case ast::BinaryOp::Multiply:
    return BinaryOp::Multiply;
  case ast::BinaryOp::Divide:
    return BinaryOp::Divide;
  case ast::BinaryOp::Remainder:
    return BinaryOp::Remainder;
  }
  llvm_unreachable("not an operator");
}

/// The element type and the axes of the operands: in the order of the operand that has all of them, of several that of
/// the strongest order and of equals the first; otherwise in order of first occurrence.
Type Analyzer::unionType(ScalarKind element, llvm::ArrayRef<const Expr *> operands) const {
  Type result(element);
  result.order = AxisOrder::Occurrence;
  for (const Expr *operand : operands)
    for (const Axis *axis : operand->type.axes)
      if (!result.has(axis))
        result.axes.push_back(axis);
  const Expr *strongest = nullptr;
  for (const Expr *operand : operands)
    if (operand->type.axes.size() == result.axes.size() && (!strongest || operand->type.order > strongest->type.order))
      strongest = operand;
  return strongest ? strongest->type.withElement(element) : result;
}

Value Analyzer::checkUnary(const ast::UnaryExpr *expr) {
  Value operand = check(expr->operand);
  if (operand.isError || operand.isTuple()) {
    materialize(operand);
    return Value::error(expr->range);
  }
  bool isNot = expr->op == ast::UnaryOp::Not;
  ScalarKind element = operand.element();
  bool isBitNot = expr->op == ast::UnaryOp::Complement;
  bool fits = isNot ? element == ScalarKind::Bool && !operand.number
                    : (isBitNot ? isInteger(element) : element != ScalarKind::Bool);
  if (!fits) {
    report(expr->range, diag::err_operand_type)
        << getSpelling(expr->op) << (isNot ? "bool" : (isBitNot ? "an integer" : "a number")) << operand.type.str();
    return Value::error(expr->range);
  }
  if (operand.number) {
    Value result = operand;
    result.range = expr->range;
    result.number = isBitNot ? Number::fold(BinaryOp::Subtract, Number::integer(int64_t(-1)), *operand.number)
                             : operand.number->negated();
    return result;
  }
  if (isNot)
    if (auto *constant = llvm::dyn_cast<Constant>(operand.expr))
      return Value::of(context.create<Constant>(expr->range, element, ~constant->integer), expr->range);
  ScalarKind target = isNot ? element : promote(element);
  Expr *converted = castTo(operand.expr, target, operand.range);
  if (auto *constant = llvm::dyn_cast<Constant>(converted); constant && isInteger(target)) {
    Number value = isBitNot ? *Number::fold(BinaryOp::Subtract, Number::integer(int64_t(-1)), getNumber(constant))
                            : getNumber(constant).negated();
    return Value::of(makeConstant(context, expr->range, target, value), expr->range);
  }
  UnaryOp op = isNot ? UnaryOp::LogicalNot : (isBitNot ? UnaryOp::BitNot : UnaryOp::Negate);
  return Value::of(context.create<Unary>(expr->range, converted->type, op, converted), expr->range);
}

Value Analyzer::checkBinary(const ast::BinaryExpr *expr) {
  Value lhs = check(expr->lhs), rhs = check(expr->rhs);
  return makeBinary(translate(expr->op), std::move(lhs), std::move(rhs), expr->range);
}

Value Analyzer::foldExact(BinaryOp op, const Value &lhs, const Value &rhs, SourceRange range) {
  if (isComparison(op)) {
    bool result = Number::compare(op, *lhs.number, *rhs.number);
    return Value::of(context.create<Constant>(range, ScalarKind::Bool, llvm::APInt(1, result)), range);
  }
  bool bothIntegers = lhs.number->isInteger() && rhs.number->isInteger();
  std::optional<Number> number = Number::fold(op, *lhs.number, *rhs.number);
  std::optional<ScalarKind> element = meetTwo(lhs, rhs, /*keeping=*/!bothIntegers);
  if (!number || (!bothIntegers && op > BinaryOp::Divide)) {
    report(range, diag::err_constant_operation) << quote(range);
    return Value::error(range);
  }
  Value result = Value::exact(*number, range);
  result.isDeclared = lhs.isDeclared || rhs.isDeclared;
  if (result.isDeclared && element && isInteger(*element) == number->isInteger())
    result.type.element = *element;
  return result;
}

/// The constant that two integer constants of one type give; null where an operand is not constant.
Expr *Analyzer::foldBinary(BinaryOp op, ScalarKind element, Expr *lhs, Expr *rhs, SourceRange range) {
  auto *a = llvm::dyn_cast<Constant>(lhs);
  auto *b = llvm::dyn_cast<Constant>(rhs);
  if (!a || !b || isFloat(element) || element == ScalarKind::Bool)
    return nullptr;
  if (isComparison(op))
    return context.create<Constant>(range, ScalarKind::Bool,
                                    llvm::APInt(1, Number::compare(op, getNumber(a), getNumber(b))));
  Number count = getNumber(b);
  if (op == BinaryOp::ShiftLeft || op == BinaryOp::ShiftRight)
    count = Number::integer(static_cast<int64_t>(b->integer.urem(getBitWidth(element))));
  std::optional<Number> result;
  // Bitwise operators on the bit patterns, which may be unsigned 64-bit values.
  if (op == BinaryOp::And)
    result = Number::integer(a->integer & b->integer, isSigned(element));
  else if (op == BinaryOp::Or)
    result = Number::integer(a->integer | b->integer, isSigned(element));
  else if (op == BinaryOp::Xor)
    result = Number::integer(a->integer ^ b->integer, isSigned(element));
  else
    result = Number::fold(op, getNumber(a), count);
  return result ? makeConstant(context, range, element, *result) : nullptr;
}

Value Analyzer::makeLogical(BinaryOp op, Value lhs, Value rhs, SourceRange range) {
  for (Value *side : {&lhs, &rhs}) {
    if (side->number || side->element() != ScalarKind::Bool) {
      report(side->range, diag::err_operand_type)
          << (op == BinaryOp::LogicalAnd ? "&&" : "||") << "bool" << side->type.str();
      return Value::error(range);
    }
  }
  // A constant side decides or drops out.
  for (auto [side, other] : {std::pair(&lhs, &rhs), std::pair(&rhs, &lhs)}) {
    auto *constant = llvm::dyn_cast<Constant>(side->expr);
    if (!constant)
      continue;
    bool decides = constant->integer.isOne() == (op == BinaryOp::LogicalOr);
    if (decides && !other->type.isScalar())
      continue;
    return Value::of(decides ? side->expr : other->expr, range);
  }
  Type type = unionType(ScalarKind::Bool, {lhs.expr, rhs.expr});
  return Value::of(context.create<Binary>(range, type, op, lhs.expr, rhs.expr), range);
}

Value Analyzer::makeShift(BinaryOp op, Value lhs, Value rhs, SourceRange range) {
  for (Value *side : {&lhs, &rhs}) {
    if (!isInteger(side->element())) {
      report(side->range, diag::err_operand_type)
          << (op == BinaryOp::ShiftLeft ? "<<" : ">>") << "an integer" << side->type.str();
      return Value::error(range);
    }
  }
  if (lhs.number && rhs.number)
    return foldExact(op, lhs, rhs, range);
  // The count takes no part in the meeting; it counts modulo the width, so that its low bits suffice.
  Expr *value =
      lhs.number ? literalTo(lhs, promote(lhs.element())) : castTo(lhs.expr, promote(lhs.element()), lhs.range);
  Expr *count = nullptr;
  if (value)
    count = rhs.number ? makeConstant(context, rhs.range, value->type.element, *rhs.number)
                       : castTo(rhs.expr, value->type.element, rhs.range);
  if (!count)
    return Value::error(range);
  if (Expr *folded = foldBinary(op, value->type.element, value, count, range))
    return Value::of(folded, range);
  Type type = unionType(value->type.element, {value, count});
  return Value::of(context.create<Binary>(range, type, op, value, count), range);
}

Value Analyzer::makeBinary(BinaryOp op, Value lhs, Value rhs, SourceRange range) {
  for (const Value *side : {&lhs, &rhs})
    if (side->isTuple())
      materialize(*side);
  if (lhs.isError || rhs.isError || lhs.isTuple() || rhs.isTuple())
    return Value::error(range);
  if (op == BinaryOp::LogicalAnd || op == BinaryOp::LogicalOr)
    return makeLogical(op, lhs, rhs, range);
  if (op == BinaryOp::ShiftLeft || op == BinaryOp::ShiftRight)
    return makeShift(op, lhs, rhs, range);
  if (lhs.number && rhs.number)
    return foldExact(op, lhs, rhs, range);

  bool bothBool = lhs.element() == ScalarKind::Bool && rhs.element() == ScalarKind::Bool;
  bool isBitwise = op == BinaryOp::And || op == BinaryOp::Or || op == BinaryOp::Xor;
  bool isEquality = op == BinaryOp::Equal || op == BinaryOp::NotEqual;
  std::optional<ScalarKind> element;
  if (bothBool && (isBitwise || isEquality)) {
    element = ScalarKind::Bool;
  } else {
    for (const Value *side : {&lhs, &rhs}) {
      bool integerOnly = isBitwise;
      bool fits = integerOnly ? isInteger(side->element()) : side->element() != ScalarKind::Bool;
      if (op == BinaryOp::Remainder && isFloat(side->element())) {
        report(range, diag::err_float_remainder) << getSpelling(side->element());
        return Value::error(range);
      }
      if (!fits) {
        report(side->range, diag::err_operand_of_operator)
            << quote(range) << (integerOnly ? "integers" : "numbers") << quote(side->range) << side->type.str();
        return Value::error(range);
      }
    }
    element = meetTwo(lhs, rhs, isComparison(op));
    if (!element) {
      reportNoMeeting(lhs, rhs);
      return Value::error(range);
    }
  }
  Expr *left = toElement(lhs, *element);
  Expr *right = toElement(rhs, *element);
  if (!left || !right)
    return Value::error(range);
  if (Expr *folded = foldBinary(op, *element, left, right, range))
    return Value::of(folded, range);
  Type type = unionType(isComparison(op) ? ScalarKind::Bool : *element, {left, right});
  return Value::of(context.create<Binary>(range, type, op, left, right), range);
}
