// Values of the interpreter: tiles of scalars of which any may be poison, and number formats in memory.
#ifndef TILEC_INTERPRETER_TILE_H
#define TILEC_INTERPRETER_TILE_H

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <memory>
#include <vector>

namespace tilec::interpreter {

/// How the elements of a tile are held: integers (also i1 and index) sign-extended in 64 bits, i1 as 0 or 1; f64 as
/// double; every narrower float as the float of the same value.
enum class Storage : uint8_t { Integer, Single, Double };

Storage storageOf(mlir::Type element);

/// A tile in row-major order; a scalar is a tile of rank 0.
struct Tile {
  mlir::Type element;
  Storage storage;
  llvm::SmallVector<int64_t, 4> shape;
  std::vector<int64_t> integers;
  std::vector<float> singles;
  std::vector<double> doubles;
  /// Nonzero where an element is poison; empty if none is.
  std::vector<uint8_t> poison;

  /// All elements 0.
  Tile(mlir::Type element, llvm::ArrayRef<int64_t> shape);
  /// A tile for a result of `type`, a tensor or a scalar.
  explicit Tile(mlir::Type type);

  int64_t size() const;
  bool isPoison(int64_t i) const { return !poison.empty() && poison[i]; }
  void setPoison(int64_t i);
  /// Marks what is poison in `other`, a tile of the same shape.
  void addPoison(const Tile &other);
  /// An element in double precision; integers as they are, unsigned ones mod 2^width.
  double number(int64_t i) const;
  void copyElement(int64_t to, const Tile &from, int64_t i);

  template <typename T> std::vector<T> &data();
  template <typename T> const std::vector<T> &data() const { return const_cast<Tile *>(this)->data<T>(); }
};

using TilePtr = std::shared_ptr<const Tile>;

TilePtr makeIndex(mlir::MLIRContext *context, int64_t value);

/// The distance in elements between neighbours of each dimension in row-major order.
llvm::SmallVector<int64_t, 4> rowMajorStrides(llvm::ArrayRef<int64_t> shape);
/// The next position of a shape in row-major order; after the last one the first.
void advance(llvm::MutableArrayRef<int64_t> point, llvm::ArrayRef<int64_t> shape);

/// `value` modulo 2^width, sign-extended (width 1: 0 or 1).
int64_t wrapInteger(int64_t value, unsigned width);
/// The same bits as an unsigned number.
uint64_t asUnsigned(int64_t value, unsigned width);
/// The width of an integer type; 64 for index.
unsigned integerWidth(mlir::Type element);

/// The value of `element` (a float type) nearest to `value`, ties to even; f8 saturates, others overflow to infinity
/// (rule 13 of the language). f64 returns `value`.
double roundToFormat(double value, mlir::Type element);

/// The bits of a float of type `element` that has this value exactly.
uint64_t encodeFloat(double value, mlir::Type element);
double decodeFloat(uint64_t bits, mlir::Type element);

/// Bits of an element in memory: its width, 8 for i1.
unsigned memoryBits(mlir::Type element);

} // namespace tilec::interpreter

#endif // TILEC_INTERPRETER_TILE_H
