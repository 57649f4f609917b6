// Runs the mathematical functions on the host and compares them with its library in a wider type. The bounds are those
// of docs/functions.md; with approximations of the hardware off by their documented errors either way.
#include "MathFunctions.h"
#include "HostFunction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "gtest/gtest.h"

#include <cmath>
#include <limits>
#include <random>

using namespace mlir;
using namespace tilec;
using namespace tilec::test;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

using Reference = long double (*)(long double);
using Method = Value (MathFunctions::*)(Value);

/// One expansion, compiled for the host.
template <typename T> class Compiled {
public:
  explicit Compiled(Method method)
      : function(make(1, [=](MathFunctions &f, ArrayRef<Value> x) { return (f.*method)(x[0]); })) {}
  explicit Compiled(Value (MathFunctions::*method)(Value, Value))
      : function(make(2, [=](MathFunctions &f, ArrayRef<Value> x) { return (f.*method)(x[0], x[1]); })) {}

  T operator()(T x) const { return fromBits<T>(function(toBits(x))); }
  T operator()(T x, T y) const { return fromBits<T>(function(toBits(x), toBits(y))); }

private:
  static HostFunction make(unsigned arity, llvm::function_ref<Value(MathFunctions &, ArrayRef<Value>)> build) {
    TypeName type = sizeof(T) == 8 ? "f64" : "f32";
    return HostFunction::fromRegisters(
        SmallVector<TypeName>(arity, type), type, [&](OpBuilder &builder, Location loc, ArrayRef<Value> operands) {
          ConstantPool constants;
          MathFunctions functions(builder, loc, cast<FloatType>(operands[0].getType()), constants);
          return build(functions, operands);
        });
  }
  HostFunction function;
};

/// |got - expected| in units of the last place of T; infinite where class or sign of zero differ.
template <typename T> double distance(T got, long double expected) {
  if (std::isnan(expected) || std::isnan(got))
    return std::isnan(expected) && std::isnan(got) ? 0 : infinity;
  T rounded = static_cast<T>(expected);
  if (got == rounded)
    return got == 0 && expected == 0 && std::signbit(got) != std::signbit(expected) ? infinity : 0;
  // Just below the overflow either of infinity and the largest number is within a unit.
  if (std::isinf(rounded))
    return std::fabs(expected) < std::ldexp(1.0L, std::numeric_limits<T>::max_exponent) * (1 + 0x1p-20L) &&
                   std::fabs(got) == std::numeric_limits<T>::max()
               ? 1
               : infinity;
  if (std::isinf(got))
    return std::fabs(rounded) == std::numeric_limits<T>::max() ? 1 : infinity;
  int exponent = std::max(std::ilogb(rounded), std::numeric_limits<T>::min_exponent - 1);
  return static_cast<double>(std::fabs(got - expected) /
                             std::ldexp(1.0L, exponent - (std::numeric_limits<T>::digits - 1)));
}

/// Numbers of all exponents.
template <typename T> T anyNumber(std::mt19937_64 &random) {
  for (;;) {
    T x = fromBits<T>(random() >> (sizeof(T) == 4 ? 32 : 0));
    if (!std::isnan(x))
      return x;
  }
}

template <typename T> SmallVector<T> specialValues() {
  using Limits = std::numeric_limits<T>;
  SmallVector<T> result;
  for (T x : {T(0), Limits::denorm_min(), Limits::min() / 3, Limits::min(), Limits::epsilon(), T(0.25), T(0.5), T(1),
              T(1.5), T(2), T(3), T(4), T(1000), T(1001), T(0x1p24), Limits::max() / 2, Limits::max(),
              Limits::infinity(), Limits::quiet_NaN()}) {
    result.push_back(x);
    result.push_back(-x);
  }
  return result;
}

struct Range {
  double low, high;
};

