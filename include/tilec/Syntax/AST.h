// The syntax tree of .tile files: declarations, and the headers of statements and expressions.
//
// Nodes are plain structures in an ASTContext's arena with a kind and classof, for isa, cast and dyn_cast. Every node
// has its source range. Semantic analysis may set Expr::type and Identifier::symbol, or use Expr::id and Stmt::id,
// which are dense, as indices of its own tables. What the grammar guarantees is stated at each class and holds for
// every tree of a file without syntax errors.
#ifndef TILEC_SYNTAX_AST_H
#define TILEC_SYNTAX_AST_H

#include "tilec/Syntax/Expr.h"
#include "tilec/Syntax/Stmt.h"
#include <vector>

namespace tilec::ast {

enum class DeclKind : uint8_t {
#define TILEC_DECL(Class) Class,
#include "tilec/Syntax/ASTNodes.def"
};

struct Decl {
  const DeclKind kind;
  uint32_t id = 0;
  SourceRange range;

  Decl(DeclKind kind, SourceRange range) : kind(kind), range(range) {}
};

/// Defines classof for the class of one kind.
#define TILEC_DECL_CLASS(Class)                                                                                        \
  static bool classof(const Decl *decl) { return decl->kind == DeclKind::Class; }

/// `import "path"`.
struct ImportDecl : Decl {
  llvm::StringRef path;
  SourceRange pathRange;

  ImportDecl(SourceRange range, llvm::StringRef path, SourceRange pathRange)
      : Decl(DeclKind::ImportDecl, range), path(path), pathRange(pathRange) {}
  TILEC_DECL_CLASS(ImportDecl)
};

/// `const name: type = value`.
struct ConstDecl : Decl {
  Identifier name;
  /// Null where the type is inferred.
  ScalarRef *declaredType;
  Expr *value;

  ConstDecl(SourceRange range, Identifier name, ScalarRef *declaredType, Expr *value)
      : Decl(DeclKind::ConstDecl, range), name(name), declaredType(declaredType), value(value) {}
  TILEC_DECL_CLASS(ConstDecl)
};

/// `name = value` of an instantiation; the value is a ScalarExpr, a NameExpr (constant or type) or an expression.
struct ConstArgument {
  Identifier name;
  Expr *value = nullptr;
};

/// `instantiate kernel<arguments> as alias`.
struct InstantiateDecl : Decl {
  Identifier kernel;
  llvm::MutableArrayRef<ConstArgument> arguments;
  Identifier alias;

  InstantiateDecl(SourceRange range, Identifier kernel, llvm::MutableArrayRef<ConstArgument> arguments,
                  Identifier alias)
      : Decl(DeclKind::InstantiateDecl, range), kernel(kernel), arguments(arguments), alias(alias) {}
  TILEC_DECL_CLASS(InstantiateDecl)
};

/// `name: type` or `name: scalar` in `< >`, with an optional default (AutoExpr for `auto`).
struct ConstParam {
  SourceRange range;
  Identifier name;
  /// A type parameter; `type` is then unused.
  bool isType = false;
  ScalarRef type;
  Expr *defaultValue = nullptr;
};

struct FunctionParam {
  Identifier name;
  TypeRef type;
};

/// `fn name<constants>[axes](params) -> results body`; the body has a value.
struct FunctionDecl : Decl {
  Identifier name;
  llvm::MutableArrayRef<ConstParam> constParams;
  llvm::MutableArrayRef<Identifier> axes;
  llvm::MutableArrayRef<FunctionParam> params;
  /// One type, or the types of a tuple.
  llvm::MutableArrayRef<TypeRef> results;
  bool returnsTuple = false;
  Block *body = nullptr;

  explicit FunctionDecl(SourceRange range) : Decl(DeclKind::FunctionDecl, range) {}
  TILEC_DECL_CLASS(FunctionDecl)
};

enum class ParamDirection : uint8_t { In, Out, InOut };
enum class StridesKind : uint8_t { Contiguous, Explicit, Dynamic };

struct Param {
  SourceRange range;
  ParamDirection direction = ParamDirection::In;
  Identifier name;
  /// `name: dim`; `element` is then unused and there is no shape.
  bool isDim = false;
  ScalarRef element;
  /// A tensor, possibly of rank 0 (`f32[]`); without it a scalar.
  bool hasShape = false;
  llvm::MutableArrayRef<Expr *> shape;
  StridesKind stridesKind = StridesKind::Contiguous;
  llvm::MutableArrayRef<Expr *> strides;
  /// `if condition`; null where the parameter always exists.
  Expr *condition = nullptr;
};

/// One item of `where`: a condition, or `name in {choices}`.
struct Contract {
  SourceRange range;
  /// Null for the form with choices.
  Expr *condition = nullptr;
  Identifier name;
  llvm::MutableArrayRef<Expr *> choices;
};

/// `kernel name<constants>(params) where contracts body`. The body has no value; it may hold TempStmts.
struct KernelDecl : Decl {
  llvm::MutableArrayRef<Annotation> annotations;
  Identifier name;
  llvm::MutableArrayRef<ConstParam> constParams;
  llvm::MutableArrayRef<Param> params;
  llvm::MutableArrayRef<Contract> contracts;
  Block *body = nullptr;

  explicit KernelDecl(SourceRange range) : Decl(DeclKind::KernelDecl, range) {}
  TILEC_DECL_CLASS(KernelDecl)
};

#undef TILEC_DECL_CLASS

/// One parsed file.
struct SourceFile {
  FileID file;
  std::vector<Decl *> decls;
  /// The files that it imports itself.
  std::vector<FileID> imports;
};

/// A main file and everything it imports, each file once.
struct Program {
  /// Imported files before the files that import them; the main file is last.
  std::vector<SourceFile> files;

  const SourceFile &mainFile() const { return files.back(); }
};

} // namespace tilec::ast

#endif // TILEC_SYNTAX_AST_H
