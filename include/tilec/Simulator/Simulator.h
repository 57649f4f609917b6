// The simulator: runs kernels from PTX text on the host and checks them.
//
//   auto module = Module::parse(ptxText);                  // Expected; fails with the line and the reason
//   Device device;
//   uint64_t x = device.memory.allocate(4096, "X");
//   device.memory.copyIn(x, data, 4096);
//   Launch launch{"saxpy__fast", {16, 1, 1}, {256, 1, 1}};
//   launch.parameters = ...;                               // laid out as the kernel's .param list says
//   auto report = (*module)->run(device, launch, options); // Expected; faults found are in the report
#ifndef TILEC_SIMULATOR_SIMULATOR_H
#define TILEC_SIMULATOR_SIMULATOR_H

#include "tilec/Simulator/Async.h"
#include "tilec/Simulator/Memory.h"
#include "tilec/Simulator/Program.h"
#include "tilec/Simulator/Report.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <array>

namespace tilec::simulator {

struct Launch {
  std::string kernel;
  std::array<uint32_t, 3> grid = {1, 1, 1}, block = {1, 1, 1}, cluster = {1, 1, 1};
  uint32_t dynamicShared = 0;
  std::vector<uint8_t> parameters;
};

struct Options {
  uint64_t seed = 0;
  Schedule schedule = Schedule::Late;
  bool checkRaces = true, checkInitialized = true, checkProxies = true;
  /// Counts of bank conflicts and sectors.
  bool count = false;
  /// The most blocks that run at once, so that one may wait for another: one for each multiprocessor of an H200. Blocks
  /// are added while those that run wait for memory that nobody changes.
  unsigned residentBlocks = 132;
  /// Warp instructions without any progress elsewhere after which a launch is given up as hanging.
  uint64_t maximumInstructions = 50000000;
  /// Faults after which a launch ends.
  unsigned maximumFaults = 20;
  /// Called again and again with the number of blocks done.
  llvm::function_ref<void(uint64_t done, uint64_t all)> progress = nullptr;
};

struct Device {
  DeviceMemory memory;
};

class Module {
public:
  static llvm::Expected<std::unique_ptr<Module>> parse(llvm::StringRef ptx);

  const PtxModule &ptx() const { return text; }
  /// The offset of a kernel's parameter, and its size; for callers that build Launch::parameters.
  /// Fails if there is no such kernel, it cannot be decoded, or the launch does not fit it.
  llvm::Expected<Report> run(Device &device, const Launch &launch, const Options &options = {});

private:
  llvm::Expected<const Program *> program(llvm::StringRef kernel);
  PtxModule text;
  std::map<std::string, std::unique_ptr<Program>> programs;
};

} // namespace tilec::simulator

#endif // TILEC_SIMULATOR_SIMULATOR_H
