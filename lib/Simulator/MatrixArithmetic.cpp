// Elements, sums and accumulators of Tensor Core instructions.
#include "MatrixArithmetic.h"

#include "tilec/Simulator/FloatFormat.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <array>
#include <cmath>

using namespace tilec::simulator;

template <FloatFormat format> static double valueOfF8(uint64_t bits) {
  static const std::array<double, 256> values = [] {
    std::array<double, 256> table;
    for (unsigned i = 0; i < 256; ++i)
      table[i] = toDouble(format, i);
    return table;
  }();
  return values[bits & 0xff];
}

// The f16 exponent lies 112 below that of f32; the multiplication also normalises subnormals.
static double valueOfF16(uint64_t bits) {
  uint32_t magnitude = static_cast<uint32_t>(bits & 0x7fff) << 13;
  uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  if (magnitude >= 0x0f800000)
    return llvm::bit_cast<float>(sign | magnitude | 0x7f800000);
  return llvm::bit_cast<float>(sign | llvm::bit_cast<uint32_t>(llvm::bit_cast<float>(magnitude) * 0x1p112f));
}

double tilec::simulator::elementValue(MmaType type, uint64_t bits) {
  switch (type) {
  case MmaType::F16:
    return valueOfF16(bits);
  case MmaType::BF16:
    return llvm::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  case MmaType::TF32: // the lower 13 bits are ignored
    return llvm::bit_cast<float>(static_cast<uint32_t>(bits) & 0xffffe000);
  case MmaType::E4M3:
    return valueOfF8<FloatFormat::E4M3>(bits);
  case MmaType::E5M2:
    return valueOfF8<FloatFormat::E5M2>(bits);
  case MmaType::S8:
    return static_cast<int8_t>(bits);
  case MmaType::U8:
    return static_cast<uint8_t>(bits);
  case MmaType::S4:
    return llvm::SignExtend64<4>(bits & 15);
  case MmaType::U4:
    return static_cast<double>(bits & 15);
  case MmaType::F64:
    return llvm::bit_cast<double>(bits);
  }
  llvm_unreachable("a type without values");
}

