// How kernels without products, which memory bounds, spread over threads and blocks.
#ifndef TILEC_LIB_TRANSFORMS_PLANSTREAMS_H
#define TILEC_LIB_TRANSFORMS_PLANSTREAMS_H

#include "tilec/Dialect/Tile/TileDialect.h"
#include "tilec/Machine/Machine.h"

#include <optional>

namespace tilec {

struct StreamPlan {
  /// Warps that share one iteration of the stage.
  int64_t warps;
  /// Iterations that a block runs side by side, each with its own warps; more than 1 only for small ones.
  int64_t iterations;
  /// Blocks that a multiprocessor should hold at once, so that enough bytes are on their way; 0 if any number will do.
  int64_t blocks = 0;
  /// The range of the stage whose numbers step from block to block, if it is not the last one.
  std::optional<unsigned> fastest = std::nullopt;
  /// Blocks of a cluster that share one iteration, and its warps.
  int64_t cluster = 1;
};

/// The plan of a kernel without products. `pinned` are the warps of an annotation, or 0.
StreamPlan planStreams(tile::KernelOp kernel, const Machine &machine, int64_t pinned);

/// Marks a load of what is read once: lines leave the caches first, unless an annotation of the source says otherwise.
void evictFirst(tile::LoadOp load);

} // namespace tilec

#endif // TILEC_LIB_TRANSFORMS_PLANSTREAMS_H
