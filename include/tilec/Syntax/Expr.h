// Expressions of the syntax tree.
#ifndef TILEC_SYNTAX_EXPR_H
#define TILEC_SYNTAX_EXPR_H

#include "tilec/Syntax/ASTBase.h"

namespace tilec::ast {

enum class ExprKind : uint8_t {
#define TILEC_EXPR(Class) Class,
#include "tilec/Syntax/ASTNodes.def"
};

struct Expr {
  const ExprKind kind;
  /// Enclosed in parentheses, which `range` then includes.
  bool isParenthesized = false;
  /// The height of the tree under this node (a leaf has 0), at most Parser's limit: recursion over it is safe.
  uint16_t height = 0;
  uint32_t id = 0;
  SourceRange range;
  /// Set by semantic analysis.
  sema::Type *type = nullptr;

  Expr(ExprKind kind, SourceRange range) : kind(kind), range(range) {}
};

/// Defines classof for the class of one kind.
#define TILEC_EXPR_CLASS(Class)                                                                                        \
  static bool classof(const Expr *expr) { return expr->kind == ExprKind::Class; }

/// `42`, `0x2A`, `0b101010`, `4_294_967_296`: below 2^64.
struct IntegerLiteral : Expr {
  uint64_t value;

  IntegerLiteral(SourceRange range, uint64_t value) : Expr(ExprKind::IntegerLiteral, range), value(value) {}
  TILEC_EXPR_CLASS(IntegerLiteral)
};

/// `1.5`, `1e-5`. The value is exact in `text`, which llvm::APFloat reads.
struct RealLiteral : Expr {
  llvm::StringRef text;

  RealLiteral(SourceRange range, llvm::StringRef text) : Expr(ExprKind::RealLiteral, range), text(text) {}
  TILEC_EXPR_CLASS(RealLiteral)
};

struct BoolLiteral : Expr {
  bool value;

  BoolLiteral(SourceRange range, bool value) : Expr(ExprKind::BoolLiteral, range), value(value) {}
  TILEC_EXPR_CLASS(BoolLiteral)
};

/// Only as a direct argument of `assert` and `print`; escapes are already replaced.
struct StringLiteral : Expr {
  llvm::StringRef value;

  StringLiteral(SourceRange range, llvm::StringRef value) : Expr(ExprKind::StringLiteral, range), value(value) {}
  TILEC_EXPR_CLASS(StringLiteral)
};

/// A name: a parameter, dimension, constant, axis, local, function, built-in or type parameter.
struct NameExpr : Expr {
  Identifier name;

  explicit NameExpr(Identifier name) : Expr(ExprKind::NameExpr, name.range), name(name) {}
  TILEC_EXPR_CLASS(NameExpr)
};

/// A scalar type name: the callee of a cast, the base of `f32.lowest`, an argument of `bitcast`, a constant's value.
struct ScalarExpr : Expr {
  ScalarKind scalar;

  ScalarExpr(SourceRange range, ScalarKind scalar) : Expr(ExprKind::ScalarExpr, range), scalar(scalar) {}
  TILEC_EXPR_CLASS(ScalarExpr)
};

/// `auto` as a tile size or as the value of a constant; the parser allows it nowhere else.
struct AutoExpr : Expr {
  explicit AutoExpr(SourceRange range) : Expr(ExprKind::AutoExpr, range) {}
  TILEC_EXPR_CLASS(AutoExpr)
};

/// `(a, b, ...)` with at least two elements.
struct TupleExpr : Expr {
  llvm::MutableArrayRef<Expr *> elements;

  TupleExpr(SourceRange range, llvm::MutableArrayRef<Expr *> elements)
      : Expr(ExprKind::TupleExpr, range), elements(elements) {}
  TILEC_EXPR_CLASS(TupleExpr)
};

enum class UnaryOp : uint8_t { Negate, Not, Complement };

/// "-", "!" or "~".
llvm::StringRef getSpelling(UnaryOp op);

struct UnaryExpr : Expr {
  UnaryOp op;
  Expr *operand;

  UnaryExpr(SourceRange range, UnaryOp op, Expr *operand)
      : Expr(ExprKind::UnaryExpr, range), op(op), operand(operand) {}
  TILEC_EXPR_CLASS(UnaryExpr)
};

enum class BinaryOp : uint8_t {
  LogicalOr,
  LogicalAnd,
  Equal,
  NotEqual,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  BitOr,
  BitXor,
  BitAnd,
  ShiftLeft,
  ShiftRight,
  Add,
  Subtract,
  Multiply,
  Divide,
  Remainder,
};

/// The operator as written, such as "<=".
llvm::StringRef getSpelling(BinaryOp op);
inline bool isShift(BinaryOp op) { return op == BinaryOp::ShiftLeft || op == BinaryOp::ShiftRight; }
inline bool isRelational(BinaryOp op) { return op >= BinaryOp::Equal && op <= BinaryOp::GreaterEqual; }

struct BinaryExpr : Expr {
  BinaryOp op;
  SourceRange opRange;
  Expr *lhs;
  Expr *rhs;

