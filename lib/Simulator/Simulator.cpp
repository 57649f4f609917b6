// Launches: checking them, and running them.
#include "tilec/Simulator/Simulator.h"

#include "Grid.h"
#include "llvm/ADT/Twine.h"

using namespace tilec::simulator;
using llvm::Twine;

llvm::Expected<std::unique_ptr<Module>> Module::parse(llvm::StringRef ptx) {
  llvm::Expected<PtxModule> parsed = parsePtx(ptx);
  if (!parsed)
    return parsed.takeError();
  auto module = std::make_unique<Module>();
  module->text = std::move(*parsed);
  return std::move(module);
}

llvm::Expected<const Program *> Module::program(llvm::StringRef name) {
  auto known = programs.find(name.str());
  if (known != programs.end())
    return known->second.get();
  const PtxKernel *kernel = text.find(name);
  if (!kernel)
    return llvm::createStringError("there is no kernel `" + name + "` in the PTX");
  llvm::Expected<std::unique_ptr<Program>> decoded = decodeKernel(text, *kernel);
  if (!decoded)
    return decoded.takeError();
  return (programs[name.str()] = std::move(*decoded)).get();
}

static uint64_t volume(const std::array<uint32_t, 3> &extents) {
  return uint64_t(extents[0]) * extents[1] * extents[2];
}

static llvm::Error checkLaunch(const PtxKernel &kernel, const Launch &launch) {
  auto fail = [&](const Twine &what) {
    return llvm::createStringError("the launch of `" + Twine(kernel.name) + "`: " + what);
  };
  constexpr uint64_t mostThreads = 1024, mostBlocks = uint64_t(1) << 24, mostRanks = 16;
  uint64_t threads = volume(launch.block);
  if (threads == 0 || threads > mostThreads)
    return fail(Twine(threads) + " threads in a block");
  for (uint32_t extent : launch.grid)
    if (extent == 0 || extent > mostBlocks || volume(launch.grid) > mostBlocks)
      return fail("the simulator runs up to " + Twine(mostBlocks) + " blocks, at least one");
  if (volume(launch.cluster) == 0 || volume(launch.cluster) > mostRanks)
    return fail(Twine(volume(launch.cluster)) + " blocks in a cluster");
  if (kernel.requiredThreads[0]) {
    bool same = true;
    for (unsigned i = 0; i < 3; ++i)
      same &= kernel.requiredThreads[i] == launch.block[i];
    if (!same)
      return fail("the kernel requires " + Twine(kernel.requiredThreads[0]) + " x " + Twine(kernel.requiredThreads[1]) +
                  " x " + Twine(kernel.requiredThreads[2]) + " threads in a block");
  }
  if (kernel.maximumThreads && threads > kernel.maximumThreads)
    return fail("the kernel allows " + Twine(kernel.maximumThreads) + " threads in a block");
  for (unsigned i = 0; i < 3; ++i)
    if (launch.grid[i] % launch.cluster[i])
      return fail("the grid is no multiple of the cluster");
  if (launch.parameters.size() < kernel.parameterBytes)
    return fail(Twine(launch.parameters.size()) + " bytes of parameters where the kernel takes " +
                Twine(kernel.parameterBytes));
  return llvm::Error::success();
}

llvm::Expected<Report> Module::run(Device &device, const Launch &launch, const Options &options) {
  llvm::Expected<const Program *> program = this->program(launch.kernel);
  if (!program)
    return program.takeError();
  if (llvm::Error error = checkLaunch(*(*program)->kernel, launch))
    return std::move(error);
  device.memory.startLaunch();
  Report report;
  LaunchState state{
      **program, launch, options, device.memory, report, AccessChecker(report), std::mt19937_64(options.seed), {}, 0};
  state.checker.checkRaces = options.checkRaces;
  state.checker.checkInitialized = options.checkInitialized;
  state.checker.checkProxies = options.checkProxies;

  Grid(state).run();
  return std::move(report);
}
