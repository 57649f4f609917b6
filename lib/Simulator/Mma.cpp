// mma.sync: distributes fragments and multiplies.
#include "tilec/Simulator/Mma.h"

#include "MatrixArithmetic.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/bit.h"
#include <cmath>

using namespace tilec::simulator;

static constexpr unsigned laneCount = 32;
static constexpr unsigned maxK = 64;

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

// Fused multiply-adds onto the accumulator, in the order of k.
void multiplyFused(MatrixProblem &problem) {
  for (unsigned row = 0; row < problem.m; ++row)
    for (unsigned column = 0; column < problem.n; ++column) {
      double sum = problem.c[row * problem.n + column];
      for (unsigned i = 0; i < problem.k; ++i)
        sum = std::fma(problem.a[row * problem.k + i], problem.b[i * problem.n + column], sum);
      problem.results[row * problem.n + column] = sum;
    }
}

// 8-bit floats are converted to f16: two products of half the depth, then an addition of f32 (Mma.h).
void multiplyConverted(MatrixProblem &problem) {
  std::vector<double> c = problem.c;
  std::fill(problem.c.begin(), problem.c.end(), 0.0);
  for (unsigned first = 0; first < problem.k; first += problem.k / 2) {
    problem.multiplyAligned(first, first + problem.k / 2);
    for (size_t i = 0; i < c.size(); ++i)
      problem.c[i] = cutOff(problem.results[i], 23);
  }
  for (size_t i = 0; i < c.size(); ++i)
    problem.results[i] = problem.c[i] + c[i];
}

void multiplyFloats(const MmaInstruction &info, MatrixProblem &problem) {
  if (info.a == MmaType::F64)
    return multiplyFused(problem);
  if (bitsOf(info.a) == 8)
    return multiplyConverted(problem);
  problem.multiplyAligned(0, problem.k);
  if (info.accumulator == AccumulatorType::F32)
    for (double &value : problem.results)
      value = cutOff(value, 23);
}

// Where an element of the contraction stands for multiplyConverted: of the four bytes of a register the lower two go
// into the first product.
unsigned convertedPosition(unsigned i, unsigned k) { return i % 4 / 2 * (k / 2) + i / 4 * 2 + i % 2; }

// Calls use(register, lane, shift, index) for each accumulator; index is that of MatrixProblem::c.
template <typename F> void forEachAccumulator(const MmaInstruction &info, F use) {
  for (unsigned r = 0; r < info.registersC(); ++r)
    for (unsigned lane = 0; lane < laneCount; ++lane) {
      unsigned column = 2 * (lane % 4);
      if (info.accumulator == AccumulatorType::F16) {
        unsigned index = (lane / 4 + 8 * r) * info.n + column;
        use(r, lane, 0, index);
        use(r, lane, 16, index + 1);
      } else {
        use(r, lane, 0, (lane / 4 + 8 * (r / 2)) * info.n + column + r % 2);
      }
    }
}
} // namespace

void tilec::simulator::executeMma(const MmaInstruction &info, llvm::ArrayRef<WarpRegister> a,
                                  llvm::ArrayRef<WarpRegister> b, llvm::ArrayRef<WarpRegister> c,
                                  llvm::ArrayRef<WritableWarpRegister> d) {
  static thread_local MatrixProblem problem;
  problem.resize(info.m, info.n, info.k);
  problem.typeA = info.a, problem.typeB = info.b, problem.accumulator = info.accumulator;
  bool converted = info.a == MmaType::E4M3 || info.a == MmaType::E5M2;
  auto position = [&](unsigned k) { return converted ? convertedPosition(k, info.k) : k; };
  forEachA(info, a, [&](unsigned row, unsigned k, uint64_t bits) {
    problem.a[row * info.k + position(k)] = elementValue(info.a, bits);
  });
  forEachB(info, b, [&](unsigned k, unsigned column, uint64_t bits) {
    problem.b[position(k) * info.n + column] = elementValue(info.b, bits);
  });
  bool integers = info.accumulator == AccumulatorType::S32;
  uint64_t mask = info.accumulator == AccumulatorType::F16 ? 0xffff : ~uint64_t(0);
  if (integers) {
    problem.multiply();
  } else {
    forEachAccumulator(info, [&](unsigned r, unsigned lane, unsigned shift, unsigned index) {
      problem.c[index] = accumulatorValue(info.accumulator, c[r][lane] >> shift & mask);
    });
    multiplyFloats(info, problem);
  }
  forEachAccumulator(info, [&](unsigned r, unsigned lane, unsigned shift, unsigned index) {
    uint64_t bits = integers ? accumulateInteger(problem.results[index], c[r][lane], info.saturate)
                             : accumulatorBits(info.accumulator, problem.results[index]);
    d[r][lane] = shift ? d[r][lane] | bits << shift : bits;
  });
}
