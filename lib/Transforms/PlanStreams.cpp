// The plan of memory-bound kernels (docs/decisions/threads-of-streaming-kernels.md).
#include "PlanStreams.h"

#include "Sources.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tilec/Dialect/Tile/AttributeNames.h"
#include "tilec/Dialect/TileGPU/TileGPUDialect.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace tilec;

namespace {

constexpr int64_t lanes = 32, vectorBytes = 16, wordBytes = 4, maxWarps = 32;
// Threads of a block that streams with one vector a thread, and of one that runs several short rows side by side: these
// end at different times, and the next block waits for all of them.
constexpr int64_t blockThreads = 256, shortRowsThreads = 128;
// Threads of a block that has a multiprocessor for itself; of elements that are widened, which takes several
// instructions each, fewer have more to do at the same time.
constexpr int64_t fewBlocksThreads = 512, wideningThreads = 256;
// Registers of a thread beside those of its elements: addresses, bounds, temporaries. Fitted to what ptxas reports.
constexpr int64_t otherRegisters = 24;
// More elements than this in a thread leave too few threads to hide anything, or spill.
constexpr int64_t maxElements = 64;
// Elements of a row that one warp takes.
constexpr int64_t warpElements = 512;
// A thread's vectors and elements of a row that is held while it is reduced, and the threads from which on it has more.
// Every warp exchanges its partial results, and waits for those of the others.
constexpr int64_t heldVectors = 4, heldElements = 32, heldThreads = 512;
// A thread's vectors at least, where it works on ends of rows as well: these are worth two.
constexpr int64_t partedVectors = 2;
// Such blocks on a multiprocessor: each waits for memory at the same time as others compute and store. Those of a
// cluster wait for each other as well.
constexpr int64_t heldBlocks = 3, clusterBlocksHeld = 4;
// Threads of all blocks on a multiprocessor, each with two rows.
constexpr int64_t pairThreads = 1024;
// Threads of a block in a cluster, until there are as many blocks as a cluster may have.
constexpr int64_t clusterThreads = 256, maxClusterBlocks = 8;
constexpr int64_t maxUnrolled = 4, maxUnrolledWidening = 8;

// What the loads and stores of whole tiles say.
struct Streams {
  /// Elements of the largest tile, and of the largest one that moves from or to memory.
  int64_t elements = 1, moved = 0;
  /// Bytes of the narrowest element among the largest moved tiles.
  int64_t elementBytes = 4;
  /// Whether tiles are loaded in loops: the loads of one turn are all that is in flight.
  bool loops = false;
  /// Whether rows are parted into vectors and ends, which each thread works on as well.
  bool parted = false;
  /// Loaded tensors whose elements a block holds while it reduces them, if rows are independent; else 0. Of one row,
  /// where an iteration takes several.
  int64_t held = 0, rows = 1;
  /// Whether these elements come in whole words; if not, each takes a register.
  bool words = true;
  /// Whether they come in whole vectors.
  bool vectors = true;

