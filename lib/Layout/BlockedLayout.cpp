// blocked: layouts for coalesced vector access.
#include "tilec/Layout/BlockedLayout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cassert>

using namespace tilec;

// 8 lanes of 16 bytes are one 128-byte line of the L1 and L2 caches.
static constexpr int64_t lanesOfLine = 8;

static int64_t ceilDivide(int64_t value, int64_t by) { return static_cast<int64_t>(llvm::divideCeil(value, by)); }

namespace {
/// Hands out threads to the dimensions; `units` are the vectors of each dimension not yet given to threads.
struct Distribution {
  llvm::SmallVector<int64_t, 4> units, lanes, warps;

  static void give(int64_t &left, int64_t &units, int64_t &threads, int64_t count) {
    left /= count;
    units = ceilDivide(units, count);
    threads *= count;
  }

  /// Gives `left` threads to the dimensions in order, first where they divide, then where they pad.
  void spread(int64_t &left, llvm::ArrayRef<unsigned> order, llvm::SmallVectorImpl<int64_t> &threads) {
    for (unsigned dim : order) {
      int64_t dividing = units[dim] & -units[dim];
      give(left, units[dim], threads[dim], std::min(left, dividing));
    }
    for (unsigned dim : order)
      give(left, units[dim], threads[dim],
           std::min<int64_t>(left, static_cast<int64_t>(llvm::PowerOf2Ceil(static_cast<uint64_t>(units[dim])))));
  }
};
} // namespace

/// Lanes along the contiguous dimension: the most that pad least, as long as the other dimensions can use the rest.
static int64_t lanesAlongContiguous(int64_t units, int64_t otherUnits, int64_t numWarps) {
  int64_t most =
      std::min<int64_t>(lanesPerWarp, static_cast<int64_t>(llvm::PowerOf2Ceil(static_cast<uint64_t>(units))));
  int64_t best = most;
  for (int64_t lanes = most / 2; lanes >= lanesOfLine; lanes /= 2) {
    bool othersUseRest = otherUnits >= lanesPerWarp / lanes * numWarps;
    if (othersUseRest && ceilDivide(units, lanes) * lanes < ceilDivide(units, best) * best)
      best = lanes;
  }
  return best;
}

Layout tilec::blocked(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<unsigned> order, uint32_t vectorElements,
                      uint32_t numWarps) {
  assert(order.size() == shape.size() && "one entry a dimension");
  unsigned rank = shape.size();
  Distribution threads;
  threads.lanes.assign(rank, 1);
  threads.warps.assign(rank, 1);
  for (int64_t extent : shape)
    threads.units.push_back(std::max<int64_t>(extent, 1));

  int64_t vector = 1, lanesLeft = lanesPerWarp, warpsLeft = numWarps;
  if (rank > 0) {
    unsigned contiguous = order.front();
    int64_t otherUnits = 1;
    for (unsigned dim : order.drop_front())
      otherUnits *= threads.units[dim];
    vector = std::min<int64_t>(vectorElements,
                               static_cast<int64_t>(llvm::bit_floor(static_cast<uint64_t>(threads.units[contiguous]))));
    threads.units[contiguous] = ceilDivide(threads.units[contiguous], vector);
    Distribution::give(lanesLeft, threads.units[contiguous], threads.lanes[contiguous],
                       lanesAlongContiguous(threads.units[contiguous], otherUnits, numWarps));
    threads.spread(lanesLeft, order.drop_front(), threads.lanes);
    threads.spread(lanesLeft, order.take_front(), threads.lanes);
    llvm::SmallVector<unsigned, 4> slowestFirst(llvm::reverse(order));
    threads.spread(warpsLeft, slowestFirst, threads.warps);
  }

  LayoutSpec spec;
  spec.dims.resize(rank);
  auto add = [](auto &list, Owner owner, uint32_t position, int64_t radix) {
    list.push_back(DigitSpec{owner, position, static_cast<uint32_t>(radix)});
  };
  for (unsigned i = 0; i < rank; ++i) {
    auto &dim = spec.dims[order[i]];
    if (i == 0)
      add(dim, Owner::Register, 0, vector);
    add(dim, Owner::Lane, i, threads.lanes[order[i]]);
    add(dim, Owner::Warp, i, threads.warps[order[i]]);
    add(dim, Owner::Register, i + 1, threads.units[order[i]]);
  }
  add(spec.replicated, Owner::Lane, rank, lanesLeft);
  add(spec.replicated, Owner::Warp, rank, warpsLeft);
  std::optional<Layout> layout = Layout::get(spec);
  assert(layout && "numWarps and vectorElements are powers of two");
  return *layout;
}
