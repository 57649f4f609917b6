// Symbols and scopes: rule 3's one namespace.
#ifndef TILEC_SEMA_SYMBOL_H
#define TILEC_SEMA_SYMBOL_H

#include "Number.h"
#include "tilec/Sema/TypedStmt.h"
#include "tilec/Syntax/AST.h"
#include "llvm/ADT/StringMap.h"

namespace tilec::sema {

/// The result of checking an expression.
struct Value {
  /// For an exact constant: the type that it takes alone.
  Type type;
  /// Null for an exact constant, a tuple and an error.
  Expr *expr = nullptr;
  /// An exact constant, which takes the type that it meets.
  std::optional<Number> number;
  /// The type of an exact constant was declared (`const N: index = 4`), not defaulted.
  bool isDeclared = false;
  std::vector<Value> elements;
  /// An error was reported.
  bool isError = false;
  SourceRange range;

  static Value error(SourceRange range) {
    Value result;
    result.isError = true;
    result.range = range;
    return result;
  }
  static Value of(Expr *expr, SourceRange range) {
    Value result;
    result.type = expr->type;
    result.expr = expr;
    result.range = range;
    return result;
  }
  static Value exact(Number number, SourceRange range) {
    Value result;
    result.type = Type(number.isInteger() ? ScalarKind::I32 : ScalarKind::F32);
    result.number = std::move(number);
    result.range = range;
    return result;
  }
  bool isTuple() const { return !elements.empty(); }
  ScalarKind element() const { return type.element; }
};

enum class SymbolKind : uint8_t {
  /// A constant of a file, a const parameter, or a named constant such as `pi`.
  Constant,
  /// A type parameter with its type.
  TypeConstant,
  Function,
  Builtin,
  Variable,
  Tensor,
  Axis,
  /// `let s[i, j] = ...`.
  AlgorithmLet,
  /// A parameter whose `if` is false.
  Absent,
  /// Declared with an error that was reported.
  Poison,
};

class Symbol {
public:
  SymbolKind kind = SymbolKind::Poison;
  std::string name;
  /// Where it is declared; invalid for built-ins.
  SourceRange range;
  /// Constant.
  Value constant;
  /// TypeConstant.
  ScalarKind scalar = ScalarKind::I32;
  Variable *variable = nullptr;
  /// A dimension that this variant fixes.
  std::optional<int64_t> fixedValue;
  /// Tensor and AlgorithmLet.
  Tensor *tensor = nullptr;
  const Axis *axis = nullptr;
  /// AlgorithmLet: the axes in order.
  std::vector<const Axis *> letAxes;
  const ast::FunctionDecl *function = nullptr;
  /// Constants of files are evaluated on first use.
  const ast::ConstDecl *declaration = nullptr;
};

/// The names of one block; the outermost has no parent and is searched before the names of the file.
class Scope {
public:
  explicit Scope(Scope *parent) : parent(parent) {}
  Symbol *find(llvm::StringRef name) const {
    for (const Scope *scope = this; scope; scope = scope->parent)
      if (auto it = scope->names.find(name); it != scope->names.end())
        return it->second;
    return nullptr;
  }
  void add(Symbol *symbol) { names[symbol->name] = symbol; }
  void remove(llvm::StringRef name) { names.erase(name); }
  const llvm::StringMap<Symbol *> &getNames() const { return names; }
  Scope *getParent() const { return parent; }

private:
  Scope *parent;
  llvm::StringMap<Symbol *> names;
};

} // namespace tilec::sema

#endif // TILEC_SEMA_SYMBOL_H
