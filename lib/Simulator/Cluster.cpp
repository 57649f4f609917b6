// A cluster: the scheduler of its warps, and deadlocks.
#include "tilec/Simulator/Block.h"

#include "llvm/ADT/STLExtras.h"

using namespace tilec::simulator;

Cluster::Cluster(LaunchState &state, uint32_t index, std::array<uint32_t, 3> firstBlock)
    : state(state), index(index), async(*this, state.options.schedule, state.random()) {
  const auto &size = state.launch.cluster, &grid = state.launch.grid;
  for (uint32_t z = 0; z < size[2]; ++z)
    for (uint32_t y = 0; y < size[1]; ++y)
      for (uint32_t x = 0; x < size[0]; ++x) {
        std::array<uint32_t, 3> position = {firstBlock[0] + x, firstBlock[1] + y, firstBlock[2] + z};
        uint32_t linear = position[0] + grid[0] * (position[1] + grid[1] * position[2]);
        blocks.push_back(std::make_unique<Block>(*this, blocks.size(), linear, position));
      }
}

Block *Cluster::owner(uint32_t sharedAddress) {
  uint32_t rank = sharedAddress / sharedBlockStride;
  return rank < blocks.size() ? blocks[rank].get() : nullptr;
}

// Every warp that can go on runs for a while, in random order. False if none could.
bool Cluster::runRound() {
  std::vector<Warp *> order;
  for (const std::unique_ptr<Block> &block : blocks)
    for (const std::unique_ptr<Warp> &warp : block->warps)
      if (!warp->finished())
        order.push_back(warp.get());
  std::shuffle(order.begin(), order.end(), state.random);
  bool ran = false;
  for (Warp *warp : order) {
    constexpr unsigned shortest = 16, longest = 2048;
    uint64_t before = progress;
    unsigned count = warp->run(shortest + state.random() % (longest - shortest));
    state.report.instructions += count;
    state.idle = progress == before ? state.idle + count : 0;
    ran |= count != 0;
    async.tick();
  }
  return ran;
}

void Cluster::run() {
  state.checker.cluster = index;
  auto finished = [&] {
    return llvm::all_of(blocks, [](const std::unique_ptr<Block> &block) {
      return llvm::all_of(block->warps, [](const std::unique_ptr<Warp> &warp) { return warp->finished(); });
    });
  };
  while (!finished()) {
    if (state.report.faults().size() >= state.options.maximumFaults)
      return;
    if (state.idle > state.options.maximumInstructions)
      return reportDeadlock();
    uint64_t before = progress;
    if (!runRound() && progress == before && !async.completeOne())
      return reportDeadlock();
  }
  // Stores that nobody waits for complete after the end.
  while (async.completeOne()) {
  }
}

void Cluster::reportDeadlock() {
  for (const std::unique_ptr<Block> &block : blocks)
    for (const std::unique_ptr<Warp> &warp : block->warps)
      for (const Fragment &fragment : warp->allFragments()) {
        Fault fault;
        fault.site = {block->linear, static_cast<int>(warp->index), -1,
                      fragment.pc < state.program.ops.size() ? state.program.ops[fragment.pc].source : nullptr};
        // Whoever waits for registers waits for a budget that does not add up.
        bool registers = fault.site.instruction && fault.site.instruction->name == "setmaxnreg";
        fault.kind = registers ? FaultKind::RegisterBudget : FaultKind::Deadlock;
        fault.message = fragment.waiting.empty() ? "runs without end" : fragment.waiting;
        state.report.add(std::move(fault));
      }
}
