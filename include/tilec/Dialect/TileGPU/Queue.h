// Persistent blocks that take their tiles from a queue (docs/decisions/queues-of-tiles.md).
#ifndef TILEC_DIALECT_TILEGPU_QUEUE_H
#define TILEC_DIALECT_TILEGPU_QUEUE_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace tilec::tilegpu {

/// On a kernel whose persistent loops may take their tiles from a queue: the number of tiles, a host expression.
constexpr llvm::StringLiteral queueName = "tilegpu.queue";

/// The workspace that counts the tiles taken; no name of the source has this form.
constexpr llvm::StringLiteral queueWorkspace = "tilec_queue";

/// In shared memory tiles are handed to a block's processes through a ring: an mbarrier for each slot that says it is
/// full, then one for each that says it is empty, then words of 4 bytes, the tile's number and what it decodes to.
/// Behind them an mbarrier says that the producer has nothing left to do for the block's latest tile.
constexpr int64_t queueSlots = 2, queueWords = 8, queueBytes = queueSlots * (8 + 8 + 4 * queueWords) + 8;

/// Where it lies (bytes, i64), which `plan-shared-memory` sets on the kernel.
constexpr llvm::StringLiteral queueOffsetName = "tilegpu.queue_offset";

} // namespace tilec::tilegpu

#endif // TILEC_DIALECT_TILEGPU_QUEUE_H
