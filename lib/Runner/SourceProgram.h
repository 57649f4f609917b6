// The syntax tree of a .tile file and of what it imports.
#ifndef TILEC_RUNNER_SOURCEPROGRAM_H
#define TILEC_RUNNER_SOURCEPROGRAM_H

#include "tilec/Diagnostics/DiagnosticEngine.h"
#include "tilec/Runner/KernelSource.h"
#include "tilec/Sema/Sema.h"
#include "tilec/Syntax/Parser.h"

namespace tilec::runner {

class SourceProgram {
public:
  explicit SourceProgram(KernelSource source) : source(std::move(source)), engine(sources) {}

  /// Fails where the file cannot be read; mistakes in it go to `engine`.
  llvm::Error read();
  /// The -D that name constants of `decl`.
  sema::Options options(const ast::KernelDecl &decl);
  /// The declaration of the kernel, also of an instance; null if there is none.
  const ast::KernelDecl *findKernel() const;
  /// Of the file's kernels only this one stays, replaced, and of instances only the one that is launched.
  void keepOnly(const ast::KernelDecl *original, ast::KernelDecl *replacement);

  KernelSource source;
  SourceManager sources;
  DiagnosticEngine engine;
  ast::ASTContext context;
  ast::Program program;
};

} // namespace tilec::runner

#endif // TILEC_RUNNER_SOURCEPROGRAM_H
