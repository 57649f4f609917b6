// SharedScratch: elements in a scratch area of shared memory, and exchanges between the lanes of a warp.
#ifndef TILEC_CONVERSION_TILEGPUTONVVM_SHAREDSCRATCH_H
#define TILEC_CONVERSION_TILEGPUTONVVM_SHAREDSCRATCH_H

#include "Lowering.h"

namespace tilec {

class SharedScratch {
public:
  /// `type` is the type of one register; i1 takes a byte.
  SharedScratch(Lowering &lowering, mlir::Value address, mlir::Type type);

  /// `element` is an i32 number of an element.
  void store(mlir::Value value, mlir::Value element);
  mlir::Value load(mlir::Value element);
  /// The same element of the scratch of another block of the cluster (i32 rank), whose mbarrier at the same address as
  /// `barrier` counts its bytes. Types of 32 and 64 bits.
  void sendInCluster(mlir::Value value, mlir::Value element, mlir::Value block, mlir::Value barrier);

  /// Vectors of consecutive elements at an i32 byte offset.
  void storeAt(mlir::ValueRange values, mlir::Value byteOffset);
  llvm::SmallVector<mlir::Value, 8> loadAt(unsigned count, mlir::Value byteOffset);

private:
  mlir::Value pointer(mlir::Value byteOffset);

  Lowering &lowering;
  mlir::Value address;
  mlir::Type type, memoryType;
  int64_t bytes;
};

/// A scalar as an i32: zero-extended, or the low half of 64 bits.
mlir::Value toWord(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value);
/// A scalar of at most 32 bits from its word.
mlir::Value fromWord(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value word, mlir::Type type);

/// The value of lane ^ mask, or of lane `source` (i32), for a scalar of any width up to 64 bits.
mlir::Value shuffleXor(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, uint32_t mask);
mlir::Value shuffleIndex(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, mlir::Value source);

} // namespace tilec

#endif // TILEC_CONVERSION_TILEGPUTONVVM_SHAREDSCRATCH_H
