// What loads put where an axis has no position, so that reductions need no masks.
#ifndef TILEC_CONVERSION_TILEGPUTONVVM_ABSENTELEMENTS_H
#define TILEC_CONVERSION_TILEGPUTONVVM_ABSENTELEMENTS_H

#include "tilec/Dialect/TileGPU/TileGPUDialect.h"

namespace tilec {

/// On a tile.load (a number of its element type): what its registers hold outside the view, instead of 0.
constexpr llvm::StringLiteral absentElement = "tilec.absent_element";

/// On a tile.reduce (unit): the registers of absent positions, padding included, hold its neutral element or a zero
/// that a sum takes for it.
constexpr llvm::StringLiteral absentIsNeutral = "tilec.absent_is_neutral";

/// Marks reductions of what is loaded along an axis that ends with the view: sums of zeros, and maxima and minima, for
/// which the loads hold infinities. Elements at absent positions are poison, any value will do.
void chooseAbsentElements(tilegpu::KernelOp kernel);

} // namespace tilec

#endif // TILEC_CONVERSION_TILEGPUTONVVM_ABSENTELEMENTS_H
