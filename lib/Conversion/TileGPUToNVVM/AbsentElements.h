// Neutral elements at the absent positions of loaded tiles, so that reductions need no masks.
#ifndef TILEC_CONVERSION_TILEGPUTONVVM_ABSENTELEMENTS_H
#define TILEC_CONVERSION_TILEGPUTONVVM_ABSENTELEMENTS_H

#include "tilec/Dialect/TileGPU/TileGPUDialect.h"

namespace tilec {

/// On a tile.load (a number of its element type): what its registers hold outside the view, instead of 0.
constexpr llvm::StringLiteral absentElement = "tilec.absent_element";

/// On a tile.reduce (unit): the registers of absent positions, padding included, hold its neutral element.
constexpr llvm::StringLiteral absentIsNeutral = "tilec.absent_is_neutral";

/// Marks reductions along an axis that ends with the view: sums of what is 0 at absent positions, and maxima and minima
/// of loaded floats of at least 16 bits, whose loads then hold infinities there. Kernels with tilegpu.mma are left
/// alone.
void chooseAbsentElements(tilegpu::KernelOp kernel);

} // namespace tilec

#endif // TILEC_CONVERSION_TILEGPUTONVVM_ABSENTELEMENTS_H
