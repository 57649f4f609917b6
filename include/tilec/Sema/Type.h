// Types of values in the typed tree: an element type and named axes.
#ifndef TILEC_SEMA_TYPE_H
#define TILEC_SEMA_TYPE_H

#include "tilec/Diagnostics/SourceManager.h"
#include "tilec/Syntax/ScalarKind.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <string>

namespace tilec::sema {

struct Expr;

/// Element types. `index` is a signed integer of 64 bits.
bool isInteger(ScalarKind kind);
/// Signed integers, `index` included.
bool isSigned(ScalarKind kind);
bool isFloat(ScalarKind kind);
/// Bits in memory; 1 for bool, 64 for index, 32 for tf32.
unsigned getBitWidth(ScalarKind kind);
/// The format of a floating-point type: Float8E4M3FN, Float8E5M2, IEEEhalf, BFloat, FloatTF32, IEEEsingle, IEEEdouble.
const llvm::fltSemantics &getFloatSemantics(ScalarKind kind);
/// Every value of `from` is a value of `to` (bool only of bool).
bool containsAll(ScalarKind to, ScalarKind from);

/// Where an axis comes from.
enum class AxisKind : uint8_t {
  /// `parallel t in tiles(...)`.
  ParallelTiles,
  /// `for t in tiles(...)`.
  ForTiles,
  /// `axis t = ...`.
  Range,
  /// Bound by the subscripts of an algorithm-level statement.
  Implicit,
  /// An axis parameter of a function that is checked without a call. Never in a tree that is handed out.
  Parameter,
};

/// A named axis: the positions start <= p < end, at most `extent` of them. One object for each axis statement, tiles
/// binding or implicit axis; identity of objects is identity of axes.
struct Axis {
  AxisKind kind;
  std::string name;
  SourceRange range;
  /// Dense in a kernel variant, in order of introduction.
  unsigned id = 0;
  /// The constant bound of end - start: the static size of the tile dimension. 0 for an Implicit axis of run-time size.
  int64_t extent = 0;
  /// Scalar index expressions. Range and Implicit: start..end. Tiles: the whole range, of which tile number i has the
  /// positions lower + i * extent .. min(lower + (i + 1) * extent, upper); i counts from 0, and a reversed loop runs
  /// from the last i to 0.
  Expr *lower = nullptr;
  Expr *upper = nullptr;
  /// For `axis u = t.range`: t. The bounds are then t's present start and end.
  const Axis *rangeOf = nullptr;

  bool isTiles() const { return kind == AxisKind::ParallelTiles || kind == AxisKind::ForTiles; }
};

/// Where the order of a value's axes comes from, the weakest first. Which operand's order a result takes changes no
/// value, but what the program costs: instructions for products fix the order of their results.
enum class AxisOrder : uint8_t {
  /// Axes of several operands, in order of first occurrence: `t <= q`.
  Occurrence,
  /// A declaration or a load.
  Given,
  /// A product.
  Product
};

/// The type of a value. The order of the axes is the order of the dimensions of the value that IRGen makes.
class Type {
public:
  Type() = default;
  Type(ScalarKind element, llvm::ArrayRef<const Axis *> axes = {}) : element(element), axes(axes.begin(), axes.end()) {}

  ScalarKind element = ScalarKind::I32;
  llvm::SmallVector<const Axis *, 4> axes;
  AxisOrder order = AxisOrder::Given;

  bool isScalar() const { return axes.empty(); }
  bool has(const Axis *axis) const { return llvm::is_contained(axes, axis); }
  Type withElement(ScalarKind kind) const {
    Type result(kind, axes);
    result.order = order;
    return result;
  }
  /// Whether elements and axes are equal; where the order comes from does not matter.
  friend bool operator==(const Type &a, const Type &b) { return a.element == b.element && a.axes == b.axes; }
  friend bool operator!=(const Type &a, const Type &b) { return !(a == b); }
  /// "f32[m, n]" or "f32".
  std::string str() const;
};

} // namespace tilec::sema

#endif // TILEC_SEMA_TYPE_H
