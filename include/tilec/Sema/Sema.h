// Semantic analysis: from syntax trees to typed trees. Resolves names and axes, types expressions, folds constants,
// inlines functions, makes one kernel for each instantiation and variant, and proves what rules 1, 9 and 10 demand.
//
// For IRGen: walk TypedProgram::kernels. Each Kernel is self-contained: parameters, contracts and variant conditions,
// then a block of statements (TypedStmt.h) over expressions (TypedExpr.h). The subset that the tree can contain is
// limited by NotBuilt.def: a construct with a row there was refused with an E03xx error.
#ifndef TILEC_SEMA_SEMA_H
#define TILEC_SEMA_SEMA_H

#include "tilec/Diagnostics/DiagnosticEngine.h"
#include "tilec/Sema/TypedStmt.h"
#include "tilec/Syntax/AST.h"
#include <functional>

namespace tilec {

namespace sema {

/// `-D NAME=VALUE`; the value comes from parseConstValue.
struct Define {
  std::string name;
  ast::Expr *value = nullptr;
};

/// A constant or tile size that is left to the compiler.
struct AutoRequest {
  /// The constant's name ("BM"), or the axis's for `tiles(N, auto)`.
  llvm::StringRef name;
  /// The kernel that it belongs to.
  llvm::StringRef kernel;
  /// The widest element type (bits) of the kernel's tensors.
  unsigned elementBits = 32;
};

struct Options {
  std::vector<Define> defines;
  /// For `if arch >= 90` of annotations: sm_90a is 90.
  unsigned arch = 90;
  /// Supplies `auto`; the default is a fixed choice by element width.
  std::function<int64_t(const AutoRequest &)> autoValue;
};

} // namespace sema

/// Analyses a parsed program. Null if it has errors (reported to the engine); warnings do not prevent a result.
std::unique_ptr<sema::TypedProgram> analyze(const ast::Program &program, DiagnosticEngine &engine,
                                            const sema::Options &options);

} // namespace tilec

#endif // TILEC_SEMA_SEMA_H
