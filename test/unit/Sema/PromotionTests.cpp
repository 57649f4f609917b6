// Rule 11: promotion, meetings and implicit conversions.
#include "../../../lib/Sema/Promotion.h"
#include "gtest/gtest.h"

using namespace tilec;
using namespace tilec::sema;
using K = ScalarKind;

TEST(Promotion, Arithmetic) {
  EXPECT_EQ(meetInArithmetic(K::BF16, K::BF16), K::F32);
  EXPECT_EQ(meetInArithmetic(K::F16, K::BF16), K::F32);
  EXPECT_EQ(meetInArithmetic(K::F8E4M3, K::F64), K::F64);
  EXPECT_EQ(meetInArithmetic(K::U4, K::U4), K::I32);
  EXPECT_EQ(meetInArithmetic(K::I8, K::U8), K::I32);
  EXPECT_EQ(meetInArithmetic(K::I32, K::U32), K::I64);
  EXPECT_EQ(meetInArithmetic(K::I32, K::Index), K::Index);
  EXPECT_EQ(meetInArithmetic(K::I64, K::Index), K::Index);
  EXPECT_EQ(meetInArithmetic(K::U64, K::I32), std::nullopt);
  EXPECT_EQ(meetInArithmetic(K::U64, K::Index), std::nullopt);
  // An integer is looked at before its promotion, and the float never gets wider.
  EXPECT_EQ(meetInArithmetic(K::I16, K::F32), K::F32);
  EXPECT_EQ(meetInArithmetic(K::I16, K::BF16), K::F32);
  EXPECT_EQ(meetInArithmetic(K::I32, K::F32), std::nullopt);
  EXPECT_EQ(meetInArithmetic(K::I32, K::F64), K::F64);
  EXPECT_EQ(meetInArithmetic(K::I64, K::F64), std::nullopt);
  EXPECT_EQ(meetInArithmetic(K::Bool, K::I32), std::nullopt);
}

TEST(Promotion, KeepingMeetings) {
  EXPECT_EQ(meetKeeping(K::BF16, K::BF16), K::BF16);
  EXPECT_EQ(meetKeeping(K::F16, K::BF16), K::F32);
  EXPECT_EQ(meetKeeping(K::F8E4M3, K::F8E5M2), K::F16);
  EXPECT_EQ(meetKeeping(K::I8, K::U8), K::I16);
  EXPECT_EQ(meetKeeping(K::I8, K::F16), K::F16);
  EXPECT_EQ(meetKeeping(K::I16, K::F16), std::nullopt);
  EXPECT_EQ(meetKeeping(K::Bool, K::Bool), K::Bool);
}

TEST(Promotion, ImplicitConversions) {
  EXPECT_TRUE(convertsImplicitly(K::F32, K::BF16));
  EXPECT_FALSE(convertsImplicitly(K::BF16, K::F32));
  EXPECT_TRUE(convertsImplicitly(K::F32, K::U16));
  EXPECT_FALSE(convertsImplicitly(K::F32, K::I32));
  EXPECT_TRUE(convertsImplicitly(K::Index, K::I32));
  EXPECT_FALSE(convertsImplicitly(K::I32, K::Index));
  EXPECT_TRUE(convertsImplicitly(K::I64, K::Index));
  EXPECT_FALSE(convertsImplicitly(K::TF32, K::F16));
}

TEST(Promotion, Accumulators) {
  EXPECT_EQ(getAccumulator(K::BF16), K::F32);
  EXPECT_EQ(getAccumulator(K::F64), K::F64);
  EXPECT_EQ(getAccumulator(K::U8), K::U32);
  EXPECT_EQ(getAccumulator(K::I8), K::I32);
  EXPECT_EQ(getAccumulator(K::Bool), K::I32);
  EXPECT_EQ(getAccumulator(K::Index), K::Index);
}
