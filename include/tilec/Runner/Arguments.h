// The arguments of a launch from what the user writes: NAME=VALUE for tensors, scalars and dimensions.
#ifndef TILEC_RUNNER_ARGUMENTS_H
#define TILEC_RUNNER_ARGUMENTS_H

#include "tilec/Runner/HostExpression.h"
#include "tilec/Runner/HostTensor.h"
#include <limits>
#include <map>

namespace tilec::runner {

struct ArgumentOptions {
  /// In the order of the command line.
  std::vector<std::pair<std::string, std::string>> values;
  /// Strides in elements, distance in elements from an aligned address, shapes of tensors without contents.
  std::map<std::string, std::vector<int64_t>> strides, shapes;
  std::map<std::string, int64_t> offsets;
  /// Of random contents.
  uint64_t seed = 1;
  /// The most bytes that all tensors together may have.
  double mostBytes = std::numeric_limits<double>::infinity();
};

/// One tensor of the launch.
struct TensorBinding {
  std::string name;
  const ElementType *type = nullptr;
  enum Access : uint8_t { In, Out, InOut } access = In;
  std::vector<int64_t> shape, strides;
  /// Whether the user gave strides.
  bool strided = false;
  int64_t offset = 0;
  /// Nothing for an out tensor.
  std::optional<HostTensor> contents;
  /// How the contents came about, for messages: "a.npy", "normal".
  std::string origin;
};

struct Arguments {
  std::vector<TensorBinding> tensors;
  /// Scalars and dimensions.
  std::map<std::string, Number> numbers;

  TensorBinding *find(llvm::StringRef name);
};

/// `kernel` is an entry of a reflection file. Input tensors that the user does not mention are normally distributed.
/// Fails with a message for the user.
llvm::Expected<Arguments> bindArguments(const llvm::json::Object &kernel, const ArgumentOptions &options);

} // namespace tilec::runner

#endif // TILEC_RUNNER_ARGUMENTS_H
