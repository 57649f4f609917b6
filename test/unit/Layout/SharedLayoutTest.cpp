// Tests of shared-memory layouts: swizzles and bank conflicts by enumeration, descriptors against measured values.
#include "LayoutTestSupport.h"

#include "tilec/Layout/FragmentLayouts.h"
#include "tilec/Layout/SharedLayout.h"

#include <set>

using namespace tilec;
using namespace tilec::test;

TEST(SharedLayout, TextForm) {
  for (const char *text : {"swizzle = 128, panels", "swizzle = 64, panels", "swizzle = 32, panels", "none", "pad = 16"})
    EXPECT_EQ(SharedLayout::parse(text)->str(), text);
  auto errorOf = [](const char *text) {
    std::string error;
    EXPECT_FALSE(SharedLayout::parse(text, &error)) << text;
    return error;
  };
  EXPECT_EQ(errorOf("swizzle = 16, panels"), "the span of a swizzle is 32, 64 or 128 bytes");
  EXPECT_EQ(errorOf("swizzle = 128"), "expected `swizzle = SPAN, panels` and nothing after it");
  EXPECT_EQ(errorOf("swizzle 128, panels"), "expected `swizzle = SPAN, panels` and nothing after it");
  EXPECT_EQ(errorOf("pad = "), "expected `pad = BYTES` and nothing after it");
  EXPECT_EQ(errorOf("pad = 16 x"), "expected `pad = BYTES` and nothing after it");
  EXPECT_EQ(errorOf("panels"), "expected `swizzle = SPAN, panels`, `pad = BYTES` or `none`");
  EXPECT_NE(SharedLayout::swizzled(128), SharedLayout::swizzled(64));
  EXPECT_NE(hash_value(SharedLayout::swizzled(128)), hash_value(SharedLayout::padded(16)));
}

TEST(SharedLayout, Codes) {
  EXPECT_EQ(SharedLayout::swizzled(128).tmaSwizzleCode(), 3u);
  EXPECT_EQ(SharedLayout::swizzled(64).tmaSwizzleCode(), 2u);
  EXPECT_EQ(SharedLayout::swizzled(32).tmaSwizzleCode(), 1u);
  EXPECT_EQ(SharedLayout().tmaSwizzleCode(), 0u);
  EXPECT_EQ(SharedLayout::swizzled(128).wgmmaSwizzleCode(), 1u);
  EXPECT_EQ(SharedLayout::swizzled(64).wgmmaSwizzleCode(), 2u);
  EXPECT_EQ(SharedLayout::swizzled(32).wgmmaSwizzleCode(), 3u);
  EXPECT_EQ(SharedLayout::forRow(512), SharedLayout::swizzled(128));
  EXPECT_EQ(SharedLayout::forRow(320), SharedLayout::swizzled(64));
  EXPECT_EQ(SharedLayout::forRow(96), SharedLayout::swizzled(32));
  EXPECT_EQ(SharedLayout::forRow(80), SharedLayout());
}

TEST(SharedTile, AddressesAreDistinctAndChunksStayWhole) {
  for (uint32_t span : {0u, 32u, 64u, 128u})
    for (int64_t rows : {8, 64, 80})
      for (int64_t columns : {16, 64, 160, 256})
        for (unsigned bits : {8u, 16u, 32u}) {
          SharedTile tile{span ? SharedLayout::swizzled(span) : SharedLayout::padded(16), rows, columns, bits};
          if (span && tile.rowBytes() % span != 0)
            continue;
          std::set<int64_t> seen;
          for (int64_t row = 0; row < rows; ++row)
            for (int64_t column = 0; column < columns; ++column) {
              int64_t address = tile.address(row, column);
              ASSERT_TRUE(address >= 0 && address + bits / 8 <= tile.bytes());
              ASSERT_TRUE(seen.insert(address).second);
              ASSERT_EQ(address % 16, column * bits / 8 % 16);
              if (!span)
                continue;
              // The row formulas of the measured epilogues: c ^ (row & 7), c ^ (row >> 1 & 3), c ^ (row >> 2 & 1).
              int64_t byte = column * bits / 8, chunk = byte % span / 16;
              int64_t bit = span == 128 ? row & 7 : span == 64 ? row >> 1 & 3 : row >> 2 & 1;
              if (rows * span % tile.layout.alignment() == 0) {
                ASSERT_EQ(address, byte / span * rows * span + row * span + ((chunk ^ bit) << 4) + byte % 16);
              }
            }
        }
}

