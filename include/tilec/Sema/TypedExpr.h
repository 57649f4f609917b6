// Expressions of the typed tree, the input of IRGen. All names are resolved, functions are inlined, constants folded,
// pruned arms gone, and every change of element type is a Cast. What stays implicit is alignment: an operand's axes are
// a subset of its user's axes in any order, and IRGen permutes and broadcasts it by axis identity.
#ifndef TILEC_SEMA_TYPEDEXPR_H
#define TILEC_SEMA_TYPEDEXPR_H

#include "tilec/Sema/Type.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Casting.h"
#include <memory>
#include <optional>
#include <vector>

namespace tilec::sema {

struct Block;
struct Tensor;
struct Variable;

/// Base of everything that a TypedContext owns.
struct Node {
  virtual ~Node() = default;
};

enum class ExprKind : uint8_t {
  Constant,
  VariableRef,
  AxisPositions,
  AxisAttribute,
  Unary,
  Binary,
  Cast,
  Call,
  Load,
  Reduce,
  Dot,
  AxisOperation,
  Substitute,
  BlockValue,
  IfValue,
};

struct Expr : Node {
  const ExprKind kind;
  /// Of the source text, for locations. Inside an inlined function it lies in the function.
  SourceRange range;
  Type type;

  Expr(ExprKind kind, SourceRange range, Type type) : kind(kind), range(range), type(std::move(type)) {}
};

/// Defines classof for the class of one kind.
#define TILEC_TYPED_CLASS(Class)                                                                                       \
  static bool classof(const Expr *expr) { return expr->kind == ExprKind::Class; }

/// A scalar constant of type.element. Integers and bool use `integer` (width getBitWidth), floats `real`.
struct Constant : Expr {
  llvm::APInt integer;
  llvm::APFloat real = llvm::APFloat(0.0);
  /// The dimension that this variant fixes to the value; the launch interface, common to all variants, names it.
  const Variable *dimension = nullptr;

  Constant(SourceRange range, ScalarKind element, llvm::APInt value)
      : Expr(ExprKind::Constant, range, Type(element)), integer(std::move(value)) {}
  Constant(SourceRange range, ScalarKind element, llvm::APFloat value)
      : Expr(ExprKind::Constant, range, Type(element)), integer(1, 0), real(std::move(value)) {}
  TILEC_TYPED_CLASS(Constant)
};

/// A dimension, scalar parameter, scalar loop index, let or var.
struct VariableRef : Expr {
  Variable *variable;

  VariableRef(SourceRange range, Variable *variable, Type type)
      : Expr(ExprKind::VariableRef, range, std::move(type)), variable(variable) {}
  TILEC_TYPED_CLASS(VariableRef)
};

/// An axis as a value: its positions. Type index[axis].
struct AxisPositions : Expr {
  const Axis *axis;

  AxisPositions(SourceRange range, const Axis *axis)
      : Expr(ExprKind::AxisPositions, range, Type(ScalarKind::Index, {axis})), axis(axis) {}
  TILEC_TYPED_CLASS(AxisPositions)
};

enum class AxisAttributeKind : uint8_t { Start, End, Size, Index };

/// `t.start`, `t.end`, `t.size`, `t.index`: a scalar index (`.extent` is a Constant). Size is max(end - start, 0);
/// Index is the number of the tile (0 for an axis without tiles).
struct AxisAttribute : Expr {
  const Axis *axis;
  AxisAttributeKind attribute;

  AxisAttribute(SourceRange range, const Axis *axis, AxisAttributeKind attribute)
      : Expr(ExprKind::AxisAttribute, range, Type(ScalarKind::Index)), axis(axis), attribute(attribute) {}
  TILEC_TYPED_CLASS(AxisAttribute)
};

enum class UnaryOp : uint8_t { Negate, LogicalNot, BitNot };

/// The operand has the result's element type. LogicalNot on bool only.
struct Unary : Expr {
  UnaryOp op;
  Expr *operand;

