// Finds loops: Tarjan's strongly connected components, again inside of each without its entry.
#include "Loops.h"

#include "llvm/ADT/SmallVector.h"
#include <algorithm>

using namespace tilec::runner;
using namespace tilec::simulator;

namespace {

class LoopFinder {
public:
  explicit LoopFinder(const PtxKernel &kernel) : kernel(kernel), state(kernel.instructions.size()) {}

  std::vector<PtxLoop> run();

private:
  struct Node {
    unsigned number = 0, low = 0;
    bool isOpen = false;
    /// Only nodes of the present region are visited.
    unsigned region = 0;
  };
  llvm::SmallVector<size_t, 2> successors(size_t at) const;
  void search(const std::vector<size_t> &region, int parent, unsigned depth);
  void visit(size_t root, std::vector<std::vector<size_t>> &components);
  bool reachesItself(size_t at) const;
  /// A few instructions that try an mbarrier until its phase is over.
  bool isWait(const std::vector<size_t> &component) const;

  const PtxKernel &kernel;
  std::vector<Node> state;
  std::vector<size_t> open;
  unsigned counter = 0, regions = 0, region = 0;
  std::vector<PtxLoop> loops;
};

} // namespace

llvm::SmallVector<size_t, 2> LoopFinder::successors(size_t at) const {
  const Instruction &instruction = kernel.instructions[at];
  llvm::SmallVector<size_t, 2> result;
  bool ends = instruction.name == "ret" || instruction.name == "exit" || instruction.name == "trap";
  if (instruction.name == "bra")
    for (const Operand &operand : instruction.operands)
      if (operand.is(Operand::Kind::Label))
        result.push_back(operand.index);
  bool goesOn = instruction.guard >= 0 || (instruction.name != "bra" && !ends);
  if (goesOn)
    result.push_back(at + 1);
  llvm::erase_if(result, [&](size_t next) { return next >= state.size() || state[next].region != region; });
  return result;
}

// Without recursion: a kernel may have tens of thousands of instructions in a row.
void LoopFinder::visit(size_t root, std::vector<std::vector<size_t>> &components) {
  struct Step {
    size_t at;
    llvm::SmallVector<size_t, 2> rest;
  };
  std::vector<Step> path;
  auto enter = [&](size_t at) {
    state[at].number = state[at].low = ++counter;
    state[at].isOpen = true;
    open.push_back(at);
    path.push_back({at, successors(at)});
  };
  enter(root);
  while (!path.empty()) {
    Step &step = path.back();
    if (!step.rest.empty()) {
      size_t next = step.rest.pop_back_val();
      if (state[next].number == 0)
        enter(next);
      else if (state[next].isOpen)
        state[step.at].low = std::min(state[step.at].low, state[next].number);
      continue;
    }
    size_t at = step.at;
    path.pop_back();
    if (!path.empty())
      state[path.back().at].low = std::min(state[path.back().at].low, state[at].low);
    if (state[at].low != state[at].number)
      continue;
    std::vector<size_t> component;
    do {
      component.push_back(open.back());
      state[open.back()].isOpen = false;
      open.pop_back();
    } while (component.back() != at);
    std::sort(component.begin(), component.end());
    components.push_back(std::move(component));
  }
}

bool LoopFinder::reachesItself(size_t at) const { return llvm::is_contained(successors(at), at); }

bool LoopFinder::isWait(const std::vector<size_t> &component) const {
  constexpr size_t mostInstructions = 6;
  return component.size() <= mostInstructions && llvm::any_of(component, [&](size_t at) {
           const Instruction &instruction = kernel.instructions[at];
           return instruction.name == "mbarrier" && (instruction.has("try_wait") || instruction.has("test_wait"));
         });
}

void LoopFinder::search(const std::vector<size_t> &nodes, int parent, unsigned depth) {
  region = ++regions;
  for (size_t at : nodes)
    state[at] = {0, 0, false, region};
  std::vector<std::vector<size_t>> components;
  for (size_t at : nodes)
    if (state[at].number == 0)
      visit(at, components);
  llvm::erase_if(components, [&](const std::vector<size_t> &component) {
    return component.size() == 1 && !reachesItself(component.front());
  });
  std::sort(components.begin(), components.end());
  for (std::vector<size_t> &component : components) {
    if (isWait(component))
      continue;
    int index = static_cast<int>(loops.size());
    if (parent >= 0)
      loops[static_cast<size_t>(parent)].innermost = false;
    loops.push_back({component, parent, depth, true});
    search(std::vector<size_t>(component.begin() + 1, component.end()), index, depth + 1);
  }
}

std::vector<PtxLoop> LoopFinder::run() {
  std::vector<size_t> all(kernel.instructions.size());
  for (size_t i = 0; i < all.size(); ++i)
    all[i] = i;
  search(all, -1, 1);
  return std::move(loops);
}

std::vector<PtxLoop> tilec::runner::findLoops(const PtxKernel &kernel) { return LoopFinder(kernel).run(); }
