// Elements, products and accumulators of Tensor Core instructions.
#include "MatrixArithmetic.h"

#include "tilec/Simulator/FloatFormat.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <array>

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

void tilec::simulator::multiplyMatrices(const double *a, const double *b, double *sums, unsigned m, unsigned n,
                                        unsigned k) {
  for (unsigned row = 0; row < m; ++row) {
    double *__restrict sum = sums + row * n;
    std::fill_n(sum, n, 0.0);
    for (unsigned i = 0; i < k; ++i) {
      double factor = a[row * k + i];
      const double *__restrict other = b + i * n;
      for (unsigned column = 0; column < n; ++column)
        sum[column] += factor * other[column];
    }
  }
}

static uint64_t accumulateInteger(double sum, uint64_t c, bool saturate) {
  int64_t total = static_cast<int64_t>(sum) + static_cast<int32_t>(c);
  if (saturate)
    total = std::clamp<int64_t>(total, INT32_MIN, INT32_MAX);
  return static_cast<uint32_t>(total);
}

uint64_t tilec::simulator::accumulate(AccumulatorType type, double sum, uint64_t c, bool saturate) {
  switch (type) {
  case AccumulatorType::F16:
    return fromDouble(FloatFormat::F16, sum + valueOfF16(c));
  case AccumulatorType::F32: {
    double total = sum + static_cast<double>(llvm::bit_cast<float>(static_cast<uint32_t>(c)));
    // Not a number in any sum gives the canonical pattern.
    return total != total ? 0x7fffffff : llvm::bit_cast<uint32_t>(static_cast<float>(total));
  }
  case AccumulatorType::F64:
    return llvm::bit_cast<uint64_t>(sum + llvm::bit_cast<double>(c));
  case AccumulatorType::S32:
    return accumulateInteger(sum, c, saturate);
  }
  llvm_unreachable("a type without sums");
}
