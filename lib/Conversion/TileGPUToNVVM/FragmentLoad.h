// Reads of a distributed tile from shared memory, register by register, when they are asked for.
#ifndef TILEC_CONVERSION_TILEGPUTONVVM_FRAGMENTLOAD_H
#define TILEC_CONVERSION_TILEGPUTONVVM_FRAGMENTLOAD_H

#include "MmaShared.h"
#include "tilec/Layout/FragmentLayouts.h"
#include "tilec/Layout/MatrixAccess.h"

namespace tilec {

/// One thread's registers of a two-dimensional tile in shared memory. Uses ldmatrix where the layout is a grid of its
/// matrices, else vectors along the rows. A product that asks for fragments in its own order keeps few of them alive.
class FragmentLoad {
public:
  /// `rowDim` is the layout's dimension that runs along the part's rows; the layout covers no position outside the
  /// part. `lane` (0 to 31) and `warp` in the group are i32. Registers `apart` or more positions of dimension
  /// `apartDim` away from each other are needed at different times.
  FragmentLoad(mlir::OpBuilder &builder, mlir::Location loc, const SharedPart &part, Layout layout, unsigned rowDim,
               mlir::Type elementType, mlir::Value lane, mlir::Value warp, unsigned apartDim = 0, int64_t apart = 0);

  /// Whether ldmatrix does it.
  bool isMatrixLoad() const { return access.has_value(); }

  /// The elements of these registers, of `storageType(elementType)`, loaded where the builder stands unless an earlier
  /// request has loaded them. Valid until the next request.
  llvm::ArrayRef<mlir::Value> registers(RegisterRange range);

  /// Whether one instruction loads both registers.
  bool loadsTogether(uint32_t one, uint32_t other) const { return unitOf[one] == unitOf[other]; }

private:
  llvm::SmallVector<Term, 4> terms(unsigned dim) const;
  mlir::Value coordinate(unsigned dim) const { return sumOfTerms(builder, loc, terms(dim), lane, warp); }
  int64_t bound(unsigned dim) const;
  void planVectors(const SharedPart &part);
  void load(uint32_t reg);
  void loadMatrices(unsigned instruction);
  void unpack(mlir::Value packed, llvm::ArrayRef<uint32_t> numbers);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  Layout layout;
  unsigned rowDim, columnDim;
  mlir::Type elementType;
  mlir::Value lane, warp;
  std::optional<MatrixAccess> access;
  /// The instruction that loads a register, or without ldmatrix the first register of its vector.
  llvm::SmallVector<uint32_t, 0> unitOf;
  /// Steps from the first register of a vector to each of its elements; 1 of them for ldmatrix.
  llvm::SmallVector<uint32_t, 8> run;
  std::optional<SharedAccess> addresses;
  llvm::SmallVector<mlir::Value, 0> values;
};

} // namespace tilec

#endif // TILEC_CONVERSION_TILEGPUTONVVM_FRAGMENTLOAD_H
