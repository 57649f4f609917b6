// Loads of 16 bytes at addresses that are multiples of the element's size only.
#ifndef TILEC_LIB_CONVERSION_TILEGPUTONVVM_SHIFTEDLOAD_H
#define TILEC_LIB_CONVERSION_TILEGPUTONVVM_SHIFTEDLOAD_H

#include "Lowering.h"

namespace tilec {

/// The two aligned vectors around an address are loaded and shifted together. Nothing outside the tensor's memory is
/// read, so that the first and the last vectors of a tensor need another way.
class ShiftedLoad {
public:
  static constexpr int64_t bytes = 16;

  /// A view that nothing writes while the kernel runs, whose elements have 1, 2 or 4 bytes.
  ShiftedLoad(Lowering &lowering, const LoweredView &view, int64_t elementBytes);

  /// i1: whether both vectors around the address (`!llvm.ptr<1>`) lie inside; never where rows do not follow each
  /// other.
  mlir::Value isInside(mlir::Value pointer);

  /// vector<4xi32>: the bytes at the address where `condition` (i1) holds, which implies isInside; zeros elsewhere.
  mlir::Value load(mlir::Value pointer, mlir::Value condition);

private:
  mlir::Value addressOf(mlir::Value pointer);
  mlir::Value pointerTo(mlir::Value address);
  llvm::SmallVector<mlir::Value, 4> wordsAt(mlir::Value pointer, int64_t offset, mlir::Value condition);

  Lowering &lowering;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  int64_t elementBytes;
  /// i64: the address of the tensor, and below how many bytes from there a pair of vectors may begin.
  mlir::Value first, limit;
};

/// vector<4xi32>: the 16 bytes that begin `shift` (i32, 0 to 15, a multiple of `elementBytes`) bytes into two vectors
/// of four words (i32) each.
mlir::Value vectorWithin(mlir::OpBuilder &builder, mlir::Location loc, llvm::ArrayRef<mlir::Value> twoVectors,
                         mlir::Value shift, int64_t elementBytes);

} // namespace tilec

#endif // TILEC_LIB_CONVERSION_TILEGPUTONVVM_SHIFTEDLOAD_H
