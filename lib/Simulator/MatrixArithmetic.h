// What mma.sync and wgmma share: operands as doubles, products and accumulators.
#ifndef TILEC_LIB_SIMULATOR_MATRIXARITHMETIC_H
#define TILEC_LIB_SIMULATOR_MATRIXARITHMETIC_H

#include "tilec/Simulator/Mma.h"

namespace tilec::simulator {

/// The value of an element in the lower bits. Floats of at most 32 bits and integers are exact.
double elementValue(MmaType type, uint64_t bits);

/// sums[m][n] = sum over k of a[m][k] * b[k][n].
void multiplyMatrices(const double *a, const double *b, double *sums, unsigned m, unsigned n, unsigned k);

/// The accumulator's bits for sum + c, c given as bits.
uint64_t accumulate(AccumulatorType type, double sum, uint64_t c, bool saturate);

} // namespace tilec::simulator

#endif // TILEC_LIB_SIMULATOR_MATRIXARITHMETIC_H
