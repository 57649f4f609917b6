// One kernel with its arguments in the memory of a device, ready to run any number of times.
#ifndef TILEC_RUNNER_SESSION_H
#define TILEC_RUNNER_SESSION_H

#include "tilec/Runner/Arguments.h"
#include "tilec/Runner/Launcher.h"

namespace tilec::runner {

class Session {
public:
  Session(const llvm::json::Object &kernel, const Arguments &arguments, Device &device);
  ~Session();
  Session(const Session &) = delete;
  Session &operator=(const Session &) = delete;

  /// A variant to take instead of the one that the launcher would choose.
  void forceVariant(std::string name) { launcher.forceVariant(std::move(name)); }
  /// Allocates memory and plans the launches.
  llvm::Error prepare();
  const LaunchPlan &plan() const { return planned; }
  /// Writes inputs, poisons outputs, clears workspaces and launches.
  llvm::Error run();
  /// The out and inout tensors. Fails if a byte around or between the elements of any tensor has changed.
  llvm::Expected<std::vector<HostTensor>> results();
  /// Their names, in the same order.
  std::vector<std::string> resultNames() const;

private:
  struct Memory {
    const TensorBinding *tensor;
    uint64_t base = 0;
    /// Bytes before the first element.
    int64_t lead = 0;
    DeviceImage image;
  };
  llvm::Error write(Memory &memory);
  llvm::Expected<HostTensor> read(Memory &memory);

  const Arguments &arguments;
  Device &device;
  Launcher launcher;
  LaunchPlan planned;
  std::vector<Memory> memories;
};

} // namespace tilec::runner

#endif // TILEC_RUNNER_SESSION_H
