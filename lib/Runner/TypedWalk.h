// What the evaluation of references and the count of operations share: walks of typed expressions, arguments of a
// launch.
#ifndef TILEC_RUNNER_TYPEDWALK_H
#define TILEC_RUNNER_TYPEDWALK_H

#include "tilec/Runner/Arguments.h"
#include "tilec/Sema/TypedStmt.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tilec::runner {

class Evaluator;

/// Calls a function for an expression and all below it; the value of a let is below its uses if `intoLets`.
void visitExpressions(const sema::Expr *expr, bool intoLets, llvm::function_ref<void(const sema::Expr *)> enter);

/// Null if the launch has no such tensor.
const TensorBinding *findBinding(const Arguments &arguments, llvm::StringRef name);

/// Gives an evaluator scalars, dimensions and contents. Fails, with a message for the user, where a tensor is missing
/// or has another rank.
llvm::Error bindParameters(Evaluator &evaluator, const sema::Kernel &kernel, const Arguments &arguments);

/// How many positions some axes have together. In floats, which do not overflow.
double countPositions(Evaluator &evaluator, llvm::ArrayRef<const sema::Axis *> axes);

} // namespace tilec::runner

#endif // TILEC_RUNNER_TYPEDWALK_H
