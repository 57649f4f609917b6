// A GPU through the CUDA driver, which is loaded at run time: tile-run needs no CUDA to be built or started.
#ifndef TILEC_RUNNER_CUDADEVICE_H
#define TILEC_RUNNER_CUDADEVICE_H

#include "tilec/Runner/Benchmark.h"
#include "tilec/Runner/Device.h"
#include "llvm/ADT/STLFunctionalExtras.h"
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
  std::string busAddress() const;
  /// Of the second-level cache.
  size_t cacheBytes() const;
  /// A cubin or PTX, where the functions of further launches are looked for.
  llvm::Error load(llvm::ArrayRef<uint8_t> image);

  int64_t smCount() const override;
  llvm::Expected<uint64_t> allocate(size_t bytes, llvm::StringRef name) override;
  void free(uint64_t address) override;
  llvm::Error poison(uint64_t address, size_t bytes) override;
  llvm::Error upload(uint64_t address, llvm::ArrayRef<uint8_t> bytes) override;
  llvm::Error download(uint64_t address, llvm::MutableArrayRef<uint8_t> bytes) override;
  llvm::Expected<std::array<uint8_t, 128>> encodeTensorMap(const TensorMapRequest &request) override;
  llvm::Error launch(const ReadyLaunch &launch) override;

  /// Memory that launches need zeroed.
  struct Cleared {
    uint64_t address = 0;
    size_t bytes = 0;
  };
  /// Times of the launches, one after the other, each time: `repetitions` single ones, and about half a second of them
  /// without pauses.
  llvm::Expected<Measurement> measure(llvm::ArrayRef<ReadyLaunch> launches, llvm::ArrayRef<Cleared> cleared,
                                      unsigned repetitions);
  /// Microseconds of a copy in the card's memory, the best of some.
  llvm::Expected<double> timeCopy(size_t bytes);
  /// Microseconds of the launches, `count` times without pauses.
  llvm::Expected<double> timeLaunches(llvm::ArrayRef<ReadyLaunch> launches, llvm::ArrayRef<Cleared> cleared,
                                      unsigned count);

private:
  explicit CudaDevice(std::unique_ptr<CudaDriver> driver);
  llvm::Error start(const ReadyLaunch &launch);
  llvm::Expected<void *> function(const std::string &entry);
  /// Microseconds between the two on the card.
  llvm::Expected<double> timeOf(llvm::function_ref<llvm::Error()> work);
  int attribute(int which) const;

  std::unique_ptr<CudaDriver> driver;
  int device = 0;
  std::vector<void *> modules;
  std::map<std::string, void *> functions;
};

} // namespace tilec::runner

#endif // TILEC_RUNNER_CUDADEVICE_H
