// What a tensor map, and with it a transfer by TMA, can describe (CUDA driver API, cuTensorMapEncodeTiled).
#ifndef TILEC_DIALECT_TILEGPU_TENSORMAPLIMITS_H
#define TILEC_DIALECT_TILEGPU_TENSORMAPLIMITS_H

#include <cstdint>

namespace tilec::tilegpu {

constexpr int64_t maxTensorRank = 5;

/// Of a box, in elements.
constexpr int64_t maxBoxExtent = 256;

/// In bytes: of the base address, of all strides but the innermost one, and of a box's rows.
constexpr int64_t tensorAlignment = 16;

} // namespace tilec::tilegpu

#endif // TILEC_DIALECT_TILEGPU_TENSORMAPLIMITS_H