TEST(SharedTile, DescriptorsOfTheMeasuredKernels) {
  struct Case {
    SharedTile tile;
    OperandMajor major;
    uint32_t leading, stride, code;
    int64_t step;
  };
  auto sw = [](uint32_t span) { return SharedLayout::swizzled(span); };
  // Rows: K-major with 64, 32 and 16 k; MN-major with panels of 64 and 32 columns and 64 k. The steps are for k16.
  for (const Case &c : {Case{{sw(128), 128, 64, 16}, OperandMajor::K, 16, 1024, 1, 32},
                        Case{{sw(64), 128, 32, 16}, OperandMajor::K, 16, 512, 2, 32},
                        Case{{sw(32), 128, 16, 16}, OperandMajor::K, 16, 256, 3, 128 * 32},
                        Case{{sw(128), 64, 256, 16}, OperandMajor::MN, 8192, 1024, 1, 2048},
                        Case{{sw(64), 64, 160, 16}, OperandMajor::MN, 4096, 512, 2, 1024}}) {
    auto descriptor = c.tile.wgmmaDescriptor(c.major);
    ASSERT_TRUE(descriptor);
    EXPECT_EQ(descriptor->leadingByteOffset, c.leading);
    EXPECT_EQ(descriptor->strideByteOffset, c.stride);
    EXPECT_EQ(descriptor->swizzleCode, c.code);
    EXPECT_EQ(descriptor->transposed, c.major == OperandMajor::MN);
    EXPECT_EQ(descriptor->encode(),
              uint64_t(c.leading / 16) << 16 | uint64_t(c.stride / 16) << 32 | uint64_t(c.code) << 62);
    EXPECT_EQ(c.tile.wgmmaOffset(c.major, 0, 16), c.step);
  }
  SharedTile a{sw(128), 128, 128, 16};
  EXPECT_EQ(a.wgmmaOffset(OperandMajor::K, 64, 0), 64 * 128);
  EXPECT_EQ(a.wgmmaOffset(OperandMajor::K, 0, 64), 128 * 128);
  EXPECT_EQ(a.wgmmaOffset(OperandMajor::K, 64, 80), 128 * 128 + 64 * 128 + 32);
  SharedTile transposedA{sw(128), 64, 128, 16};
  EXPECT_EQ(transposedA.wgmmaOffset(OperandMajor::MN, 64, 32), 8192 + 2 * 2048);
  EXPECT_FALSE((SharedTile{SharedLayout(), 64, 64, 16}).wgmmaDescriptor(OperandMajor::K));
  EXPECT_FALSE((SharedTile{sw(128), 60, 64, 16}).wgmmaDescriptor(OperandMajor::K));
  EXPECT_FALSE((SharedTile{sw(128), 64, 80, 16}).wgmmaDescriptor(OperandMajor::K));
  EXPECT_FALSE((SharedTile{sw(128), 64, 128, 8}).wgmmaDescriptor(OperandMajor::MN));
  EXPECT_TRUE((SharedTile{sw(128), 64, 128, 8}).wgmmaDescriptor(OperandMajor::K));
}

static unsigned wavefronts(unsigned bytes, llvm::function_ref<int64_t(int64_t)> addressOfLane) {
  std::vector<int64_t> addresses;
  for (int64_t lane = 0; lane < 32; ++lane)
    addresses.push_back(addressOfLane(lane));
  return sharedWavefronts(addresses, bytes);
}

TEST(BankConflicts, KnownPatterns) {
  EXPECT_EQ(wavefronts(4, [](int64_t lane) { return lane * 4; }), 1u);
  EXPECT_EQ(wavefronts(4, [](int64_t) { return 64; }), 1u);
  EXPECT_EQ(wavefronts(4, [](int64_t lane) { return lane * 8; }), 2u);
  EXPECT_EQ(wavefronts(4, [](int64_t lane) { return lane * 128; }), 32u);
  EXPECT_EQ(wavefronts(4, [](int64_t lane) { return lane * 132; }), 1u);
  EXPECT_EQ(wavefronts(2, [](int64_t lane) { return lane * 2; }), 1u);
  EXPECT_EQ(wavefronts(8, [](int64_t lane) { return lane * 8; }), 2u);
  EXPECT_EQ(wavefronts(16, [](int64_t lane) { return lane * 16; }), 4u);
  EXPECT_EQ(wavefronts(16, [](int64_t lane) { return lane * 128; }), 32u);
  EXPECT_EQ(wavefronts(4, [](int64_t lane) { return lane < 2 ? lane * 128 : -1; }), 2u);
}

TEST(BankConflicts, MatrixStoresIntoSwizzledPanelsAreFree) {
  // stmatrix and ldmatrix move 8 rows of 16 bytes at a time: a quarter warp of a 16-byte access.
  for (uint32_t span : {128u, 64u, 32u}) {
    SharedTile tile{SharedLayout::swizzled(span), 64, span / 2, 16};
    for (int64_t row = 0; row < 64; row += 32)
      for (int64_t column = 0; column < tile.columns; column += 8)
        EXPECT_EQ(wavefronts(16, [&](int64_t lane) { return tile.address(row + lane, column); }), 4u);
  }
}
