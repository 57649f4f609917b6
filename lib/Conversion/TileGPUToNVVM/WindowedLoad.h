// Loads from views that begin anywhere within a vector, by whole vectors around their elements.
#ifndef TILEC_LIB_CONVERSION_TILEGPUTONVVM_WINDOWEDLOAD_H
#define TILEC_LIB_CONVERSION_TILEGPUTONVVM_WINDOWEDLOAD_H

#include "MemoryAccess.h"

namespace tilec {

/// Whether loads from a view may read the vectors around its elements, unless it begins at a vector.
bool isWindowed(tile::ViewOp view);

/// Vectors of one type at multiples of their size from the beginning of a windowed view. Which bytes are taken is the
/// same for all of them: a branch for each word in which the view may begin, then shifts within words.
class WindowedLoad {
public:
  /// `type`: of a vector of elements.
  WindowedLoad(Lowering &lowering, const LoweredView &view, mlir::VectorType type);

  /// `aligned` loads a vector where the view begins at one; `fill` gives what stands for a vector whose condition does
  /// not hold, null for zeros.
  mlir::ValueRange load(llvm::ArrayRef<const VectorAccess *> vectors,
                        llvm::function_ref<mlir::Value(const VectorAccess &)> aligned,
                        llvm::function_ref<mlir::Value(const VectorAccess &)> fill);

private:
  using Words = llvm::SmallVector<mlir::Value, 8>;

  bool hasBits(int64_t bits) const { return bits >= std::max<int64_t>(4, elementBytes); }
  mlir::Value isSet(int64_t bits);
  Words wordsAround(const VectorAccess &vector);
  mlir::Value vectorOf(llvm::ArrayRef<mlir::Value> words);
  llvm::SmallVector<mlir::Value> choose(llvm::ArrayRef<Words> words, int64_t bits);

  Lowering &lowering;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::VectorType type;
  int64_t elementBytes, bytes;
  /// i32: bytes from a vector's address back to a multiple of its size; and in bits what of it is within a word.
  mlir::Value shift, bitsInWord;
  bool isReadOnly;
};

} // namespace tilec

#endif // TILEC_LIB_CONVERSION_TILEGPUTONVVM_WINDOWEDLOAD_H
