// What a thread of a consumer group has in registers, as the plan counts it and the choice of sizes foresees it.
#ifndef TILEC_MACHINE_CONSUMERREGISTERS_H
#define TILEC_MACHINE_CONSUMERREGISTERS_H

#include <cstdint>

namespace tilec {

/// Registers of a thread beside tiles: addresses, masks, counters, what arithmetic is at.
constexpr int64_t registersBesideTiles = 28;

/// Values of some elements on their way through the functions of an epilogue.
constexpr int64_t registersOfEpilogue = 24;

/// The most registers that a consumer's thread asks for: a multiple of 8 (PTX ISA, setmaxnreg) below the 255 that a
/// thread has.
constexpr int64_t mostConsumerRegisters = 240;

/// Registers of a thread whose group has a whole tile of `elements` f32 accumulators: all that is beside them counts.
/// `tiles` are loaded for the epilogue, a part with each unit of it.
constexpr int64_t registersOfWholeTile(int64_t elements, bool hasEpilogue, int64_t tiles) {
  constexpr int64_t registersOfLoads = 8, threads = 128;
  return registersBesideTiles + elements / threads + (hasEpilogue ? registersOfEpilogue : 0) + tiles * registersOfLoads;
}

/// Registers of a vector that is loaded beside it: packed, once in each quad of columns.
constexpr int64_t registersOfVector(int64_t elements, int64_t elementBytes) { return elements / 4 * elementBytes / 4; }

} // namespace tilec

#endif // TILEC_MACHINE_CONSUMERREGISTERS_H
