// Fills of a slot by the threads of a group.
#ifndef TILEC_LIB_CONVERSION_TILEGPUTONVVM_THREADFILL_H
#define TILEC_LIB_CONVERSION_TILEGPUTONVVM_THREADFILL_H

#include "Channels.h"
#include "Intervals.h"
#include "MmaShared.h"
#include "ShiftedLoad.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tilec {

// How elements travel: one by one; by cp.async; as shifted vectors.
enum class Mode { Elements, Async, Shifted };

// The threads form a grid of `lanes` vectors by `rowsAtOnce` rows, which moves over the tile in equal steps: what a
// thread needs for one access differs from the one before by constants, not by arithmetic of its own.
class ThreadFill {
public:
  ThreadFill(Lowering &lowering, tilegpu::FillOp op, mlir::Value target, Engine engine);

  mlir::LogicalResult run();

private:
  mlir::LogicalResult chooseWidth();
  void chooseGrid();
  void prepareBounds();
  Interval insideOf(unsigned dim, int64_t extent);
  mlir::Value countInside(mlir::Value column);
  void moveRows(mlir::Value round, mlir::Value pointer, int64_t rounds);
  void emitStores();
  void moveVector(mlir::Value row, mlir::Value inside, int64_t block, mlir::Value source, mlir::Value address);
  mlir::Value rowInside(mlir::Value row);
  mlir::Value rowOffset(mlir::Value row);
  mlir::Value localCoordinate(unsigned number, mlir::Value row);
  mlir::Value moved(mlir::Value pointer, mlir::Value elementsFurther);
  mlir::Value load(mlir::Value source, mlir::Value count);
  bool canShift(int64_t elementBytes);
  void fill();
  void fillByMode();
  void fillAs(Mode chosen);
  mlir::Value isAligned();
  void moveShifted(mlir::Value inside, int64_t block, mlir::Value exists, mlir::Value source, mlir::Value address);
  void moveElements(mlir::Value start, mlir::Value pointer, int64_t count);
  mlir::Value isInTile(mlir::Value row, mlir::Value column);
  void copyElements(mlir::Value column, mlir::Value inside, mlir::Value source, mlir::Value address);
  /// With one leading dimension, or none, all steps along the rows are equal.
  bool equalSteps() { return op.getKept().size() <= 2; }
  mlir::Value constant(int64_t value) { return lowering.constant32(value); }

  Lowering &lowering;
  tilegpu::FillOp op;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  Ptx ptx;
  Engine engine;
  const LoweredView &view;
  tilegpu::SmemType buffer;
  SharedTile tile;
  mlir::Value target;
  Mode mode;
  /// Of `@evict`; null without it.
  mlir::Value policy;
  /// Bytes and elements of one access.
  int64_t width = 0, elements = 0;
  int64_t vectorsPerRow = 0;
  /// The grid of threads, and its steps along the rows and columns.
  int64_t lanes = 1, rowsAtOnce = 1, rounds = 1, columnBlocks = 1;
  /// The thread's place in the grid: row and element column, i32.
  mlir::Value firstRow, firstColumn;
  /// Of the leading dimensions of the tile, and of the last.
  llvm::SmallVector<Interval, 2> rowIntervals;
  Interval columns;
  /// Elements of the thread's vectors that lie inside the view, by column block, and i1: whether all do.
  llvm::SmallVector<mlir::Value> counts, whole;
  /// Elements from the view's first one to the thread's column in the box's first row.
  mlir::Value offset;
  /// Vectors at any address, for rows that are no multiples of 16 bytes.
  std::optional<ShiftedLoad> shifted;
  /// Stores that wait until the loads before them are under way: value and address, and where they belong to the tile.
  struct Store {
    mlir::Value value, address, condition;
  };
  llvm::SmallVector<Store, 8> stores;
  /// i1: whether all shifted vectors before these stores are inside.
  mlir::Value allFit;
};

} // namespace tilec

#endif // TILEC_LIB_CONVERSION_TILEGPUTONVVM_THREADFILL_H
