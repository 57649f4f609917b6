// The plan of memory-bound kernels (docs/decisions/threads-of-streaming-kernels.md).
#include "PlanStreams.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tilec/Dialect/TileGPU/TileGPUDialect.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace tilec;

namespace {

constexpr int64_t lanes = 32, vectorBytes = 16, maxWarps = 32;
// Threads of a block that streams with one vector a thread.
constexpr int64_t blockThreads = 256;
// Registers of a thread beside those of its elements: addresses, bounds, temporaries. Fitted to what ptxas reports.
constexpr int64_t otherRegisters = 24;
// More elements than this in a thread leave too few threads to hide anything, or spill.
constexpr int64_t maxElements = 64;
// Elements of a row that one warp takes.
constexpr int64_t warpElements = 512;
constexpr int64_t maxUnrolled = 4;

// What the loads and stores of whole tiles say.
struct Streams {
  /// Elements of the largest tile, and of the largest one that moves from or to memory.
  int64_t elements = 1, moved = 0;
  /// Bytes of the narrowest element among the largest moved tiles.
  int64_t elementBytes = 4;
  /// Whether tiles are loaded in loops: the loads of one turn are all that is in flight.
  bool loops = false;
};

Streams readStreams(tile::KernelOp kernel) {
  Streams streams;
  auto move = [&](Operation *op, Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type)
      return;
    int64_t bytes = tilegpu::elementBytes(type.getElementType());
    if (type.getNumElements() > streams.moved)
      streams.elementBytes = bytes;
    else if (type.getNumElements() == streams.moved)
      streams.elementBytes = std::min(streams.elementBytes, bytes);
    streams.moved = std::max(streams.moved, type.getNumElements());
    streams.loops |= isa<tile::LoadOp>(op) && op->getParentOfType<LoopLikeOpInterface>();
  };
  kernel.walk([&](Operation *op) {
    for (Value result : op->getResults())
      if (auto type = dyn_cast<RankedTensorType>(result.getType()))
        streams.elements = std::max(streams.elements, type.getNumElements());
    if (auto load = dyn_cast<tile::LoadOp>(op))
      move(op, load.getResult());
    else if (isa<tile::StoreOp, tile::AtomicOp>(op))
      move(op, op->getOperand(0));
  });
  return streams;
}

// Bytes that a multiprocessor has on their way if every thread waits for `vectors` vectors.
int64_t bytesInFlight(const Streams &streams, const Machine &machine, int64_t vectors) {
  int64_t elements = vectors * vectorBytes / streams.elementBytes;
  int64_t threads =
      std::min<int64_t>(machine.maxThreadsPerMultiprocessor, machine.registers / (otherRegisters + elements));
  return threads * vectors * vectorBytes;
}

// Vectors of 16 bytes for each thread. A block whose loads all come first overlaps with others at any time: one vector
// while the block stays small, two in larger ones. In a loop nothing but the turn's own loads is in flight, at least
// two.
int64_t vectorsPerThread(const Streams &streams, const Machine &machine, int64_t vectors) {
  if (!streams.loops)
    return vectors <= blockThreads ? 1 : 2;
  int64_t perThread = 2;
  while (bytesInFlight(streams, machine, perThread) < machine.bytesInFlight() &&
         2 * perThread * vectorBytes / streams.elementBytes <= maxElements)
    perThread *= 2;
  return perThread;
}

// Iterations are rows or the like if numbers alone count them.
bool hasIndependentRows(tile::KernelOp kernel) {
  SmallVector<tile::ParallelOp> stages(kernel.getOps<tile::ParallelOp>());
  return stages.size() == 1 && !stages.front().getLower().empty() &&
         llvm::all_of(stages.front().getTiles(), [](int64_t tile) { return tile == 0; });
}

// A loop that only reads: several turns at once keep enough on its way even with one block on each multiprocessor.
void unrollReadingLoops(tile::KernelOp kernel, const Machine &machine, int64_t threads) {
  kernel.walk([&](scf::ForOp loop) {
    int64_t bytes = 0, elements = 0;
    bool reads = true;
    loop.getBody()->walk([&](Operation *op) {
      reads &= !isa<tile::StoreOp, tile::AtomicOp, LoopLikeOpInterface>(op);
      if (auto load = dyn_cast<tile::LoadOp>(op))
        if (auto type = dyn_cast<RankedTensorType>(load.getType())) {
          bytes += type.getNumElements() * tilegpu::elementBytes(type.getElementType());
          elements += type.getNumElements();
        }
    });
    if (!reads || bytes == 0 || loop->hasAttr("tilec.unroll"))
      return;
    int64_t turns = std::min(machine.bytesInFlight() / bytes, maxElements / 2 * threads / elements);
    loop->setAttr("tilec.unroll", Builder(kernel.getContext())
                                      .getI64IntegerAttr(llvm::bit_floor(
                                          static_cast<uint64_t>(std::clamp<int64_t>(turns, 1, maxUnrolled)))));
  });
}

} // namespace

StreamPlan tilec::planStreams(tile::KernelOp kernel, const Machine &machine, int64_t pinned) {
  if (pinned)
    return {pinned, 1};
  Streams streams = readStreams(kernel);
  auto warpsFor = [](int64_t elements, int64_t perThread) {
    return std::min<int64_t>(llvm::PowerOf2Ceil(llvm::divideCeil(elements, perThread * lanes)), maxWarps);
  };
  int64_t vectorElements = vectorBytes / std::min(streams.elementBytes, vectorBytes);
  int64_t vectors = llvm::divideCeil(std::max<int64_t>(streams.moved, 1), vectorElements);
  int64_t warps = warpsFor(vectors, vectorsPerThread(streams, machine, vectors));
  // A warp that has a short row for itself needs no barrier.
  bool independentRows = !streams.loops && hasIndependentRows(kernel);
  if (independentRows && streams.elements <= warpElements)
    warps = 1;
  // Tiles that only arithmetic makes may be larger than what memory sees.
  warps = std::max(warps, warpsFor(streams.elements, maxElements));
  // Long rows fill all registers: fewer threads have fewer registers for anything else.
  auto fits = [&](int64_t warps) {
    int64_t elements = llvm::divideCeil(streams.elements, warps * lanes);
    return otherRegisters + elements + elements / 2 <= machine.registers / (warps * lanes);
  };
  while (!fits(warps) && streams.elements * 2 <= maxElements * warps * lanes)
    warps /= 2;
  unrollReadingLoops(kernel, machine, warps * lanes);
  int64_t rows = blockThreads / (warps * lanes);
  return {warps, independentRows && rows > 1 ? rows : 1};
}
