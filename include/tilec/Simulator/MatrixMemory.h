// ldmatrix and stmatrix: 8x8 matrices of 16-bit elements between rows in shared memory and the registers of a warp (PTX
// ISA, "Warp-level matrix load instruction: ldmatrix").
//
// Row r of matrix i lies at the address that lane 8 i + r gives. Lane l holds elements 2 (l mod 4) and the next of row
// l / 4, or with .trans of column l / 4.
#ifndef TILEC_SIMULATOR_MATRIXMEMORY_H
#define TILEC_SIMULATOR_MATRIXMEMORY_H

#include "llvm/ADT/ArrayRef.h"
#include <array>
#include <cstdint>

namespace tilec::simulator {

using MatrixRow = std::array<uint16_t, 8>;

/// The 32 values of each register from the rows of `registers.size()` matrices, in the order of the lanes that give
/// addresses.
void loadMatrices(llvm::ArrayRef<MatrixRow> rows, bool transpose, llvm::ArrayRef<uint64_t *> registers);

/// The rows from the registers; only the lower 32 bits count.
void storeMatrices(llvm::ArrayRef<const uint64_t *> registers, bool transpose, llvm::MutableArrayRef<MatrixRow> rows);

} // namespace tilec::simulator

#endif // TILEC_SIMULATOR_MATRIXMEMORY_H