  Unary(SourceRange range, Type type, UnaryOp op, Expr *operand)
      : Expr(ExprKind::Unary, range, std::move(type)), op(op), operand(operand) {}
  TILEC_TYPED_CLASS(Unary)
};

enum class BinaryOp : uint8_t {
  Add,
  Subtract,
  Multiply,
  /// Floats: IEEE. Integers: floor, x / 0 = 0 (rule 12), MIN / -1 wraps.
  Divide,
  /// Integers only: floor, x % 0 = 0.
  Remainder,
  And,
  Or,
  Xor,
  /// The count has lhs's type and is taken modulo its width; ShiftRight is arithmetic on signed types.
  ShiftLeft,
  ShiftRight,
  LogicalAnd,
  LogicalOr,
  Equal,
  NotEqual,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
};

inline bool isComparison(BinaryOp op) { return op >= BinaryOp::Equal; }

/// Both operands have one element type: the result's, or for comparisons (result bool) any.
struct Binary : Expr {
  BinaryOp op;
  Expr *lhs;
  Expr *rhs;

  Binary(SourceRange range, Type type, BinaryOp op, Expr *lhs, Expr *rhs)
      : Expr(ExprKind::Binary, range, std::move(type)), op(op), lhs(lhs), rhs(rhs) {}
  TILEC_TYPED_CLASS(Binary)
};

/// Conversion by rule 13 from operand->type.element to type.element; also bool to number (0, 1). Same axes. Written in
/// the source, or inserted where rule 11 converts.
struct Cast : Expr {
  Expr *operand;

  Cast(SourceRange range, ScalarKind element, Expr *operand)
      : Expr(ExprKind::Cast, range, operand->type.withElement(element)), operand(operand) {}
  TILEC_TYPED_CLASS(Cast)
};

/// Element-wise built-ins. Unless stated all operands and the result have one element type.
enum class Builtin : uint8_t {
  /// (bool, T, T) -> T.
  Select,
  Min,
  Max,
  /// (x, low, high).
  Clamp,
  Abs,
  Exp,
  Exp2,
  Log,
  Log2,
  Sqrt,
  Rsqrt,
  Sin,
  Cos,
  Tanh,
  Sigmoid,
  Erf,
  Pow,
  Fma,
  Fmod,
  Floor,
  Ceil,
  /// To even.
  Round,
  Trunc,
  /// Float -> bool.
  IsNan,
  IsInf,
  Popcount,
  Clz,
  /// Between element types of equal width.
  Bitcast,
  CeilDiv,
  AlignUp,
  DivTrunc,
  RemTrunc,
  /// (u64, u64) -> u32.
  Philox,
  /// u32 -> f32.
  Uniform,
};

llvm::StringRef getSpelling(Builtin builtin);

struct Call : Expr {
  Builtin builtin;
  std::vector<Expr *> arguments;

  Call(SourceRange range, Type type, Builtin builtin, std::vector<Expr *> arguments)
      : Expr(ExprKind::Call, range, std::move(type)), builtin(builtin), arguments(std::move(arguments)) {}
  TILEC_TYPED_CLASS(Call)
};

/// One element of a tensor for each position of `type.axes`, which are the axes of the subscripts (in order of first
/// occurrence). Subscripts have element type index; outside the tensor the result is `fallback` (its type's element is
/// the result's; null: 0).
struct Load : Expr {
  Tensor *tensor;
  std::vector<Expr *> subscripts;
  Expr *fallback;
  /// `@evict(first)` or `@evict(last)` of the let that loads ("" if none), `@no_tma`.
  std::string evict;
  bool noTma = false;

  Load(SourceRange range, Type type, Tensor *tensor, std::vector<Expr *> subscripts, Expr *fallback)
      : Expr(ExprKind::Load, range, std::move(type)), tensor(tensor), subscripts(std::move(subscripts)),
        fallback(fallback) {}
  TILEC_TYPED_CLASS(Load)
};

enum class ReduceKind : uint8_t { Sum, Prod, Mean, Max, Min, Any, All };

/// Combines over `axes` the present positions where `guard` (bool, or null) holds. The operand has the result's element
/// type: a conversion before the sum is a Cast of the operand. Result axes: those of operand and guard, less `axes`.
/// Empty: rule 8 (mean: NaN). Mean divides the sum by the number of positions that take part; floats only.
struct Reduce : Expr {
  ReduceKind reduction;
  llvm::SmallVector<const Axis *, 2> axes;
  Expr *operand;
  Expr *guard;

