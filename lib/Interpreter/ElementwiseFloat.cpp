// Arithmetic and functions on floats. f32 and narrower types compute in float and round to their type; functions
// compute in double, so that they are correctly rounded in nearly all cases.
#include "Elementwise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace tilec::interpreter;

namespace {

// maximum and minimum of IEEE 754-2019: NaN wins, -0 < +0.
template <typename T> T maximum(T a, T b) {
  if (std::isnan(a) || std::isnan(b))
    return a + b;
  return a == b ? (std::signbit(a) ? b : a) : std::max(a, b);
}
template <typename T> T minimum(T a, T b) {
  if (std::isnan(a) || std::isnan(b))
    return a + b;
  return a == b ? (std::signbit(a) ? a : b) : std::min(a, b);
}

// Applies a generic callable in the precision of the result.
template <typename F, typename... Inputs> TilePtr apply(Operation *op, F f, const Inputs &...inputs) {
  auto result = std::make_shared<Tile>(op->getResult(0).getType());
  if (result->storage == Storage::Double) {
    mapElements<double, double>(*result, f, inputs...);
  } else {
    mapElements<float, float>(*result, f, inputs...);
    if (!result->element.isF32())
      for (float &value : result->singles)
        value = static_cast<float>(roundToFormat(value, result->element));
  }
  (result->addPoison(inputs), ...);
  return result;
}

// A function of double precision.
template <typename F> TilePtr function(Operation *op, Operands operands, F f) {
  if (operands.size() == 1)
    return apply(op, [&](auto x) { return static_cast<decltype(x)>(f(x, 0.0)); }, *operands[0]);
  return apply(op, [&](auto x, auto y) { return static_cast<decltype(x)>(f(x, y)); }, *operands[0], *operands[1]);
}

template <typename T> bool compare(arith::CmpFPredicate predicate, T a, T b) {
  bool unordered = std::isnan(a) || std::isnan(b);
  switch (predicate) {
  case arith::CmpFPredicate::AlwaysFalse:
    return false;
  case arith::CmpFPredicate::OEQ:
    return a == b;
  case arith::CmpFPredicate::OGT:
    return a > b;
  case arith::CmpFPredicate::OGE:
    return a >= b;
  case arith::CmpFPredicate::OLT:
    return a < b;
  case arith::CmpFPredicate::OLE:
    return a <= b;
  case arith::CmpFPredicate::ONE:
    return !unordered && a != b;
  case arith::CmpFPredicate::ORD:
    return !unordered;
  case arith::CmpFPredicate::UEQ:
    return unordered || a == b;
  case arith::CmpFPredicate::UGT:
    return unordered || a > b;
  case arith::CmpFPredicate::UGE:
    return unordered || a >= b;
  case arith::CmpFPredicate::ULT:
    return unordered || a < b;
  case arith::CmpFPredicate::ULE:
    return unordered || a <= b;
  case arith::CmpFPredicate::UNE:
    return a != b;
  case arith::CmpFPredicate::UNO:
    return unordered;
  case arith::CmpFPredicate::AlwaysTrue:
    return true;
  }
  llvm_unreachable("unknown predicate");
}

// A test of floats that gives i1.
template <typename F, typename... Inputs> TilePtr test(Operation *op, F f, const Tile &first, const Inputs &...rest) {
  auto result = std::make_shared<Tile>(op->getResult(0).getType());
  if (first.storage == Storage::Double)
    mapElements<int64_t, double>(*result, f, first, rest...);
  else
    mapElements<int64_t, float>(*result, f, first, rest...);
  result->addPoison(first);
  (result->addPoison(rest), ...);
  return result;
}

TilePtr arithmetic(Operation *op, Operands x) {
  return llvm::TypeSwitch<Operation *, TilePtr>(op)
      .Case<arith::AddFOp>([&](auto) { return apply(op, [](auto a, auto b) { return a + b; }, *x[0], *x[1]); })
      .Case<arith::SubFOp>([&](auto) { return apply(op, [](auto a, auto b) { return a - b; }, *x[0], *x[1]); })
      .Case<arith::MulFOp>([&](auto) { return apply(op, [](auto a, auto b) { return a * b; }, *x[0], *x[1]); })
      .Case<arith::DivFOp>([&](auto) { return apply(op, [](auto a, auto b) { return a / b; }, *x[0], *x[1]); })
      .Case<arith::RemFOp>([&](auto) { return function(op, x, [](double a, double b) { return std::fmod(a, b); }); })
      .Case<arith::NegFOp>([&](auto) { return apply(op, [](auto a) { return -a; }, *x[0]); })
      .Case<arith::MaximumFOp>(
          [&](auto) { return apply(op, [](auto a, auto b) { return maximum(a, b); }, *x[0], *x[1]); })
      .Case<arith::MinimumFOp>(
          [&](auto) { return apply(op, [](auto a, auto b) { return minimum(a, b); }, *x[0], *x[1]); })
      .Case<arith::MaxNumFOp>(
          [&](auto) { return apply(op, [](auto a, auto b) { return std::fmax(a, b); }, *x[0], *x[1]); })
      .Case<arith::MinNumFOp>(
          [&](auto) { return apply(op, [](auto a, auto b) { return std::fmin(a, b); }, *x[0], *x[1]); })
      .Case<arith::CmpFOp>([&](arith::CmpFOp cmp) {
        return test(op, [p = cmp.getPredicate()](auto a, auto b) { return compare(p, a, b); }, *x[0], *x[1]);
      })
      .Case<math::IsNaNOp>([&](auto) { return test(op, [](auto a) { return std::isnan(a); }, *x[0]); })
      .Case<math::IsInfOp>([&](auto) { return test(op, [](auto a) { return std::isinf(a); }, *x[0]); })
      .Case<math::IsFiniteOp>([&](auto) { return test(op, [](auto a) { return std::isfinite(a); }, *x[0]); })
      .Case<math::FmaOp>([&](auto) {
        return apply(op, [](auto a, auto b, auto c) { return std::fma(a, b, c); }, *x[0], *x[1], *x[2]);
      })
      .Default([](auto) { return nullptr; });
}

double roundToEven(double a) { return std::nearbyint(a); }

} // namespace

