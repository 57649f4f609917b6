// Arithmetic and conversions of exact constants.
#include "Number.h"
#include "tilec/Sema/TypedStmt.h"
#include "llvm/ADT/StringExtras.h"

using namespace tilec;
using namespace tilec::sema;
using llvm::APFloat;
using llvm::APInt;
using llvm::DynamicAPInt;

/// Literals whose decimal exponent is beyond this are refused; f64 needs 324.
constexpr int maxDecimalExponent = 5000;
/// Exact integers, numerators and denominators have at most this many bits; 10^maxDecimalExponent has fewer.
constexpr unsigned maxBits = 20000;
/// Exact shifts are limited to this many bits.
constexpr int64_t maxShift = 4096;

static DynamicAPInt power(int64_t base, unsigned exponent) {
  DynamicAPInt result(1), factor(base);
  for (; exponent != 0; exponent >>= 1) {
    if (exponent & 1)
      result *= factor;
    if (exponent > 1)
      factor *= factor;
  }
  return result;
}

Number Number::integer(const DynamicAPInt &value) {
  Number result;
  result.numerator = value;
  return result;
}

Number Number::integer(uint64_t value) { return integer(APInt(64, value), /*isSigned=*/false); }

Number Number::integer(const APInt &value, bool isSigned) {
  return integer(DynamicAPInt(isSigned ? value : value.zext(value.getBitWidth() + 1)));
}

Number Number::infinity(bool negative) {
  Number result;
  result.theKind = Kind::Infinity;
  result.negative = negative;
  return result;
}

Number Number::nan() {
  Number result;
  result.theKind = Kind::NaN;
  return result;
}

Number Number::real(DynamicAPInt numerator, DynamicAPInt denominator) {
  Number result;
  result.theKind = Kind::Real;
  if (denominator < 0) {
    numerator = -numerator;
    denominator = -denominator;
  }
  DynamicAPInt divisor = gcd(abs(numerator), denominator);
  if (divisor > 1) {
    numerator /= divisor;
    denominator /= divisor;
  }
  result.numerator = numerator;
  result.denominator = denominator;
  return result;
}

std::optional<Number> Number::parseReal(llvm::StringRef text) {
  DynamicAPInt digits(0);
  int64_t scale = 0;
  bool afterDot = false;
  size_t i = 0;
  for (; i < text.size() && text[i] != 'e' && text[i] != 'E'; ++i) {
    if (text[i] == '_')
      continue;
    if (text[i] == '.') {
      afterDot = true;
      continue;
    }
    digits = digits * 10 + static_cast<int64_t>(text[i] - '0');
    scale -= afterDot;
  }
  if (i < text.size()) {
    int64_t exponent = 0;
    std::string rest = text.drop_front(i + 1).str();
    llvm::erase(rest, '_');
    llvm::StringRef exponentText(rest);
    exponentText.consume_front("+");
    if (exponentText.getAsInteger(10, exponent) || std::abs(exponent) > maxDecimalExponent)
      return std::nullopt;
    scale += exponent;
  }
  if (scale >= 0)
    return real(digits * power(10, static_cast<unsigned>(scale)), DynamicAPInt(1));
  return real(digits, power(10, static_cast<unsigned>(-scale)));
}

std::optional<int64_t> Number::asInt64() const {
  if (!isInteger() || numerator < DynamicAPInt(INT64_MIN) || numerator > DynamicAPInt(INT64_MAX))
    return std::nullopt;
  return static_cast<int64_t>(numerator);
}

bool Number::fits(ScalarKind type) const {
  if (!isInteger())
    return false;
  bool hasSign = isSigned(type);
  unsigned bits = getBitWidth(type);
  DynamicAPInt bound = power(2, hasSign ? bits - 1 : bits);
  DynamicAPInt least = hasSign ? -bound : DynamicAPInt(0);
  return numerator >= least && numerator < bound;
}

APInt Number::toInteger(ScalarKind type) const {
  unsigned bits = getBitWidth(type);
  DynamicAPInt low = mod(numerator, power(2, bits));
  std::string text;
  llvm::raw_string_ostream os(text);
  os << low;
  return APInt(bits + 1, text, 10).trunc(bits);
}

