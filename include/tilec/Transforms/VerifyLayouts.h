// Verification of the contract that `infer-layouts` leaves behind.
#ifndef TILEC_TRANSFORMS_VERIFYLAYOUTS_H
#define TILEC_TRANSFORMS_VERIFYLAYOUTS_H

#include "tilec/Dialect/TileGPU/TileGPUDialect.h"

namespace tilec {

/// Checks that every tile of the kernel has a layout that covers its shape with the threads of its group (those of the
/// enclosing process, after slicing), and that each operation's tiles have layouts that fit together. Reports errors.
mlir::LogicalResult verifyLayouts(tilegpu::KernelOp kernel);

} // namespace tilec

#endif // TILEC_TRANSFORMS_VERIFYLAYOUTS_H
