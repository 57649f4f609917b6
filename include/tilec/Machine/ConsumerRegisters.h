// What a thread of a consumer group has in registers, as the plan counts it and the choice of sizes foresees it.
#ifndef TILEC_MACHINE_CONSUMERREGISTERS_H
#define TILEC_MACHINE_CONSUMERREGISTERS_H

#include <cstdint>

namespace tilec {

/// Registers of a thread beside tiles: addresses, masks, counters, what arithmetic is at.
constexpr int64_t registersBesideTiles = 28;

/// What an epilogue computes: nothing; sums, products and extrema alone; exponentials, sigmoids, tanh and erf too,
/// which results of 16 bits make short (docs/decisions/functions-that-are-narrowed.md); anything.
enum class EpilogueKind { None, Arithmetic, ShortFunctions, Functions };

/// Values of some elements on their way through an epilogue.
constexpr int64_t registersOfEpilogue = 24;

/// The most registers that a consumer's thread asks for: a multiple of 8 (PTX ISA, setmaxnreg) below the 255 that a
/// thread has.
constexpr int64_t mostConsumerRegisters = 240;

/// Accumulators of a thread from which on an epilogue has what is left: vectors come with its units, and fewer elements
/// are on their way at a time.
constexpr int64_t manyAccumulators = 161;

/// Registers of a thread whose group has a whole tile of `elements` f32 accumulators: all that is beside them counts.
/// `tiles` are loaded for the epilogue, a part with each unit of it.
constexpr int64_t registersOfWholeTile(int64_t elements, EpilogueKind epilogue, int64_t tiles) {
  constexpr int64_t registersOfLoads = 8, threads = 128, least[] = {0, 8, 12, registersOfEpilogue};
  int64_t accumulators = elements / threads;
  bool isScarce = accumulators >= manyAccumulators || epilogue == EpilogueKind::None;
  int64_t values = isScarce ? least[static_cast<int>(epilogue)] : registersOfEpilogue;
  return registersBesideTiles + accumulators + values + tiles * registersOfLoads;
}

/// Registers of a vector that is loaded beside a tile of `tile` elements: packed, once in each quad of columns.
constexpr int64_t registersOfVector(int64_t tile, int64_t elements, int64_t elementBytes) {
  constexpr int64_t unitColumns = 64, threads = 128;
  int64_t columns = tile / threads >= manyAccumulators && elements > unitColumns ? unitColumns : elements;
  return columns / 4 * elementBytes / 4;
}

} // namespace tilec

#endif // TILEC_MACHINE_CONSUMERREGISTERS_H
