// Loads from views that begin anywhere within a vector.
#ifndef TILEC_LIB_CONVERSION_TILEGPUTONVVM_WINDOWEDLOAD_H
#define TILEC_LIB_CONVERSION_TILEGPUTONVVM_WINDOWEDLOAD_H

#include "MemoryAccess.h"

namespace tilec {

/// Whether loads from a view may read what is around its elements, unless it begins at a vector.
bool isWindowed(tile::ViewOp view);

/// Vectors of one type at multiples of their size from the beginning of a windowed view: the words of 32 bits around a
/// vector, shifted. Where the view is expected to begin at a vector, a branch takes whole ones if it does.
class WindowedLoad {
public:
  /// `type`: of a vector of elements.
  WindowedLoad(Lowering &lowering, const LoweredView &view, mlir::VectorType type);

  /// `whole` loads a vector where the view begins at one; `fill` gives what stands for a vector whose condition does
  /// not hold, null for zeros.
  llvm::SmallVector<mlir::Value> load(llvm::ArrayRef<const VectorAccess *> vectors,
                                      llvm::function_ref<mlir::Value(const VectorAccess &)> whole,
                                      llvm::function_ref<mlir::Value(const VectorAccess &)> fill);

private:
  mlir::Value shifted(const VectorAccess &vector, mlir::Value fill);

  Lowering &lowering;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::VectorType type;
  int64_t elementBytes, bytes;
  /// i32: the address of the view, and in bits how far into a word it is.
  mlir::Value address, bitsInWord;
  bool isReadOnly, beginsAtWord, isExpectedWhole;
};

} // namespace tilec

#endif // TILEC_LIB_CONVERSION_TILEGPUTONVVM_WINDOWEDLOAD_H
