// Reference expressions: what a kernel should give, in the language's own index notation,
//
//   C[m, n] = sum[k](f64(A[m, k]) * f64(B[n, k]))
//
// parsed and typed by the front end, and evaluated in double precision on the inputs of a launch.
#ifndef TILEC_RUNNER_REFERENCE_H
#define TILEC_RUNNER_REFERENCE_H

#include "tilec/Runner/Arguments.h"
#include "tilec/Runner/Compare.h"
#include "tilec/Runner/KernelSource.h"
#include "llvm/Support/raw_ostream.h"
#include <memory>

namespace tilec::runner {

/// Where the names of an expression come from.
struct ReferenceSource : KernelSource {
  /// The results that hold floats: the reference gives them in f64.
  std::vector<std::string> floatResults;
};

/// How many elements are evaluated.
struct ReferenceBudget {
  /// Numbers computed; beyond it a sample of the elements is checked.
  uint64_t work = uint64_t(1) << 30;
  /// At least as many elements are checked, however long it takes.
  int64_t leastElements = 32;
  /// Of the sample.
  uint64_t seed = 1;
  /// Called now and then with the number of elements done and of all.
  llvm::function_ref<void(uint64_t done, uint64_t all)> progress = nullptr;
};

/// What a reference says about one tensor.
struct ReferenceTensor {
  std::string name;
  /// Row-major places in the tensor, ascending, each once.
  std::vector<ReferenceElement> elements;
  /// Not every position was evaluated.
  bool sampled = false;
};

class Reference {
public:
  virtual ~Reference();

  /// `text` holds statements `OUT[...] = ...` and `let name[...] = ...`; `name` is what diagnostics call it. Names are
  /// those of the kernel's parameters, and the file's constants and functions. Diagnostics go to `os`; the error is
  /// empty where they say everything.
  static llvm::Expected<std::unique_ptr<Reference>> parse(llvm::StringRef text, llvm::StringRef name,
                                                          const ReferenceSource &source, llvm::raw_ostream &os);

  /// The tensors that the statements store, in order of the first store.
  virtual std::vector<std::string> outputs() const = 0;
  /// Fails with a message for the user. `arguments` are those of the launch.
  virtual llvm::Expected<std::vector<ReferenceTensor>> evaluate(const Arguments &arguments,
                                                                const ReferenceBudget &budget) = 0;
};

} // namespace tilec::runner

#endif // TILEC_RUNNER_REFERENCE_H