  Reduce(SourceRange range, Type type, ReduceKind reduction, llvm::ArrayRef<const Axis *> axes, Expr *operand,
         Expr *guard)
      : Expr(ExprKind::Reduce, range, std::move(type)), reduction(reduction), axes(axes.begin(), axes.end()),
        operand(operand), guard(guard) {}
  TILEC_TYPED_CLASS(Reduce)
};

/// Sum over `axes` of lhs * rhs with exact products. The operands keep their own element types (equal floats, or 8-bit
/// integers of either sign); the result is f32, f64, i32 or u32. Every axis of `axes` is in both operands; other shared
/// axes are batch axes. Result axes: lhs's in order, then those only in rhs.
struct Dot : Expr {
  llvm::SmallVector<const Axis *, 2> axes;
  Expr *lhs;
  Expr *rhs;
  /// Positions that take part (bool over axes of the operands); null for all.
  Expr *guard;
  /// `accumulate = fast`.
  bool fast = false;

  Dot(SourceRange range, Type type, llvm::ArrayRef<const Axis *> axes, Expr *lhs, Expr *rhs, Expr *guard)
      : Expr(ExprKind::Dot, range, std::move(type)), axes(axes.begin(), axes.end()), lhs(lhs), rhs(rhs), guard(guard) {
    this->type.order = AxisOrder::Product;
  }
  TILEC_TYPED_CLASS(Dot)
};

enum class AxisOperationKind : uint8_t { Softmax, Cumsum, Cummax, Sort, Argsort, Argmax, Argmin };

/// The other built-ins along one axis. `flag` is `reverse` of a scan or `descending` of a sort. Result axes: those of
/// operand and guard, without `axis` for Argmax and Argmin.
struct AxisOperation : Expr {
  AxisOperationKind operation;
  const Axis *axis;
  Expr *operand;
  Expr *guard;
  bool flag = false;

  AxisOperation(SourceRange range, Type type, AxisOperationKind operation, const Axis *axis, Expr *operand, Expr *guard)
      : Expr(ExprKind::AxisOperation, range, std::move(type)), operation(operation), axis(axis), operand(operand),
        guard(guard) {}
  TILEC_TYPED_CLASS(AxisOperation)
};

/// `base[i = e, ... else fallback]`: the element of base at position e of axis i (index; positions as in rule 2).
struct Substitute : Expr {
  Expr *base;
  std::vector<std::pair<const Axis *, Expr *>> substitutions;
  Expr *fallback;

  Substitute(SourceRange range, Type type, Expr *base, std::vector<std::pair<const Axis *, Expr *>> substitutions,
             Expr *fallback)
      : Expr(ExprKind::Substitute, range, std::move(type)), base(base), substitutions(std::move(substitutions)),
        fallback(fallback) {}
  TILEC_TYPED_CLASS(Substitute)
};

/// The statements (lets and axes only), then the value: an inlined function, or an arm that was not pruned.
struct BlockValue : Expr {
  Block *block;
  Expr *value;

  BlockValue(SourceRange range, Block *block, Expr *value)
      : Expr(ExprKind::BlockValue, range, value->type), block(block), value(value) {}
  TILEC_TYPED_CLASS(BlockValue)
};

/// `if c { a } else { b }`: c is a scalar bool that is not constant; the arms have the result's element type and axes
/// that are a subset of the result's.
struct IfValue : Expr {
  Expr *condition;
  Expr *thenValue;
  Expr *elseValue;

  IfValue(SourceRange range, Type type, Expr *condition, Expr *thenValue, Expr *elseValue)
      : Expr(ExprKind::IfValue, range, std::move(type)), condition(condition), thenValue(thenValue),
        elseValue(elseValue) {}
  TILEC_TYPED_CLASS(IfValue)
};

#undef TILEC_TYPED_CLASS

/// The value of an integer or bool constant expression (64 bits suffice for both signs), if it is one.
std::optional<int64_t> getConstantInteger(const Expr *expr);

/// The expression on one line in the language's notation, for dumps: `f32(A[m, k]) * 2`.
std::string toString(const Expr *expr);

} // namespace tilec::sema

#endif // TILEC_SEMA_TYPEDEXPR_H
