// The values that a kernel's constants have in one instantiation.
#ifndef TILEC_SEMA_CONSTANTBINDER_H
#define TILEC_SEMA_CONSTANTBINDER_H

#include "Globals.h"
#include "tilec/Syntax/AST.h"

namespace tilec::sema {

class Analyzer;

/// An instantiation: the kernel, its name, and where its constants come from.
struct Instantiation {
  const ast::KernelDecl *decl;
  llvm::StringRef name;
  llvm::ArrayRef<ast::ConstArgument> arguments;
  /// Whether `-D` applies.
  bool isMain;
  /// For errors about the whole.
  SourceRange place;
};

/// The value of the last `-D` of this name, as on other compilers' command lines, or null.
const ast::Expr *findDefine(const Options &options, llvm::StringRef name);

class ConstantBinder {
public:
  explicit ConstantBinder(Globals &globals) : globals(globals) {}

  /// Gives all constants their values and enters them into the scope of `analyzer`. False after an error.
  bool bind(const Instantiation &instantiation, Analyzer &analyzer);

  std::vector<ConstBinding> bindings;
  /// The constants whose value is `auto`.
  std::vector<std::string> autos;

private:
  bool bind(const ast::ConstParam &param, const ast::Expr *value, Analyzer &analyzer);

  Globals &globals;
};

/// The sizes that a kernel leaves to the compiler: `constants`, and tile sizes written as `auto`; with the axes of
/// `kernel` that they size.
std::vector<AutoSize> findAutoSizes(const ast::KernelDecl *decl, llvm::ArrayRef<std::string> constants,
                                    const Kernel &kernel);

} // namespace tilec::sema

#endif // TILEC_SEMA_CONSTANTBINDER_H
