// Picks the variant of a kernel and runs its stages; runs the blocks, groups and processes of tilegpu kernels.
#include "tilec/Interpreter/Launch.h"

#include "Machine.h"
#include "mlir/IR/Diagnostics.h"
#include "tilec/Dialect/Tile/AttributeNames.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::interpreter;

static llvm::Error fault(const Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

DictionaryAttr tilec::interpreter::findKernel(ModuleOp module, StringRef kernel) {
  if (auto kernels = module->getAttrOfType<ArrayAttr>("tilec.kernels"))
    for (auto entry : kernels.getAsRange<DictionaryAttr>())
      if (auto name = entry.getAs<StringAttr>("name"); name && name.getValue() == kernel)
        return entry;
  return {};
}

llvm::Error tilec::interpreter::checkContracts(DictionaryAttr kernel, const LaunchArguments &arguments) {
  auto contracts = kernel.getAs<ArrayAttr>("contracts");
  if (!contracts)
    return llvm::Error::success();
  for (auto contract : contracts.getAsRange<DictionaryAttr>()) {
    llvm::Expected<double> holds = evaluateHostExpression(contract.get("condition"), arguments);
    if (!holds)
      return holds.takeError();
    if (*holds == 0)
      return fault("the contract `" + contract.getAs<StringAttr>("text").getValue() + "` does not hold");
  }
  return llvm::Error::success();
}

static llvm::Expected<bool> isSelected(ArrayAttr when, const LaunchArguments &arguments) {
  for (Attribute condition : when) {
    llvm::Expected<double> holds = evaluateHostExpression(condition, arguments);
    if (!holds)
      return holds.takeError();
    if (*holds == 0)
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Blocks of tilegpu kernels
//===----------------------------------------------------------------------===//

namespace {

/// Runs the processes of one block with random turns.
class Processes {
public:
  Processes(Context &context, Operation *first, const Environment &environment) : context(context) {
    int number = 0;
    for (Operation *op = first; op; op = op->getNextNode())
      if (auto process = dyn_cast<tilegpu::ProcessOp>(op))
        for (int64_t replica = 0; replica < static_cast<int64_t>(process.getReplicas()); ++replica)
          start(process, environment, number++, replica);
  }

  LogicalResult run();

private:
  void start(tilegpu::ProcessOp process, Environment environment, int number, int64_t replica);
  LogicalResult reportDeadlock();

  Context &context;
  std::vector<Machine> machines;
};

} // namespace

// Buffers of the kernel belong to groups: each replica has its own. The readers of a channel are the replicas that
// receive from it.
void Processes::start(tilegpu::ProcessOp process, Environment environment, int number, int64_t replica) {
  for (auto &entry : environment)
    if (auto *view = std::get_if<SharedView>(&entry.second); view && !view->slot)
      view->tile = std::make_shared<SharedBuffer>(*view->tile);
  for (auto &entry : environment)
    if (auto *ring = std::get_if<StagingPtr>(&entry.second))
      context.stagings.push_back(*ring = std::make_shared<Staging>(**ring));
  process.walk([&](tilegpu::SkipOp op) { std::get<Channel *>(environment.lookup(op.getChan()))->dealtOut = true; });
  process.walk([&](tilegpu::ReceiveOp op) { std::get<Channel *>(environment.lookup(op.getChan()))->readers[number]; });
  machines.emplace_back(context, process.getBody().front(), std::move(environment), number, replica);
}

LogicalResult Processes::run() {
  SmallVector<size_t> ready;
  for (size_t i = 0; i < machines.size(); ++i)
    ready.push_back(i);
  SmallVector<size_t> blocked;
  while (!ready.empty()) {
    size_t pick = std::uniform_int_distribution<size_t>(0, ready.size() - 1)(context.random);
    int64_t budget = std::uniform_int_distribution<int64_t>(1, 64)(context.random);
    Machine &machine = machines[ready[pick]];
    Step step = Step::Done;
    bool progress = false;
    for (; budget > 0 && step == Step::Done; --budget) {
      step = machine.step();
      progress |= step == Step::Done;
    }
    if (step == Step::Failed)
      return failure();
    if (step == Step::Processes)
      return machine.current()->emitError("is nested in a process");
    if (step == Step::Blocked || step == Step::Finished) {
      if (step == Step::Blocked)
        blocked.push_back(ready[pick]);
      ready.erase(ready.begin() + pick);
    }
    if (progress) {
      ready.append(blocked);
      blocked.clear();
    }
  }
  return blocked.empty() ? success() : reportDeadlock();
}

LogicalResult Processes::reportDeadlock() {
  for (Machine &machine : machines)
    if (machine.step() == Step::Blocked)
      machine.current()->emitError("waits for ever");
  return failure();
}

// A block must not end with transfers under way, nor leave a ring in another state than the program says.
static LogicalResult checkChannels(Context &context, tilegpu::KernelOp kernel) {
  for (auto &channel : context.channels)
    if (!channel->isDrained())
      return kernel.emitError() << "ends with items of channel '" << channel->name
                                << "' that were not received and released";
  for (auto &staging : context.stagings)
    if (!staging->isDrained())
      return kernel.emitError() << "ends with stores of '" << staging->name << "' under way";
  return success();
}

static LogicalResult checkTurns(Context &context, tilegpu::KernelOp kernel) {
  for (const Context::Turns &turns : context.turns)
    if (turns.taken != turns.passed || turns.taken != context.turns.front().taken)
      return kernel.emitError("ends with turns that were not passed, or that groups took unequally often");
  return success();
}

static LogicalResult runBlock(Context &context, tilegpu::KernelOp kernel) {
  for (int64_t group = 0; group < static_cast<int64_t>(kernel.getGroups()); ++group) {
    context.channels.clear();
    context.stagings.clear();
    Machine machine(context, kernel.getBody().front(), Environment(), -1, group);
    FailureOr<Step> end = machine.run();
    if (failed(end))
      return failure();
    if (*end == Step::Finished) {
      if (failed(checkChannels(context, kernel)))
        return failure();
      continue;
    }
    for (auto &channel : context.channels)
      channel->readers.clear();
    context.turns.assign(kernel.getGroups(), {});
    if (failed(Processes(context, machine.current(), machine.values()).run()))
      return failure();
    return failure(failed(checkChannels(context, kernel)) || failed(checkTurns(context, kernel)));
  }
  return success();
}

// The last dimension steps from rank to rank.
static SmallVector<int64_t> placesInCluster(ArrayRef<int64_t> extents, int64_t rank) {
  SmallVector<int64_t> places(extents.size());
  for (size_t dim = extents.size(); dim-- > 0; rank /= extents[dim])
    places[dim] = rank % extents[dim];
  return places;
}

static llvm::Error runGrid(tilegpu::KernelOp kernel, Context &context) {
  for (auto [d, expression] : llvm::enumerate(kernel.getGrid())) {
    llvm::Expected<double> size = evaluateHostExpression(expression, context.arguments);
    if (!size)
      return size.takeError();
    context.grid[d] = static_cast<int64_t>(*size);
  }
  // Blocks of a cluster of tiles share transfers in the lowering alone: here each is one of its own.
  int64_t ofCluster = kernel.getBlocksOfTileCluster();
  std::vector<std::pair<std::array<int64_t, 3>, int64_t>> blocks;
  for (int64_t z = 0; z < context.grid[2]; ++z)
    for (int64_t y = 0; y < context.grid[1]; ++y)
      for (int64_t x = 0; x < context.grid[0]; ++x)
        for (int64_t rank = 0; rank < ofCluster; ++rank)
          blocks.push_back({{x, y, z}, rank});
  context.absentIsPoison = false;
  std::shuffle(blocks.begin(), blocks.end(), context.random);
  ++context.stage;
  for (auto &[block, rank] : blocks) {
    context.block = block;
    context.clusterRank = placesInCluster(kernel.getTileCluster(), rank);
    ++context.iteration;
    if (failed(runBlock(context, kernel)))
      return fault("stopped");
  }
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

static int64_t stageOf(tilegpu::KernelOp kernel) { return kernel.getStage(); }

static int64_t stageOf(tile::KernelOp kernel) {
  auto stage = kernel->getAttrOfType<IntegerAttr>(tile::stageName);
  return stage ? stage.getInt() : 0;
}

/// The stages of a variant follow each other.
template <typename Kernel> static SmallVector<Kernel> stagesFrom(Kernel first) {
  SmallVector<Kernel> stages = {first};
  for (Operation *op = first->getNextNode(); op; op = op->getNextNode()) {
    auto next = dyn_cast<Kernel>(op);
    if (!next || next.getKernel() != first.getKernel() || stageOf(next) == 0)
      break;
    stages.push_back(next);
  }
  return stages;
}

/// Memory of the launch, of which nothing is known.
static llvm::Error allocateWorkspaces(DictionaryAttr kernel, LaunchArguments &arguments) {
  auto workspaces = kernel ? kernel.getAs<ArrayAttr>("workspaces") : nullptr;
  if (!workspaces)
    return llvm::Error::success();
  for (auto workspace : workspaces.getAsRange<DictionaryAttr>()) {
    llvm::Expected<double> bytes = evaluateHostExpression(workspace.get("bytes"), arguments);
    if (!bytes)
      return bytes.takeError();
    std::string name = workspace.getAs<StringAttr>("name").str();
    Buffer &buffer = arguments.tensors[name];
    buffer.name = name;
    buffer.bytes.assign(static_cast<size_t>(*bytes), 0xFF);
  }
  return llvm::Error::success();
}

/// Of the variants whose conditions hold the one of least cost, the first of equals (docs/abi.md); null if none holds.
template <typename Kernel>
static llvm::Expected<Kernel> chooseVariant(ModuleOp module, StringRef kernel, const LaunchArguments &arguments) {
  Kernel best;
  double least = 0;
  for (auto op : module.getOps<Kernel>()) {
    if (op.getKernel() != kernel || stageOf(op) != 0)
      continue;
    llvm::Expected<bool> selected = isSelected(op.getWhen(), arguments);
    if (!selected)
      return selected.takeError();
    if (!*selected)
      continue;
    Attribute expression = op->getAttr(tile::costName);
    llvm::Expected<double> cost = expression ? evaluateHostExpression(expression, arguments) : 0.0;
    if (!cost)
      return cost.takeError();
    if (!best || *cost < least) {
      best = op;
      least = *cost;
    }
  }
  return best;
}

llvm::Error tilec::interpreter::launch(ModuleOp module, StringRef kernel, LaunchArguments &arguments,
                                       const LaunchOptions &options) {
  Context context(arguments, options.seed);
  if (llvm::Error error = allocateWorkspaces(findKernel(module, kernel), arguments))
    return error;
  llvm::Expected<tile::KernelOp> tiles = chooseVariant<tile::KernelOp>(module, kernel, arguments);
  if (!tiles)
    return tiles.takeError();
  if (*tiles) {
    for (tile::KernelOp stage : stagesFrom(*tiles))
      if (failed(Machine(context, stage.getBody().front(), Environment(), 0, 0).run()))
        return fault("stopped");
    return llvm::Error::success();
  }
  llvm::Expected<tilegpu::KernelOp> first = chooseVariant<tilegpu::KernelOp>(module, kernel, arguments);
  if (!first)
    return first.takeError();
  if (!*first)
    return fault("no variant of kernel `" + kernel + "` accepts these arguments");
  for (tilegpu::KernelOp stage : stagesFrom(*first))
    if (llvm::Error error = runGrid(stage, context))
      return error;
  return llvm::Error::success();
}
