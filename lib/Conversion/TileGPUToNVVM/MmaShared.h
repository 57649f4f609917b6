// Addresses of elements of a tile in shared memory, from coordinates that are partly constants.
#ifndef TILEC_CONVERSION_TILEGPUTONVVM_MMASHARED_H
#define TILEC_CONVERSION_TILEGPUTONVVM_MMASHARED_H

#include "mlir/IR/Builders.h"
#include "tilec/Layout/Layout.h"
#include "tilec/Layout/SharedLayout.h"
#include "llvm/ADT/DenseMap.h"

namespace tilec {

/// Part of a buffer in shared memory. Coordinates of the part plus the offset are those of the buffer, whose leading
/// dimensions are flattened into rows.
struct SharedPart {
  SharedTile tile;
  /// i32, of the whole buffer.
  mlir::Value address;
  /// i32 elements; null for 0.
  mlir::Value rowOffset;
  mlir::Value columnOffset;
};

/// Addresses of elements around a run-time coordinate. Constants are kept apart, so that accesses which differ by
/// whole periods of the swizzle (8 rows, one panel) share their arithmetic and differ in the immediate offset only.
class SharedAccess {
public:
  /// `row` and `column` are i32 coordinates in the part; null for 0. `column` is below `columnBound`, 0 if unknown.
  SharedAccess(mlir::OpBuilder &builder, mlir::Location loc, const SharedPart &part, mlir::Value row,
               mlir::Value column, int64_t columnBound = 0);

  /// The byte address (i32) of element (row + rowOffset, column + columnOffset).
  mlir::Value at(int64_t rowOffset, int64_t columnOffset);

private:
  struct Column {
    /// Bytes of the panel and inside the span.
    mlir::Value panel, inside;
  };
  mlir::Value constant(int64_t value);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value times(mlir::Value a, int64_t factor);
  Column columnBytes(int64_t columnOffset);
  bool staysInPanel(int64_t columnInPanel) const;
  mlir::Value swizzled(int64_t rowOffset, int64_t columnOffset);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  SharedTile tile;
  mlir::Value address, row, column;
  int64_t columnBound;
  llvm::DenseMap<std::pair<int64_t, int64_t>, mlir::Value> known;
};

/// i32: the sum of a thread's digits of a coordinate, null where there are none. `lane` and `warp` (in the group) are
/// i32.
mlir::Value sumOfTerms(mlir::OpBuilder &builder, mlir::Location loc, llvm::ArrayRef<Term> terms, mlir::Value lane,
                       mlir::Value warp);

/// Reads `count` neighbouring elements at an address; f8 elements are i8. The address is a multiple of their bytes.
llvm::SmallVector<mlir::Value, 8> loadShared(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value address,
                                             mlir::Type elementType, int64_t count);

/// The type of an element in registers and memory: integers as they are, 8-bit floats as i8, tf32 as f32, index as i64.
mlir::Type storageType(mlir::Type elementType);

} // namespace tilec

#endif // TILEC_CONVERSION_TILEGPUTONVVM_MMASHARED_H
