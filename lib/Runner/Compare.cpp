// Compares tensors element by element.
#include "tilec/Runner/Compare.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace tilec::runner;

Tolerance tilec::runner::defaultTolerance(const ElementType &type) {
  if (type.kind != ElementType::Float)
    return {};
  double scale = type.bytes == 8 ? 0x1p20 : type.bytes == 4 ? 0x1p10 : 4;
  return {scale * type.epsilon, scale * type.epsilon};
}

static double rootMeanSquare(const HostTensor &tensor) {
  double sum = 0;
  int64_t count = 0;
  for (int64_t i = 0, n = tensor.size(); i < n; ++i) {
    double value = tensor.value(i);
    if (!std::isfinite(value))
      continue;
    sum += value * value;
    ++count;
  }
  return count ? std::sqrt(sum / static_cast<double>(count)) : 0;
}

Comparison tilec::runner::compareTensors(const HostTensor &result, const HostTensor &reference,
                                         const Tolerance &tolerance) {
  Comparison comparison;
  comparison.total = reference.size();
  double scale = tolerance.absolute > 0 ? tolerance.absolute * rootMeanSquare(reference) : 0;
  bool isFloat = reference.type->kind == ElementType::Float;
  unsigned bytes = reference.type->bytes;
  for (int64_t i = 0; i < comparison.total; ++i) {
    double got = result.value(i), want = reference.value(i);
    bool same =
        isFloat ? got == want || (std::isnan(got) && std::isnan(want))
                : std::equal(&result.bytes[i * bytes], &result.bytes[i * bytes] + bytes, &reference.bytes[i * bytes]);
    if (same)
      continue;
    double error = std::abs(got - want), allowed = tolerance.relative * std::abs(want) + scale;
    bool comparable = std::isfinite(error);
    double share = comparable && allowed > 0 ? error / allowed : std::numeric_limits<double>::infinity();
    bool wrong = !(share <= 1);
    if (wrong ? comparison.wrong == 0 : comparison.wrong == 0 && share > comparison.worstShare) {
      comparison.at = i;
      comparison.got = got;
      comparison.want = want;
    }
    comparison.wrong += wrong;
    comparison.worstShare = std::max(comparison.worstShare, share);
    if (comparable)
      comparison.worstError = std::max(comparison.worstError, error);
  }
  return comparison;
}
