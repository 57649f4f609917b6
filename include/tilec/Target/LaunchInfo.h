// How the host launches the kernels of a module: the data behind the reflection file and the generated header, free of
// MLIR. The lowering attaches it to the module as attributes (`tilec.kernels`, `tilec.launch`); docs/abi.md
// describes the fields.
#ifndef TILEC_TARGET_LAUNCHINFO_H
#define TILEC_TARGET_LAUNCHINFO_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mlir {
class ModuleOp;
} // namespace mlir

namespace tilec {

/// An expression over the arguments of a launch, evaluated by the host in 64-bit integers.
struct HostExpr {
  enum class Kind { Integer, Float, Name, Operation };
  Kind kind = Kind::Integer;
  int64_t integer = 0;
  double number = 0;
  /// The name of a dimension, scalar or stride (`A.stride0`), `sm_count`, or the operation.
  std::string text;
  std::vector<HostExpr> operands;
};

/// What the host needs to know of an element type.
struct HostType {
  llvm::StringLiteral name;
  unsigned bits;
  /// The C type of a scalar argument; narrow floats are passed as their bits. Empty if scalars cannot have the type.
  llvm::StringLiteral cType;
  /// The suffix of CU_TENSOR_MAP_DATA_TYPE_; packed types travel as bytes.
  llvm::StringLiteral tensorMapType;
};

/// Null for a name that is no element type.
const HostType *findHostType(llvm::StringRef name);

struct Argument {
  enum class Kind { Tensor, Scalar, Dim };
  enum class Access { In, Out, InOut };
  Kind kind = Kind::Dim;
  std::string name;
  /// Tensors and scalars only.
  std::string type;
  Access access = Access::In;
  std::vector<HostExpr> shape;
  /// In elements.
  std::vector<HostExpr> strides;
  bool dynamicStrides = false;

  bool isOutput() const { return kind == Kind::Tensor && access != Access::In; }
};

struct Contract {
  HostExpr condition;
  /// The condition as the user wrote it.
  std::string text;
};

/// Memory that lives for one launch; kernels receive its address under its name.
struct Workspace {
  std::string name;
  HostExpr bytes;
  /// Whether the kernels rely on it being zero at the start.
  bool clear = false;
};

/// One parameter of a kernel function.
struct Parameter {
  enum class Kind { TensorMap, Pointer, Int, Scalar };
  Kind kind = Kind::Int;
  /// The tensor, workspace or scalar it stands for; unused by Int.
  std::string name;
  std::string type;
  HostExpr value;
  /// Tensor maps: extents from the innermost dimension, strides in bytes from the second, the extents of one transfer.
  std::vector<HostExpr> dims;
  std::vector<HostExpr> strides;
  std::vector<int64_t> box;
  int64_t swizzle = 0;
  int64_t l2 = 0;
};

struct Launch {
  std::string entry;
  std::array<HostExpr, 3> grid;
  std::array<int64_t, 3> cluster = {1, 1, 1};
  int64_t block = 0;
  /// Dynamic shared memory in bytes.
  int64_t shared = 0;
  std::vector<Parameter> params;
};

struct Variant {
  std::string name;
  std::vector<HostExpr> when;
  /// Of the variants whose conditions hold, the one of least cost is launched, the first of equals; none costs 0.
  std::optional<HostExpr> cost;
  std::vector<Launch> launches;
};

struct KernelInfo {
  std::string name;
  std::vector<Argument> arguments;
  std::vector<Contract> contracts;
  std::vector<Workspace> workspaces;
  std::vector<Variant> variants;
};

/// The kernels of a module, in source order. Fails with a description of the first attribute that does not follow
/// the launch interface, which is a fault of the compiler and not of its input.
llvm::Expected<std::vector<KernelInfo>> readLaunchInfo(mlir::ModuleOp module);

} // namespace tilec

#endif // TILEC_TARGET_LAUNCHINFO_H
