// Tensor maps and transfers against plain loops over the box.
#include "tilec/Simulator/BulkCopy.h"
#include "tilec/Simulator/FloatFormat.h"

#include "llvm/ADT/bit.h"
#include <cstring>
#include <gtest/gtest.h>
#include <vector>

using namespace tilec::simulator;

namespace {

TensorMap map3() {
  TensorMap map;
  map.type = TensorMapType::BF16;
  map.address = 4096;
  map.sizes = {50, 7, 3};
  map.strides = {112, 1024};
  map.box = {32, 4, 2};
  map.swizzle = 64;
  map.promotion = 128;
  return map;
}

TEST(TensorMap, SurvivesEncoding) {
  TensorMap map = map3();
  map.elementStrides = {1, 2, 1};
  map.fillNaN = true;
  ASSERT_EQ(map.check(), "");
  std::optional<TensorMap> back = decodeTensorMap(encodeTensorMap(map).data());
  ASSERT_TRUE(back);
  EXPECT_EQ(back->type, map.type);
  EXPECT_EQ(back->address, map.address);
  EXPECT_EQ(back->sizes, map.sizes);
  EXPECT_EQ(back->strides, map.strides);
  EXPECT_EQ(back->box, map.box);
  EXPECT_EQ(back->elementStrides, map.elementStrides);
  EXPECT_EQ(back->swizzle, map.swizzle);
  EXPECT_EQ(back->promotion, map.promotion);
  EXPECT_TRUE(back->fillNaN);
  TensorMapBytes zeros = {};
  EXPECT_FALSE(decodeTensorMap(zeros.data()));
}

TEST(TensorMap, Rules) {
  auto broken = [](auto change) {
    TensorMap map = map3();
    change(map);
    return map.check();
  };
  EXPECT_NE(broken([](TensorMap &map) { map.address = 8; }), "");
  EXPECT_NE(broken([](TensorMap &map) { map.strides[0] = 100; }), "");
  EXPECT_NE(broken([](TensorMap &map) { map.box[1] = 257; }), "");
  EXPECT_NE(broken([](TensorMap &map) { map.box[0] = 64; }), "");
  EXPECT_NE(broken([](TensorMap &map) { map.box[0] = 4; }), "");
  EXPECT_NE(broken([](TensorMap &map) { map.sizes[2] = 0; }), "");
  EXPECT_NE(broken([](TensorMap &map) { map.strides.pop_back(); }), "");
  EXPECT_NE(broken([](TensorMap &map) { map.type = TensorMapType::U16, map.fillNaN = true; }), "");
  EXPECT_EQ(broken([](TensorMap &) {}), "");
}

// Every element of the box lies at its row-major place, exchanged by the swizzle; outside is what the tensor does not
// have.
TEST(BulkCopy, PiecesCoverTheBox) {
  for (unsigned swizzle : {0u, 64u, 128u})
    for (unsigned elementStride : {1u, 2u}) {
      TensorMap map = map3();
      map.swizzle = swizzle;
      map.elementStrides = {elementStride, 1, elementStride};
      int32_t at[] = {-3, 5, 2};
      unsigned count = 0;
      forEachPiece(map, at, 1024, [&](const TransferPiece &piece) {
        for (unsigned byte = 0; byte < piece.bytes; byte += 2, ++count) {
          unsigned element = count, inner = map.boxElements(0), i = element % inner, j = element / inner % 4,
                   k = element / inner / 4;
          int64_t x = at[0] + int(i * elementStride), y = at[1] + int(j), z = at[2] + int(k * elementStride);
          bool inside = x >= 0 && x < 50 && y >= 0 && y < 7 && z >= 0 && z < 3;
          ASSERT_EQ(piece.inside, inside);
          if (inside) {
            ASSERT_EQ(piece.global + byte, 4096u + x * 2 + y * 112 + z * 1024);
          }
          uint32_t linear = 1024 + element * 2;
          uint32_t mask = swizzle ? swizzle / 16 - 1 : 0;
          ASSERT_EQ(piece.shared + byte, linear ^ ((linear >> 7 & mask) << 4));
        }
      });
      EXPECT_EQ(count * 2, map.boxBytes());
    }
}

TEST(BulkCopy, AlignmentAndCoordinates) {
  TensorMap map = map3();
  int32_t at[] = {0, 0, 0};
  EXPECT_EQ(checkTransfer(map, at, 256), nullptr);
  EXPECT_NE(checkTransfer(map, at, 64), nullptr);
  EXPECT_NE(checkTransfer(map, llvm::ArrayRef(at, 2), 256), nullptr);
  // What an H200 refuses: a first coordinate off 16 bytes, stores that begin before the tensor.
  int32_t unaligned[] = {1, 0, 0}, negative[] = {-8, 0, 0}, above[] = {0, -1, 0};
  EXPECT_NE(checkTransfer(map, unaligned, 256), nullptr);
  EXPECT_EQ(checkTransfer(map, negative, 256), nullptr);
  EXPECT_FALSE(isStorePlace(negative));
  EXPECT_FALSE(isStorePlace(above));
  EXPECT_TRUE(isStorePlace(at));
}

TEST(BulkCopy, FillsAndConverts) {
  TensorMap map;
  map.type = TensorMapType::TF32;
  uint32_t words[2] = {0x3f801fff, 0x3f801000};
  convertLoaded(map, reinterpret_cast<uint8_t *>(words), 8);
  EXPECT_EQ(words[0], 0x3f802000u);
  EXPECT_EQ(words[1], 0x3f800000u); // a tie, to even
  map.type = TensorMapType::F32Flushed;
  words[0] = 0x80000001;
  convertLoaded(map, reinterpret_cast<uint8_t *>(words), 8);
  EXPECT_EQ(words[0], 0x80000000u);
  map.fillNaN = true;
  fillOutside(map, reinterpret_cast<uint8_t *>(words), 8);
  EXPECT_EQ(words[1], 0x7fffffffu);
  map.fillNaN = false;
  fillOutside(map, reinterpret_cast<uint8_t *>(words), 8);
  EXPECT_EQ(words[0], 0u);
}

TEST(BulkCopy, Reductions) {
  auto reduce = [](BulkReduction operation, ReductionType type, auto target, auto source) {
    reduceElement(operation, type, reinterpret_cast<uint8_t *>(&target), reinterpret_cast<const uint8_t *>(&source));
    return target;
  };
  EXPECT_EQ(reduce(BulkReduction::Add, ReductionType::F32, 1.5f, 2.0f), 3.5f);
  EXPECT_EQ(reduce(BulkReduction::Add, ReductionType::S32, INT32_MAX, 1), INT32_MIN);
  EXPECT_EQ(reduce(BulkReduction::Minimum, ReductionType::S32, -1, 1), -1);
  EXPECT_EQ(reduce(BulkReduction::Minimum, ReductionType::U32, 0xffffffffu, 1u), 1u);
  EXPECT_EQ(reduce(BulkReduction::Maximum, ReductionType::S64, int64_t(-1), int64_t(1)), 1);
  EXPECT_EQ(reduce(BulkReduction::Increment, ReductionType::U32, 3u, 3u), 0u);
  EXPECT_EQ(reduce(BulkReduction::Decrement, ReductionType::U32, 0u, 3u), 3u);
  EXPECT_EQ(reduce(BulkReduction::Xor, ReductionType::B64, uint64_t(6), uint64_t(3)), 5u);
  EXPECT_EQ(reduce(BulkReduction::Add, ReductionType::BF16, uint16_t(0x3f80), uint16_t(0x3f80)), 0x4000);
  EXPECT_EQ(reduce(BulkReduction::Add, ReductionType::F16, uint16_t(0x3c00), uint16_t(0x3c00)), 0x4000);
}

} // namespace
