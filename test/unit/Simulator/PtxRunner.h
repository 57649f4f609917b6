// Runs PTX from text in unit tests: a body of instructions with inputs and a result for each thread.
#ifndef TILEC_TEST_UNIT_SIMULATOR_PTXRUNNER_H
#define TILEC_TEST_UNIT_SIMULATOR_PTXRUNNER_H

#include "tilec/Simulator/Simulator.h"
#include "gtest/gtest.h"
#include <cstring>

namespace tilec::simulator {

/// What a run gave: one 64-bit result for each thread, and the faults.
struct PtxResult {
  std::vector<uint64_t> values;
  Report report;
  std::string error;
  std::string faults;
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
  PtxResult result;
  auto module = Module::parse(kernelText(body, threads, functions));
  if (!module) {
    result.error = llvm::toString(module.takeError());
    return result;
  }
  Device device;
  result.values.resize(threads);
  uint64_t address = device.memory.allocate(threads * sizeof(uint64_t), "result");
  Launch launch;
  launch.kernel = "k";
  launch.block = {threads, 1, 1};
  launch.dynamicShared = 4096;
  launch.parameters.resize(sizeof(address));
  std::memcpy(launch.parameters.data(), &address, sizeof(address));
  auto report = (*module)->run(device, launch, options);
  if (!report) {
    result.error = llvm::toString(report.takeError());
    return result;
  }
  device.memory.copyOut(result.values.data(), address, threads * sizeof(uint64_t));
  result.faults = report->text((*module)->ptx());
  result.report = std::move(*report);
  return result;
}

} // namespace tilec::simulator

#endif // TILEC_TEST_UNIT_SIMULATOR_PTXRUNNER_H
