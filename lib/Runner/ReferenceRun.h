// The statements of a reference, evaluated one after the other.
#ifndef TILEC_RUNNER_REFERENCERUN_H
#define TILEC_RUNNER_REFERENCERUN_H

#include "tilec/Runner/Reference.h"
#include "tilec/Sema/TypedStmt.h"

namespace tilec::runner {

class Evaluator;

/// Calls a function for an expression and all below it; the value of a let is below its uses if `intoLets`.
void visitExpressions(const sema::Expr *expr, bool intoLets, llvm::function_ref<void(const sema::Expr *)> enter);
/// Null if the launch has no such tensor.
const TensorBinding *findBinding(const Arguments &arguments, llvm::StringRef name);
/// Scalars, dimensions and contents.
llvm::Error bindParameters(Evaluator &evaluator, const sema::Kernel &kernel, const Arguments &arguments);

/// Fails, with a message for the user, where a statement is none that a reference can have.
llvm::Error checkStatements(const sema::Kernel &kernel);
/// The names of the parameters that are stored, in order of the first store.
std::vector<std::string> storedTensors(const sema::Kernel &kernel);
llvm::Expected<std::vector<ReferenceTensor>> evaluateReference(const sema::Kernel &kernel, const Arguments &arguments,
                                                               const ReferenceBudget &budget);

} // namespace tilec::runner

#endif // TILEC_RUNNER_REFERENCERUN_H
