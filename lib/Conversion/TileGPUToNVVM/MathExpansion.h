// The pass expand-math.
#ifndef TILEC_CONVERSION_TILEGPUTONVVM_MATHEXPANSION_H
#define TILEC_CONVERSION_TILEGPUTONVVM_MATHEXPANSION_H

#include "mlir/Pass/Pass.h"

#include <memory>

namespace tilec {

/// Replaces functions of f32 and f64 scalars in a module by arithmetic, `math.fma` and approximations of the hardware.
std::unique_ptr<mlir::Pass> createExpandMathPass();

} // namespace tilec

#endif // TILEC_CONVERSION_TILEGPUTONVVM_MATHEXPANSION_H
