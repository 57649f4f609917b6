// Emission of `tilegpu.mma` on operands that have already been lowered: registers of one thread, and tiles in shared
// memory.
#ifndef TILEC_CONVERSION_TILEGPUTONVVM_MMAEMITTER_H
#define TILEC_CONVERSION_TILEGPUTONVVM_MMAEMITTER_H

#include "MmaShared.h"
#include "Ptx.h"
#include "tilec/Dialect/TileGPU/TileGPUDialect.h"

namespace tilec {

/// An operand of an MMA: in registers, one value for each register of its layout, or in shared memory.
struct MmaOperand {
  /// i32 values of packed elements for wgmma, scalars of the element type for mma.
  llvm::SmallVector<mlir::Value, 0> registers;
  std::optional<SharedPart> shared;
};

/// What all kinds of MMA need. Accumulators are scalars in the order of the layout's registers.
struct MmaInputs {
  tilegpu::MmaOp op;
  MmaOperand a, b;
  llvm::SmallVector<mlir::Value, 0> accumulators;
  /// i1, or null: the accumulators' values are ignored where it is true.
  mlir::Value first;
  /// Lane (0 to 31) and warp in the group, i32; for kind `fma`.
  mlir::Value lane, warp;
};

/// The accumulators of 8-bit float instructions keep fewer bits than f32; unless the operation is `fast`, sums of this
/// many products leave them and are added in f32.
constexpr int64_t exactProducts = 128;

/// Each returns the new accumulators, or fails after it has reported why on the operation.
mlir::FailureOr<Ptx::Values> emitWgmma(mlir::OpBuilder &builder, const MmaInputs &inputs);
mlir::FailureOr<Ptx::Values> emitMmaSync(mlir::OpBuilder &builder, const MmaInputs &inputs);
mlir::FailureOr<Ptx::Values> emitFma(mlir::OpBuilder &builder, const MmaInputs &inputs);

/// The f16 value of an 8-bit float (e4m3 or e5m2), given as i8 or as the float itself; exact.
mlir::Value halfOfF8(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value scalar, mlir::Type elementType);

/// Packs scalars of less than 32 bits, lowest first, into i32 values; 32-bit scalars become i32 and 64-bit ones stay.
llvm::SmallVector<mlir::Value, 0> packRegisters(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange scalars);
/// The scalars of a type of 8 or 16 bits that i32 values hold, lowest first.
llvm::SmallVector<mlir::Value, 0> unpackRegisters(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange words,
                                                  mlir::Type type);

} // namespace tilec

#endif // TILEC_CONVERSION_TILEGPUTONVVM_MMAEMITTER_H
