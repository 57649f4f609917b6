// HostFunction: what the lowering emits for scalars, compiled for the host instead of a GPU.
#ifndef TILEC_TEST_UNIT_CONVERSION_HOSTFUNCTION_H
#define TILEC_TEST_UNIT_CONVERSION_HOSTFUNCTION_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

namespace tilec::test {

/// The hardware's approximations are the host's exact functions, off by their documented errors times this: -1, 0, 1.
extern int approximationError;

/// A type of the language by its name in the IR: `f32`, `f8E4M3FN`, `i16`, `index`.
using TypeName = std::string;

/// A function of bit patterns. Values of all types are passed in the low bits of 64-bit integers; those of f8 are their
/// codes, as in registers, and those of tf32 are f32.
class HostFunction {
public:
  /// Emits the result for operands in registers (i8 for f8, f32 for tf32).
  using Build =
      llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location, llvm::ArrayRef<mlir::Value> operands)>;
  /// Creates one operation on operands of the language's types; ScalarOps lowers it for sm_80.
  using CreateOp = llvm::function_ref<mlir::Operation *(mlir::OpBuilder &, mlir::Location,
                                                        llvm::ArrayRef<mlir::Value> operands, mlir::Type result)>;

  static HostFunction fromRegisters(llvm::ArrayRef<TypeName> operands, const TypeName &result, Build build);
  /// `constants` of the result's type follow the operands in registers.
  static HostFunction ofOperation(llvm::ArrayRef<TypeName> operands, const TypeName &result, CreateOp create,
                                  llvm::ArrayRef<int64_t> constants = {});
  /// Rule 13.
  static HostFunction cast(const TypeName &from, const TypeName &to, bool fromUnsigned = false,
                           bool toUnsigned = false);

  uint64_t operator()(uint64_t a, uint64_t b = 0, uint64_t c = 0) const { return address(a, b, c); }

private:
  HostFunction() = default;
  std::unique_ptr<llvm::orc::LLJIT> jit;
  uint64_t (*address)(uint64_t, uint64_t, uint64_t) = nullptr;
};

template <typename T> uint64_t toBits(T value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}
template <typename T> T fromBits(uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}

} // namespace tilec::test

#endif // TILEC_TEST_UNIT_CONVERSION_HOSTFUNCTION_H
