// LoadEmitter: a tile.load, all at once or some registers at a time.
#ifndef TILEC_CONVERSION_TILEGPUTONVVM_LOADEMITTER_H
#define TILEC_CONVERSION_TILEGPUTONVVM_LOADEMITTER_H

#include "MemoryAccess.h"

namespace tilec {

class LoadEmitter {
public:
  /// Emits addresses and conditions. `inOrder`: ptxas does not move the accesses before stores.
  LoadEmitter(Lowering &lowering, tile::LoadOp op, bool inOrder = false);

  /// Emits the accesses whose first register is in [begin, end).
  void emit(size_t begin, size_t end);
  /// Emits the accesses of these registers, also if that has been done elsewhere.
  void emit(const llvm::SmallDenseSet<uint32_t> &registers);

  /// One value for each register; those not emitted are null.
  llvm::ArrayRef<mlir::Value> results() const { return values; }

private:
  void emit(llvm::function_ref<bool(const VectorAccess &)> isWanted);
  void set(const VectorAccess &vector, mlir::Value value);
  void emitWindowed(llvm::ArrayRef<const VectorAccess *> vectors);
  mlir::Value load(const VectorAccess &vector, mlir::Type type);
  mlir::Value fill(const VectorAccess &vector, mlir::Type type);
  mlir::Value fromMemory(mlir::Value value);

  Lowering &lowering;
  tile::LoadOp op;
  const LoweredView &source;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::Type element, memory;
  /// Elements outside the view, one for each register or one for all; none for zeros.
  Registers otherwise;
  bool invariant;
  mlir::Value policy;
  llvm::SmallVector<VectorAccess, 0> accesses;
  Registers values;
};

} // namespace tilec

#endif // TILEC_CONVERSION_TILEGPUTONVVM_LOADEMITTER_H
