// What mma.sync and wgmma share: operands as doubles, and how Tensor Cores add (Mma.h).
#ifndef TILEC_LIB_SIMULATOR_MATRIXARITHMETIC_H
#define TILEC_LIB_SIMULATOR_MATRIXARITHMETIC_H

#include "tilec/Simulator/Mma.h"
#include <vector>

namespace tilec::simulator {

/// The value of an element in the lower bits. Floats of at most 32 bits and integers are exact.
double elementValue(MmaType type, uint64_t bits);

/// The value of an accumulator; integers are signed.
double accumulatorValue(AccumulatorType type, uint64_t bits);

/// a[m][k], b[k][n], c[m][n] and the results, all row-major. Scratch that callers keep, so that an instruction does not
/// allocate.
struct MatrixProblem {
  unsigned m = 0, n = 0, k = 0;
  MmaType typeA = MmaType::F16, typeB = MmaType::F16;
  AccumulatorType accumulator = AccumulatorType::F32;
  /// Bits of the fraction to which addends are cut off, counted from the largest exponent (Mma.h).
  unsigned fractionBits = 25;
  std::vector<double> a, b, c;
  std::vector<double> results;

  void resize(unsigned rows, unsigned columns, unsigned depth);
  /// results = exact sums of products, without c.
  void multiply();
  /// results = c plus the products of k in [first, last), added and cut off as Tensor Cores do, not rounded yet.
  void multiplyAligned(unsigned first, unsigned last);

private:
  /// Values, zero in place of infinities and NaN, and exponents.
  struct Aligned {
    std::vector<double> values;
    std::vector<float> exponents;
    void set(const std::vector<double> &elements, MmaType type);
  };
  Aligned alignedA, alignedB;
  std::vector<float> largest;
  std::vector<double> scales;
};

/// Towards zero to f32, keeping `mantissaBits` bits of the mantissa.
double cutOff(double value, unsigned mantissaBits);

/// The bits of an accumulator. Floats that are not exact are rounded to nearest; NaN is canonical.
uint64_t accumulatorBits(AccumulatorType type, double value);

/// The bits of an integer accumulator sum + c.
uint64_t accumulateInteger(double sum, uint64_t c, bool saturate);

} // namespace tilec::simulator

#endif // TILEC_LIB_SIMULATOR_MATRIXARITHMETIC_H
