// Functions of reference expressions. The error of a result is that of the argument times the derivative, plus a few
// units in the last place for the function itself (docs/functions.md).
#include "Lanes.h"

#include "tilec/Simulator/Convert.h"
#include "llvm/ADT/bit.h"
#include <algorithm>

using namespace tilec;
using namespace tilec::runner;
using sema::Builtin;

//===----------------------------------------------------------------------===//
// Floats of one argument
//===----------------------------------------------------------------------===//

namespace {
struct Smooth {
  double value, derivative;
};
} // namespace

static double sigmoid(double x) {
  double power = std::exp(-std::abs(x));
  return x >= 0 ? 1 / (1 + power) : power / (1 + power);
}

// The functions that have a derivative.
static std::optional<Smooth> smooth(Builtin builtin, double x) {
  constexpr double ln2 = 0.69314718055994530942, twoOverRootPi = 1.12837916709551257390;
  switch (builtin) {
  case Builtin::Exp:
    return Smooth{std::exp(x), std::exp(x)};
  case Builtin::Exp2:
    return Smooth{std::exp2(x), ln2 * std::exp2(x)};
  case Builtin::Log:
    return Smooth{std::log(x), 1 / x};
  case Builtin::Log2:
    return Smooth{std::log2(x), 1 / (x * ln2)};
  case Builtin::Sqrt:
    return Smooth{std::sqrt(x), 0.5 / std::sqrt(x)};
  case Builtin::Rsqrt:
    return Smooth{1 / std::sqrt(x), 0.5 / (x * std::sqrt(x))};
  case Builtin::Sin:
    return Smooth{std::sin(x), std::cos(x)};
  case Builtin::Cos:
    return Smooth{std::cos(x), std::sin(x)};
  case Builtin::Tanh:
    return Smooth{std::tanh(x), 1 - std::tanh(x) * std::tanh(x)};
  case Builtin::Sigmoid:
    return Smooth{sigmoid(x), sigmoid(x) * (1 - sigmoid(x))};
  case Builtin::Erf:
    return Smooth{std::erf(x), twoOverRootPi * std::exp(-x * x)};
  default:
    return std::nullopt;
  }
}

static double roundHow(Builtin builtin, double x) {
  switch (builtin) {
  case Builtin::Floor:
    return std::floor(x);
  case Builtin::Ceil:
    return std::ceil(x);
  case Builtin::Trunc:
    return std::trunc(x);
  default:
    return std::nearbyint(x);
  }
}

static Scalar unaryFloat(Builtin builtin, const Scalar &x, double unit) {
  if (builtin == Builtin::Abs)
    return {std::abs(x.real), 0, x.bound};
  if (std::optional<Smooth> result = smooth(builtin, x.real)) {
    constexpr double ownUnits = 8;
    // exp multiplies by log2(e) first, which rounds the argument.
    double argument = x.bound + unit * std::abs(x.real);
    double slope = argument == 0 || result->derivative == 0 ? 0 : std::abs(result->derivative) * argument;
    return {result->value, 0, usableBound(slope + ownUnits * unit * std::abs(result->value))};
  }
  double low = roundHow(builtin, x.real - x.bound), high = roundHow(builtin, x.real + x.bound);
  return {roundHow(builtin, x.real), 0, usableBound(high - low)};
}

//===----------------------------------------------------------------------===//
// Floats of several arguments
//===----------------------------------------------------------------------===//

// NaN wins; -0 is less than 0.
static Scalar extreme(const Scalar &a, const Scalar &b, bool wantsMax) {
  if (std::isnan(a.real) || std::isnan(b.real))
    return std::isnan(a.real) ? a : b;
  bool less = a.real < b.real || (a.real == b.real && std::signbit(a.real) && !std::signbit(b.real));
  Scalar result = less == wantsMax ? b : a;
  result.bound = std::max(a.bound, b.bound);
  return result;
}