/// The magnitude `numerator / denominator` as an exact or sticky value of 100 bits in quad precision, which converts to
/// every element type with one rounding.
static APFloat toQuad(const DynamicAPInt &numerator, const DynamicAPInt &denominator) {
  constexpr unsigned bits = 100;
  DynamicAPInt low = power(2, bits - 2), quotient, remainder;
  int exponent = 0;
  DynamicAPInt n = abs(numerator), d = denominator;
  // Scale so that 2^98 <= n / d < 2^99.
  while (floorDiv(n, d) < low) {
    n *= 2;
    --exponent;
  }
  while (floorDiv(n, d) >= low * 2) {
    d *= 2;
    ++exponent;
  }
  quotient = floorDiv(n, d);
  bool sticky = mod(n, d) != 0;
  std::string text;
  llvm::raw_string_ostream os(text);
  os << quotient * 2 + static_cast<int64_t>(sticky);
  APFloat result(APFloat::IEEEquad());
  (void)result.convertFromAPInt(APInt(bits + 1, text, 10), /*IsSigned=*/false, APFloat::rmNearestTiesToEven);
  return scalbn(result, exponent - 1, APFloat::rmNearestTiesToEven);
}

APFloat Number::toFloat(ScalarKind type) const {
  const llvm::fltSemantics &semantics = getFloatSemantics(type);
  if (theKind == Kind::NaN)
    return APFloat::getNaN(semantics);
  bool saturates = type == ScalarKind::F8E4M3 || type == ScalarKind::F8E5M2;
  if (theKind == Kind::Infinity)
    return saturates ? APFloat::getLargest(semantics, negative) : APFloat::getInf(semantics, negative);
  bool minus = numerator < 0 || negative;
  if (numerator == 0)
    return APFloat::getZero(semantics, minus);
  APFloat value = toQuad(numerator, denominator);
  if (minus)
    value.changeSign();
  if (saturates) {
    APFloat limit = APFloat::getLargest(semantics, minus);
    bool losesInfo;
    limit.convert(APFloat::IEEEquad(), APFloat::rmNearestTiesToEven, &losesInfo);
    if (abs(value) > abs(limit))
      return APFloat::getLargest(semantics, minus);
  }
  bool losesInfo;
  (void)value.convert(semantics, APFloat::rmNearestTiesToEven, &losesInfo);
  return value;
}

Number Number::truncated() const {
  if (theKind != Kind::Real)
    return *this;
  return integer(numerator < 0 ? -floorDiv(-numerator, denominator) : floorDiv(numerator, denominator));
}

Number Number::negated() const {
  Number result = *this;
  if (theKind == Kind::Infinity || (theKind == Kind::Real && numerator == 0))
    result.negative = !negative;
  else
    result.numerator = -numerator;
  return result;
}

static std::optional<Number> foldIntegers(BinaryOp op, const DynamicAPInt &a, const DynamicAPInt &b) {
  switch (op) {
  case BinaryOp::Add:
    return Number::integer(a + b);
  case BinaryOp::Subtract:
    return Number::integer(a - b);
  case BinaryOp::Multiply:
    return Number::integer(a * b);
  case BinaryOp::Divide:
    return Number::integer(b == 0 ? DynamicAPInt(0) : floorDiv(a, b));
  case BinaryOp::Remainder:
    return Number::integer(b == 0 ? DynamicAPInt(0) : a - b * floorDiv(a, b));
  case BinaryOp::ShiftLeft:
    if (b < 0 || b > maxShift)
      return std::nullopt;
    return Number::integer(a * power(2, static_cast<unsigned>(static_cast<int64_t>(b))));
  case BinaryOp::ShiftRight:
    if (b < 0 || b > maxShift)
      return std::nullopt;
    return Number::integer(floorDiv(a, power(2, static_cast<unsigned>(static_cast<int64_t>(b)))));
  default:
    break;
  }
  // Bitwise operators on the two's complement of values of up to 64 bits.
  Number x = Number::integer(a), y = Number::integer(b);
  if (!x.asInt64() || !y.asInt64())
    return std::nullopt;
  int64_t p = *x.asInt64(), q = *y.asInt64();
  switch (op) {
  case BinaryOp::And:
    return Number::integer(p & q);
  case BinaryOp::Or:
    return Number::integer(p | q);
  case BinaryOp::Xor:
    return Number::integer(p ^ q);
  default:
    return std::nullopt;
  }
}

