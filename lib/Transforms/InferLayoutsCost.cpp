// Patterns of memory accesses, and the cost model of layouts.
#include "InferLayoutsCost.h"

#include "mlir/IR/Matchers.h"
#include "tilec/Dialect/Tile/AttributeNames.h"
#include "tilec/Layout/BlockedLayout.h"
#include "tilec/Layout/ConversionPlan.h"
#include "tilec/Layout/MatrixAccess.h"
#include "tilec/Layout/ReductionPlan.h"
#include "tilec/Transforms/AffineIndex.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <set>

using namespace mlir;
using namespace tilec;

static constexpr int64_t vectorBits = 128, lineBytes = 128, sectorBytes = 32, sectorsPerLine = 4;
// Cycles of a warp at the two barriers of an exchange, and at one that stays inside the warp.
static constexpr int64_t barrierCycles = 100, warpBarrierCycles = 10;
// A shuffle occupies the shared-memory pipe for two cycles.
static constexpr int64_t shuffleCycles = 2;
// Even a conversion that only renames registers should have a reason.
static constexpr int64_t leastConversion = 8;
static constexpr int64_t scratchPenalty = 64;

//===----------------------------------------------------------------------===//
// Global memory
//===----------------------------------------------------------------------===//

static int64_t lowBit(int64_t value) { return value & -value; }

static bool flag(ArrayRef<bool> flags, size_t index) { return index < flags.size() && flags[index]; }

// Elements that can move together along dimension `dim` of the tile, which runs along the view's dimension `last`.
static int64_t widestVector(const GlobalOperation &global, const AffineIndex &index, unsigned dim, unsigned last) {
  tile::ViewOp view = global.view;
  auto type = cast<RankedTensorType>(global.value.getType());
  int64_t bits = std::max<int64_t>(registerBits(type), 8);
  int64_t width = std::min(vectorBits / bits, lowBit(type.getDimSize(dim)));
  // Loads from a windowed view shift whole vectors.
  int64_t align =
      view->hasAttr(tile::windowedName) && global.axes.empty() ? vectorBits / 8 : view.getAlign().value_or(1);
  width = std::min(width, std::max<int64_t>(align * 8 / bits, 1));
  for (auto [d, stride] : llvm::enumerate(view.getStrides()))
    if (d != last)
      width = std::min(width, divisorOf(stride));
  width = std::min(width, divisorOf(index.base));
  for (int64_t coefficient : index.coefficients)
    if (coefficient != 1 && coefficient != 0)
      width = std::min(width, lowBit(coefficient));
  if (!flag(global.inbounds, last))
    width = std::min(width, divisorOf(view.getSizes()[last]));
  if (!global.axes.empty() && !flag(global.full, dim)) {
    auto axis = global.axes[dim].getDefiningOp<tile::AxisOp>();
    width = axis ? std::min({width, divisorOf(axis.getStart()), divisorOf(axis.getEnd())}) : 1;
  }
  return std::max<int64_t>(width, 1);
}

// Finds the tile dimension that alone moves the view's dimension of stride 1, by single steps.
static void findContiguous(const GlobalOperation &global, GlobalPattern &pattern) {
  for (unsigned last = global.subscripts.size(); last-- > 0;) {
    APInt stride;
    tile::ViewOp view = global.view;
    if (!matchPattern(view.getStrides()[last], m_ConstantInt(&stride)) || stride != 1)
      continue;
    std::optional<AffineIndex> index = affineIndex(global.subscripts[last]);
    if (!index)
      return;
    SmallVector<int64_t, 4> dims = subscriptDims(global.dims, last);
    for (auto [dim, coefficient] : llvm::zip(dims, index->coefficients)) {
      bool movesOthers = false;
      for (unsigned other = 0; other < global.subscripts.size(); ++other)
        movesOthers |= other != last && llvm::is_contained(subscriptDims(global.dims, other), dim);
      if (movesOthers || std::abs(coefficient) != 1)
        continue;
      pattern.contiguous = static_cast<unsigned>(dim);
      pattern.vector = coefficient == 1 ? widestVector(global, *index, *pattern.contiguous, last) : 1;
      return;
    }
    return;
  }
}