  BinaryExpr(SourceRange range, BinaryOp op, SourceRange opRange, Expr *lhs, Expr *rhs)
      : Expr(ExprKind::BinaryExpr, range), op(op), opRange(opRange), lhs(lhs), rhs(rhs) {}
  TILEC_EXPR_CLASS(BinaryExpr)
};

/// `if c { a } else { b }` as a value: both blocks exist and have a value. `else if` is an else block without
/// statements whose value is the inner IfExpr.
struct IfExpr : Expr {
  Expr *condition;
  Block *thenBlock;
  Block *elseBlock;

  IfExpr(SourceRange range, Expr *condition, Block *thenBlock, Block *elseBlock)
      : Expr(ExprKind::IfExpr, range), condition(condition), thenBlock(thenBlock), elseBlock(elseBlock) {}
  TILEC_EXPR_CLASS(IfExpr)
};

/// `base[indices else fallback]`: a tensor or an algorithm-level let. The list may be empty; `fallback` may be null.
struct IndexExpr : Expr {
  Expr *base;
  llvm::MutableArrayRef<Expr *> indices;
  Expr *fallback;

  IndexExpr(SourceRange range, Expr *base, llvm::MutableArrayRef<Expr *> indices, Expr *fallback)
      : Expr(ExprKind::IndexExpr, range), base(base), indices(indices), fallback(fallback) {}
  TILEC_EXPR_CLASS(IndexExpr)
};

/// `axis = value` of a re-indexing.
struct Substitution {
  Identifier axis;
  Expr *value = nullptr;
};

/// `base[i = e, ... else fallback]`: re-indexes a value.
struct SubstituteExpr : Expr {
  Expr *base;
  llvm::MutableArrayRef<Substitution> substitutions;
  Expr *fallback;

  SubstituteExpr(SourceRange range, Expr *base, llvm::MutableArrayRef<Substitution> substitutions, Expr *fallback)
      : Expr(ExprKind::SubstituteExpr, range), base(base), substitutions(substitutions), fallback(fallback) {}
  TILEC_EXPR_CLASS(SubstituteExpr)
};

/// `k` or `k -> r` in the brackets of a reduction.
struct AxisArgument {
  Identifier axis;
  Identifier target;
};

/// `callee[axes where guard](arguments)`: a reduction, scan, sort or function with axes.
struct AxisCallExpr : Expr {
  Identifier callee;
  llvm::MutableArrayRef<AxisArgument> axes;
  /// Null without `where`.
  Expr *guard;
  llvm::MutableArrayRef<Argument> arguments;

  AxisCallExpr(SourceRange range, Identifier callee, llvm::MutableArrayRef<AxisArgument> axes, Expr *guard,
               llvm::MutableArrayRef<Argument> arguments)
      : Expr(ExprKind::AxisCallExpr, range), callee(callee), axes(axes), guard(guard), arguments(arguments) {}
  TILEC_EXPR_CLASS(AxisCallExpr)
};

/// `callee(arguments)`: the callee is a NameExpr (function, built-in, type parameter) or a ScalarExpr (cast).
struct CallExpr : Expr {
  Expr *callee;
  llvm::MutableArrayRef<Argument> arguments;

  CallExpr(SourceRange range, Expr *callee, llvm::MutableArrayRef<Argument> arguments)
      : Expr(ExprKind::CallExpr, range), callee(callee), arguments(arguments) {}
  TILEC_EXPR_CLASS(CallExpr)
};

/// `base.member`, such as `t.start`, `f32.lowest` and `T.max`. Any word may be a member.
struct MemberExpr : Expr {
  Expr *base;
  Identifier member;

  MemberExpr(SourceRange range, Expr *base, Identifier member)
      : Expr(ExprKind::MemberExpr, range), base(base), member(member) {}
  TILEC_EXPR_CLASS(MemberExpr)
};

/// Stands for what could not be parsed; an error has been reported.
struct ErrorExpr : Expr {
  explicit ErrorExpr(SourceRange range) : Expr(ExprKind::ErrorExpr, range) {}
  TILEC_EXPR_CLASS(ErrorExpr)
};

#undef TILEC_EXPR_CLASS

} // namespace tilec::ast

#endif // TILEC_SYNTAX_EXPR_H
