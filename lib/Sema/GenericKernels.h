// Checks of kernels and functions that are not instantiated.
#ifndef TILEC_LIB_SEMA_GENERICKERNELS_H
#define TILEC_LIB_SEMA_GENERICKERNELS_H

#include "Globals.h"
#include "tilec/Syntax/AST.h"

namespace tilec::sema {

class Analyzer;

/// Analyses generic declarations with values of its own for their types and constants, and reports the errors that do
/// not depend on them. An error that only some values give is left to the instantiation that has them.
class GenericChecker {
public:
  /// Errors go to `reports`.
  GenericChecker(const ast::Program &program, DiagnosticEngine &reports, const Options &options);

  void check(const ast::KernelDecl *decl);
  void check(const ast::FunctionDecl *decl);

private:
  template <typename Decl> void checkWithProbes(const Decl *decl);
  void analyze(const ast::KernelDecl *decl, unsigned probe);
  void analyze(const ast::FunctionDecl *decl, unsigned probe);
  std::vector<ConstBinding> bind(const ast::KernelDecl *decl, Analyzer &analyzer, unsigned probe);

  TypedContext context;
  /// Collects what the probes find.
  DiagnosticEngine engine;
  Globals globals;
  DiagnosticEngine &reports;
  llvm::StringMap<bool> wrongFunctions;
};

} // namespace tilec::sema

#endif // TILEC_LIB_SEMA_GENERICKERNELS_H