/// Arithmetic with an infinity, a NaN or a division by zero, in IEEE doubles: only kind and sign matter.
static std::optional<Number> foldSpecial(BinaryOp op, double a, double b) {
  double result;
  switch (op) {
  case BinaryOp::Add:
    result = a + b;
    break;
  case BinaryOp::Subtract:
    result = a - b;
    break;
  case BinaryOp::Multiply:
    result = a * b;
    break;
  case BinaryOp::Divide:
    result = a / b;
    break;
  default:
    return std::nullopt;
  }
  if (result != result)
    return Number::nan();
  if (result == 0)
    return Number::real(DynamicAPInt(0), DynamicAPInt(1));
  return Number::infinity(result < 0);
}

/// Whether an exact value has grown beyond what any use can need.
static bool isAbsurd(const DynamicAPInt &value) {
  static const DynamicAPInt limit = power(2, maxBits);
  return abs(value) > limit;
}

std::optional<Number> Number::fold(BinaryOp op, const Number &lhs, const Number &rhs) {
  std::optional<Number> result = foldExactly(op, lhs, rhs);
  if (result && (isAbsurd(result->numerator) || isAbsurd(result->denominator)))
    return std::nullopt;
  return result;
}

std::optional<Number> Number::foldExactly(BinaryOp op, const Number &lhs, const Number &rhs) {
  if (lhs.isInteger() && rhs.isInteger())
    return foldIntegers(op, lhs.numerator, rhs.numerator);
  bool finite = lhs.theKind <= Kind::Real && rhs.theKind <= Kind::Real;
  if (!finite || (op == BinaryOp::Divide && rhs.numerator == 0)) {
    auto sign = [](const Number &n) {
      if (n.theKind == Kind::NaN)
        return std::numeric_limits<double>::quiet_NaN();
      if (n.theKind == Kind::Infinity)
        return n.negative ? -HUGE_VAL : HUGE_VAL;
      return n.numerator == 0 ? 0.0 : (n.numerator < 0 ? -1.0 : 1.0);
    };
    return foldSpecial(op, sign(lhs), sign(rhs));
  }
  const DynamicAPInt &a = lhs.numerator, &b = lhs.denominator, &c = rhs.numerator, &d = rhs.denominator;
  switch (op) {
  case BinaryOp::Add:
    return real(a * d + c * b, b * d);
  case BinaryOp::Subtract:
    return real(a * d - c * b, b * d);
  case BinaryOp::Multiply:
    return real(a * c, b * d);
  case BinaryOp::Divide:
    return real(a * d, b * c);
  default:
    return std::nullopt;
  }
}

bool Number::compare(BinaryOp op, const Number &lhs, const Number &rhs) {
  if (lhs.theKind == Kind::NaN || rhs.theKind == Kind::NaN)
    return op == BinaryOp::NotEqual;
  auto rank = [](const Number &n) { return n.theKind == Kind::Infinity ? (n.negative ? -1 : 1) : 0; };
  int order = rank(lhs) - rank(rhs);
  if (order == 0 && rank(lhs) == 0) {
    DynamicAPInt a = lhs.numerator * rhs.denominator, b = rhs.numerator * lhs.denominator;
    order = a < b ? -1 : (a > b ? 1 : 0);
  }
  switch (op) {
  case BinaryOp::Equal:
    return order == 0;
  case BinaryOp::NotEqual:
    return order != 0;
  case BinaryOp::Less:
    return order < 0;
  case BinaryOp::LessEqual:
    return order <= 0;
  case BinaryOp::Greater:
    return order > 0;
  default:
    return order >= 0;
  }
}

std::string Number::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (isInteger()) {
    os << numerator;
    return text;
  }
  llvm::SmallString<32> digits;
  toFloat(ScalarKind::F64).toString(digits, 6);
  return digits.str().str();
}

Constant *sema::makeConstant(TypedContext &context, SourceRange range, ScalarKind type, const Number &number) {
  if (isFloat(type))
    return context.create<Constant>(range, type, number.toFloat(type));
  return context.create<Constant>(range, type, number.toInteger(type));
}

Number sema::getNumber(const Constant *constant) {
  return Number::integer(constant->integer, isSigned(constant->type.element));
}
