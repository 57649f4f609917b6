// Scheduling clusters.
#include "Grid.h"

#include "llvm/ADT/STLExtras.h"

using namespace tilec::simulator;

Grid::Grid(LaunchState &state) : state(state) {
  const Launch &launch = state.launch;
  uint32_t clusters = 1, blocks = 1;
  for (unsigned i = 0; i < 3; ++i) {
    extents[i] = launch.grid[i] / launch.cluster[i];
    clusters *= extents[i];
    blocks *= launch.cluster[i];
  }
  for (uint32_t i = 0; i < clusters; ++i)
    order.push_back(i);
  most = std::max(1u, state.options.residentBlocks / blocks);
  if (state.options.schedule == Schedule::Early)
    return;
  std::shuffle(order.begin(), order.end(), state.random);
  constexpr unsigned mostFromStart = 4;
  if (state.options.schedule == Schedule::Random)
    wanted = std::min<size_t>(most, 1 + state.random() % mostFromStart);
}

void Grid::admit() {
  for (; running.size() < wanted && next < order.size(); ++next) {
    const auto &size = state.launch.cluster;
    uint32_t index = order[next];
    std::array<uint32_t, 3> first = {index % extents[0] * size[0], index / extents[0] % extents[1] * size[1],
                                     index / extents[0] / extents[1] * size[2]};
    running.push_back(std::make_unique<Cluster>(state, index, first));
  }
}

bool Grid::failed() const {
  return state.report.faults().size() >= state.options.maximumFaults || state.report.contains(FaultKind::Deadlock) ||
         state.report.contains(FaultKind::RegisterBudget);
}

std::string Grid::blocksOutside() const {
  size_t blocks = running.empty() ? 1 : running.front()->blocks.size();
  size_t waiting = (order.size() - next) * blocks;
  if (waiting == 0)
    return "";
  return "; " + std::to_string(waiting) + " blocks have not begun, since at most " + std::to_string(most * blocks) +
         " run at once";
}

void Grid::reportHang() {
  for (const std::unique_ptr<Cluster> &cluster : running)
    cluster->reportHang(blocksOutside());
}

bool Grid::advance(size_t which) {
  Cluster &cluster = *running[which];
  switch (cluster.advance()) {
  case Cluster::Advance::Ran:
    return true;
  case Cluster::Advance::Waits:
    // What threads wait for lies inside their cluster: no other one helps.
    cluster.reportHang("");
    return false;
  case Cluster::Advance::Done:
    blocksDone += cluster.blocks.size();
    running.erase(running.begin() + static_cast<ptrdiff_t>(which));
    return true;
  }
  return false;
}

bool Grid::polls() const {
  for (const std::unique_ptr<Cluster> &cluster : running)
    for (const std::unique_ptr<Block> &block : cluster->blocks)
      if (llvm::any_of(block->warps, [](const std::unique_ptr<Warp> &warp) { return warp->polled() != nullptr; }))
        return true;
  return false;
}

bool Grid::widen() {
  constexpr uint64_t patience = 1 << 15;
  if (state.idle > state.options.maximumInstructions) {
    reportHang();
    return false;
  }
  if (state.idle / patience >= running.size() && wanted < most && next < order.size() && polls())
    wanted = std::min(most, 2 * wanted);
  return true;
}

uint64_t Grid::blocksOfLaunch() const {
  const auto &cluster = state.launch.cluster;
  return uint64_t(order.size()) * cluster[0] * cluster[1] * cluster[2];
}

void Grid::run() {
  for (admit(); !running.empty(); admit()) {
    if (state.options.progress)
      state.options.progress(blocksDone, blocksOfLaunch());
    for (size_t i = running.size(); i-- > 0;)
      if (!advance(i) || failed())
        return;
    if (!widen())
      return;
  }
}
