// Facts about presence and bounds that operations carry as attributes.
#ifndef TILEC_TRANSFORMS_FACTS_H
#define TILEC_TRANSFORMS_FACTS_H

#include "mlir/IR/Operation.h"

namespace tilec {

/// Sets `inbounds` and `full` of all loads, stores, atomics, dots and reductions under `root` to what is provable now.
void markFacts(mlir::Operation *root);

/// Whether elements at present positions of a subscript (at all positions, if `all`) are provably inside a dimension of
/// this size.
bool isInbounds(mlir::Value subscript, mlir::Value size, bool all);

} // namespace tilec

#endif // TILEC_TRANSFORMS_FACTS_H
