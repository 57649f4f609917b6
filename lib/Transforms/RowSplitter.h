// An axis along which rows lie in memory, as two: whole vectors of 16 bytes, and the elements around them
// (docs/decisions/parted-rows.md).
#ifndef TILEC_LIB_TRANSFORMS_ROWSPLITTER_H
#define TILEC_LIB_TRANSFORMS_ROWSPLITTER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "tilec/Dialect/Tile/TileDialect.h"
#include "tilec/Transforms/AffineIndex.h"
#include "tilec/Transforms/AxisClasses.h"

#include <array>
#include <optional>

namespace tilec {

constexpr int64_t rowVectorBytes = 16;

/// Where a load or store of a tile finds a row: neighbouring positions are neighbours in memory, all present ones
/// inside.
struct RowAccess {
  mlir::Operation *op = nullptr;
  tile::ViewOp view;
  /// Those of other dimensions, and the distance along the row between positions and subscripts.
  llvm::SmallVector<mlir::Value> subscripts;
  LinearSum shift;
  int64_t bytes = 0;

  bool isSameRow(const RowAccess &other) const {
    LinearSum distance = shift;
    distance.add(other.shift, -1);
    return view == other.view && subscripts == other.subscripts && distance.terms.empty() && distance.constant == 0;
  }
};

/// The tiles of one half and what they are computed from.
struct Half {
  tile::AxisOp axis;
  mlir::IRMapping map;
  /// Where the elements are in a view of the half: their numbers.
  mlir::Value numbers;
  int64_t number = 0;
};

/// A row of a tensor: the address of its first position, and whether it is inside the tensor (i1; null: it is). The
/// views of its vectors and of the whole row, which the ends need.
struct Row {
  RowAccess access;
  mlir::Value base, exists;
  /// Bytes.
  int64_t align = 1;
  std::array<tile::ViewOp, 2> views = {};
};

/// Splits one axis.
class RowSplitter {
public:
  RowSplitter(tile::AxisOp axis, int64_t least)
      : least(least), axis(axis), block(axis->getBlock()), extent(axis.getType().getExtent()), builder(axis),
        loc(axis.getLoc()) {}

  bool match();
  void rewrite();

private:
  bool isKnown(mlir::Operation &op);
  std::optional<RowAccess> matchRow(mlir::Operation *op);
  bool isInside(mlir::Value subscript, const LinearSum &shift, mlir::Value size);
  bool isReady(const RowAccess &access);

  mlir::Value index(mlir::Value number) {
    return mlir::arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(), number);
  }
  mlir::Value constant(int64_t value) { return mlir::arith::ConstantIndexOp::create(builder, loc, value); }
  mlir::Value add(mlir::Value a, mlir::Value b) { return builder.createOrFold<mlir::arith::AddIOp>(loc, a, b); }
  mlir::Value sub(mlir::Value a, mlir::Value b) { return builder.createOrFold<mlir::arith::SubIOp>(loc, a, b); }
  mlir::Value spread(mlir::Value scalar, int64_t positions);
  mlir::Value misalignment(const Row &row, mlir::Value elements);
  Row makeRow(const RowAccess &access);
  Row *findRow(const RowAccess &access);
  void measure();
  void makeHalves();
  void makePositions();

  static mlir::RankedTensorType typeFor(Half &half, mlir::Type type);
  mlir::Value operandFor(Half &half, mlir::Value operand, llvm::SmallVectorImpl<mlir::Operation *> &made);
  mlir::Operation *copyFor(Half &half, mlir::Operation *op, llvm::SmallVectorImpl<mlir::Operation *> &made);
  tile::ViewOp viewOf(Half &half, Row &row);
  mlir::Operation *copyOfRow(Half &half, mlir::Operation *op, llvm::SmallVectorImpl<mlir::Operation *> &made);
  void emitSegment(llvm::ArrayRef<mlir::Operation *> ops, mlir::Operation *last);
  void combine(tile::ReduceOp reduce, tile::ReduceOp ends, tile::ReduceOp vectors);

  int64_t least;
  tile::AxisOp axis;
  mlir::Block *block;
  int64_t extent;
  mlir::OpBuilder builder;
  mlir::Location loc;
  llvm::SmallVector<RowAccess> accesses;
  /// Which of the accesses is whole vectors.
  size_t anchor = 0;
  /// Positions in a granule: whole vectors of the narrowest elements.
  int64_t granule = 1;
  llvm::SmallVector<Row> rows;
  /// Positions before the vectors, in the vectors, outside of them, and all (i32).
  mlir::Value before, inside, outside, all;
  Half vectors, ends;
};

} // namespace tilec

#endif // TILEC_LIB_TRANSFORMS_ROWSPLITTER_H
