// wgmma: descriptors that read what a tensor transfer has written, all operand forms against plain loops.
#include "tilec/Simulator/Wgmma.h"
#include "tilec/Simulator/BulkCopy.h"
#include "tilec/Simulator/FloatFormat.h"

#include "llvm/ADT/bit.h"
#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <vector>

using namespace tilec::simulator;

namespace {

unsigned sizeOf(MmaType type) { return bitsOf(type) / 8; }

uint32_t encode(MmaType type, int value) {
  switch (type) {
  case MmaType::F16:
    return fromDouble(FloatFormat::F16, value);
  case MmaType::BF16:
    return fromDouble(FloatFormat::BF16, value);
  case MmaType::TF32:
    return fromDouble(FloatFormat::F32, value);
  case MmaType::E4M3:
    return fromDouble(FloatFormat::E4M3, value);
  case MmaType::E5M2:
    return fromDouble(FloatFormat::E5M2, value);
  default:
    return static_cast<uint8_t>(value);
  }
}

TensorMapType mapType(unsigned size) {
  return size == 1 ? TensorMapType::U8 : size == 2 ? TensorMapType::U16 : TensorMapType::U32;
}

struct Shared {
  std::vector<uint8_t> bytes = std::vector<uint8_t>(128 * 1024, 0xee);