/// The largest error over `ranges`, numbers of all exponents, and special values.
template <typename T>
double largestError(const Compiled<T> &function, Reference reference, ArrayRef<Range> ranges, T &where) {
  double result = 0;
  auto check = [&](T x) {
    double error = distance(function(x), reference(x));
    if (error > result) {
      result = error;
      where = x;
    }
  };
  std::mt19937_64 random(1);
  for (auto [low, high] : ranges) {
    std::uniform_real_distribution<double> linear(low, high);
    for (int i = 0; i < 60000; ++i)
      check(static_cast<T>(linear(random)));
  }
  for (int i = 0; i < 60000; ++i)
    check(anyNumber<T>(random));
  for (T x : specialValues<T>())
    check(x);
  // Every bf16 value is an f32.
  for (uint32_t bits = 0; bits < 0x10000 && sizeof(T) == 4; ++bits)
    check(fromBits<T>(static_cast<uint64_t>(bits) << 16));
  return result;
}

/// `bound` holds with approximations that round correctly, `widerBound` with their documented errors.
template <typename T>
void expectWithin(const char *name, Method method, Reference reference, ArrayRef<Range> ranges, double bound,
                  double widerBound = 0) {
  Compiled<T> function(method);
  double errors[3] = {};
  for (int error : {0, 1, -1}) {
    if (error != 0 && widerBound == 0)
      continue;
    approximationError = error;
    T where = 0;
    double found = errors[error + 1] = largestError(function, reference, ranges, where);
    EXPECT_LE(found, error == 0 ? bound : widerBound)
        << name << " at " << where << " is " << function(where) << ", not " << static_cast<double>(reference(where))
        << "; approximations off by " << error;
  }
  approximationError = 0;
  printf("  %-8s f%-3zu %.2f ulp", name, sizeof(T) * 8, errors[1]);
  printf(widerBound > 0 ? ", %.2f ulp\n" : "\n", std::max(errors[0], errors[2]));
}

long double sigmoid(long double x) { return 1 / (1 + std::exp(-x)); }
long double rsqrt(long double x) { return 1 / std::sqrt(x); }
/// exp2 of f32 flushes subnormal results.
long double flushedExp2(long double x) { return x < -126 ? 0.0L : std::exp2(x); }

TEST(MathFunctions, Exp) {
  expectWithin<float>("exp", &MathFunctions::exp, std::exp, {{-104, 89}, {-1, 1}}, 1.1, 3.1);
  expectWithin<double>("exp", &MathFunctions::exp, std::exp, {{-745, 710}, {-1, 1}}, 1);
}
TEST(MathFunctions, Exp2) {
  expectWithin<float>("exp2", &MathFunctions::exp2, flushedExp2, {{-130, 128}, {-1, 1}}, 0.5, 3.1);
  expectWithin<double>("exp2", &MathFunctions::exp2, std::exp2, {{-1075, 1025}, {-1, 1}}, 1);
}
TEST(MathFunctions, Log) {
  expectWithin<float>("log", &MathFunctions::log, std::log, {{0.5, 2}, {0.99, 1.01}, {0, 100}}, 1);
  expectWithin<double>("log", &MathFunctions::log, std::log, {{0.5, 2}, {0.99, 1.01}, {0, 100}}, 1.25);
}
TEST(MathFunctions, Log2) {
  expectWithin<float>("log2", &MathFunctions::log2, std::log2, {{0.5, 2}, {0.99, 1.01}, {0, 100}}, 1);
  expectWithin<double>("log2", &MathFunctions::log2, std::log2, {{0.5, 2}, {0.99, 1.01}, {0, 100}}, 1.75);
}
TEST(MathFunctions, Tanh) {
  expectWithin<float>("tanh", &MathFunctions::tanh, std::tanh, {{-1.5, 1.5}, {-10, 10}}, 1.25, 2.25);
  expectWithin<double>("tanh", &MathFunctions::tanh, std::tanh, {{-1, 1}, {-20, 20}}, 1.75);
}
TEST(MathFunctions, Sigmoid) {
  expectWithin<float>("sigmoid", &MathFunctions::sigmoid, sigmoid, {{-104, 20}, {-2, 2}}, 2.5, 6.5);
  expectWithin<double>("sigmoid", &MathFunctions::sigmoid, sigmoid, {{-745, 40}, {-2, 2}}, 2.5);
}
TEST(MathFunctions, Erf) {
  expectWithin<float>("erf", &MathFunctions::erf, std::erf, {{-1.2, 1.2}, {-5, 5}}, 1.25, 2);
  expectWithin<double>("erf", &MathFunctions::erf, std::erf, {{-1.2, 1.2}, {-7, 7}}, 1.25);
}
TEST(MathFunctions, Rsqrt) {
  expectWithin<float>("rsqrt", &MathFunctions::rsqrt, rsqrt, {{0.25, 4}}, 1, 1);
  expectWithin<double>("rsqrt", &MathFunctions::rsqrt, rsqrt, {{0.25, 4}}, 1);
}
TEST(MathFunctions, Sin) {
  expectWithin<float>("sin", &MathFunctions::sin, std::sin, {{-4, 4}, {-7e4, 7e4}, {-1e9, 1e9}}, 1.75);
  expectWithin<double>("sin", &MathFunctions::sin, std::sin, {{-4, 4}, {-7e4, 7e4}, {-1e9, 1e9}}, 1.75);
}
TEST(MathFunctions, Cos) {
  expectWithin<float>("cos", &MathFunctions::cos, std::cos, {{-4, 4}, {-7e4, 7e4}, {-1e9, 1e9}}, 1.75);
  expectWithin<double>("cos", &MathFunctions::cos, std::cos, {{-4, 4}, {-7e4, 7e4}, {-1e9, 1e9}}, 1.75);
}

