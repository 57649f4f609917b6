// What passes that move products in loops know of a loop's body: its products, its vector work, what depends on what.
#ifndef TILEC_LIB_TRANSFORMS_LOOPPRODUCTS_H
#define TILEC_LIB_TRANSFORMS_LOOPPRODUCTS_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tilec/Dialect/TileGPU/TileGPUDialect.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"

namespace tilec {

/// The wgmma products that stand directly in a block, in order.
llvm::SmallVector<tilegpu::MmaOp> productsOf(mlir::Block &block);

/// Whether no counted loop stands in the loop.
bool isInnermost(mlir::scf::ForOp loop);

/// An innermost loop with such products.
bool isProductLoop(mlir::scf::ForOp loop);

/// Whether other work may run until a product is complete: exact sums of 8-bit floats add parts in between.
bool canStart(tilegpu::MmaOp product);

/// Whether an operation on floats goes to the special function units, as exponentials do.
bool isSpecialFunction(mlir::Operation *op);

/// Results of a multiprocessor in each clock (CUDA C++ Programming Guide, "Arithmetic Instructions", 9.0): of special
/// functions, of other f32 instructions.
constexpr int64_t specialFunctionRate = 16, instructionRate = 128;

/// Work on the elements of tiles, in issue slots of the block: specialFunctionRate and instructionRate say how many
/// each exponential and the like takes; 1 for anything else.
int64_t vectorWork(mlir::Operation *op);
inline bool isVectorWork(mlir::Operation *op) { return vectorWork(op) > 0; }

/// The received item (`tilegpu.receive` or `tilegpu.acquire`) whose buffer a view shows; null if it is no channel's.
mlir::Operation *itemOf(mlir::Value view);

/// The dependences among the operations of a block: values, accesses of one item of a channel, and the order of
/// receives, acquires and commits of one channel. Products are as if complete: an item that one reads is released
/// behind it.
class BodyDependences {
public:
  explicit BodyDependences(mlir::Block &block);

  /// Whether all effects in the block are of kinds that the edges describe, so that it may be reordered.
  bool areKnown() const { return known; }
  /// Whether `after` depends on `before`, directly or not.
  bool isBefore(mlir::Operation *before, mlir::Operation *after) const;
  llvm::ArrayRef<std::pair<mlir::Operation *, mlir::Operation *>> edges() const { return pairs; }

private:
  void addEdge(mlir::Operation *before, mlir::Operation *after);

  bool known = true;
  llvm::DenseMap<mlir::Operation *, unsigned> numbers;
  /// For each operation, all that it depends on.
  llvm::SmallVector<llvm::BitVector> ancestors;
  llvm::SmallVector<std::pair<mlir::Operation *, mlir::Operation *>> pairs;
};

} // namespace tilec

#endif // TILEC_LIB_TRANSFORMS_LOOPPRODUCTS_H
