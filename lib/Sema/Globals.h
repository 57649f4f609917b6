// What all kernels of a compilation share: the names of the files, the constants, and how errors are worded.
#ifndef TILEC_SEMA_GLOBALS_H
#define TILEC_SEMA_GLOBALS_H

#include "Symbol.h"
#include "tilec/Diagnostics/DiagnosticEngine.h"
#include "tilec/Sema/Sema.h"
#include "llvm/ADT/DenseSet.h"

namespace tilec::sema {

/// Constants and types by the names of a kernel's or function's parameters in `< >`.
struct ConstBinding {
  std::string name;
  Symbol *symbol = nullptr;
};

class Globals {
public:
  Globals(TypedContext &context, DiagnosticEngine &engine, const Options &options)
      : context(context), engine(engine), options(options) {}

  /// Enters the built-ins and the declarations of all files; reports names declared twice.
  void declareAll(const ast::Program &program);
  Symbol *find(llvm::StringRef name) const {
    auto it = names.find(name);
    return it == names.end() ? nullptr : it->second;
  }
  /// Whether the file of `place` declares the symbol, or imports it, directly or not (rule 19). Built-ins and places
  /// outside all files see everything.
  bool isVisible(const Symbol *symbol, SourceRange place) const;
  const llvm::StringMap<Symbol *> &getNames() const { return names; }
  Symbol *create(SymbolKind kind, llvm::StringRef name, SourceRange range);

  /// The value of a file's constant, evaluated on first use.
  const Value &getConstant(Symbol *symbol);

  DiagnosticBuilder report(SourceRange range, diag::Kind kind) { return engine.report(range, kind); }
  llvm::StringRef text(SourceRange range) const { return engine.getSources().getText(range); }
  /// True if the files mention the kernel by this name; kernels have their own names.
  const ast::KernelDecl *findKernel(llvm::StringRef name) const {
    auto it = kernels.find(name);
    return it == kernels.end() ? nullptr : it->second;
  }

  TypedContext &context;
  DiagnosticEngine &engine;
  const Options &options;
  /// The program is a reference (Reference.h).
  bool isReference = false;
  /// Functions whose body was found to be wrong: calls of them report nothing more.
  llvm::StringMap<bool> wrongFunctions;
  /// Values for `auto` by name; others get trial sizes.
  llvm::StringMap<int64_t> sizes;
  /// The value of a size left to the compiler in a kernel whose widest elements have `elementBits`.
  int64_t sizeOf(llvm::StringRef name, unsigned elementBits) const;

private:
  void declare(const ast::Identifier &name, Symbol *symbol);

  llvm::StringMap<Symbol *> names;
  llvm::StringMap<const ast::KernelDecl *> kernels;
  std::vector<std::unique_ptr<Symbol>> symbols;
  std::vector<const Symbol *> underEvaluation;
  /// By number of file: the numbers of those that it sees, itself included.
  llvm::DenseMap<uint32_t, llvm::DenseSet<uint32_t>> visibleFiles;
};

/// The entry of the built-in with this name: the element-wise one, or nothing.
struct ElementwiseBuiltin {
  llvm::StringLiteral name;
  Builtin builtin;
  unsigned least;
  unsigned most;
};
const ElementwiseBuiltin *findElementwise(llvm::StringRef name);
bool isAlongAxes(llvm::StringRef name);
/// "1 argument", "2 or 3 arguments".
std::string countArguments(unsigned least, unsigned most);
/// The words that NotBuilt.def has for a key; empty if the part is built.
llvm::StringRef getNotBuilt(llvm::StringRef key);
/// Whether a reference may have what the compiler lacks.
bool isBuiltInReferences(llvm::StringRef key);
/// The name nearest to `name` among the candidates, or empty if none is near.
llvm::StringRef findSimilar(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> candidates);

} // namespace tilec::sema

#endif // TILEC_SEMA_GLOBALS_H
