// The simulator as a device.
#ifndef TILEC_RUNNER_SIMULATORDEVICE_H
#define TILEC_RUNNER_SIMULATORDEVICE_H

#include "tilec/Runner/Device.h"
#include "tilec/Simulator/Simulator.h"

namespace tilec::runner {

class SimulatorDevice : public Device {
public:
  /// `sms`: the number of multiprocessors that kernels are told.
  SimulatorDevice(std::unique_ptr<simulator::Module> module, simulator::Options options, int64_t sms)
      : module(std::move(module)), options(options), sms(sms) {}

  int64_t smCount() const override { return sms; }
  llvm::Expected<uint64_t> allocate(size_t bytes, llvm::StringRef name) override;
  /// Memory stays until the device goes, so that a later access is one outside of every allocation in use.
  void free(uint64_t address) override {}
  llvm::Error poison(uint64_t address, size_t bytes) override;
  llvm::Error upload(uint64_t address, llvm::ArrayRef<uint8_t> bytes) override;
  llvm::Error download(uint64_t address, llvm::MutableArrayRef<uint8_t> bytes) override;
  llvm::Expected<std::array<uint8_t, 128>> encodeTensorMap(const TensorMapRequest &request) override;
  /// Fails if the kernel cannot run; faults found are in `reports`.
  llvm::Error launch(const ReadyLaunch &launch) override;

  const simulator::PtxModule &ptx() const { return module->ptx(); }
  /// One for each launch.
  std::vector<simulator::Report> reports;
  simulator::Options &launchOptions() { return options; }

private:
  llvm::Expected<std::vector<uint8_t>> parameterBytes(const ReadyLaunch &launch) const;

  std::unique_ptr<simulator::Module> module;
  simulator::Options options;
  int64_t sms;
  simulator::Device device;
};

} // namespace tilec::runner

#endif // TILEC_RUNNER_SIMULATORDEVICE_H
