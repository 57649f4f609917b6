// Runs PTX from text in unit tests: a body of instructions with inputs and a result for each thread.
#ifndef TILEC_TEST_UNIT_SIMULATOR_PTXRUNNER_H
#define TILEC_TEST_UNIT_SIMULATOR_PTXRUNNER_H

#include "tilec/Simulator/Simulator.h"
#include "gtest/gtest.h"
#include <cstring>

namespace tilec::simulator {

/// What a run gave, or why there was none.
struct Outcome {
  Report report;
  std::string error;
  std::string faults;
};

/// Runs kernel `k` of a text with one parameter, an address.
inline Outcome runKernel(const std::string &ptx, Device &device, Launch launch, uint64_t address,
                         const Options &options) {
  Outcome outcome;
  auto module = Module::parse(ptx);
  if (!module) {
    outcome.error = llvm::toString(module.takeError());
    return outcome;
  }
  launch.kernel = "k";
  launch.parameters.resize(sizeof(address));
  std::memcpy(launch.parameters.data(), &address, sizeof(address));
  auto report = (*module)->run(device, launch, options);
  if (!report) {
    outcome.error = llvm::toString(report.takeError());
    return outcome;
  }
  outcome.faults = report->text((*module)->ptx());
  outcome.report = std::move(*report);
  return outcome;
}

/// One 64-bit result for each thread.
struct PtxResult : Outcome {
  std::vector<uint64_t> values;
};

/// A kernel around `body`, which finds the thread's number in %t and leaves its result in %out. Registers: %r<16> (32
/// bits), %rs<16>, %rd<16>, %f<16>, %d<8>, %p<8>; shared memory: `memory`, 4096 bytes. `functions` stand before it.
inline std::string kernelText(const std::string &body, unsigned threads, const std::string &functions = "") {
  return ".version 8.6\n.target sm_90a\n.address_size 64\n"
         ".extern .shared .align 16 .b8 memory[];\n" +
         functions + ".visible .entry k(.param .u64 result)\n.reqntid " + std::to_string(threads) +
         "\n{\n.reg .b32 %t, %r<16>;\n.reg .b16 %rs<16>;\n.reg .b64 %out, %address, %rd<16>;\n.reg .f32 %f<16>;\n"
         ".reg .f64 %d<8>;\n.reg .pred %p<8>;\nmov.u32 %t, %tid.x;\n" +
         body +
         "\nld.param.u64 %address, [result];\nmad.wide.u32 %address, %t, 8, %address;\n"
         "st.global.u64 [%address], %out;\nret;\n}\n";
}

inline PtxResult runPtx(const std::string &body, unsigned threads = 32, const Options &options = {},
                        const std::string &functions = "") {
  Device device;
  uint64_t address = device.memory.allocate(threads * sizeof(uint64_t), "result");
  Launch launch;
  launch.block = {threads, 1, 1};
  launch.dynamicShared = 4096;
  PtxResult result{runKernel(kernelText(body, threads, functions), device, launch, address, options), {}};
  result.values.resize(threads);
  device.memory.copyOut(result.values.data(), address, threads * sizeof(uint64_t));
  return result;
}

} // namespace tilec::simulator

#endif // TILEC_TEST_UNIT_SIMULATOR_PTXRUNNER_H
