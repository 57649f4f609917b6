// AxisClasses: which dimensions of which tiles run over the same axis.
#ifndef TILEC_TRANSFORMS_AXISCLASSES_H
#define TILEC_TRANSFORMS_AXISCLASSES_H

#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"
#include "tilec/Dialect/Tile/TileDialect.h"
#include "llvm/ADT/DenseMap.h"

namespace tilec {

/// Union-find over (value, dimension) pairs and `tile.axis` values of one kernel. Two pairs are in one class when an
/// operation requires equal positions in both: element-wise operands, subscripts and the dimensions they index, loop
/// carried values, the operands and result of a dot.
class AxisClasses {
public:
  using Key = std::pair<mlir::Value, int64_t>;

  explicit AxisClasses(mlir::Operation *kernel);

  /// A number that is equal for members of one class.
  unsigned classOf(mlir::Value value, int64_t dim);
  /// The class of an axis value.
  unsigned classOf(mlir::Value axis) { return classOf(axis, -1); }
  llvm::SmallVector<Key> members(unsigned number);

private:
  void visit(mlir::Operation *op);
  void unify(mlir::Value a, int64_t dimA, mlir::Value b, int64_t dimB);
  void unifyAll(mlir::Value a, mlir::Value b);
  void visitSubscripts(mlir::OperandRange subscripts, mlir::ArrayAttr dims, mlir::Value value);
  void visitDot(tile::DotOp dot);
  void visitControl(mlir::Operation *op);
  unsigned number(Key key);
  unsigned find(unsigned number);

  llvm::DenseMap<Key, unsigned> numbers;
  llvm::SmallVector<Key> keys;
  llvm::SmallVector<unsigned> parents;
};

bool isTile(mlir::Value value);

/// Number of dimensions of a tile, 0 for scalars.
int64_t rankOf(mlir::Value value);

} // namespace tilec

#endif // TILEC_TRANSFORMS_AXISCLASSES_H
