// Arithmetic, comparisons and casts of reference expressions.
#include "Lanes.h"

#include "tilec/Simulator/Convert.h"
#include "llvm/ADT/bit.h"
#include <algorithm>
#include <limits>

using namespace tilec;
using namespace tilec::runner;
using sema::BinaryOp;

Lanes Lanes::floats(size_t count) {
  Lanes lanes;
  lanes.isFloat = true;
  lanes.real.resize(count);
  return lanes;
}

Lanes Lanes::integers(size_t count) {
  Lanes lanes;
  lanes.integer.resize(count);
  return lanes;
}

Lanes Lanes::of(bool isFloat, const Scalar &scalar) {
  Lanes lanes = isFloat ? floats(1) : integers(1);
  lanes.set(0, scalar);
  return lanes;
}

Scalar Lanes::scalarAt(size_t lane) const {
  return {isFloat ? realAt(lane) : 0, isFloat ? 0 : integerAt(lane), boundAt(lane)};
}

void Lanes::set(size_t lane, const Scalar &scalar) {
  if (isFloat)
    real[lane] = scalar.real;
  else
    integer[lane] = scalar.integer;
  if (scalar.bound == 0 && bound.empty())
    return;
  bound.resize(size());
  bound[lane] = scalar.bound;
}

int64_t tilec::runner::wrapInteger(ScalarKind kind, int64_t value) {
  unsigned bits = sema::getBitWidth(kind);
  if (kind == ScalarKind::Bool)
    return value != 0;
  if (bits >= 64)
    return value;
  uint64_t low = static_cast<uint64_t>(value) << (64 - bits);
  return sema::isSigned(kind) ? static_cast<int64_t>(low) >> (64 - bits) : static_cast<int64_t>(low >> (64 - bits));
}

static size_t countOf(const Lanes &a, const Lanes &b) { return std::max(a.size(), b.size()); }

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

static Scalar combineFloats(BinaryOp op, const Scalar &a, const Scalar &b, double unit) {
  Scalar result;
  double x = a.real, y = b.real;
  switch (op) {
  case BinaryOp::Add:
    result.real = x + y;
    result.bound = a.bound + b.bound + unit * std::abs(result.real);
    break;
  case BinaryOp::Subtract:
    result.real = x - y;
    result.bound = a.bound + b.bound + unit * std::abs(result.real);
    break;
  case BinaryOp::Multiply:
    result.real = x * y;
    result.bound = std::abs(x) * b.bound + std::abs(y) * a.bound + unit * std::abs(result.real);
    break;
  default:
    result.real = x / y;
    result.bound = (a.bound + std::abs(result.real) * b.bound) / std::abs(y) + 2 * unit * std::abs(result.real);
    break;
  }
  result.bound = usableBound(result.bound);
  return result;
}

