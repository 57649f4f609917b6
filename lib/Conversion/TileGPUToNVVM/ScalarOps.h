// ScalarOps: element-wise operations on one element, with the language's exact rules.
#ifndef TILEC_CONVERSION_TILEGPUTONVVM_SCALAROPS_H
#define TILEC_CONVERSION_TILEGPUTONVVM_SCALAROPS_H

#include "mlir/IR/Builders.h"
#include "tilec/Dialect/Tile/TileDialect.h"
#include "tilec/Machine/Machine.h"

#include <optional>
#include <utility>

namespace tilec {

class ScalarOps {
public:
  ScalarOps(mlir::OpBuilder &builder, mlir::Location loc, const Machine &machine)
      : builder(builder), loc(loc), machine(machine) {}

  /// The result of `op` for inputs of one element; `element` is the element type of its result. Fails with an error on
  /// the operation if it has no lowering.
  mlir::FailureOr<mlir::Value> emit(mlir::Operation *op, llvm::ArrayRef<mlir::Value> inputs, mlir::Type element);

  /// Rule 13, between any two element types.
  mlir::Value cast(mlir::Value input, mlir::Type from, mlir::Type to, bool fromUnsigned, bool toUnsigned);
  /// Casts two values together, where that takes fewer instructions: pairs of f8 on machines that convert them, halves
  /// of a word of bf16.
  std::optional<std::pair<mlir::Value, mlir::Value>> castPair(mlir::Value low, mlir::Value high, mlir::Type from,
                                                              mlir::Type to);
  /// Casts two values from bf16 to f32 by instructions that neither LLVM nor ptxas takes for those of another number,
  /// or of `castPair`: they would keep the wide values instead.
  std::pair<mlir::Value, mlir::Value> widenPairAgain(mlir::Value low, mlir::Value high, int64_t number);
  /// Combines two elements of a type, in registers (reductions and atomics). A sum may `contract` with a product.
  mlir::Value combine(tile::CombineKind kind, mlir::Value a, mlir::Value b, mlir::Type element, bool contract = false);
  /// The register of the neutral element of a combination.
  mlir::Value neutral(tile::CombineKind kind, mlir::Type element);

private:
  mlir::Value chooseF8(tile::CombineKind kind, mlir::Value a, mlir::Value b, mlir::Type element);
  mlir::Value divide(mlir::Value a, mlir::Value b, bool isUnsigned, bool truncating, bool remainder);
  mlir::Value integerFromFloat(mlir::Value input, mlir::Type to, bool toUnsigned);
  mlir::Value floatFromInteger(mlir::Value input, mlir::Type to, bool isUnsigned);
  /// f32, rounded to odd.
  mlir::Value oddFromDouble(mlir::Value input);
  mlir::Value oddFromInteger(mlir::Value input, bool isUnsigned);
  mlir::Value narrowSingle(mlir::Value input, mlir::Type to);
  std::pair<mlir::Value, mlir::Value> f8PairFromFloats(mlir::Value low, mlir::Value high, mlir::Type to);
  std::pair<mlir::Value, mlir::Value> halfPairFromF8(mlir::Value low, mlir::Value high, mlir::Type from);
  std::optional<std::pair<mlir::Value, mlir::Value>> widenPair(mlir::Value low, mlir::Value high);
  mlir::Value f8FromFloat(mlir::Value input, mlir::Type to);
  mlir::Value floatFromF8(mlir::Value input, mlir::Type from, mlir::Type to);
  mlir::Value tf32FromFloat(mlir::Value input);
  mlir::Value resize(mlir::Value input, mlir::Type to, bool isUnsigned);
  mlir::Value math(mlir::Operation *op, llvm::ArrayRef<mlir::Value> inputs, mlir::Type element);
  mlir::Value constant(mlir::Type type, double value);
  mlir::Value integer(mlir::Type type, int64_t value);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  const Machine &machine;
};

} // namespace tilec

#endif // TILEC_CONVERSION_TILEGPUTONVVM_SCALAROPS_H
