// Consumer groups that take whole tiles in turns.
#ifndef TILEC_LIB_TRANSFORMS_ALTERNATEGROUPS_H
#define TILEC_LIB_TRANSFORMS_ALTERNATEGROUPS_H

#include "tilec/Dialect/TileGPU/TileGPUDialect.h"

namespace tilec {

/// Makes `groups` groups of a consumer process whose persistent loop runs over the tiles of a block: group g takes the
/// tiles g, g + groups, ... and the items that came for them. In a tile, all its items are received in one turn of the
/// group. False, and nothing changed, where not every tile has the same number of items.
bool alternateGroups(tilegpu::ProcessOp process, int64_t groups);

} // namespace tilec

#endif // TILEC_LIB_TRANSFORMS_ALTERNATEGROUPS_H