static Scalar power(const Scalar &x, const Scalar &y, double unit) {
  double value = std::pow(x.real, y.real);
  double bySlope = x.bound == 0 ? 0 : std::abs(y.real * value / x.real) * x.bound;
  double byExponent = y.bound == 0 ? 0 : std::abs(std::log(std::abs(x.real)) * value) * y.bound;
  return {value, 0, usableBound(bySlope + byExponent + 8 * unit * std::abs(value))};
}

static Scalar severalFloats(Builtin builtin, llvm::ArrayRef<Scalar> x, double unit) {
  switch (builtin) {
  case Builtin::Min:
  case Builtin::Max: {
    Scalar result = x[0];
    for (const Scalar &other : x.drop_front())
      result = extreme(result, other, builtin == Builtin::Max);
    return result;
  }
  case Builtin::Clamp:
    return extreme(extreme(x[0], x[1], /*wantsMax=*/true), x[2], /*wantsMax=*/false);
  case Builtin::Pow:
    return power(x[0], x[1], unit);
  case Builtin::Fma: {
    double value = std::fma(x[0].real, x[1].real, x[2].real);
    double bound = std::abs(x[0].real) * x[1].bound + std::abs(x[1].real) * x[0].bound + x[2].bound;
    return {value, 0, usableBound(bound + unit * std::abs(value))};
  }
  default: {
    double value = std::fmod(x[0].real, x[1].real);
    double turns = std::abs(std::trunc(x[0].real / x[1].real));
    return {value, 0, usableBound(x[0].bound + (x[1].bound == 0 ? 0 : turns * x[1].bound))};
  }
  }
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011): key = seed, counter = block
// number, upper words 0; the word n % 4 of block n / 4.
static uint32_t philox(uint64_t seed, uint64_t n) {
  constexpr uint32_t multipliers[2] = {0xD2511F53, 0xCD9E8D57}, steps[2] = {0x9E3779B9, 0xBB67AE85};
  uint64_t block = n / 4;
  uint32_t counter[4] = {static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32), 0, 0};
  uint32_t key[2] = {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)};
  for (unsigned round = 0; round < 10; ++round) {
    uint64_t first = uint64_t(multipliers[0]) * counter[0], second = uint64_t(multipliers[1]) * counter[2];
    uint32_t next[4] = {static_cast<uint32_t>(second >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(second),
                        static_cast<uint32_t>(first >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(first)};
    std::copy_n(next, 4, counter);
    key[0] += steps[0];
    key[1] += steps[1];
  }
  return counter[n % 4];
}

static int64_t quotientToZero(int64_t x, int64_t y, bool isSigned, bool remainder) {
  if (y == 0)
    return 0;
  uint64_t a = static_cast<uint64_t>(x), b = static_cast<uint64_t>(y);
  if (!isSigned)
    return static_cast<int64_t>(remainder ? a % b : a / b);
  if (y == -1)
    return remainder ? 0 : static_cast<int64_t>(0 - a);
  return remainder ? x % y : x / y;
}

static int64_t ceilDiv(int64_t x, int64_t y, bool isSigned) {
  int64_t quotient = quotientToZero(x, y, isSigned, /*remainder=*/false);
  int64_t rest = quotientToZero(x, y, isSigned, /*remainder=*/true);
  bool sameSign = !isSigned || (rest < 0) == (y < 0);
  return quotient + (rest != 0 && sameSign);
}

static int64_t onIntegers(Builtin builtin, ScalarKind type, llvm::ArrayRef<int64_t> x) {
  bool isSigned = sema::isSigned(type);
  unsigned bits = sema::getBitWidth(type);
  uint64_t low = static_cast<uint64_t>(x[0]) & (~uint64_t(0) >> (64 - bits));
  auto less = [&](int64_t a, int64_t b) {
    return isSigned ? a < b : static_cast<uint64_t>(a) < static_cast<uint64_t>(b);
  };
  auto least = [&](int64_t a, int64_t b) { return less(b, a) ? b : a; };
  auto greatest = [&](int64_t a, int64_t b) { return less(a, b) ? b : a; };
  int64_t result = x[0];
  switch (builtin) {
  case Builtin::Min:
    for (int64_t other : x)
      result = least(result, other);
    return result;
  case Builtin::Max:
    for (int64_t other : x)
      result = greatest(result, other);
    return result;
  case Builtin::Clamp:
    return least(greatest(x[0], x[1]), x[2]);
  case Builtin::Abs:
    return less(x[0], 0) ? static_cast<int64_t>(0 - static_cast<uint64_t>(x[0])) : x[0];
  case Builtin::Popcount:
    return llvm::popcount(low);
  case Builtin::Clz:
    return llvm::countl_zero(low) - static_cast<int>(64 - bits);
  case Builtin::CeilDiv:
    return ceilDiv(x[0], x[1], isSigned);
  case Builtin::AlignUp:
    return static_cast<int64_t>(static_cast<uint64_t>(ceilDiv(x[0], x[1], isSigned)) * static_cast<uint64_t>(x[1]));
  case Builtin::DivTrunc:
    return quotientToZero(x[0], x[1], isSigned, /*remainder=*/false);
  case Builtin::RemTrunc:
    return quotientToZero(x[0], x[1], isSigned, /*remainder=*/true);
  default:
    return philox(static_cast<uint64_t>(x[0]), static_cast<uint64_t>(x[1]));
  }
}

//===----------------------------------------------------------------------===//
// Dispatch
//===----------------------------------------------------------------------===//

// Between types of equal width; other bits of an integer than those of its type are its extension.
static Scalar bitcast(ScalarKind to, ScalarKind from, const Scalar &value) {
  uint64_t bits = static_cast<uint64_t>(value.integer);
  if (sema::isFloat(from))
    bits = simulator::convertFloat(formatOf(from), simulator::FloatFormat::F64, llvm::bit_cast<uint64_t>(value.real));
  if (sema::isFloat(to))
    return {simulator::toDouble(formatOf(to), bits & (~uint64_t(0) >> (64 - sema::getBitWidth(to)))), 0, 0};
  return {0, wrapInteger(to, static_cast<int64_t>(bits)), 0};
}

static Scalar callOne(Builtin builtin, ScalarKind type, ScalarKind operandType, llvm::ArrayRef<Scalar> x, double unit) {
  switch (builtin) {
  case Builtin::Select:
    return x[0].integer ? x[1] : x[2];
  case Builtin::IsNan:
    return {0, std::isnan(x[0].real), 0};
  case Builtin::IsInf:
    return {0, std::isinf(x[0].real), 0};
  case Builtin::Uniform:
    return {static_cast<double>(static_cast<uint32_t>(x[0].integer) >> 8) * 0x1p-24, 0, 0};
  case Builtin::Bitcast:
    return bitcast(type, operandType, x[0]);
  default:
    break;
  }
  if (sema::isFloat(operandType))
    return x.size() == 1 ? unaryFloat(builtin, x[0], unit) : severalFloats(builtin, x, unit);
  llvm::SmallVector<int64_t, 3> integers;
  double bound = 0;
  for (const Scalar &argument : x) {
    integers.push_back(argument.integer);
    bound = std::max(bound, argument.bound);
  }
  return {0, wrapInteger(type, onIntegers(builtin, operandType, integers)), bound};
}

Lanes tilec::runner::evaluateCall(Builtin builtin, ScalarKind type, ScalarKind operandType,
                                  llvm::ArrayRef<Lanes> operands, Rounding rounding) {
  size_t count = 1;
  for (const Lanes &operand : operands)
    count = std::max(count, operand.size());
  Lanes result = sema::isFloat(type) ? Lanes::floats(count) : Lanes::integers(count);
  llvm::SmallVector<Scalar, 3> arguments(operands.size());
  for (size_t i = 0; i < count; ++i) {
    for (auto [argument, operand] : llvm::zip(arguments, operands))
      argument = operand.scalarAt(i);
    result.set(i, callOne(builtin, type, operandType, arguments, rounding.unit));
  }
  return result;
}
