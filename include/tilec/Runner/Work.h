// How much a launch computes and moves, by its source: the same for every variant and every way of computing it.
#ifndef TILEC_RUNNER_WORK_H
#define TILEC_RUNNER_WORK_H

#include "tilec/Runner/Arguments.h"
#include "tilec/Runner/KernelSource.h"

namespace tilec::runner {

struct Work {
  /// Two for each multiply-add of a `dot`, and the type of its operands; of several types the one with most.
  double products = 0;
  std::string productType;
  /// Arithmetic on floats beside: one for each operation, function or term of a reduction.
  double others = 0;
};

/// Bytes of the inputs, read once, and of the results, written once. What is `inout` counts twice.
double bytesMoved(const Arguments &arguments);

/// The kernel's work for these arguments. Fails, without a message for the user, where the file cannot be read again.
llvm::Expected<Work> countWork(const KernelSource &source, const Arguments &arguments);

} // namespace tilec::runner

#endif // TILEC_RUNNER_WORK_H
