// gather-reductions: reductions across warps that do not need each other stand together
// (docs/decisions/reductions-that-wait-together.md).
#include "tilec/Dialect/TileGPU/Scratch.h"
#include "tilec/Dialect/TileGPU/TileGPUDialect.h"
#include "tilec/Transforms/Passes.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

namespace tilec {
#define GEN_PASS_DEF_GATHERREDUCTIONS
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

namespace {

bool crossesWarps(Operation *op) {
  auto reduce = dyn_cast<tile::ReduceOp>(op);
  std::optional<ReductionPlan> plan = reduce ? tilegpu::planOf(reduce) : std::nullopt;
  return plan && !plan->warps.empty();
}

// One block of operations.
class Gatherer {
public:
  explicit Gatherer(Block &block) : block(block) {}
  void run();

private:
  unsigned levelOf(Operation &op);
  std::optional<SetVector<Operation *>> sourcesAfter(Operation *last, Operation *reduce);
  void gather(Operation *op, unsigned level);

  Block &block;
  /// How many reductions across warps an operation's operands come through, one after another.
  llvm::DenseMap<Operation *, unsigned> levels;
  /// Of each level, the last reduction of those that stand together; and the last of each kind and type of these.
  struct Last {
    Operation *any = nullptr;
    llvm::DenseMap<std::pair<Type, unsigned>, Operation *> alike;
  };
  llvm::DenseMap<unsigned, Last> lasts;
};

unsigned Gatherer::levelOf(Operation &op) {
  unsigned level = 0;
  op.walk([&](Operation *nested) {
    for (Value operand : nested->getOperands()) {
      Operation *source = operand.getDefiningOp();
      if (source && source != &op && source->getBlock() == &block)
        level = std::max(level, levels.lookup(source) + (crossesWarps(source) ? 1 : 0));
    }
  });
  return level;
}

// What a reduction needs of the operations behind `last`; none if something of it has to stay where it is. Loads stay:
// their registers would be taken earlier.
std::optional<SetVector<Operation *>> Gatherer::sourcesAfter(Operation *last, Operation *reduce) {
  SetVector<Operation *> sources;
  SmallVector<Operation *> work = {reduce};
  while (!work.empty()) {
    Operation *op = work.pop_back_val();
    if (!sources.insert(op))
      continue;
    bool moves = op == reduce || (op->getNumRegions() == 0 && isPure(op) && !isa<tile::LoadOp, tile::ReduceOp>(op));
    if (!moves)
      return std::nullopt;
    for (Value operand : op->getOperands())
      if (Operation *source = operand.getDefiningOp();
          source && source->getBlock() == &block && last->isBeforeInBlock(source))
        work.push_back(source);
  }
  return sources;
}

// Those of one kind and type stand side by side: they are exchanged in one.
void Gatherer::gather(Operation *op, unsigned level) {
  auto reduce = cast<tile::ReduceOp>(op);
  Last &last = lasts[level];
  std::pair<Type, unsigned> kind = {reduce.getInput().getType(), static_cast<unsigned>(reduce.getKind())};
  Operation *&alike = last.alike[kind];
  Operation *place = alike ? alike : last.any;
  std::optional<SetVector<Operation *>> sources = place ? sourcesAfter(place, reduce) : std::nullopt;
  if (!sources) {
    last.any = reduce;
    last.alike.clear();
    last.alike[kind] = reduce;
    return;
  }
  if (place == last.any)
    last.any = reduce;
  alike = reduce;
  SmallVector<Operation *> inOrder(sources->begin(), sources->end());
  llvm::sort(inOrder, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  for (Operation *moved : inOrder) {
    moved->moveAfter(place);
    place = moved;
  }
}

void Gatherer::run() {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    unsigned level = levels[&op] = levelOf(op);
    if (crossesWarps(&op))
      gather(&op, level);
  }
}

struct GatherReductionsPass : tilec::impl::GatherReductionsBase<GatherReductionsPass> {
  void runOnOperation() override {
    getOperation().walk([](Block *block) { Gatherer(*block).run(); });
  }
};

} // namespace
