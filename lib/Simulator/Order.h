// Ordering through memory: fences, and strong operations that release and acquire (PTX ISA, "Memory Consistency
// Model").
#ifndef TILEC_SIMULATOR_ORDER_H
#define TILEC_SIMULATOR_ORDER_H

#include "tilec/Simulator/Block.h"

namespace tilec::simulator {

/// A warp's fence: what it knows may be published, what it has observed it knows.
void fence(Warp &warp);
/// A strong read (`reads`) and write (`writes`) of an address; `key` is the generic or shared address.
void strongAccess(Warp &warp, uint64_t key, bool reads, bool writes, bool acquire, bool release);

} // namespace tilec::simulator

#endif // TILEC_SIMULATOR_ORDER_H
