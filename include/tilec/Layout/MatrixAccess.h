// MatrixAccess: when a register tile can be read by ldmatrix or written by stmatrix, and with which registers.
#ifndef TILEC_LAYOUT_MATRIXACCESS_H
#define TILEC_LAYOUT_MATRIXACCESS_H

#include "tilec/Layout/Layout.h"

namespace tilec {

/// ldmatrix and stmatrix move 8x8 matrices of 16-bit units: 8 rows of 16 contiguous bytes, whose addresses come from 8
/// lanes, while lane l holds 4 bytes of each matrix, bytes 4 * (l % 4) of row l / 4; with `.trans`, for 16-bit
/// elements, column l / 4 of rows 2 * (l % 4) and the next (PTX ISA 9.0, "ldmatrix").
struct MatrixAccess {
  bool transposed = false;
  /// 1, 2 or 4.
  unsigned matricesPerInstruction = 1;

  /// The registers of one matrix that make up one 32-bit operand, first element in the low bits.
  using Operand = llvm::SmallVector<uint32_t, 4>;
  /// The operands of each instruction, in the order of its register list.
  llvm::SmallVector<llvm::SmallVector<Operand, 4>, 0> instructions;

  /// The row whose address a lane gives: registerOffset of the instruction's first register, plus the layout's terms of
  /// owners other than lanes, plus these terms of each dimension. They replace the layout's own lane terms.
  llvm::SmallVector<llvm::SmallVector<Term, 4>, 2> laneTerms;
};

/// The access of a tile of elements of `elementBits` (8, 16 or 32) whose dimension `columnDim` is contiguous in shared
/// memory, in rows along `rowDim`. Every 16-byte row must be 16-byte aligned. None where the layout is not a grid of
/// such matrices. An instruction takes matrices of neighbouring registers, but those that differ by `apart` (a power of
/// two) or more positions of dimension `apartDim` only where there are no others.
std::optional<MatrixAccess> planMatrixAccess(const Layout &layout, unsigned rowDim, unsigned columnDim,
                                             unsigned elementBits, unsigned apartDim = 0, int64_t apart = 0);

} // namespace tilec

#endif // TILEC_LAYOUT_MATRIXACCESS_H
