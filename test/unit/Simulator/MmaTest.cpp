// mma.sync and ldmatrix/stmatrix: fragments against the tables of the PTX ISA, sums against plain loops.
#include "tilec/Simulator/Mma.h"
#include "tilec/Simulator/FloatFormat.h"
#include "tilec/Simulator/MatrixMemory.h"

#include "llvm/ADT/bit.h"
#include <gtest/gtest.h>
#include <random>
#include <vector>

using namespace tilec::simulator;

namespace {

using Registers = std::vector<std::array<uint64_t, 32>>;

std::vector<WarpRegister> pointers(const Registers &registers) {
  std::vector<WarpRegister> result;
  for (auto &r : registers)
    result.push_back(r.data());
  return result;
}

// A matrix of small integers, exact in every type and in every order of summation.
struct Problem {
  explicit Problem(const MmaInstruction &info)
      : info(info), a(info.m * info.k), b(info.k * info.n), c(info.m * info.n) {
    std::mt19937 random(11);
    bool isUnsigned = info.a == MmaType::U8 || info.a == MmaType::U4;
    for (auto *matrix : {&a, &b, &c})
      for (int &value : *matrix)
        value = static_cast<int>(random() % 8) - (isUnsigned ? 0 : 4);
  }
  int expected(unsigned row, unsigned column) const {
    int sum = c[row * info.n + column];
    for (unsigned i = 0; i < info.k; ++i)
      sum += a[row * info.k + i] * b[i * info.n + column];
    return sum;
  }
  MmaInstruction info;
  std::vector<int> a, b, c;
};

uint64_t encode(MmaType type, int value) {
  switch (type) {
  case MmaType::F16:
    return fromDouble(FloatFormat::F16, value);
  case MmaType::BF16:
    return fromDouble(FloatFormat::BF16, value);
  case MmaType::TF32:
    return fromDouble(FloatFormat::F32, value) | 0x1fff; // the lower bits do not count
  case MmaType::E4M3:
    return fromDouble(FloatFormat::E4M3, value);
  case MmaType::E5M2:
    return fromDouble(FloatFormat::E5M2, value);
  case MmaType::F64:
    return llvm::bit_cast<uint64_t>(double(value));
  default:
    return static_cast<uint32_t>(value) & ((1u << bitsOf(type)) - 1);
  }
}

uint64_t encodeSum(AccumulatorType type, int value) {
  switch (type) {
  case AccumulatorType::F16:
    return fromDouble(FloatFormat::F16, value);
  case AccumulatorType::F32:
    return fromDouble(FloatFormat::F32, value);
  case AccumulatorType::F64:
    return llvm::bit_cast<uint64_t>(double(value));
  case AccumulatorType::S32:
    return static_cast<uint32_t>(value);
  }
  return 0;
}

// The tables of the PTX ISA, one a shape: element i of a lane's fragment, in the order of its registers.
struct Place {
  unsigned row, column;
};
Place placeA(const MmaInstruction &info, unsigned lane, unsigned i) {
  unsigned g = lane / 4, t = lane % 4;
  switch (bitsOf(info.a)) {
  case 16: // m16n8k16: row g for a0 a1 a4 a5; m16n8k8: for a0 a1
    return {i % 4 < 2 ? g : g + 8, t * 2 + (i & 1) + (i >= 4 ? 8 : 0)};
  case 8:
    if (info.m == 8)
      return {g, t * 4 + i};
    return {(i % 8) < 4 ? g : g + 8, t * 4 + (i & 3) + (i >= 8 ? 16 : 0)};
  case 4:
    return {(i % 16) < 8 ? g : g + 8, t * 8 + (i & 7) + (i >= 16 ? 32 : 0)};
  case 64:
    if (info.m == 8)
      return {g, t};
    [[fallthrough]];
  default: // tf32
    return {i % 2 ? g + 8 : g, t + 4 * (i / 2)};
  }
}
Place placeB(const MmaInstruction &info, unsigned lane, unsigned i) {
  unsigned g = lane / 4, t = lane % 4;
  switch (bitsOf(info.a)) {
  case 16:
    return {t * 2 + (i & 1) + (i >= 2 ? 8 : 0), g};
  case 8:
    return {t * 4 + (i & 3) + (i >= 4 ? 16 : 0), g};
  case 4:
    return {t * 8 + (i & 7) + (i >= 8 ? 32 : 0), g};
  default:
    return {t + 4 * i, g};
  }
}

void check(const MmaInstruction &info) {
  ASSERT_EQ(info.check(), nullptr);
  Problem problem(info);
  unsigned bits = bitsOf(info.a), elements = bits == 64 ? 1 : 32 / bits;
  Registers a(info.registersA()), b(info.registersB()), c(info.registersC()), d(info.registersC());
  for (auto *registers : {&a, &b, &c})
    for (auto &r : *registers)
      r.fill(0);
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned i = 0; i < a.size() * elements; ++i) {
      Place p = placeA(info, lane, i);
      a[i / elements][lane] |= encode(info.a, problem.a[p.row * info.k + p.column]) << (bits * (i % elements));
    }
    for (unsigned i = 0; i < b.size() * elements; ++i) {
      Place p = placeB(info, lane, i);
      b[i / elements][lane] |= encode(info.b, problem.b[p.row * info.n + p.column]) << (bits * (i % elements));
    }
  }
  bool packed = info.accumulator == AccumulatorType::F16;
  auto sums = [&](auto use) {
    for (unsigned lane = 0; lane < 32; ++lane)
      for (unsigned i = 0; i < info.m / 4; ++i)
        use(packed ? i / 2 : i, lane, packed ? 16 * (i % 2) : 0, i < 2 ? lane / 4 : lane / 4 + 8,
            lane % 4 * 2 + (i & 1));
  };
  sums([&](unsigned r, unsigned lane, unsigned shift, unsigned row, unsigned column) {
    c[r][lane] |= encodeSum(info.accumulator, problem.c[row * info.n + column]) << shift;
  });
  std::vector<uint64_t *> results;
  for (auto &r : d)
    results.push_back(r.data());
  executeMma(info, pointers(a), pointers(b), pointers(c), results);
  sums([&](unsigned r, unsigned lane, unsigned shift, unsigned row, unsigned column) {
    uint64_t got = packed ? d[r][lane] >> shift & 0xffff : d[r][lane];
    EXPECT_EQ(got, encodeSum(info.accumulator, problem.expected(row, column))) << row << " " << column;
  });
}

