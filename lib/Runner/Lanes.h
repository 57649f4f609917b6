// Values of reference expressions: a few numbers side by side, floats in double precision with a bound of the error
// that a kernel may make in computing them.
#ifndef TILEC_RUNNER_LANES_H
#define TILEC_RUNNER_LANES_H

#include "tilec/Sema/TypedExpr.h"
#include "tilec/Simulator/FloatFormat.h"
#include <cmath>
#include <vector>

namespace tilec::runner {

/// One number. Bool and integers are in `integer` (64-bit two's complement of the type's value; u64 as its bits).
struct Scalar {
  double real = 0;
  int64_t integer = 0;
  /// The absolute error that a kernel may make here; of integers it is not 0 where a float was about to round either
  /// way.
  double bound = 0;
};

/// One number for each position of an axis, or one for all of them.
struct Lanes {
  bool isFloat = false;
  std::vector<double> real;
  std::vector<int64_t> integer;
  /// As long as the numbers, or empty for exact ones.
  std::vector<double> bound;

  static Lanes floats(size_t count);
  static Lanes integers(size_t count);
  static Lanes of(bool isFloat, const Scalar &scalar);
  size_t size() const { return isFloat ? real.size() : integer.size(); }
  size_t at(size_t lane) const { return size() == 1 ? 0 : lane; }
  double realAt(size_t lane) const { return real[at(lane)]; }
  int64_t integerAt(size_t lane) const { return integer[at(lane)]; }
  double boundAt(size_t lane) const { return bound.empty() ? 0 : bound[at(lane)]; }
  Scalar scalarAt(size_t lane) const;
  void set(size_t lane, const Scalar &scalar);
};

/// A bound that is no number bounds nothing: the values are then compared as they are.
inline double usableBound(double bound) { return std::isfinite(bound) ? bound : 0; }

/// How the kernel rounds: `unit` is twice the relative error of one operation of its arithmetic (f32, or f64 where the
/// result is).
struct Rounding {
  double unit = 0x1p-23;
};

/// The format of a float type, f64 for every other.
simulator::FloatFormat formatOf(ScalarKind kind);

/// The integer as the type keeps it: its low bits, extended by the sign where the type has one.
int64_t wrapInteger(ScalarKind kind, int64_t value);

/// The factor of unit and the sum of magnitudes that bounds the error of a sum: rounding errors of n terms partly
/// cancel.
inline double sumFactor(double count) { return 4 * std::sqrt(count); }

/// `type` is that of the operands.
Lanes evaluateUnary(sema::UnaryOp op, ScalarKind type, const Lanes &operand);
Lanes evaluateBinary(sema::BinaryOp op, ScalarKind type, const Lanes &lhs, const Lanes &rhs, Rounding rounding);
/// Rounds to narrow floats; to f32 and f64 it keeps the double.
Lanes evaluateCast(ScalarKind to, ScalarKind from, const Lanes &operand);
/// `type` is that of the result, `operandType` of the first operand.
Lanes evaluateCall(sema::Builtin builtin, ScalarKind type, ScalarKind operandType, llvm::ArrayRef<Lanes> operands,
                   Rounding rounding);

} // namespace tilec::runner

#endif // TILEC_RUNNER_LANES_H
