// Comparison of a result with its reference.
#ifndef TILEC_RUNNER_COMPARE_H
#define TILEC_RUNNER_COMPARE_H

#include "tilec/Runner/HostTensor.h"

namespace tilec::runner {

/// |result - reference| <= relative * |reference| + absolute * (root mean square of the reference).
struct Tolerance {
  double relative = 0, absolute = 0;
};

/// Integers exactly. Floats: 4 units in the last place of the type, and as much of the root mean square for sums whose
/// terms cancel; f32 and f64 keep 10 and 20 bits less than they have, for sums of thousands of terms.
Tolerance defaultTolerance(const ElementType &type);

struct Comparison {
  int64_t wrong = 0, total = 0;
  /// Row-major number of the first wrong element.
  int64_t at = 0;
  double got = 0, want = 0;
  /// The same of the element with the largest error.
  int64_t worstAt = 0;
  double worstGot = 0, worstWant = 0;
  /// The largest |result - reference|, and that as a part of what the tolerance allows.
  double worstError = 0, worstShare = 0;
};

/// What an element should be. Integers and bool are in `integer` (u64 as its bits).
struct ReferenceElement {
  /// Row-major number in the tensor.
  int64_t at = 0;
  double real = 0;
  int64_t integer = 0;
  /// The error that the kernel's arithmetic may make beyond the tolerance.
  double bound = 0;
};

/// The tolerance beside a reference that knows the bounds of its sums: 2 units in the last place of every float type.
Tolerance referenceTolerance(const ElementType &type);

/// Compares the elements that there are. The root mean square is theirs.
Comparison compareElements(const HostTensor &result, llvm::ArrayRef<ReferenceElement> reference,
                           const Tolerance &tolerance);

/// The tensors have the same shape. NaN equals NaN, infinities themselves.
Comparison compareTensors(const HostTensor &result, const HostTensor &reference, const Tolerance &tolerance);

} // namespace tilec::runner

#endif // TILEC_RUNNER_COMPARE_H
