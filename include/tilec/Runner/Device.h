// Where kernels run: a GPU or the simulator.
#ifndef TILEC_RUNNER_DEVICE_H
#define TILEC_RUNNER_DEVICE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tilec::runner {

/// One kernel launch with everything evaluated.
struct ReadyLaunch {
  std::string entry;
  std::array<int64_t, 3> grid = {1, 1, 1};
  std::array<int64_t, 3> cluster = {1, 1, 1};
  int64_t block = 1;
  /// Bytes of dynamic shared memory.
  int64_t shared = 0;
  /// The bytes of each parameter, in order.
  std::vector<std::vector<uint8_t>> params;
};

/// Parameters of cuTensorMapEncodeTiled; dimensions from the innermost, strides in bytes from the second.
struct TensorMapRequest {
  /// An element type of the language, or "tf32".
  std::string type;
  uint64_t address = 0;
  std::vector<uint64_t> dims;
  std::vector<uint64_t> strides;
  std::vector<uint32_t> box;
  unsigned swizzle = 0;
  unsigned promotion = 0;
};

class Device {
public:
  virtual ~Device() = default;

  virtual int64_t smCount() const = 0;
  /// Aligned to 256 bytes, of at least one byte. `name` is for messages about accesses.
  virtual llvm::Expected<uint64_t> allocate(size_t bytes, llvm::StringRef name) = 0;
  virtual void free(uint64_t address) = 0;
  /// Fills memory with 0xff, NaN in every float format, without making it initialised.
  virtual llvm::Error poison(uint64_t address, size_t bytes) = 0;
  virtual llvm::Error upload(uint64_t address, llvm::ArrayRef<uint8_t> bytes) = 0;
  virtual llvm::Error download(uint64_t address, llvm::MutableArrayRef<uint8_t> bytes) = 0;
  virtual llvm::Expected<std::array<uint8_t, 128>> encodeTensorMap(const TensorMapRequest &request) = 0;
  /// Runs to completion; fails if the kernel faults.
  virtual llvm::Error launch(const ReadyLaunch &launch) = 0;
};

} // namespace tilec::runner

#endif // TILEC_RUNNER_DEVICE_H
