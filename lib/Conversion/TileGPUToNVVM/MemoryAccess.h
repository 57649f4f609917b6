// MemoryAccess: how the registers of a tile are grouped into vector accesses of global memory, and under which
// conditions each access happens.
#ifndef TILEC_CONVERSION_TILEGPUTONVVM_MEMORYACCESS_H
#define TILEC_CONVERSION_TILEGPUTONVVM_MEMORYACCESS_H

#include "Lowering.h"
#include "tilec/Transforms/AffineIndex.h"

namespace tilec {

/// Registers that one access moves: consecutive elements in memory.
struct VectorAccess {
  llvm::SmallVector<uint32_t, 16> registers;
  /// `!llvm.ptr<1>` of the first element.
  mlir::Value pointer;
  /// The same as `base` plus a constant, so that accesses share registers for addresses.
  mlir::Value base;
  int64_t offsetBytes = 0;
  /// i1; null: always.
  mlir::Value condition;
};

/// Builds the accesses of a load, store or atomic.
class MemoryAccess {
public:
  /// `value` is the tile (or scalar) moved; `axes` its axes for stores, empty for loads; `inbounds` and `full` as in
  /// the operations.
  MemoryAccess(Lowering &lowering, const LoweredView &view, mlir::ValueRange subscripts, mlir::ArrayAttr dims,
               mlir::Value value, mlir::ValueRange axes, llvm::ArrayRef<bool> inbounds, llvm::ArrayRef<bool> full);

  /// Accesses of at most `widest` elements each. `writersOnly`: only one of the threads that hold copies of an element
  /// has a condition that is true.
  llvm::SmallVector<VectorAccess, 0> build(unsigned widest, bool writersOnly);

private:
  unsigned vectorWidth(unsigned widest);
  void complete(VectorAccess &access, mlir::Type elementType);
  mlir::Value subscriptAt(unsigned dim, uint32_t reg);
  mlir::Value inside(unsigned dim, mlir::Value index);
  mlir::Value isBelow(mlir::Value index, mlir::Value limit);
  bool isNeverNegative(unsigned dim) const;
  mlir::Value present(uint32_t reg);
  mlir::Value both(mlir::Value a, mlir::Value b);
  mlir::Value padding(uint32_t reg);
  mlir::Value writers();
  bool isTile() const { return Lowering::isTile(value); }

  Lowering &lowering;
  const LoweredView &view;
  mlir::ValueRange subscripts;
  mlir::ArrayAttr dims;
  mlir::Value value;
  mlir::ValueRange axes;
  llvm::SmallVector<bool> inbounds, full;
  int64_t elementBytes;
  int contiguousDim = -1;
  /// Many conditions of a thread compare constants with one threshold, which is opaque with this number.
  bool sharesThresholds = false;
  int64_t thresholdNumber = 0;
};

} // namespace tilec

#endif // TILEC_CONVERSION_TILEGPUTONVVM_MEMORYACCESS_H