TEST(Mma, Fragments) {
  auto f32 = AccumulatorType::F32, f16 = AccumulatorType::F16, s32 = AccumulatorType::S32, f64 = AccumulatorType::F64;
  for (MmaType type : {MmaType::F16, MmaType::BF16})
    for (unsigned k : {8u, 16u})
      check({16, 8, k, type, type, f32});
  for (unsigned k : {8u, 16u})
    check({16, 8, k, MmaType::F16, MmaType::F16, f16});
  for (unsigned k : {4u, 8u})
    check({16, 8, k, MmaType::TF32, MmaType::TF32, f32});
  for (unsigned k : {16u, 32u}) {
    check({16, 8, k, MmaType::E4M3, MmaType::E4M3, f32});
    check({16, 8, k, MmaType::E5M2, MmaType::E4M3, f32});
    check({16, 8, k, MmaType::S8, MmaType::S8, s32});
    check({16, 8, k, MmaType::U8, MmaType::U8, s32});
  }
  check({8, 8, 16, MmaType::S8, MmaType::S8, s32});
  check({16, 8, 64, MmaType::S4, MmaType::S4, s32});
  check({16, 8, 64, MmaType::U4, MmaType::U4, s32});
  check({8, 8, 4, MmaType::F64, MmaType::F64, f64});
  for (unsigned k : {4u, 8u, 16u})
    check({16, 8, k, MmaType::F64, MmaType::F64, f64});
}

TEST(Mma, RefusesShapesThatDoNotExist) {
  EXPECT_NE((MmaInstruction{16, 8, 12, MmaType::BF16, MmaType::BF16, AccumulatorType::F32}).check(), nullptr);
  EXPECT_NE((MmaInstruction{16, 16, 16, MmaType::BF16, MmaType::BF16, AccumulatorType::F32}).check(), nullptr);
  EXPECT_NE((MmaInstruction{16, 8, 16, MmaType::BF16, MmaType::BF16, AccumulatorType::F16}).check(), nullptr);
  EXPECT_NE((MmaInstruction{16, 8, 32, MmaType::S8, MmaType::S8, AccumulatorType::F32}).check(), nullptr);
  EXPECT_NE((MmaInstruction{16, 8, 16, MmaType::F16, MmaType::E4M3, AccumulatorType::F32}).check(), nullptr);
}

TEST(Mma, IntegersWrapOrSaturate) {
  for (bool saturate : {false, true}) {
    MmaInstruction info{16, 8, 32, MmaType::U8, MmaType::U8, AccumulatorType::S32, saturate};
    Registers a(4), b(2), c(4), d(4);
    for (auto *registers : {&a, &b})
      for (auto &r : *registers)
        r.fill(0xffffffff);
    for (auto &r : c)
      r.fill(0x7fffffff);
    std::vector<uint64_t *> results;
    for (auto &r : d)
      results.push_back(r.data());
    executeMma(info, pointers(a), pointers(b), pointers(c), results);
    EXPECT_EQ(d[0][0], saturate ? 0x7fffffffu : uint32_t(0x7fffffffu + 32u * 255 * 255));
  }
}

TEST(MatrixMemory, LoadsAndStores) {
  std::array<MatrixRow, 32> rows, back;
  for (unsigned i = 0; i < 32; ++i)
    for (unsigned j = 0; j < 8; ++j)
      rows[i][j] = 16 * i + j;
  for (unsigned count : {1u, 2u, 4u})
    for (bool transpose : {false, true}) {
      Registers registers(count);
      std::vector<uint64_t *> writable;
      for (auto &r : registers)
        writable.push_back(r.data());
      loadMatrices(rows, transpose, writable);
      for (unsigned matrix = 0; matrix < count; ++matrix)
        for (unsigned lane = 0; lane < 32; ++lane) {
          unsigned first =
              transpose ? 16 * (8 * matrix + lane % 4 * 2) + lane / 4 : 16 * (8 * matrix + lane / 4) + lane % 4 * 2;
          ASSERT_EQ(registers[matrix][lane], first | (first + (transpose ? 16 : 1)) << 16);
        }
      back.fill(MatrixRow());
      storeMatrices(pointers(registers), transpose, back);
      for (unsigned i = 0; i < 8 * count; ++i)
        ASSERT_EQ(back[i], rows[i]);
    }
}

} // namespace
