// How many registers a thread may have so that a multiprocessor holds several blocks.
#ifndef TILEC_MACHINE_OCCUPANCY_H
#define TILEC_MACHINE_OCCUPANCY_H

#include "tilec/Machine/Machine.h"

#include <algorithm>

namespace tilec {

/// Registers are given to warps in units of 256, that is 8 a thread (CUDA C++ Programming Guide, "Compute
/// Capabilities").
constexpr int64_t registerUnit = 8;

/// The most registers of a thread with which `blocks` blocks of `threads` threads share a multiprocessor.
inline int64_t registersOfBlocks(const Machine &machine, int64_t threads, int64_t blocks) {
  return std::min(machine.registers / (threads * blocks) / registerUnit * registerUnit, machine.maxRegistersPerThread);
}

} // namespace tilec

#endif // TILEC_MACHINE_OCCUPANCY_H
