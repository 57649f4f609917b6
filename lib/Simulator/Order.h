// Ordering through memory: fences, and strong operations that release and acquire (PTX ISA, "Memory Consistency Model",
// release and acquire patterns).
#ifndef TILEC_SIMULATOR_ORDER_H
#define TILEC_SIMULATOR_ORDER_H

#include "tilec/Simulator/Block.h"

namespace tilec::simulator {

/// From the modifiers: .cta, .cluster, or else .gpu and .sys.
Scope scopeOf(const Instruction &instruction);

void fence(Warp &warp, Scope scope);

struct StrongOperation {
  uint64_t key = 0;
  Scope scope = Scope::Device;
  bool acquire = false, release = false;
};
/// What a warp learns by reading at an address.
void strongRead(Warp &warp, const StrongOperation &operation);
/// What it tells by writing there. A write that is no read-modify-write ends the release sequences of others.
void strongWrite(Warp &warp, const StrongOperation &operation, bool readModifyWrite);

} // namespace tilec::simulator

#endif // TILEC_SIMULATOR_ORDER_H
