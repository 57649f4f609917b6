// What all nodes of the syntax tree share: identifiers, type names, spans, annotations and blocks.
#ifndef TILEC_SYNTAX_ASTBASE_H
#define TILEC_SYNTAX_ASTBASE_H

#include "tilec/Diagnostics/SourceManager.h"
#include "tilec/Syntax/ASTContext.h"
#include "tilec/Syntax/ScalarKind.h"
#include "llvm/Support/Casting.h"
#include <optional>

namespace tilec::sema {
/// Attached by semantic analysis; opaque here.
class Type;
class Symbol;
} // namespace tilec::sema

namespace tilec::ast {

struct Expr;
struct Stmt;

/// A name where it is declared or used.
struct Identifier {
  llvm::StringRef name;
  SourceRange range;
  /// Set by semantic analysis: what the name stands for.
  sema::Symbol *symbol = nullptr;

  explicit operator bool() const { return !name.empty(); }
};

/// The name of a scalar type: a keyword, or the identifier of a type parameter.
struct ScalarRef {
  SourceRange range;
  /// Nothing for a type parameter, which `name` then names.
  std::optional<ScalarKind> kind;
  Identifier name;
};

/// The type of a value: `f32`, or `f32[m, n]` with the names of its axes.
struct TypeRef {
  SourceRange range;
  ScalarRef scalar;
  llvm::MutableArrayRef<Identifier> axes;
  /// Tells `f32[]` from `f32`.
  bool hasBrackets = false;
};

/// `lower .. upper`, or one expression (`i.range`, or a scalar e that means 0..e as the first argument of `tiles`).
struct Span {
  SourceRange range;
  Expr *lower = nullptr;
  Expr *upper = nullptr;
  Expr *whole = nullptr;

  bool isRange() const { return lower != nullptr; }
};

enum class RelationalOp : uint8_t { Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual };

/// One argument of a call: `value` or `name = value`.
struct Argument {
  Identifier name;
  Expr *value = nullptr;
};

/// `@name(arguments) if arch relop value`.
struct Annotation {
  SourceRange range;
  Identifier name;
  llvm::MutableArrayRef<Argument> arguments;
  bool hasParentheses = false;
  bool isConditional = false;
  RelationalOp archOp = RelationalOp::Equal;
  uint64_t arch = 0;
};

/// `{ statements value }`; the value is null where there is none.
struct Block {
  SourceRange range;
  llvm::MutableArrayRef<Stmt *> statements;
  Expr *value = nullptr;
};

/// `name in lower..upper`, or `name in [reverse] tiles(span, size)`.
struct Binding {
  SourceRange range;
  Identifier name;
  bool isReverse = false;
  bool isTiles = false;
  Span span;
  /// The tile size: an AutoExpr for `auto`; null without `tiles`.
  Expr *size = nullptr;
};

} // namespace tilec::ast

#endif // TILEC_SYNTAX_ASTBASE_H
