// The order in which diverged lanes run.
#ifndef TILEC_SIMULATOR_CONTROLFLOW_H
#define TILEC_SIMULATOR_CONTROLFLOW_H

#include "tilec/Simulator/Program.h"

namespace tilec::simulator {

/// For each instruction its place in a weak topological order (F. Bourdoncle, Efficient chaotic iteration strategies
/// with widenings, 1993): every loop is contiguous, and what is behind a loop or a branch comes after all of it.
std::vector<uint32_t> computeOrder(const Program &program);

} // namespace tilec::simulator

#endif // TILEC_SIMULATOR_CONTROLFLOW_H
