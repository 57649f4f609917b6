// Special registers.
#include "SpecialRegisters.h"

#include "tilec/Simulator/Block.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"

using namespace tilec::simulator;
using llvm::StringRef;

namespace {
using Vector = std::array<uint32_t, 3>;

struct Place {
  const Warp &warp;
  unsigned lane;
  const Block &block() const { return warp.block_; }
  const Launch &launch() const { return block().state.launch; }
};

Vector thread(const Place &place) {
  const Vector &size = place.launch().block;
  uint32_t linear = place.warp.firstThread + place.lane;
  return {linear % size[0], linear / size[0] % size[1], linear / size[0] / size[1]};
}
Vector clusterPosition(const Place &place) {
  const Vector &position = place.block().position, &size = place.launch().cluster;
  return {position[0] / size[0], position[1] / size[1], position[2] / size[2]};
}
Vector positionInCluster(const Place &place) {
  const Vector &position = place.block().position, &size = place.launch().cluster;
  return {position[0] % size[0], position[1] % size[1], position[2] % size[2]};
}
Vector clusterCount(const Place &place) {
  const Vector &grid = place.launch().grid, &size = place.launch().cluster;
  return {grid[0] / size[0], grid[1] / size[1], grid[2] / size[2]};
}

// Registers are filled while the cluster is being built.
uint64_t blocksOfCluster(const Launch &launch) {
  return uint64_t(launch.cluster[0]) * launch.cluster[1] * launch.cluster[2];
}

const llvm::StringMap<Vector (*)(const Place &)> &vectors() {
  static const llvm::StringMap<Vector (*)(const Place &)> table = {
      {"tid", thread},
      {"ntid", [](const Place &place) { return place.launch().block; }},
      {"ctaid", [](const Place &place) { return place.block().position; }},
      {"nctaid", [](const Place &place) { return place.launch().grid; }},
      {"clusterid", clusterPosition},
      {"nclusterid", clusterCount},
      {"cluster_ctaid", positionInCluster},
      {"cluster_nctaid", [](const Place &place) { return place.launch().cluster; }}};
  return table;
}

const llvm::StringMap<uint64_t (*)(const Place &)> &scalars() {
  static const llvm::StringMap<uint64_t (*)(const Place &)> table = {
      {"laneid", [](const Place &place) -> uint64_t { return place.lane; }},
      {"warpid", [](const Place &place) -> uint64_t { return place.warp.index; }},
      {"nwarpid", [](const Place &place) -> uint64_t { return place.block().numWarps; }},
      {"smid", [](const Place &) -> uint64_t { return 0; }},
      {"nsmid", [](const Place &) -> uint64_t { return 1; }},
      {"gridid", [](const Place &) -> uint64_t { return 0; }},
      {"cluster_ctarank", [](const Place &place) -> uint64_t { return place.block().rank; }},
      {"cluster_nctarank", [](const Place &place) -> uint64_t { return blocksOfCluster(place.launch()); }},
      {"is_explicit_cluster", [](const Place &place) -> uint64_t { return blocksOfCluster(place.launch()) > 1; }},
      {"lanemask_eq", [](const Place &place) -> uint64_t { return 1u << place.lane; }},
      {"lanemask_lt", [](const Place &place) -> uint64_t { return (1u << place.lane) - 1; }},
      {"lanemask_le", [](const Place &place) -> uint64_t { return (2ull << place.lane) - 1; }},
      {"lanemask_ge", [](const Place &place) -> uint64_t { return uint32_t(~0u << place.lane); }},
      {"lanemask_gt", [](const Place &place) -> uint64_t { return uint32_t(~1ull << place.lane); }},
      {"dynamic_smem_size", [](const Place &place) -> uint64_t { return place.launch().dynamicShared; }},
      {"total_smem_size", [](const Place &place) -> uint64_t { return place.block().shared.bytes.size(); }}};
  return table;
}
} // namespace

bool tilec::simulator::isSpecialRegister(StringRef name) {
  auto [base, component] = name.split('.');
  if (component.empty())
    return scalars().contains(name);
  return vectors().contains(base) && component.size() == 1 && StringRef("xyz").contains(component);
}

uint64_t tilec::simulator::specialValue(StringRef name, const Warp &warp, unsigned lane) {
  auto [base, component] = name.split('.');
  Place place{warp, lane};
  if (component.empty())
    return scalars().lookup(name)(place);
  return vectors().lookup(base)(place)[component[0] - 'x'];
}