GlobalPattern tilec::globalPattern(const GlobalOperation &global) {
  GlobalPattern pattern;
  if (global.view)
    findContiguous(global, pattern);
  auto append = [&](unsigned dim) {
    if (!llvm::is_contained(pattern.order, dim))
      pattern.order.push_back(dim);
  };
  if (pattern.contiguous)
    append(*pattern.contiguous);
  // The view's dimensions are usually in the order of their strides.
  for (unsigned subscript = global.subscripts.size(); subscript-- > 0;)
    for (int64_t dim : llvm::reverse(subscriptDims(global.dims, subscript)))
      append(dim);
  for (unsigned dim = cast<RankedTensorType>(global.value.getType()).getRank(); dim-- > 0;)
    append(dim);
  return pattern;
}

Layout tilec::coalescedLayout(RankedTensorType type, ArrayRef<unsigned> order, uint32_t vector, int64_t warps) {
  int64_t perThread = std::max<int64_t>(type.getNumElements() / (lanesPerWarp * warps), 1);
  uint32_t busy = static_cast<uint32_t>(llvm::bit_floor(static_cast<uint64_t>(perThread)));
  return blocked(type.getShape(), order, std::min(vector, busy), static_cast<uint32_t>(warps));
}

Layout tilec::reductionLayout(RankedTensorType type, ArrayRef<unsigned> order, uint32_t vector, int64_t warps,
                              ArrayRef<unsigned> reduced) {
  SmallVector<int64_t, 4> kept, shape;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (!llvm::is_contained(reduced, dim)) {
      kept.push_back(dim);
      shape.push_back(type.getDimSize(dim));
    }
  SmallVector<unsigned, 4> keptOrder;
  for (unsigned dim : order)
    if (const auto *it = llvm::find(kept, dim); it != kept.end())
      keptOrder.push_back(it - kept.begin());
  Layout slice = coalescedLayout(RankedTensorType::get(shape, type.getElementType()), keptOrder, vector, warps);
  SmallVector<Layout::DigitList, 4> digits(type.getRank());
  uint32_t registers = slice.numRegisters();
  for (auto [i, dim] : llvm::enumerate(kept))
    digits[dim].assign(slice.digits(i).begin(), slice.digits(i).end());
  for (unsigned dim : reduced) {
    auto extent = static_cast<uint32_t>(type.getDimSize(dim));
    digits[dim].push_back({Owner::Register, registers, extent});
    registers *= extent;
  }
  return *Layout::get(digits, slice.replicated());
}

Layout tilec::defaultLayout(RankedTensorType type, int64_t warps) {
  SmallVector<unsigned, 4> order;
  for (unsigned dim = type.getRank(); dim-- > 0;)
    order.push_back(dim);
  int64_t vector = vectorBits / std::max<int64_t>(registerBits(type), 8);
  if (type.getRank() > 0)
    vector = std::min(vector, lowBit(type.getShape().back()));
  return coalescedLayout(type, order, static_cast<uint32_t>(vector), warps);
}