  /// Whether few blocks widen all that they read.
  bool fewWiden() const { return fewBlocks && elementBytes < wordBytes; }
  int64_t mostElements() const { return words && !parted ? maxElements : heldElements; }
  /// Whether blocks take tiles and read in loops, such as all rows of some columns: hardly more blocks than the machine
  /// has multiprocessors.
  bool fewBlocks = false;
};

// Not counting the misalignment of what `other` chooses.
bool dependsOn(Value value, Value other) {
  return anySource(value, [&](Value source) {
    if (isa_and_nonnull<tile::MisalignmentOp>(source.getDefiningOp()))
      return WalkResult::skip();
    return source == other ? WalkResult::interrupt() : WalkResult::advance();
  });
}

// What some iterations of the stage load as well, such as the weights of a norm, comes from a cache.
bool isOwn(tile::LoadOp load) {
  auto stage = load->getParentOfType<tile::ParallelOp>();
  return !stage || llvm::all_of(stage.getBody().getArguments(), [&](Value number) {
    return dependsOn(load.getView(), number) ||
           llvm::any_of(load.getSubscripts(), [&](Value subscript) { return dependsOn(subscript, number); });
  });
}

int64_t bytesOf(tile::LoadOp load) {
  auto type = dyn_cast<RankedTensorType>(load.getType());
  return type ? type.getNumElements() * tilegpu::elementBytes(type.getElementType()) : 0;
}

// Turns of all loops around an operation that run at once.
int64_t unrolledTurns(Operation *op) {
  int64_t turns = 1;
  for (auto loop = op->getParentOfType<scf::ForOp>(); loop; loop = loop->getParentOfType<scf::ForOp>())
    if (auto factor = loop->getAttrOfType<IntegerAttr>(tile::unrollName))
      turns *= factor.getInt();
  return turns;
}

// Iterations are rows or the like if numbers alone count them.
bool hasIndependentRows(tile::KernelOp kernel) {
  SmallVector<tile::ParallelOp> stages(kernel.getOps<tile::ParallelOp>());
  return stages.size() == 1 && !stages.front().getLower().empty() &&
         llvm::all_of(stages.front().getTiles(), [](int64_t tile) { return tile == 0; });
}

bool storesInLoops(tile::KernelOp kernel) {
  return kernel
      .walk([](Operation *op) {
        bool found = isa<tile::StoreOp, tile::AtomicOp>(op) && op->getParentOfType<LoopLikeOpInterface>();
        return found ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

// What such kernels read is read once: in the second-level cache it need not stay, nor drive out dirty lines, whose
// write-back costs bandwidth.
void readOnce(tile::KernelOp kernel, bool inLoops) {
  kernel.walk([&](tile::LoadOp load) {
    if (bytesOf(load) > 0 && isOwn(load) && (!inLoops || load->getParentOfType<LoopLikeOpInterface>()))
      evictFirst(load);
  });
}

bool storesTiles(tile::KernelOp kernel) {
  return kernel
      .walk([](Operation *op) {
        bool found = isa<tile::StoreOp, tile::AtomicOp>(op) && isa<RankedTensorType>(op->getOperand(0).getType());
        return found ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

// Loads of different loops are not on their way together. 0 if one reads what another has read: more blocks would drive
// it out of the caches.
int64_t ownBytes(tile::KernelOp kernel) {
  llvm::SmallDenseMap<Block *, int64_t> bytes;
  llvm::SmallDenseMap<Value, Block *> readers;
  int64_t most = 0;
  bool again = false;
  kernel.walk([&](tile::LoadOp load) {
    if (!isOwn(load) || bytesOf(load) == 0)
      return;
    most = std::max(most, bytes[load->getBlock()] += bytesOf(load) * unrolledTurns(load));
    again |= readers.try_emplace(load.getView(), load->getBlock()).first->second != load->getBlock();
  });
  return again ? 0 : most;
}

bool reducesTiles(tile::KernelOp kernel) {
  return kernel.walk([](tile::ReduceOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

// Whether what the iterations of the stage load for themselves begins at multiples of so many bytes.
bool comesAligned(tile::LoadOp load, int64_t bytes) {
  auto view = load.getView().getDefiningOp<tile::ViewOp>();
  return bytesOf(load) == 0 || !isOwn(load) || (view && static_cast<int64_t>(view.getAlign().value_or(1)) >= bytes);
}

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
    streams.parted |= op->hasAttr(tile::rowPartName);
    if (auto row = op->getAttrOfType<IntegerAttr>(tile::iterationName))
      streams.rows = std::max(streams.rows, row.getInt() + 1);
    if (auto load = dyn_cast<tile::LoadOp>(op)) {
      move(op, load.getResult());
      streams.words &= comesAligned(load, wordBytes);
      streams.vectors &= comesAligned(load, vectorBytes);
    } else if (isa<tile::StoreOp, tile::AtomicOp>(op))
      move(op, op->getOperand(0));
  });
  if (!streams.loops && hasIndependentRows(kernel) && reducesTiles(kernel)) {
    int64_t own = ownBytes(kernel) / streams.rows, ofOne = std::max<int64_t>(streams.moved * streams.elementBytes, 1);
    // The ends of a row are not a tensor more.
    streams.held = streams.parted && own > 0 ? std::max<int64_t>(own / ofOne, 1) : llvm::divideCeil(own, ofOne);
  }
  streams.fewBlocks = streams.loops && !hasIndependentRows(kernel) && !storesInLoops(kernel);
  return streams;
}

// Bytes that a multiprocessor has on their way if every thread waits for `vectors` vectors.
int64_t bytesInFlight(const Streams &streams, const Machine &machine, int64_t vectors) {
  int64_t elements = vectors * vectorBytes / streams.elementBytes;
  int64_t threads =
      std::min<int64_t>(machine.maxThreadsPerMultiprocessor, machine.registers / (otherRegisters + elements));
  return threads * vectors * vectorBytes;
}

// Blocks of `threads` threads that bring a multiprocessor to Machine::bytesInFlight(), as many as leave a thread its
// packed loads beside everything else.
int64_t blocksInFlight(int64_t blockBytes, const Machine &machine, int64_t threads, int64_t least = 1,
                       int64_t otherWords = 0) {
  if (blockBytes == 0)
    return 0;
  int64_t words = otherRegisters + otherWords + blockBytes / threads / wordBytes;
  int64_t most = std::min<int64_t>(machine.maxThreadsPerMultiprocessor / threads, machine.registers / threads / words);
  int64_t wanted = std::max<int64_t>(llvm::divideCeil(machine.bytesInFlight(), blockBytes), least);
  return std::clamp<int64_t>(wanted, 1, std::max<int64_t>(most, 1));
}

int64_t leastBlocks(const Streams &streams, int64_t threads) {
  if (streams.rows > 1)
    return llvm::divideCeil(pairThreads, threads);
  return streams.held && !streams.parted ? heldBlocks : 1;
}

// Of all tensors together a few vectors, as many more as a block of heldThreads leaves to each. Where a row has more
// than that, half of the threads with twice as many, if more blocks have room then: a quarter of their elements again
// is for those being worked on.
int64_t heldVectorsPerThread(const Streams &streams, const Machine &machine, int64_t vectors) {
  int64_t elements = vectorBytes / streams.elementBytes;
  int64_t perThread = std::clamp<int64_t>(heldVectors / streams.held, 1, std::max<int64_t>(heldElements / elements, 1));
  auto mayDouble = [&] { return 2 * perThread * elements <= streams.mostElements(); };
  while (vectors > perThread * heldThreads && mayDouble())
    perThread *= 2;
  int64_t bytes = vectors * streams.held * vectorBytes,
          threads = llvm::PowerOf2Ceil(llvm::divideCeil(vectors, perThread));
  bool isLong = vectors * streams.held > heldVectors * heldThreads && threads > blockThreads;
  if (isLong && mayDouble() &&
      blocksInFlight(bytes, machine, threads / 2, heldBlocks, bytes / (threads / 2) / wordBytes / 4) >
          blocksInFlight(bytes, machine, threads, heldBlocks))
    perThread *= 2;
  return perThread;
}

// Vectors of 16 bytes for each thread. A block whose loads all come first overlaps with others at any time: one vector
// while the block stays small, two in larger ones. In a loop nothing but the turn's own loads is in flight, at least
// two. Where there are few blocks, each has many threads.
int64_t vectorsPerThread(const Streams &streams, const Machine &machine, int64_t vectors) {
  int64_t least = streams.parted ? partedVectors : 1;
  if (!streams.loops && streams.held)
    return std::max(heldVectorsPerThread(streams, machine, vectors), least);
  if (!streams.loops && streams.parted)
    return least;
  if (!streams.loops)
    return vectors <= blockThreads ? 1 : 2;
  if (streams.fewBlocks)
    return llvm::divideCeil(vectors, streams.fewWiden() ? wideningThreads : fewBlocksThreads);
  int64_t perThread = 2;
  while (bytesInFlight(streams, machine, perThread) < machine.bytesInFlight() &&
         2 * perThread * vectorBytes / streams.elementBytes <= maxElements)
    perThread *= 2;
  return perThread;
}

// A loop that only reads: several turns at once keep enough on its way even with one block on each multiprocessor.
void unrollReadingLoops(tile::KernelOp kernel, const Machine &machine, const Streams &streams, int64_t threads) {
  kernel.walk([&](scf::ForOp loop) {
    int64_t bytes = 0, elements = 0;
    bool reads = true;
    loop.getBody()->walk([&](Operation *op) {
      reads &= !isa<tile::StoreOp, tile::AtomicOp, LoopLikeOpInterface>(op);
      // Beside a tile, vectors along its sides are nothing.
      if (auto load = dyn_cast<tile::LoadOp>(op))
        if (auto type = dyn_cast<RankedTensorType>(load.getType()); type && 8 * type.getNumElements() > streams.moved) {
          bytes += bytesOf(load);
          elements += type.getNumElements();
        }
    });
    if (!reads || bytes == 0 || loop->hasAttr(tile::unrollName))
      return;
    // Registers hold packed elements until they are added up; a row is worked on in every turn.
    int64_t registers = streams.fewBlocks && streams.words ? llvm::divideCeil(bytes, wordBytes) : elements;
    int64_t turns = std::min(machine.bytesInFlight() / bytes, maxElements / 2 * threads / registers);
    // Widening takes time in which the block's loads wait: twice the bytes, in up to half of the registers; less where
    // loads are small.
    if (streams.fewWiden())
      turns = std::min<int64_t>(llvm::divideCeil(2 * machine.bytesInFlight(), bytes),
                                machine.registers / (streams.vectors ? 2 : 4) / registers);
    int64_t most = streams.fewWiden() ? maxUnrolledWidening : maxUnrolled;
    loop->setAttr(tile::unrollName,
                  Builder(kernel.getContext())
                      .getI64IntegerAttr(llvm::bit_floor(static_cast<uint64_t>(std::clamp<int64_t>(turns, 1, most)))));
  });
}

// The range that moves along the rows of what is stored: blocks that run together then write whole pages. None if it is
// the last one anyway, or stores differ.
std::optional<unsigned> fastestRange(tile::KernelOp kernel) {
  SmallVector<tile::ParallelOp> stages(kernel.getOps<tile::ParallelOp>());
  if (stages.size() != 1)
    return std::nullopt;
  auto ranges = stages.front().getBody().getArguments();
  auto movedBy = [&](Value subscript) {
    SmallVector<unsigned> numbers;
    for (auto [i, number] : llvm::enumerate(ranges))
      if (dependsOn(subscript, number))
        numbers.push_back(i);
    return numbers;
  };
  std::optional<unsigned> fastest;
  bool equal = true;
  kernel.walk([&](tile::StoreOp store) {
    SmallVector<unsigned> numbers = movedBy(store.getSubscripts().back());
    equal &= numbers.size() == 1 && store.getSubscripts().size() > 1 && (!fastest || *fastest == numbers.front());
    if (numbers.size() == 1)
      fastest = numbers.front();
  });
  return equal && fastest && *fastest + 1 < ranges.size() ? fastest : std::nullopt;
}

// Rows in one dimension, reduced outside of loops and branches: what the lowering can spread over a cluster.
bool fitsCluster(tile::KernelOp kernel) {
  bool reduces = false;
  WalkResult result = kernel.walk([&](Operation *op) {
    if (auto reduce = dyn_cast<tile::ReduceOp>(op)) {
      Type element = getElementTypeOrSelf(reduce.getInput().getType());
      reduces = true;
      if (!element.isIntOrFloat() || !llvm::is_contained({16u, 32u, 64u}, element.getIntOrFloatBitWidth()))
        return WalkResult::interrupt();
    }
    auto load = dyn_cast<tile::LoadOp>(op);
    auto view = load ? load.getView().getDefiningOp<tile::ViewOp>() : tile::ViewOp();
    bool flat = llvm::all_of(op->getResultTypes(), [](Type type) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      return !tensor || tensor.getRank() <= 1;
    });
    bool nested = op->getNumRegions() > 0 && !isa<tile::KernelOp, tile::ParallelOp>(op);
    bool fits = flat && !nested && !isa<tile::AtomicOp>(op) && (!view || view.getAccess() == tile::Access::in);
    return fits ? WalkResult::advance() : WalkResult::interrupt();
  });
  return reduces && !result.wasInterrupted();
}

// A row that a block of heldThreads does not hold, over blocks of fewer threads with as many elements each. In the
// largest cluster a thread has up to twice as many before there are more threads.
std::optional<StreamPlan> clusterFor(tile::KernelOp kernel, const Machine &machine, const Streams &streams,
                                     int64_t vectors) {
  int64_t perThread = std::max<int64_t>(streams.mostElements() * streams.elementBytes / vectorBytes, 1);
  if (!machine.hasTma || !streams.held || vectors <= perThread * heldThreads || !fitsCluster(kernel))
    return std::nullopt;
  int64_t perBlock = perThread * clusterThreads;
  int64_t blocks = std::min<int64_t>(llvm::PowerOf2Ceil(llvm::divideCeil(vectors, perBlock)), maxClusterBlocks);
  int64_t more = llvm::PowerOf2Ceil(llvm::divideCeil(vectors, 2 * perBlock * blocks));
  int64_t threads = std::min<int64_t>(clusterThreads * more, maxWarps * lanes);
  StreamPlan plan{blocks * threads / lanes, 1,
                  blocksInFlight(ownBytes(kernel) / blocks, machine, threads, clusterBlocksHeld)};
  plan.cluster = blocks;
  return plan;
}

} // namespace

void tilec::evictFirst(tile::LoadOp load) {
  if (load.getAnnotations().get("evict"))
    return;
  NamedAttrList annotations(load.getAnnotations());
  annotations.set("evict", StringAttr::get(load.getContext(), "first"));
  load.setAnnotationsAttr(annotations.getDictionary(load.getContext()));
}

StreamPlan tilec::planStreams(tile::KernelOp kernel, const Machine &machine, int64_t pinned) {
  if (pinned)
    return {pinned, 1};
  Streams streams = readStreams(kernel);
  auto warpsFor = [](int64_t elements, int64_t perThread) {
    return std::min<int64_t>(llvm::PowerOf2Ceil(llvm::divideCeil(elements, perThread * lanes)), maxWarps);
  };
  int64_t vectorElements = vectorBytes / std::min(streams.elementBytes, vectorBytes);
  int64_t vectors = llvm::divideCeil(std::max<int64_t>(streams.moved, 1), vectorElements);
  if (!streams.loops)
    if (std::optional<StreamPlan> plan = clusterFor(kernel, machine, streams, vectors))
      return *plan;
  int64_t warps = warpsFor(vectors, vectorsPerThread(streams, machine, vectors));
  // A warp that has a short row for itself needs no barrier.
  bool independentRows = !streams.loops && hasIndependentRows(kernel);
  if (independentRows && streams.elements <= warpElements)
    warps = 1;
  // Tiles that only arithmetic makes may be larger than what memory sees.
  warps = std::max(warps, warpsFor(streams.elements, maxElements));
  // Elements being worked on take a quarter more registers. Where a row does not fit, fewer threads have more each.
  auto fits = [&](int64_t warps) {
    int64_t elements = llvm::divideCeil(streams.elements, warps * lanes);
    return otherRegisters + elements + elements / 4 <= machine.registers / (warps * lanes);
  };
  while (!fits(warps) && streams.elements * 2 <= maxElements * warps * lanes)
    warps /= 2;
  unrollReadingLoops(kernel, machine, streams, warps * lanes);
  if (streams.fewWiden() || (streams.held && streams.vectors && !streams.parted && !storesTiles(kernel)))
    readOnce(kernel, /*inLoops=*/streams.loops);
  int64_t rows = independentRows ? std::max<int64_t>(shortRowsThreads / (warps * lanes), 1) : 1;
  int64_t blocks = blocksInFlight(rows * ownBytes(kernel), machine, rows * warps * lanes,
                                  leastBlocks(streams, rows * warps * lanes));
  return {warps, rows, blocks, fastestRange(kernel)};
}