  // A transfer of one box of a dense matrix [outer][inner].
  void load(const std::vector<uint8_t> &global, unsigned size, unsigned inner, unsigned outer, unsigned boxInner,
            unsigned boxOuter, unsigned swizzle, std::vector<int32_t> at, uint32_t address) {
    TensorMap map;
    map.type = mapType(size);
    map.sizes = {inner, outer};
    map.strides = {uint64_t(inner) * size};
    map.box = {boxInner, boxOuter};
    map.swizzle = swizzle;
    ASSERT_EQ(map.check(), "");
    forEachPiece(map, at, address, [&](const TransferPiece &piece) {
      if (piece.inside)
        std::memcpy(&bytes[piece.shared], &global[piece.global], piece.bytes);
      else
        fillOutside(map, &bytes[piece.shared], piece.bytes);
    });
  }
};

struct Case {
  WgmmaInstruction info;
  unsigned swizzle;
  uint32_t base = 1024;
};

// Operand [extent][k] (K-major) or [k][extent] as tensor transfers of one span each leave it.
MatrixDescriptor place(Shared &shared, const std::vector<int> &values, MmaType type, unsigned extent, unsigned k,
                       bool kMajor, unsigned swizzle, uint32_t base) {
  unsigned size = sizeOf(type), span = swizzle ? swizzle : 16;
  unsigned inner = kMajor ? k : extent, outer = kMajor ? extent : k;
  // K-major rows are padded to a full span, as a tile of several steps has them.
  unsigned padded = (inner * size + span - 1) / span * span / size;
  std::vector<uint8_t> global(padded * outer * size);
  for (unsigned o = 0; o < outer; ++o)
    for (unsigned i = 0; i < inner; ++i) {
      uint32_t bits = encode(type, kMajor ? values[o * k + i] : values[i * k + o]);
      std::memcpy(&global[(o * padded + i) * size], &bits, size);
    }
  unsigned perSpan = span / size;
  for (unsigned chunk = 0; chunk < padded / perSpan; ++chunk)
    shared.load(global, size, padded, outer, perSpan, outer, swizzle, {int32_t(chunk * perSpan), 0},
                base + chunk * outer * span);
  MatrixDescriptor descriptor;
  descriptor.address = base;
  descriptor.swizzle = swizzle;
  descriptor.strideOffset = 8 * span;
  descriptor.leadingOffset = outer * span;
  if (!swizzle && !kMajor)
    std::swap(descriptor.strideOffset, descriptor.leadingOffset);
  return descriptor;
}

void check(const Case &test) {
  const WgmmaInstruction &info = test.info;
  ASSERT_EQ(info.check(), nullptr);
  unsigned k = info.k(), n = info.n;
  std::mt19937 random(3);
  std::vector<int> a(64 * k), b(n * k), c(64 * n);
  bool isUnsigned = info.a == MmaType::U8;
  for (auto *matrix : {&a, &b, &c})
    for (int &value : *matrix)
      value = static_cast<int>(random() % 8) - (isUnsigned ? 0 : 4);
  Shared shared;
  WgmmaOperation operation;
  operation.instruction = info;
  operation.descriptorB = place(shared, b, info.b, n, k, !info.transposeB, test.swizzle, 64 * 1024).encode();
  std::vector<std::array<uint64_t, 32>> registersA(16), registersD(4 * info.numAccumulators());
  WgmmaRegisters registers;
  if (!info.registersA)
    operation.descriptorA = place(shared, a, info.a, 64, k, !info.transposeA, test.swizzle, test.base).encode();
  unsigned elements = 32 / bitsOf(info.a);
  for (unsigned warp = 0; warp < 4; ++warp) {
    for (unsigned r = 0; info.registersA && r < 4; ++r) {
      for (unsigned lane = 0; lane < 32; ++lane) {
        uint64_t bits = 0;
        for (unsigned i = 0; i < elements; ++i) {
          unsigned row = 16 * warp + lane / 4 + (r % 2 ? 8 : 0);
          unsigned column = (lane % 4) * elements + i + (r >= 2 ? k / 2 : 0);
          bits |= uint64_t(encode(info.a, a[row * k + column])) << (bitsOf(info.a) * i);
        }
        registersA[4 * warp + r][lane] = bits;
      }
      registers.a[warp].push_back(registersA[4 * warp + r].data());
    }
    for (unsigned r = 0; r < info.numAccumulators(); ++r)
      registers.d[warp].push_back(registersD[warp * info.numAccumulators() + r].data());
  }
  auto encodeSum = [&](int value) -> uint64_t {
    if (info.accumulator == AccumulatorType::S32)
      return static_cast<uint32_t>(value);
    return fromDouble(info.accumulator == AccumulatorType::F16 ? FloatFormat::F16 : FloatFormat::F32, value);
  };
  bool packed = info.accumulator == AccumulatorType::F16;
  // acc[4j + 0, 1] is row 16 w + l / 4, columns 8 j + 2 (l mod 4) + 0, 1; acc[4j + 2, 3] lies 8 rows below.
  auto sums = [&](auto use) {
    for (unsigned warp = 0; warp < 4; ++warp)
      for (unsigned lane = 0; lane < 32; ++lane)
        for (unsigned i = 0; i < n / 2; ++i) {
          unsigned row = 16 * warp + lane / 4 + (i & 2 ? 8 : 0), column = i / 4 * 8 + 2 * (lane % 4) + (i & 1);
          use(registers.d[warp][packed ? i / 2 : i][lane], packed ? 16 * (i & 1) : 0, row * n + column);
        }
  };
  auto run = [&](bool accumulate) {
    for (auto &r : registersD)
      r.fill(0);
    sums([&](uint64_t &value, unsigned shift, unsigned at) { value |= encodeSum(c[at]) << shift; });
    operation.accumulate = accumulate;
    executeWgmma(
        operation, [&](uint32_t address, uint8_t *bytes) { std::memcpy(bytes, &shared.bytes[address], 16); },
        registers);
    sums([&](uint64_t &value, unsigned shift, unsigned at) {
      int sum = 0;
      for (unsigned i = 0; i < k; ++i)
        sum += a[at / n * k + i] * b[at % n * k + i];
      sum = (info.negateA != info.negateB ? -sum : sum) + (accumulate ? c[at] : 0);
      ASSERT_EQ(value >> shift & (packed ? 0xffff : 0xffffffff), encodeSum(sum)) << at / n << " " << at % n;
    });
  };
  run(true);
  run(false);
}

WgmmaInstruction instruction(unsigned n, MmaType a, MmaType b, AccumulatorType accumulator = AccumulatorType::F32) {
  WgmmaInstruction info;
  info.n = n, info.a = a, info.b = b, info.accumulator = accumulator;
  return info;
}

TEST(Wgmma, EverySwizzleAndMajorOf16Bits) {
  for (MmaType type : {MmaType::BF16, MmaType::F16})
    for (unsigned n : {8u, 64u, 80u, 256u})
      for (unsigned swizzle : {0u, 32u, 64u, 128u})
        for (unsigned form = 0; form < 4; ++form) {
          WgmmaInstruction info = instruction(n, type, type);
          info.transposeA = form & 1;
          info.transposeB = form & 2;
          check({info, swizzle});
        }
}

TEST(Wgmma, TypesAndRegisters) {
  for (unsigned swizzle : {0u, 32u, 64u, 128u})
    for (bool registersA : {false, true}) {
      for (auto [a, b, sum] : {std::tuple(MmaType::TF32, MmaType::TF32, AccumulatorType::F32),
                               std::tuple(MmaType::E4M3, MmaType::E4M3, AccumulatorType::F32),
                               std::tuple(MmaType::E5M2, MmaType::E4M3, AccumulatorType::F32),
                               std::tuple(MmaType::E4M3, MmaType::E4M3, AccumulatorType::F16),
                               std::tuple(MmaType::S8, MmaType::S8, AccumulatorType::S32),
                               std::tuple(MmaType::U8, MmaType::U8, AccumulatorType::S32),
                               std::tuple(MmaType::F16, MmaType::F16, AccumulatorType::F16),
                               std::tuple(MmaType::BF16, MmaType::BF16, AccumulatorType::F32)}) {
        WgmmaInstruction info = instruction(64, a, b, sum);
        info.registersA = registersA;
        check({info, swizzle});
        if (sum != AccumulatorType::S32) {
          info.negateA = true;
          check({info, swizzle});
        }
      }
    }
}

// The k step of a swizzled tile moves the start address inside the span; rows of 128 bytes, 4 steps.
TEST(Wgmma, StepsInsideTheSpan) {
  MatrixDescriptor descriptor =
      MatrixDescriptor::decode(uint64_t(1) << 62 | uint64_t(64) << 32 | uint64_t(1) << 16 | 64);
  EXPECT_EQ(descriptor.address, 1024u);
  EXPECT_EQ(descriptor.strideOffset, 1024u);
  EXPECT_EQ(descriptor.swizzle, 128u);
  for (unsigned step = 0; step < 4; ++step) {
    MatrixDescriptor moved = descriptor;
    moved.address += 32 * step;
    for (unsigned row = 0; row < 64; ++row)
      for (unsigned k : {0u, 8u}) {
        unsigned column = 2 * step + k / 8;
        EXPECT_EQ(moved.chunkAddress(true, 2, row, k), 1024 + 128 * row + ((column ^ (row & 7)) << 4));
      }
  }
  EXPECT_EQ(MatrixDescriptor::decode(descriptor.encode()).encode(), descriptor.encode());
}

TEST(Wgmma, RefusesInstructionsThatDoNotExist) {
  EXPECT_NE(instruction(12, MmaType::BF16, MmaType::BF16).check(), nullptr);
  EXPECT_NE(instruction(264, MmaType::BF16, MmaType::BF16).check(), nullptr);
  EXPECT_NE(instruction(64, MmaType::BF16, MmaType::F16).check(), nullptr);
  EXPECT_NE(instruction(64, MmaType::S8, MmaType::S8).check(), nullptr);
  EXPECT_NE(instruction(40, MmaType::S8, MmaType::S8, AccumulatorType::S32).check(), nullptr);
  WgmmaInstruction info = instruction(64, MmaType::E4M3, MmaType::E4M3);
  info.transposeB = true;
  EXPECT_NE(info.check(), nullptr);
}

} // namespace