int64_t LayoutCosts::globalAccess(const GlobalPattern &pattern, const Layout &layout, RankedTensorType type,
                                  bool isStore) {
  int64_t width = pattern.contiguous ? layout.vectorWidth(*pattern.contiguous, pattern.vector) : 1;
  int64_t accesses = static_cast<int64_t>(llvm::divideCeil(layout.numRegisters(), width));
  // What the lanes of the first warp touch with their first vectors. Dimensions other than the contiguous one step by
  // at least a line.
  int64_t bytes = static_cast<int64_t>(llvm::divideCeil(registerBits(type), 8));
  std::set<Coordinates> lines, sectors;
  for (uint32_t lane = 0; lane < lanesPerWarp; ++lane) {
    Coordinates place = layout.coordinates(0, lane, 0);
    if (llvm::any_of(llvm::zip(place, type.getShape()),
                     [](auto pair) { return std::get<0>(pair) >= std::get<1>(pair); }))
      continue;
    auto touch = [&](std::set<Coordinates> &set, int64_t unit) {
      Coordinates key = place;
      if (pattern.contiguous)
        key[*pattern.contiguous] = key[*pattern.contiguous] * bytes / unit;
      set.insert(key);
    };
    touch(lines, lineBytes);
    touch(sectors, sectorBytes);
  }
  // Copies that other warps load come from the L1 cache.
  int64_t copies = 1;
  if (!isStore)
    for (const Digit &digit : layout.replicated())
      if (digit.owner == Owner::Warp)
        copies *= digit.radix;
  int64_t numLines = static_cast<int64_t>(lines.size()), numSectors = static_cast<int64_t>(sectors.size());
  return accesses * (cyclesToUnits(1 + numLines) + cyclesToUnits(numSectors) / (sectorsPerLine * copies));
}

//===----------------------------------------------------------------------===//
// Shared memory, conversions, reductions
//===----------------------------------------------------------------------===//

int64_t LayoutCosts::sharedAccess(const Layout &layout, RankedTensorType type, unsigned columnDim) {
  unsigned bits = std::max(registerBits(type), 8u);
  if (type.getRank() == 2 && bits <= 32)
    if (std::optional<MatrixAccess> access = planMatrixAccess(layout, 1 - columnDim, columnDim, bits)) {
      int64_t matrices = access->matricesPerInstruction;
      return static_cast<int64_t>(access->instructions.size()) * cyclesToUnits(1 + matrices);
    }
  int64_t width = layout.vectorWidth(columnDim, vectorBits / bits);
  int64_t accesses = static_cast<int64_t>(llvm::divideCeil(layout.numRegisters(), width));
  int64_t wavefronts = std::max<int64_t>(width * bits / 8 * lanesPerWarp / lineBytes, 1);
  return accesses * cyclesToUnits(1 + wavefronts);
}

static int64_t conversionCycles(const Layout &from, const Layout &to, RankedTensorType type, int64_t scratchLimit) {
  std::optional<ConversionPlan> plan = planConversion(from, to, type.getShape(), registerBits(type));
  if (!plan)
    return INT32_MAX;
  if (plan->kind != ConversionKind::SharedMemory)
    return leastConversion + plan->program.shuffles() * shuffleCycles + plan->program.selects();
  if (scratchLimit < 0)
    return INT32_MAX;
  const ScratchPlan &scratch = plan->scratch;
  int64_t cycles = static_cast<int64_t>(scratch.writes.size() + scratch.reads.size() + scratch.wavefronts) +
                   (scratch.withinWarp ? warpBarrierCycles : barrierCycles);
  return scratch.bytes > scratchLimit ? cycles * scratchPenalty : cycles;
}

int64_t LayoutCosts::conversion(tilegpu::LayoutAttr from, tilegpu::LayoutAttr to, RankedTensorType type) {
  if (from == to)
    return 0;
  auto bare = RankedTensorType::get(type.getShape(), type.getElementType());
  auto [it, isNew] = conversions.try_emplace({from, to, bare}, 0);
  if (isNew)
    it->second = cyclesToUnits(conversionCycles(from.getLayout(), to.getLayout(), bare, scratchLimit));
  return it->second;
}

int64_t LayoutCosts::reduction(const Layout &layout, unsigned dim) {
  std::optional<ReductionPlan> plan = planReduction(layout, dim);
  if (!plan)
    return INT32_MAX;
  int64_t results = static_cast<int64_t>(plan->inThread.size());
  int64_t cycles = layout.numRegisters() + results * static_cast<int64_t>(plan->laneMasks.size()) * (shuffleCycles + 1);
  if (!plan->warps.empty())
    cycles += barrierCycles + 2 * results * (1 + plan->numSlots());
  return cyclesToUnits(cycles);
}
