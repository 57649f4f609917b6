// Work on rows that runs under a product behind a loop.
#ifndef TILEC_CONVERSION_TILEGPUTONVVM_LATEWAITS_H
#define TILEC_CONVERSION_TILEGPUTONVVM_LATEWAITS_H

#include "tilec/Dialect/TileGPU/TileGPUDialect.h"

namespace tilec {

/// A wgmma product at the end of a branch is started, and waited for behind what the operations after the branch do
/// with its other results, as far as that is one number a row (docs/decisions/products-in-flight.md).
void waitBehindRows(tilegpu::KernelOp kernel);

} // namespace tilec

#endif // TILEC_CONVERSION_TILEGPUTONVVM_LATEWAITS_H
