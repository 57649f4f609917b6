// Arguments of a launch from numbers and .npy files, and results back into files.
#ifndef TILEC_INTERPRETER_ARGUMENTS_H
#define TILEC_INTERPRETER_ARGUMENTS_H

#include "tilec/Interpreter/Launch.h"

namespace tilec::interpreter {

/// What the user gave, by the name of the parameter.
struct HostArguments {
  /// A number, or the path of a .npy file with one storage value an element (bf16 as uint16, f8 as uint8 codes, packed
  /// types unpacked).
  std::map<std::string, std::string> inputs;
  /// Paths of the results.
  std::map<std::string, std::string> outputs;
  /// Shapes of `out` tensors, where dimensions do not give them.
  std::map<std::string, std::vector<int64_t>> shapes;
  /// Strides in elements.
  std::map<std::string, std::vector<int64_t>> steps;
  /// Distance in elements from an aligned address.
  std::map<std::string, int64_t> offsets;
};

/// The arrays of one launch.
class HostArrays {
public:
  /// `kernel` is an entry of `tilec.kernels`.
  HostArrays(mlir::DictionaryAttr kernel, const HostArguments &host) : kernel(kernel), host(host) {}

  /// Solves dimensions from the shapes of arrays and fills memory; outputs and gaps between elements hold 0xFF bytes.
  /// Fails with a message for the user if something is missing or does not fit.
  llvm::Error bind(LaunchArguments &arguments);
  /// Writes the outputs. Fails also if a byte between the elements of a tensor has changed.
  llvm::Error write(LaunchArguments &arguments);

private:
  struct Layout {
    std::vector<int64_t> shape;
    std::vector<int64_t> strides;
    /// The index of an element in memory by its row-major number.
    std::vector<int64_t> elements() const;
  };

  llvm::Error bindScalar(mlir::DictionaryAttr argument, LaunchArguments &arguments);
  llvm::Error bindShape(mlir::DictionaryAttr argument, LaunchArguments &arguments);
  llvm::Error bindSizes(mlir::DictionaryAttr argument, llvm::StringRef field, llvm::ArrayRef<int64_t> given,
                        LaunchArguments &arguments);
  llvm::Error bindTensor(mlir::DictionaryAttr argument, LaunchArguments &arguments);
  llvm::Error bindStrides(mlir::DictionaryAttr argument, Layout &layout, LaunchArguments &arguments);
  llvm::Error fill(mlir::DictionaryAttr argument, const Layout &layout, Buffer &buffer);
  llvm::Error writeTensor(mlir::DictionaryAttr argument, const Buffer &buffer);

  mlir::DictionaryAttr kernel;
  const HostArguments &host;
  std::map<std::string, Layout> layouts;
};

} // namespace tilec::interpreter

#endif // TILEC_INTERPRETER_ARGUMENTS_H
