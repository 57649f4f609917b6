// Calls of functions in PTX.
#ifndef TILEC_SIMULATOR_CALLS_H
#define TILEC_SIMULATOR_CALLS_H

#include "tilec/Simulator/Ptx.h"

namespace tilec::simulator {

/// Replaces every call by the body of its function. Fails for functions that are not defined, that call themselves, or
/// whose arguments do not fit.
llvm::Error inlineCalls(PtxModule &module);

} // namespace tilec::simulator

#endif // TILEC_SIMULATOR_CALLS_H
