// Rows that loops read tile by tile, and that are short enough to be held.
#ifndef TILEC_DIALECT_TILE_HELDROWS_H
#define TILEC_DIALECT_TILE_HELDROWS_H

#include <cstdint>

namespace tilec::tile {

/// Tiles of a row, and bytes of what is held of it: 32 registers in each of 512 threads. IR generation makes variants
/// for such rows, and `hold-rows` holds them.
constexpr int64_t maxHeldTiles = 8, maxHeldBytes = 64 * 1024;

} // namespace tilec::tile

#endif // TILEC_DIALECT_TILE_HELDROWS_H
