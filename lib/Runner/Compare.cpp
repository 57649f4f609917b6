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

Tolerance tilec::runner::referenceTolerance(const ElementType &type) {
  if (type.kind != ElementType::Float)
    return {};
  return {2 * type.epsilon, 2 * type.epsilon};
}

namespace {
// Root mean square of the finite values.
class MeanSquare {
public:
  void add(double value) {
    if (!std::isfinite(value))
      return;
    sum += value * value;
    ++count;
  }
  double root() const { return count ? std::sqrt(sum / static_cast<double>(count)) : 0; }

private:
  double sum = 0;
  int64_t count = 0;
};

struct Pair {
  int64_t at;
  double got, want;
  bool same;
  double allowed;
};
} // namespace

static void note(Comparison &comparison, const Pair &pair) {
  if (pair.same)
    return;
  double error = std::abs(pair.got - pair.want);
  bool comparable = std::isfinite(error);
  double share = comparable && pair.allowed > 0 ? error / pair.allowed : std::numeric_limits<double>::infinity();
  bool wrong = !(share <= 1);
  if (wrong && comparison.wrong == 0) {
    comparison.at = pair.at;
    comparison.got = pair.got;
    comparison.want = pair.want;
  }
  if (share > comparison.worstShare || (share == comparison.worstShare && error > comparison.worstError)) {
    comparison.worstAt = pair.at;
    comparison.worstGot = pair.got;
    comparison.worstWant = pair.want;
  }
  comparison.wrong += wrong;
  comparison.worstShare = std::max(comparison.worstShare, share);
  if (comparable)
    comparison.worstError = std::max(comparison.worstError, error);
}

static bool sameFloat(double got, double want) { return got == want || (std::isnan(got) && std::isnan(want)); }

Comparison tilec::runner::compareTensors(const HostTensor &result, const HostTensor &reference,
                                         const Tolerance &tolerance) {
  Comparison comparison;
  comparison.total = reference.size();
  MeanSquare mean;
  for (int64_t i = 0; tolerance.absolute > 0 && i < comparison.total; ++i)
    mean.add(reference.value(i));
  double scale = tolerance.absolute * mean.root();
  bool isFloat = reference.type->kind == ElementType::Float;
  unsigned bytes = reference.type->bytes;
  for (int64_t i = 0; i < comparison.total; ++i) {
    double got = result.value(i), want = reference.value(i);
    bool same =
        isFloat ? sameFloat(got, want)
                : std::equal(&result.bytes[i * bytes], &result.bytes[i * bytes] + bytes, &reference.bytes[i * bytes]);
    note(comparison, {i, got, want, same, tolerance.relative * std::abs(want) + scale});
  }
  return comparison;
}

Comparison tilec::runner::compareElements(const HostTensor &result, llvm::ArrayRef<ReferenceElement> reference,
                                          const Tolerance &tolerance) {
  Comparison comparison;
  comparison.total = static_cast<int64_t>(reference.size());
  bool isFloat = result.type->kind == ElementType::Float;
  MeanSquare mean;
  for (const ReferenceElement &element : reference)
    mean.add(isFloat ? element.real : static_cast<double>(element.integer));
  double scale = tolerance.absolute * mean.root();
  for (const ReferenceElement &element : reference) {
    double got = result.value(element.at);
    // The reference, as the type of the result has it: beyond its range there is only infinity, or saturation.
    std::vector<uint8_t> bytes(result.type->bytes);
    double want = element.real;
    bool same;
    if (isFloat) {
      encodeElement(*result.type, want, bytes.data());
      double stored = decodeElement(*result.type, bytes.data());
      if (!std::isfinite(stored) || result.type->bytes == 1)
        want = stored;
      same = sameFloat(got, want);
    } else {
      encodeInteger(*result.type, element.integer, bytes.data());
      want = decodeElement(*result.type, bytes.data());
      same = std::equal(bytes.begin(), bytes.end(), &result.bytes[element.at * result.type->bytes]);
    }
    note(comparison, {element.at, got, want, same, tolerance.relative * std::abs(want) + scale + element.bound});
  }
  return comparison;
}