double tilec::simulator::accumulatorValue(AccumulatorType type, uint64_t bits) {
  switch (type) {
  case AccumulatorType::F16:
    return valueOfF16(bits);
  case AccumulatorType::F32:
    return static_cast<double>(llvm::bit_cast<float>(static_cast<uint32_t>(bits)));
  case AccumulatorType::F64:
    return llvm::bit_cast<double>(bits);
  case AccumulatorType::S32:
    return static_cast<int32_t>(bits);
  }
  llvm_unreachable("a type without values");
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

void MatrixProblem::resize(unsigned rows, unsigned columns, unsigned depth) {
  m = rows, n = columns, k = depth;
  a.resize(size_t(m) * k);
  b.resize(size_t(k) * n);
  c.assign(size_t(m) * n, 0);
  results.resize(size_t(m) * n);
}

void MatrixProblem::multiply() {
  for (unsigned row = 0; row < m; ++row) {
    double *__restrict sum = &results[size_t(row) * n];
    std::fill_n(sum, n, 0.0);
    for (unsigned i = 0; i < k; ++i) {
      double factor = a[size_t(row) * k + i];
      const double *__restrict other = &b[size_t(i) * n];
      for (unsigned column = 0; column < n; ++column)
        sum[column] += factor * other[column];
    }
  }
}

namespace {
/// Of zeros, below all others even when two are added; of infinities and NaN, above all others, in products with zeros
/// too.
constexpr float noExponent = -1e6f, specialExponent = 4e6f;

// Exponent of the lowest normal number; subnormals are aligned like it.
int leastExponent(MmaType type) {
  switch (type) {
  case MmaType::F16:
  case MmaType::E5M2:
    return -14;
  case MmaType::E4M3:
    return -6;
  default:
    return -126;
  }
}

int leastExponent(AccumulatorType type) { return type == AccumulatorType::F16 ? -14 : -126; }

float exponentOf(double value, int least) {
  constexpr int mantissa = 52, bias = 1023, special = 0x7ff;
  if (value == 0)
    return noExponent;
  int field = static_cast<int>(llvm::bit_cast<uint64_t>(value) >> mantissa & special);
  return field == special ? specialExponent : static_cast<float>(std::max(field - bias, least));
}

double powerOfTwo(int exponent) { return llvm::bit_cast<double>(uint64_t(exponent + 1023) << 52); }
} // namespace

void MatrixProblem::Aligned::set(const std::vector<double> &elements, MmaType type) {
  values.resize(elements.size());
  exponents.resize(elements.size());
  int least = leastExponent(type);
  for (size_t i = 0; i < elements.size(); ++i) {
    exponents[i] = exponentOf(elements[i], least);
    values[i] = exponents[i] == specialExponent ? 0 : elements[i];
  }
}

// The significands of products are not normalised: they are aligned by the sum of their factors' exponents.
void MatrixProblem::multiplyAligned(unsigned first, unsigned last) {
  alignedA.set(a, typeA);
  alignedB.set(b, typeB);
  largest.resize(n);
  scales.resize(n);
  for (unsigned row = 0; row < m; ++row) {
    const double *addends = &c[size_t(row) * n];
    float *__restrict top = largest.data();
    double *__restrict scale = scales.data(), *__restrict sum = &results[size_t(row) * n];
    for (unsigned column = 0; column < n; ++column)
      top[column] = exponentOf(addends[column], leastExponent(accumulator));
    for (unsigned i = first; i < last; ++i) {
      float exponent = alignedA.exponents[size_t(row) * k + i];
      const float *__restrict others = &alignedB.exponents[size_t(i) * n];
      for (unsigned column = 0; column < n; ++column)
        top[column] = std::max(top[column], exponent + others[column]);
    }
    // The unit in which addends count; sums stay below 2^32 of them.
    for (unsigned column = 0; column < n; ++column) {
      float exponent = std::clamp(top[column], -300.0f, 300.0f);
      scale[column] = powerOfTwo(static_cast<int>(fractionBits) - static_cast<int>(exponent));
      sum[column] = std::abs(top[column]) > 1000 ? 0 : std::trunc(addends[column] * scale[column]);
    }
    for (unsigned i = first; i < last; ++i) {
      double factor = alignedA.values[size_t(row) * k + i];
      const double *__restrict others = &alignedB.values[size_t(i) * n];
      for (unsigned column = 0; column < n; ++column)
        sum[column] += static_cast<double>(static_cast<int32_t>(factor * others[column] * scale[column]));
    }
    for (unsigned column = 0; column < n; ++column) {
      if (top[column] < 1000) {
        sum[column] /= scale[column];
        continue;
      }
      // Infinities and NaN.
      sum[column] = addends[column];
      for (unsigned i = first; i < last; ++i)
        sum[column] += a[size_t(row) * k + i] * b[size_t(i) * n + column];
    }
  }
}

double tilec::simulator::cutOff(double value, unsigned mantissaBits) {
  constexpr unsigned all = 23;
  if (!std::isfinite(value))
    return value;
  float nearest = static_cast<float>(value);
  uint32_t bits = llvm::bit_cast<uint32_t>(nearest);
  if (std::isfinite(nearest) && std::abs(static_cast<double>(nearest)) > std::abs(value))
    --bits;
  return llvm::bit_cast<float>(bits & ~static_cast<uint32_t>(0) << (all - mantissaBits));
}

//===----------------------------------------------------------------------===//
// Accumulators
//===----------------------------------------------------------------------===//

uint64_t tilec::simulator::accumulateInteger(double sum, uint64_t c, bool saturate) {
  int64_t total = static_cast<int64_t>(sum) + static_cast<int32_t>(c);
  if (saturate)
    total = std::clamp<int64_t>(total, INT32_MIN, INT32_MAX);
  return static_cast<uint32_t>(total);
}

uint64_t tilec::simulator::accumulatorBits(AccumulatorType type, double value) {
  switch (type) {
  case AccumulatorType::F16:
    return fromDouble(FloatFormat::F16, value);
  case AccumulatorType::F32:
    // Not a number gives the canonical pattern.
    return value != value ? 0x7fffffff : llvm::bit_cast<uint32_t>(static_cast<float>(value));
  case AccumulatorType::F64:
    return llvm::bit_cast<uint64_t>(value);
  case AccumulatorType::S32:
    return static_cast<uint32_t>(static_cast<int64_t>(value));
  }
  llvm_unreachable("a type without sums");
}
