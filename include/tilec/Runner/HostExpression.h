// The integer expressions of the reflection file (docs/abi.md, "Host expressions").
#ifndef TILEC_RUNNER_HOSTEXPRESSION_H
#define TILEC_RUNNER_HOSTEXPRESSION_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <map>
#include <string>

namespace tilec::runner {

/// A dimension or scalar. Floats occur only in comparisons.
struct Number {
  int64_t integer = 0;
  double real = 0;
  bool isReal = false;

  Number() = default;
  Number(int64_t value) : integer(value), real(static_cast<double>(value)) {}
  static Number ofReal(double value) {
    Number number;
    number.real = value;
    number.isReal = true;
    return number;
  }
};

struct HostValues {
  /// Dimensions, integer scalars, "A.stride0", "sm_count".
  std::map<std::string, Number> names;
  /// Answers ["aligned", tensor, bytes].
  std::function<bool(llvm::StringRef tensor, int64_t bytes)> aligned;
};

/// Division floors; a division by 0 gives 0; overflow wraps. Fails where a name is unknown or the expression malformed.
llvm::Expected<int64_t> evaluate(const llvm::json::Value &expression, const HostValues &values);

/// The expression in the notation of the language.
std::string expressionText(const llvm::json::Value &expression);

} // namespace tilec::runner

#endif // TILEC_RUNNER_HOSTEXPRESSION_H