static bool compareFloats(BinaryOp op, double x, double y) {
  switch (op) {
  case BinaryOp::Equal:
    return x == y;
  case BinaryOp::NotEqual:
    return x != y;
  case BinaryOp::Less:
    return x < y;
  case BinaryOp::LessEqual:
    return x <= y;
  case BinaryOp::Greater:
    return x > y;
  default:
    return x >= y;
  }
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

// Rounds to minus infinity; a division by 0 gives 0.
static int64_t divideFloor(int64_t x, int64_t y, bool isSigned, bool remainder) {
  if (y == 0)
    return 0;
  if (!isSigned) {
    uint64_t a = static_cast<uint64_t>(x), b = static_cast<uint64_t>(y);
    return static_cast<int64_t>(remainder ? a % b : a / b);
  }
  if (y == -1)
    return remainder ? 0 : static_cast<int64_t>(0 - static_cast<uint64_t>(x));
  int64_t quotient = x / y, rest = x % y;
  bool adjusts = rest != 0 && (rest < 0) != (y < 0);
  return remainder ? rest + (adjusts ? y : 0) : quotient - adjusts;
}

static int64_t combineIntegers(BinaryOp op, ScalarKind type, int64_t x, int64_t y) {
  uint64_t a = static_cast<uint64_t>(x), b = static_cast<uint64_t>(y);
  bool isSigned = sema::isSigned(type);
  unsigned count = static_cast<unsigned>(b % sema::getBitWidth(type));
  bool less = isSigned ? x < y : a < b;
  switch (op) {
  case BinaryOp::Add:
    return static_cast<int64_t>(a + b);
  case BinaryOp::Subtract:
    return static_cast<int64_t>(a - b);
  case BinaryOp::Multiply:
    return static_cast<int64_t>(a * b);
  case BinaryOp::Divide:
    return divideFloor(x, y, isSigned, /*remainder=*/false);
  case BinaryOp::Remainder:
    return divideFloor(x, y, isSigned, /*remainder=*/true);
  case BinaryOp::And:
  case BinaryOp::LogicalAnd:
    return x & y;
  case BinaryOp::Or:
  case BinaryOp::LogicalOr:
    return x | y;
  case BinaryOp::Xor:
    return x ^ y;
  case BinaryOp::ShiftLeft:
    return static_cast<int64_t>(a << count);
  case BinaryOp::ShiftRight:
    return isSigned ? x >> count : static_cast<int64_t>(a >> count);
  case BinaryOp::Equal:
    return x == y;
  case BinaryOp::NotEqual:
    return x != y;
  case BinaryOp::Less:
    return less;
  case BinaryOp::LessEqual:
    return less || x == y;
  case BinaryOp::Greater:
    return !less && x != y;
  case BinaryOp::GreaterEqual:
    return !less;
  }
  return 0;
}

Lanes tilec::runner::evaluateBinary(BinaryOp op, ScalarKind type, const Lanes &lhs, const Lanes &rhs,
                                    Rounding rounding) {
  size_t count = countOf(lhs, rhs);
  if (lhs.isFloat && !sema::isComparison(op)) {
    Lanes result = Lanes::floats(count);
    result.bound.resize(count);
    for (size_t i = 0; i < count; ++i) {
      Scalar value = combineFloats(op, lhs.scalarAt(i), rhs.scalarAt(i), rounding.unit);
      result.real[i] = value.real;
      result.bound[i] = value.bound;
    }
    return result;
  }
  Lanes result = Lanes::integers(count);
  ScalarKind kind = sema::isComparison(op) ? ScalarKind::Bool : type;
  for (size_t i = 0; i < count; ++i) {
    int64_t value = lhs.isFloat ? compareFloats(op, lhs.realAt(i), rhs.realAt(i))
                                : combineIntegers(op, type, lhs.integerAt(i), rhs.integerAt(i));
    bool adds = op == BinaryOp::Add || op == BinaryOp::Subtract;
    result.set(i, {0, wrapInteger(kind, value), adds ? lhs.boundAt(i) + rhs.boundAt(i) : 0});
  }
  return result;
}

Lanes tilec::runner::evaluateUnary(sema::UnaryOp op, ScalarKind type, const Lanes &operand) {
  Lanes result = operand;
  for (double &value : result.real)
    value = -value;
  for (int64_t &value : result.integer)
    value = op == sema::UnaryOp::LogicalNot ? value == 0
            : op == sema::UnaryOp::BitNot   ? wrapInteger(type, ~value)
                                            : wrapInteger(type, static_cast<int64_t>(0 - static_cast<uint64_t>(value)));
  return result;
}

//===----------------------------------------------------------------------===//
// Casts
//===----------------------------------------------------------------------===//

simulator::FloatFormat tilec::runner::formatOf(ScalarKind kind) {
  using Format = simulator::FloatFormat;
  switch (kind) {
  case ScalarKind::F8E4M3:
    return Format::E4M3;
  case ScalarKind::F8E5M2:
    return Format::E5M2;
  case ScalarKind::F16:
    return Format::F16;
  case ScalarKind::BF16:
    return Format::BF16;
  case ScalarKind::TF32:
    return Format::TF32;
  case ScalarKind::F32:
    return Format::F32;
  default:
    return Format::F64;
  }
}

static double roundToFormat(simulator::FloatFormat format, double value) {
  using Format = simulator::FloatFormat;
  simulator::FloatConversion options;
  options.saturateFinite = format == Format::E4M3 || format == Format::E5M2;
  return toDouble(format, convertFloat(format, Format::F64, llvm::bit_cast<uint64_t>(value), options));
}

// A value that is exact rounds as the kernel's does; any other may fall to either side.
static Scalar castToNarrow(simulator::FloatFormat format, const Scalar &value) {
  Scalar result = {roundToFormat(format, value.real), 0, value.bound};
  double spacing = std::ldexp(1.0, -static_cast<int>(simulator::formatInfo(format).mantissaBits));
  // A Tensor Core may cut off what does not fit tf32.
  bool cuts = format == simulator::FloatFormat::TF32 && result.real != value.real;
  if (value.bound != 0 || cuts)
    result.bound = usableBound(result.bound + spacing * std::abs(result.real));
  return result;
}

// Truncates and saturates; NaN gives 0.
static int64_t truncateTo(ScalarKind kind, double value) {
  unsigned bits = sema::getBitWidth(kind);
  bool isSigned = sema::isSigned(kind);
  if (std::isnan(value))
    return 0;
  double whole = std::trunc(value), limit = std::ldexp(1.0, static_cast<int>(isSigned ? bits - 1 : bits));
  if (whole >= limit)
    return static_cast<int64_t>(isSigned ? (uint64_t(1) << (bits - 1)) - 1 : ~uint64_t(0) >> (64 - bits));
  if (whole < (isSigned ? -limit : 0))
    return isSigned ? wrapInteger(kind, static_cast<int64_t>(uint64_t(1) << (bits - 1))) : 0;
  return isSigned ? static_cast<int64_t>(whole) : static_cast<int64_t>(static_cast<uint64_t>(whole));
}

static Scalar castToInteger(ScalarKind to, const Scalar &value) {
  if (to == ScalarKind::Bool)
    return {0, value.real != 0, 0};
  int64_t low = truncateTo(to, value.real - value.bound), high = truncateTo(to, value.real + value.bound);
  return {0, truncateTo(to, value.real), low == high ? 0.0 : static_cast<double>(high) - static_cast<double>(low)};
}

Lanes tilec::runner::evaluateCast(ScalarKind to, ScalarKind from, const Lanes &operand) {
  size_t count = operand.size();
  if (!sema::isFloat(to)) {
    Lanes result = Lanes::integers(count);
    for (size_t i = 0; i < count; ++i)
      result.set(i, operand.isFloat ? castToInteger(to, operand.scalarAt(i))
                                    : Scalar{0, wrapInteger(to, operand.integer[i]), operand.boundAt(i)});
    return result;
  }
  Lanes result = operand;
  if (!operand.isFloat) {
    result = Lanes::floats(count);
    result.bound = operand.bound;
    for (size_t i = 0; i < count; ++i)
      result.real[i] = from == ScalarKind::U64 ? static_cast<double>(static_cast<uint64_t>(operand.integer[i]))
                                               : static_cast<double>(operand.integer[i]);
  }
  if (to != from && to != ScalarKind::F32 && to != ScalarKind::F64)
    for (size_t i = 0; i < count; ++i)
      result.set(i, castToNarrow(formatOf(to), result.scalarAt(i)));
  return result;
}
