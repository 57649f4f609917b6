// How Tensor Cores add: what is cut off, and what is rounded (Mma.h).
#include "tilec/Simulator/FloatFormat.h"
#include "tilec/Simulator/Mma.h"
#include "tilec/Simulator/Wgmma.h"

#include "llvm/ADT/bit.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace tilec::simulator;

namespace {
using Registers = std::array<uint64_t, 32>;

FloatFormat formatOf(MmaType type) {
  return type == MmaType::F16    ? FloatFormat::F16
         : type == MmaType::BF16 ? FloatFormat::BF16
         : type == MmaType::E4M3 ? FloatFormat::E4M3
         : type == MmaType::E5M2 ? FloatFormat::E5M2
                                 : FloatFormat::F32;
}

// Element (0, 0) of A B + C, where row 0 of A is `first` and then `others`, and all of B is 1.
float sum(MmaType type, unsigned k, double first, double others, float c) {
  MmaInstruction info;
  info.k = k;
  info.a = info.b = type;
  EXPECT_EQ(info.check(), nullptr);
  unsigned bits = bitsOf(type), elements = 32 / bits;
  std::vector<Registers> a(info.registersA()), b(info.registersB()), sums(info.registersC());
  uint64_t one = fromDouble(formatOf(type), 1), rest = fromDouble(formatOf(type), others);
  for (auto &registers : a)
    for (uint64_t &value : registers)
      for (unsigned i = 0; i < elements; ++i)
        value |= rest << (bits * i);
  a[0][0] = (a[0][0] & ~((uint64_t(1) << bits) - 1)) | fromDouble(formatOf(type), first);
  for (auto &registers : b)
    for (uint64_t &value : registers)
      for (unsigned i = 0; i < elements; ++i)
        value |= one << (bits * i);
  sums[0][0] = llvm::bit_cast<uint32_t>(c);
  std::vector<WarpRegister> as, bs, cs;
  std::vector<WritableWarpRegister> ds;
  for (auto &r : a)
    as.push_back(r.data());
  for (auto &r : b)
    bs.push_back(r.data());
  for (auto &r : sums) {
    cs.push_back(r.data());
    ds.push_back(r.data());
  }
  executeMma(info, as, bs, cs, ds);
  return llvm::bit_cast<float>(static_cast<uint32_t>(sums[0][0]));
}

TEST(TensorCoreSums, AddendsAreCutOffBehind25Bits) {
  // Fifteen times 2^-26 would make a unit in the last place.
  EXPECT_EQ(sum(MmaType::BF16, 16, 1, 0x1p-26, 0), 1.0f);
  EXPECT_EQ(sum(MmaType::BF16, 16, 1, 0x1p-25, 0), 1.0f + 0x1p-22f + 0x1p-23f);
  EXPECT_EQ(sum(MmaType::BF16, 8, -1, -0x1p-26, 0), -1.0f);
  // The largest exponent may be that of c.
  EXPECT_EQ(sum(MmaType::F16, 16, 0x1p-10, 0x1p-10, 0x1p16f), 0x1p16f);
  EXPECT_EQ(sum(MmaType::F16, 16, 0x1p-9, 0x1p-9, 0x1p16f), 0x1p16f + 0x1p-7f * 4);
}

TEST(TensorCoreSums, ResultsAreCutOffToF32) {
  // 1 + 2^-24 + 2^-25 is nearer to 1 + 2^-23.
  EXPECT_EQ(sum(MmaType::BF16, 8, 1, 0, 0x1p-24f + 0x1p-25f), 1.0f);
  EXPECT_EQ(sum(MmaType::BF16, 8, -1, 0, -0x1p-24f - 0x1p-25f), -1.0f);
}

TEST(TensorCoreSums, EightBitsOfASynchronousProductAreConverted) {
  EXPECT_EQ(sum(MmaType::E5M2, 32, 1, 0x1p-14, 0), 1.0f + 31 * 0x1p-14f);
  EXPECT_EQ(sum(MmaType::E4M3, 32, 1, 0, 0x1p-24f + 0x1p-25f), 1.0f + 0x1p-23f);
}

TEST(TensorCoreSums, InfinitiesAndNaN) {
  EXPECT_EQ(sum(MmaType::BF16, 16, INFINITY, 1, 1), INFINITY);
  EXPECT_TRUE(std::isnan(sum(MmaType::BF16, 16, INFINITY, 1, -INFINITY)));
  EXPECT_EQ(sum(MmaType::BF16, 16, 0, 0, 3), 3.0f);
}

// Element (0, 0) of a wgmma with A in registers: `first` and then `others`, all of B 1.
float wideSum(MmaType type, double first, double others, float c) {
  WgmmaInstruction info;
  info.n = 8;
  info.a = info.b = type;
  info.registersA = true;
  EXPECT_EQ(info.check(), nullptr);
  unsigned bits = bitsOf(type), elements = 32 / bits;
  std::vector<Registers> a(16), sums(16);
  uint64_t rest = fromDouble(formatOf(type), others);
  for (auto &registers : a)
    for (uint64_t &value : registers)
      for (unsigned i = 0; i < elements; ++i)
        value |= rest << (bits * i);
  a[0][0] = (a[0][0] & ~((uint64_t(1) << bits) - 1)) | fromDouble(formatOf(type), first);
  sums[0][0] = llvm::bit_cast<uint32_t>(c);
  WgmmaRegisters registers;
  for (unsigned warp = 0; warp < 4; ++warp)
    for (unsigned r = 0; r < 4; ++r) {
      registers.a[warp].push_back(a[4 * warp + r].data());
      registers.d[warp].push_back(sums[4 * warp + r].data());
    }
  WgmmaOperation operation;
  operation.instruction = info;
  MatrixDescriptor descriptor;
  descriptor.leadingOffset = descriptor.strideOffset = 128;
  operation.descriptorB = descriptor.encode();
  auto one = fromDouble(formatOf(type), 1);
  executeWgmma(
      operation,
      [&](uint32_t, uint8_t *bytes) {
        for (unsigned i = 0; i < 16; ++i)
          bytes[i] = static_cast<uint8_t>(one >> (8 * i % bits));
      },
      registers);
  return llvm::bit_cast<float>(static_cast<uint32_t>(sums[0][0]));
}

TEST(TensorCoreSums, EightBitsOfAWarpgroupKeep13Bits) {
  EXPECT_EQ(wideSum(MmaType::E5M2, 1, 0x1p-14, 0), 1.0f);
  EXPECT_EQ(wideSum(MmaType::E5M2, 1, 0x1p-13, 0), 1.0f + 31 * 0x1p-13f);
  EXPECT_EQ(wideSum(MmaType::E4M3, 0, 0, 1.0f + 0x1p-13f + 0x1p-14f), 1.0f + 0x1p-13f);
  EXPECT_EQ(wideSum(MmaType::BF16, 1, 0x1p-26, 0), 1.0f);
}
} // namespace
