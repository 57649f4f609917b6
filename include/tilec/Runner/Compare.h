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
  /// Row-major number of the first wrong element, else of the worst.
  int64_t at = 0;
  double got = 0, want = 0;
  /// The largest |result - reference|, and that as a part of what the tolerance allows.
  double worstError = 0, worstShare = 0;
};

/// The tensors have the same shape. NaN equals NaN, infinities themselves.
Comparison compareTensors(const HostTensor &result, const HostTensor &reference, const Tolerance &tolerance);

} // namespace tilec::runner

#endif // TILEC_RUNNER_COMPARE_H
