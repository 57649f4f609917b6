// From a kernel's reflection and its arguments to ready launches, as the generated header does it (docs/abi.md).
#ifndef TILEC_RUNNER_LAUNCHER_H
#define TILEC_RUNNER_LAUNCHER_H

#include "tilec/Runner/Device.h"
#include "tilec/Runner/HostExpression.h"
#include <map>
#include <optional>

namespace tilec::runner {

/// A tensor argument in device memory. Strides in elements; none means row-major.
struct TensorArgument {
  uint64_t address = 0;
  std::vector<int64_t> shape;
  std::optional<std::vector<int64_t>> strides;
};

/// Row-major strides of a shape.
std::vector<int64_t> rowMajorStrides(llvm::ArrayRef<int64_t> shape);
/// Elements from the first to the last, 0 if there is none.
int64_t spanOf(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> strides);

/// Memory that the kernel needs for the time of the launch.
struct Workspace {
  std::string name;
  uint64_t address = 0;
  int64_t bytes = 0;
  bool clear = false;
};

struct LaunchPlan {
  std::string variant;
  /// Empty if every output is.
  std::vector<ReadyLaunch> launches;
  std::vector<Workspace> workspaces;
};

class Launcher {
public:
  /// `kernel` is an entry of `kernels` of a reflection file; it outlives the launcher.
  Launcher(const llvm::json::Object &kernel, Device &device);

  /// Every argument by name; dimensions that follow from shapes may be left out. Fails, with a message for the user,
  /// where the generated header refuses the arguments. Workspaces are allocated but not cleared.
  llvm::Expected<LaunchPlan> plan(const std::map<std::string, TensorArgument> &tensors,
                                  const std::map<std::string, Number> &numbers);

  /// A variant to take instead of the one that the launcher would choose; its conditions must still hold.
  void forceVariant(std::string name) { forced = std::move(name); }

private:
  llvm::Error fault(const llvm::Twine &message) const;
  llvm::Error solve();
  llvm::Error checkShapes();
  llvm::Error checkContracts();
  llvm::Error checkStrides();
  llvm::Error checkAddresses();
  llvm::Error checkOverlap();
  bool outputsEmpty() const;
  bool isForced(llvm::StringRef variant) const;
  llvm::Expected<bool> holds(const llvm::json::Object &variant);
  llvm::Expected<const llvm::json::Object *> chooseVariant();
  llvm::Error allocateWorkspaces(LaunchPlan &plan);
  llvm::Expected<std::optional<ReadyLaunch>> ready(const llvm::json::Object &launch);
  llvm::Expected<std::vector<uint8_t>> parameter(const llvm::json::Object &parameter);
  llvm::Expected<std::vector<uint8_t>> tensorMap(const llvm::json::Object &parameter);
  llvm::Expected<int64_t> number(const llvm::json::Object &object, llvm::StringRef field);
  llvm::Expected<std::vector<int64_t>> numbers(const llvm::json::Object &object, llvm::StringRef field);
  /// The kernel's tensor arguments as objects.
  std::vector<const llvm::json::Object *> tensorArguments() const;
  std::vector<int64_t> stridesOf(llvm::StringRef tensor) const;

  const llvm::json::Object &kernel;
  Device &device;
  std::string forced;
  std::map<std::string, TensorArgument> tensors;
  std::map<std::string, unsigned> elementBytes;
  std::map<std::string, uint64_t> workspaces;
  HostValues values;
};

} // namespace tilec::runner

#endif // TILEC_RUNNER_LAUNCHER_H
