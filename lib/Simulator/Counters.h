// Counts of one warp instruction's accesses: bank conflicts and sectors.
#ifndef TILEC_SIMULATOR_COUNTERS_H
#define TILEC_SIMULATOR_COUNTERS_H

#include "tilec/Simulator/Warp.h"

namespace tilec::simulator {

/// Adds to the counts of the instruction if the launch counts. `addresses` has 32 entries, those of `lanes` matter.
void countAccess(Warp &warp, const Op &op, LaneMask lanes, Space space, const uint64_t *addresses, unsigned bytes);

} // namespace tilec::simulator

#endif // TILEC_SIMULATOR_COUNTERS_H
