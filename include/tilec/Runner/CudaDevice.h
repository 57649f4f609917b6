// A GPU through the CUDA driver, which is loaded at run time: tile-run needs no CUDA to be built or started.
#ifndef TILEC_RUNNER_CUDADEVICE_H
#define TILEC_RUNNER_CUDADEVICE_H

#include "tilec/Runner/Device.h"
#include <map>
#include <memory>

namespace tilec::runner {

struct CudaDriver;

class CudaDevice : public Device {
public:
  /// Fails, with the reason, where there is no driver or no device.
  static llvm::Expected<std::unique_ptr<CudaDevice>> open();
  ~CudaDevice() override;

  /// "sm_90a" and the like: the target of tilec that runs here; and the card's name.
  std::string architecture() const;
  std::string name() const;
  /// A cubin or PTX.
  llvm::Error load(llvm::ArrayRef<uint8_t> image);

  int64_t smCount() const override;
  llvm::Expected<uint64_t> allocate(size_t bytes, llvm::StringRef name) override;
  void free(uint64_t address) override;
  llvm::Error poison(uint64_t address, size_t bytes) override;
  llvm::Error upload(uint64_t address, llvm::ArrayRef<uint8_t> bytes) override;
  llvm::Error download(uint64_t address, llvm::MutableArrayRef<uint8_t> bytes) override;
  llvm::Expected<std::array<uint8_t, 128>> encodeTensorMap(const TensorMapRequest &request) override;
  llvm::Error launch(const ReadyLaunch &launch) override;

  /// Microseconds of each of `count` repetitions of the launches, measured with events, after a warm-up.
  llvm::Expected<std::vector<double>> time(llvm::ArrayRef<ReadyLaunch> launches, unsigned count);

private:
  explicit CudaDevice(std::unique_ptr<CudaDriver> driver);
  llvm::Error start(const ReadyLaunch &launch);
  llvm::Expected<void *> function(const std::string &entry);
  int attribute(int which) const;

  std::unique_ptr<CudaDriver> driver;
  int device = 0;
  void *module = nullptr;
  std::map<std::string, void *> functions;
};

} // namespace tilec::runner

#endif // TILEC_RUNNER_CUDADEVICE_H
