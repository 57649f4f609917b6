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

/// A size that the source leaves to the compiler: a constant whose default is `auto`, or `tiles(N, auto)`.
struct AutoSize {
  /// The constant's name ("BM"), or the axis's for `tiles(N, auto)`.
  std::string name;
  /// The axes of the kernel at hand that it is the tile size of.
  std::vector<const Axis *> axes;
};

struct Options {
  std::vector<Define> defines;
  /// For `if arch >= 90` of annotations: sm_90a is 90.
  unsigned arch = 90;
  /// Sizes for a kernel that was analysed with trial sizes, the ones for large tensors first. Each makes a kernel of
  /// its own; none leaves the kernel with its trial sizes.
  std::function<std::vector<SizeChoice>(const Kernel &, llvm::ArrayRef<AutoSize>)> chooseSizes;
};

} // namespace sema

/// Analyses a parsed program. Null if it has errors (reported to the engine); warnings do not prevent a result.
std::unique_ptr<sema::TypedProgram> analyze(const ast::Program &program, DiagnosticEngine &engine,
                                            const sema::Options &options);

} // namespace tilec

#endif // TILEC_SEMA_SEMA_H
