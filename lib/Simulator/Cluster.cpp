// A cluster: the scheduler of its warps, its barrier, and who waits for what.
#include "tilec/Simulator/Block.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

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

bool Cluster::finished() const {
  return llvm::all_of(blocks, [](const std::unique_ptr<Block> &block) {
    return llvm::all_of(block->warps, [](const std::unique_ptr<Warp> &warp) { return warp->finished(); });
  });
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

Cluster::Advance Cluster::advance() {
  state.checker.cluster = index;
  if (!finished()) {
    uint64_t before = progress;
    return runRound() || progress != before || async.completeOne() ? Advance::Ran : Advance::Waits;
  }
  // Stores that nobody waits for complete after the end.
  while (async.completeOne()) {
  }
  return Advance::Done;
}

//===----------------------------------------------------------------------===//
// The barrier
//===----------------------------------------------------------------------===//

void Cluster::completeBarrier() {
  unsigned expected = 0;
  for (const std::unique_ptr<Block> &block : blocks)
    for (const std::unique_ptr<Warp> &warp : block->warps)
      expected += llvm::popcount(warp->liveLanes());
  if (barrier.arrived == 0 || barrier.arrived < expected)
    return;
  barrier.arrived = 0;
  barrier.completed = std::move(barrier.gathering);
  barrier.gathering = Knowledge();
  ++barrier.phase;
  noteProgress();
}

//===----------------------------------------------------------------------===//
// Hangs
//===----------------------------------------------------------------------===//

// "runs without end", or what a loop reads again and again.
std::string Cluster::describeWait(const Warp &warp, const Fragment &fragment) const {
  if (!fragment.waiting.empty())
    return fragment.waiting;
  const Warp::Poll *poll = warp.polled();
  if (!poll)
    return "runs without end";
  uint64_t address = poll->address;
  Space space = Block::resolve(Space::Generic, address);
  bool shared = space == Space::Shared || poll->op->space == Space::Shared;
  std::string where = "byte " + std::to_string(address % sharedBlockStride - sharedBase) + " of shared memory";
  if (!shared) {
    const MemoryRegion *region = state.memory.find(address, 1);
    where = region ? "byte " + std::to_string(address - region->base) + " of " +
                         (region->name.empty() ? "an allocation" : "`" + region->name + "`")
                   : "global memory";
  }
  return "runs without end and polls " + where + ": `" + poll->op->source->opcode() + "` in line " +
         std::to_string(poll->op->source->line) + " reads " + std::to_string(poll->value);
}

void Cluster::reportHang(const std::string &outside) {
  for (const std::unique_ptr<Block> &block : blocks)
    for (const std::unique_ptr<Warp> &warp : block->warps)
      for (const Fragment &fragment : warp->allFragments()) {
        Fault fault;
        fault.site = {block->linear, static_cast<int>(warp->index), -1,
                      fragment.pc < state.program.ops.size() ? state.program.ops[fragment.pc].source : nullptr};
        // Whoever waits for registers waits for a budget that does not add up.
        bool registers = fault.site.instruction && fault.site.instruction->name == "setmaxnreg";
        fault.kind = registers ? FaultKind::RegisterBudget : FaultKind::Deadlock;
        fault.message = describeWait(*warp, fragment) + outside;
        state.report.add(std::move(fault));
      }
}
