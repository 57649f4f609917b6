// The statements of a reference, evaluated one after the other.
#ifndef TILEC_RUNNER_REFERENCERUN_H
#define TILEC_RUNNER_REFERENCERUN_H

#include "tilec/Runner/Reference.h"
#include "tilec/Sema/TypedStmt.h"

namespace tilec::runner {

/// Fails, with a message for the user, where a statement is none that a reference can have.
llvm::Error checkStatements(const sema::Kernel &kernel);
/// The names of the parameters that are stored, in order of the first store.
std::vector<std::string> storedTensors(const sema::Kernel &kernel);
/// The elements of all stored tensors, within the budget. Fails, with a message for the user, where the arguments do
/// not fit.
llvm::Expected<std::vector<ReferenceTensor>> evaluateReference(const sema::Kernel &kernel, const Arguments &arguments,
                                                               const ReferenceBudget &budget);

} // namespace tilec::runner

#endif // TILEC_RUNNER_REFERENCERUN_H