/// The arguments that come closest to multiples of pi / 2 (J.-M. Muller, "Elementary Functions", 3rd ed., table 11.1).
TEST(MathFunctions, HardAngles) {
  Compiled<float> sin32(&MathFunctions::sin), cos32(&MathFunctions::cos);
  Compiled<double> sin64(&MathFunctions::sin), cos64(&MathFunctions::cos);
  float hard32 = std::ldexp(16367173.0f, 72);
  double hard64 = std::ldexp(6381956970095103.0, 797);
  EXPECT_LE(distance(cos32(hard32), std::cos(static_cast<long double>(hard32))), 2);
  EXPECT_LE(distance(sin32(hard32), std::sin(static_cast<long double>(hard32))), 2);
  EXPECT_LE(distance(cos64(hard64), std::cos(static_cast<long double>(hard64))), 2);
  EXPECT_LE(distance(sin64(hard64), std::sin(static_cast<long double>(hard64))), 2);
}

long double onePlusTanh(long double x) { return 2 * sigmoid(2 * x); }
long double onePlusErf(long double x) { return std::erfc(-x); }

/// For results of 16 bits: a relative error of at most 2^-16, or an absolute one of `absolute`; below 2^-126 nothing
/// need be left.
void expectNarrow(const char *name, Value (MathFunctions::*method)(MathFunctions::Scaled), Reference reference,
                  double factor, double times, double absolute) {
  HostFunction function =
      HostFunction::fromRegisters({"f32"}, "f32", [&](OpBuilder &builder, Location loc, ArrayRef<Value> operands) {
        ConstantPool constants;
        MathFunctions functions(builder, loc, cast<FloatType>(operands[0].getType()), constants);
        return (functions.*method)({operands[0], factor, times});
      });
  double worst = 0;
  auto check = [&](float x) {
    auto got = fromBits<float>(function(toBits(x)));
    long double expected = times * reference(static_cast<long double>(factor) * x);
    if (std::isnan(x)) {
      EXPECT_TRUE(std::isnan(got)) << name;
      return;
    }
    long double error = std::fabs(got - expected), flushed = times * 0x1p-125L;
    if (error <= absolute * times || (expected < flushed && got >= 0 && got < flushed))
      return;
    worst = std::max(worst, static_cast<double>(error / expected));
    EXPECT_LE(error, expected * 0x1p-16L) << name << " at " << x << " is " << got;
  };
  std::mt19937_64 random(1);
  for (approximationError = -1; approximationError <= 1; ++approximationError) {
    for (double range : {1.0, 6.0, 120.0}) {
      std::uniform_real_distribution<double> linear(-range, range);
      for (int i = 0; i < 60000; ++i)
        check(static_cast<float>(linear(random) / factor));
    }
    for (int i = 0; i < 60000; ++i)
      check(anyNumber<float>(random));
    for (float x : specialValues<float>())
      check(x);
    for (uint32_t bits = 0; bits < 0x10000; ++bits)
      check(fromBits<float>(static_cast<uint64_t>(bits) << 16));
  }
  approximationError = 0;
  printf("  %-8s f32 2^%.1f where it is narrowed\n", name, std::log2(worst));
}

