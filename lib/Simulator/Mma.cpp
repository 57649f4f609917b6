// mma.sync: distributes fragments and multiplies.
#include "tilec/Simulator/Mma.h"

#include "MatrixArithmetic.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/bit.h"
#include <cmath>

using namespace tilec::simulator;

static constexpr unsigned laneCount = 32;
static constexpr unsigned maxM = 16, maxN = 8, maxK = 64;

std::optional<MmaType> tilec::simulator::parseMmaType(llvm::StringRef name) {
  return llvm::StringSwitch<std::optional<MmaType>>(name)
      .Case("f16", MmaType::F16)
      .Case("bf16", MmaType::BF16)
      .Case("tf32", MmaType::TF32)
      .Case("e4m3", MmaType::E4M3)
      .Case("e5m2", MmaType::E5M2)
      .Case("s8", MmaType::S8)
      .Case("u8", MmaType::U8)
      .Case("s4", MmaType::S4)
      .Case("u4", MmaType::U4)
      .Case("f64", MmaType::F64)
      .Default(std::nullopt);
}

std::optional<AccumulatorType> tilec::simulator::parseAccumulatorType(llvm::StringRef name) {
  return llvm::StringSwitch<std::optional<AccumulatorType>>(name)
      .Case("f16", AccumulatorType::F16)
      .Case("f32", AccumulatorType::F32)
      .Case("f64", AccumulatorType::F64)
      .Case("s32", AccumulatorType::S32)
      .Default(std::nullopt);
}

unsigned tilec::simulator::bitsOf(MmaType type) {
  static constexpr unsigned bits[] = {16, 16, 32, 8, 8, 8, 8, 4, 4, 64};
  return bits[static_cast<unsigned>(type)];
}

// Elements of a register.
static unsigned elementsOf(MmaType type) { return type == MmaType::F64 ? 1 : 32 / bitsOf(type); }

const char *MmaInstruction::check() const {
  if (bitsOf(a) != bitsOf(b))
    return "operands of different sizes";
  unsigned step = 4 * elementsOf(a);
  if ((m != 8 && m != 16) || n != 8 || k % step || k > maxK)
    return "a shape that does not exist";
  bool integers = a == MmaType::S8 || a == MmaType::U8 || a == MmaType::S4 || a == MmaType::U4;
  if (integers != (accumulator == AccumulatorType::S32) || (a == MmaType::F64) != (accumulator == AccumulatorType::F64))
    return "accumulators of another kind than the operands";
  bool narrow = a == MmaType::F16 || a == MmaType::E4M3 || a == MmaType::E5M2;
  if (accumulator == AccumulatorType::F16 && !narrow)
    return "f16 accumulators for operands that need f32";
  if (m == 8 && !integers && a != MmaType::F64)
    return "a shape that does not exist";
  return nullptr;
}

unsigned MmaInstruction::registersA() const { return m / 8 * registersB(); }
unsigned MmaInstruction::registersB() const { return k / (4 * elementsOf(a)); }
unsigned MmaInstruction::registersC() const { return accumulator == AccumulatorType::F16 ? m / 8 : m / 4; }

namespace {
// Calls use(row, column, bits) for each element of A.
template <typename F> void forEachA(const MmaInstruction &info, llvm::ArrayRef<WarpRegister> a, F use) {
  unsigned elements = elementsOf(info.a), bits = bitsOf(info.a), rowBlocks = info.m / 8;
  for (unsigned r = 0; r < a.size(); ++r)
    for (unsigned lane = 0; lane < laneCount; ++lane)
      for (unsigned i = 0; i < elements; ++i)
        use(lane / 4 + 8 * (r % rowBlocks), 4 * elements * (r / rowBlocks) + elements * (lane % 4) + i,
            a[r][lane] >> (bits * i));
}

template <typename F> void forEachB(const MmaInstruction &info, llvm::ArrayRef<WarpRegister> b, F use) {
  unsigned elements = elementsOf(info.b), bits = bitsOf(info.b);
  for (unsigned r = 0; r < b.size(); ++r)
    for (unsigned lane = 0; lane < laneCount; ++lane)
      for (unsigned i = 0; i < elements; ++i)
        use(4 * elements * r + elements * (lane % 4) + i, lane / 4, b[r][lane] >> (bits * i));
}

struct Operands {
  double a[maxM * maxK];
  double b[maxK * maxN];
  double sums[maxM * maxN];
};

// Fused multiply-adds onto the accumulator, in the order of k.
double fusedSum(const MmaInstruction &info, const Operands &operands, unsigned row, unsigned column, double sum) {
  for (unsigned i = 0; i < info.k; ++i)
    sum = std::fma(operands.a[row * info.k + i], operands.b[i * info.n + column], sum);
  return sum;
}

uint64_t result(const MmaInstruction &info, const Operands &operands, unsigned row, unsigned column, uint64_t c) {
  if (info.accumulator == AccumulatorType::F64)
    return llvm::bit_cast<uint64_t>(fusedSum(info, operands, row, column, llvm::bit_cast<double>(c)));
  return accumulate(info.accumulator, operands.sums[row * info.n + column], c, info.saturate);
}
} // namespace

void tilec::simulator::executeMma(const MmaInstruction &info, llvm::ArrayRef<WarpRegister> a,
                                  llvm::ArrayRef<WarpRegister> b, llvm::ArrayRef<WarpRegister> c,
                                  llvm::ArrayRef<WritableWarpRegister> d) {
  Operands operands;
  forEachA(info, a,
           [&](unsigned row, unsigned k, uint64_t bits) { operands.a[row * info.k + k] = elementValue(info.a, bits); });
  forEachB(info, b, [&](unsigned k, unsigned column, uint64_t bits) {
    operands.b[k * info.n + column] = elementValue(info.b, bits);
  });
  multiplyMatrices(operands.a, operands.b, operands.sums, info.m, info.n, info.k);
  for (unsigned r = 0; r < c.size(); ++r)
    for (unsigned lane = 0; lane < laneCount; ++lane) {
      unsigned column = 2 * (lane % 4);
      if (info.accumulator == AccumulatorType::F16) {
        unsigned row = lane / 4 + 8 * r;
        uint64_t low = result(info, operands, row, column, c[r][lane] & 0xffff);
        d[r][lane] = low | result(info, operands, row, column + 1, c[r][lane] >> 16 & 0xffff) << 16;
        continue;
      }
      d[r][lane] = result(info, operands, lane / 4 + 8 * (r / 2), column + r % 2, c[r][lane]);
    }
}