TilePtr tilec::interpreter::evaluateFloat(Operation *op, Operands x) {
  if (TilePtr result = arithmetic(op, x))
    return result;
  return llvm::TypeSwitch<Operation *, TilePtr>(op)
      .Case<math::ExpOp>([&](auto) { return function(op, x, [](double a, double) { return std::exp(a); }); })
      .Case<math::Exp2Op>([&](auto) { return function(op, x, [](double a, double) { return std::exp2(a); }); })
      .Case<math::LogOp>([&](auto) { return function(op, x, [](double a, double) { return std::log(a); }); })
      .Case<math::Log2Op>([&](auto) { return function(op, x, [](double a, double) { return std::log2(a); }); })
      .Case<math::SqrtOp>([&](auto) { return function(op, x, [](double a, double) { return std::sqrt(a); }); })
      .Case<math::RsqrtOp>([&](auto) { return function(op, x, [](double a, double) { return 1 / std::sqrt(a); }); })
      .Case<math::SinOp>([&](auto) { return function(op, x, [](double a, double) { return std::sin(a); }); })
      .Case<math::CosOp>([&](auto) { return function(op, x, [](double a, double) { return std::cos(a); }); })
      .Case<math::TanhOp>([&](auto) { return function(op, x, [](double a, double) { return std::tanh(a); }); })
      .Case<math::ErfOp>([&](auto) { return function(op, x, [](double a, double) { return std::erf(a); }); })
      .Case<math::PowFOp>([&](auto) { return function(op, x, [](double a, double b) { return std::pow(a, b); }); })
      .Case<math::FloorOp>([&](auto) { return function(op, x, [](double a, double) { return std::floor(a); }); })
      .Case<math::CeilOp>([&](auto) { return function(op, x, [](double a, double) { return std::ceil(a); }); })
      .Case<math::TruncOp>([&](auto) { return function(op, x, [](double a, double) { return std::trunc(a); }); })
      .Case<math::RoundEvenOp>([&](auto) { return function(op, x, [](double a, double) { return roundToEven(a); }); })
      .Case<math::AbsFOp>([&](auto) { return function(op, x, [](double a, double) { return std::fabs(a); }); })
      .Case<math::CopySignOp>(
          [&](auto) { return function(op, x, [](double a, double b) { return std::copysign(a, b); }); })
      .Default([](auto) { return nullptr; });
}