TEST(MathFunctions, Narrow) {
  for (auto [factor, times] : {std::pair(1.0, 1.0), {0.79788456, 0.5}, {0.70710678, 0.5}, {1.702, 2.0}}) {
    expectNarrow("sigmoid", &MathFunctions::narrowSigmoid, sigmoid, factor, times, 0);
    expectNarrow("1 + tanh", &MathFunctions::narrowOnePlusTanh, onePlusTanh, factor, times, 0);
    expectNarrow("1 + erf", &MathFunctions::narrowOnePlusErf, onePlusErf, factor, times, 0x1p-24);
  }
}

template <typename T> void expectRemainder() {
  Compiled<T> remainder(&MathFunctions::remainder);
  std::mt19937_64 random(3);
  auto check = [&](T x, T y) {
    ASSERT_EQ(distance<T>(remainder(x, y), std::fmod(x, y)), 0) << x << " % " << y << " = " << remainder(x, y);
  };
  for (int i = 0; i < 20000; ++i) {
    T x = anyNumber<T>(random), y = anyNumber<T>(random);
    check(x, y);
    check(std::ldexp(x, -std::ilogb(x)), std::ldexp(y, -std::ilogb(y) - i % 64));
  }
  for (T x : specialValues<T>())
    for (T y : specialValues<T>())
      check(x, y);
}

TEST(MathFunctions, Remainder) {
  expectRemainder<float>();
  expectRemainder<double>();
}

template <typename T> void expectPow(double limit, double bound) {
  Compiled<T> pow(&MathFunctions::pow);
  std::mt19937_64 random(2);
  double result = 0;
  std::uniform_real_distribution<double> powers(-limit, limit), near(0.5, 2);
  auto check = [&](T x, T y) {
    long double expected = std::pow(static_cast<long double>(x), static_cast<long double>(y));
    double error = distance(pow(x, y), expected);
    EXPECT_LE(error, bound) << x << " ^ " << y << " = " << pow(x, y) << ", not " << static_cast<double>(expected);
    result = std::max(result, error);
  };
  for (approximationError = -1; approximationError <= 1; ++approximationError) {
    for (int i = 0; i < 60000; ++i) {
      T x = std::fabs(anyNumber<T>(random));
      if (std::isfinite(x) && x > 0 && x != 1)
        check(x, static_cast<T>(powers(random) / std::log(x)));
      x = static_cast<T>(near(random));
      if (x != 1)
        check(x, static_cast<T>(powers(random) / std::log(x)));
      check(-x, std::round(static_cast<T>(powers(random) / 10)));
    }
    for (T x : specialValues<T>())
      for (T y : specialValues<T>())
        check(x, y);
  }
  approximationError = 0;
  printf("  %-8s f%-3zu %.2f ulp\n", "pow", sizeof(T) * 8, result);
}

TEST(MathFunctions, Pow) {
  expectPow<float>(105, 1.25);
  expectPow<double>(746, 1.25);
}

} // namespace
