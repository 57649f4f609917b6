// Conversions against llvm::APFloat: every value of the small formats, and around every rounding point.
#include "tilec/Simulator/Convert.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APSInt.h"
#include "llvm/ADT/bit.h"
#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace tilec::simulator;
using llvm::APFloat;

namespace {

const llvm::fltSemantics &semantics(FloatFormat format) {
  switch (format) {
  case FloatFormat::E4M3:
    return APFloat::Float8E4M3FN();
  case FloatFormat::E5M2:
    return APFloat::Float8E5M2();
  case FloatFormat::F16:
    return APFloat::IEEEhalf();
  case FloatFormat::BF16:
    return APFloat::BFloat();
  case FloatFormat::TF32:
    return APFloat::FloatTF32();
  case FloatFormat::F32:
    return APFloat::IEEEsingle();
  case FloatFormat::F64:
    return APFloat::IEEEdouble();
  }
  return APFloat::IEEEdouble();
}

llvm::RoundingMode mode(Rounding rounding) {
  switch (rounding) {
  case Rounding::NearestEven:
    return llvm::RoundingMode::NearestTiesToEven;
  case Rounding::NearestAway:
    return llvm::RoundingMode::NearestTiesToAway;
  case Rounding::Zero:
    return llvm::RoundingMode::TowardZero;
  case Rounding::Up:
    return llvm::RoundingMode::TowardPositive;
  case Rounding::Down:
    return llvm::RoundingMode::TowardNegative;
  }
  return llvm::RoundingMode::Dynamic;
}

constexpr Rounding allRoundings[] = {Rounding::NearestEven, Rounding::NearestAway, Rounding::Zero, Rounding::Up,
                                     Rounding::Down};
constexpr FloatFormat narrowFormats[] = {FloatFormat::E4M3, FloatFormat::E5M2, FloatFormat::F16, FloatFormat::BF16,
                                         FloatFormat::TF32};

uint64_t reference(FloatFormat to, FloatFormat from, uint64_t bits, Rounding rounding) {
  const FloatFormatInfo &source = formatInfo(from), &target = formatInfo(to);
  APFloat value(semantics(from), llvm::APInt(source.bits - source.storageShift, bits >> source.storageShift));
  if (value.isNaN() && to == FloatFormat::TF32 && rounding == Rounding::NearestAway)
    return bits >> target.storageShift << target.storageShift;
  if (value.isNaN())
    return from == FloatFormat::BF16 && to == FloatFormat::F32 ? bits << 16 : target.nan;
  bool lost;
  value.convert(semantics(to), mode(rounding), &lost);
  return value.bitcastToAPInt().getZExtValue() << target.storageShift;
}

// The patterns of a format, thinned out for the large ones.
std::vector<uint64_t> patterns(FloatFormat format) {
  const FloatFormatInfo &info = formatInfo(format);
  std::vector<uint64_t> result;
  unsigned bits = info.bits - info.storageShift;
  if (bits <= 19) {
    for (uint64_t i = 0; i < uint64_t(1) << bits; ++i)
      result.push_back(i << info.storageShift);
    return result;
  }
  std::mt19937_64 random(7);
  for (unsigned i = 0; i < 200000; ++i)
    result.push_back(random() >> (64 - info.bits));
  return result;
}

TEST(Convert, WideningIsExact) {
  for (FloatFormat from : narrowFormats)
    for (FloatFormat to : {FloatFormat::F32, FloatFormat::F64})
      for (uint64_t bits : patterns(from)) {
        ASSERT_EQ(convertFloat(to, from, bits), reference(to, from, bits, Rounding::Zero)) << std::hex << bits;
        if (!isNaN(from, bits)) {
          ASSERT_EQ(convertFloat(from, to, convertFloat(to, from, bits)), bits) << std::hex << bits;
        }
      }
}

// f32 values at, just beside and half way between all neighbours of the narrow format.
TEST(Convert, NarrowingRoundsLikeAPFloat) {
  for (FloatFormat to : narrowFormats) {
    if (to == FloatFormat::E4M3)
      continue; // no overflow to infinity: tested with .satfinite
    const FloatFormatInfo &info = formatInfo(to);
    for (uint64_t bits : patterns(to)) {
      if (isNaN(to, bits) || (bits & ((uint64_t(1) << (info.bits - 1)) - 1)) >= info.maxFinite)
        continue;
      uint64_t step = uint64_t(1) << info.storageShift;
      double low = toDouble(to, bits), high = toDouble(to, bits + step);
      float middle = static_cast<float>((low + high) / 2);
      for (float value : {middle, std::nextafter(middle, INFINITY), std::nextafter(middle, -INFINITY)})
        for (Rounding rounding : allRoundings) {
          FloatConversion options;
          options.rounding = rounding;
          uint32_t source = llvm::bit_cast<uint32_t>(value);
          ASSERT_EQ(convertFloat(to, FloatFormat::F32, source, options),
                    reference(to, FloatFormat::F32, source, rounding))
              << value << " " << int(to) << " " << int(rounding);
        }
    }
  }
}

TEST(Convert, RandomPatternsOfWideFormats) {
  for (FloatFormat from : {FloatFormat::F32, FloatFormat::F64})
    for (FloatFormat to : {FloatFormat::F16, FloatFormat::BF16, FloatFormat::TF32, FloatFormat::E5M2, FloatFormat::F32})
      for (uint64_t bits : patterns(from))
        for (Rounding rounding : allRoundings) {
          FloatConversion options;
          options.rounding = rounding;
          ASSERT_EQ(convertFloat(to, from, bits, options), reference(to, from, bits, rounding)) << std::hex << bits;
        }
}

TEST(Convert, SaturatesToTheLargestFinite) {
  FloatConversion options;
  options.saturateFinite = true;
  auto convert = [&](FloatFormat to, float value) {
    return convertFloat(to, FloatFormat::F32, llvm::bit_cast<uint32_t>(value), options);
  };
  EXPECT_EQ(convert(FloatFormat::E4M3, 448), 0x7eu);
  EXPECT_EQ(convert(FloatFormat::E4M3, 464), 0x7eu);
  EXPECT_EQ(convert(FloatFormat::E4M3, 465), 0x7eu);
  EXPECT_EQ(convert(FloatFormat::E4M3, -1e30f), 0xfeu);
  EXPECT_EQ(convert(FloatFormat::E4M3, INFINITY), 0x7eu);
  EXPECT_EQ(convert(FloatFormat::E4M3, NAN), 0x7fu);
  EXPECT_EQ(convert(FloatFormat::E5M2, 61440), 0x7bu);
  EXPECT_EQ(convert(FloatFormat::E5M2, -INFINITY), 0xfbu);
  EXPECT_EQ(convert(FloatFormat::F16, 65520), 0x7bffu);
  EXPECT_EQ(convert(FloatFormat::BF16, 3.4e38f), 0x7f7fu);
  EXPECT_EQ(convert(FloatFormat::TF32, INFINITY), 0x7f7fe000u);
  // Every e4m3 value and the middles below the largest.
  for (unsigned bits = 0; bits < 0x7e; ++bits) {
    float low = toDouble(FloatFormat::E4M3, bits), high = toDouble(FloatFormat::E4M3, bits + 1);
    float middle = (low + high) / 2;
    EXPECT_EQ(convert(FloatFormat::E4M3, low), bits);
    EXPECT_EQ(convert(FloatFormat::E4M3, middle), bits + (bits & 1));
    EXPECT_EQ(convert(FloatFormat::E4M3, std::nextafter(middle, 1000.f)), bits + 1);
    EXPECT_EQ(convert(FloatFormat::E4M3, std::nextafter(-middle, 0.f)), bits | 0x80u);
  }
}

TEST(Convert, ReluSaturationAndFlush) {
  auto f32 = [](float value) { return llvm::bit_cast<uint32_t>(value); };
  FloatConversion relu;
  relu.relu = true;
  EXPECT_EQ(convertFloat(FloatFormat::BF16, FloatFormat::F32, f32(-2), relu), 0u);
  EXPECT_EQ(convertFloat(FloatFormat::BF16, FloatFormat::F32, f32(-0.0f), relu), 0u);
  EXPECT_EQ(convertFloat(FloatFormat::BF16, FloatFormat::F32, f32(2), relu), 0x4000u);
  EXPECT_EQ(convertFloat(FloatFormat::BF16, FloatFormat::F32, f32(NAN), relu), 0x7fffu);
  FloatConversion unit;
  unit.saturate = true;
  EXPECT_EQ(convertFloat(FloatFormat::F32, FloatFormat::F16, 0xc000, unit), 0u);
  EXPECT_EQ(convertFloat(FloatFormat::F32, FloatFormat::F16, 0x7e00, unit), 0u);
  EXPECT_EQ(convertFloat(FloatFormat::F32, FloatFormat::F16, 0x4000, unit), f32(1));
  FloatConversion flush;
  flush.flush = true;
  EXPECT_EQ(convertFloat(FloatFormat::F16, FloatFormat::F32, 0x80000001u, flush), 0x8000u);
  EXPECT_EQ(convertFloat(FloatFormat::F32, FloatFormat::F64, llvm::bit_cast<uint64_t>(-1e-40), flush), 0x80000000u);
  // The f16 result is subnormal and stays: .ftz speaks of f32 alone.
  EXPECT_EQ(convertFloat(FloatFormat::F16, FloatFormat::F32, f32(0x1p-24f), flush), 1u);
}

TEST(Convert, ToIntegralValues) {
  for (Rounding rounding : {Rounding::NearestEven, Rounding::Zero, Rounding::Up, Rounding::Down})
    for (uint64_t bits : patterns(FloatFormat::F32)) {
      FloatConversion options;
      options.integral = true;
      options.rounding = rounding;
      APFloat value(APFloat::IEEEsingle(), llvm::APInt(32, bits));
      uint64_t expected = 0x7fffffff;
      if (!value.isNaN()) {
        value.roundToIntegral(mode(rounding));
        expected = value.bitcastToAPInt().getZExtValue();
      }
      ASSERT_EQ(convertFloat(FloatFormat::F32, FloatFormat::F32, bits, options), expected) << std::hex << bits;
    }
}

TEST(Convert, FloatToIntegerClamps) {
  std::vector<uint64_t> sources = patterns(FloatFormat::F32);
  for (unsigned exponent = 100; exponent < 200; ++exponent)
    for (unsigned mantissa : {0u, 1u, 0x400000u, 0x7fffffu})
      for (unsigned sign : {0u, 1u})
        sources.push_back(uint64_t(sign) << 31 | exponent << 23 | mantissa);
  for (unsigned bits : {8u, 16u, 32u, 64u})
    for (bool isSigned : {false, true})
      for (Rounding rounding : {Rounding::NearestEven, Rounding::Zero, Rounding::Up, Rounding::Down})
        for (uint64_t source : sources) {
          APFloat value(APFloat::IEEEsingle(), llvm::APInt(32, source));
          uint64_t expected = bits == 64 ? uint64_t(1) << 63 : 0;
          if (!value.isNaN()) {
            llvm::APSInt integer(bits, !isSigned);
            bool exact;
            value.convertToInteger(integer, mode(rounding), &exact); // clamps
            expected = integer.getZExtValue();
          }
          ASSERT_EQ(convertFloatToInteger({bits, isSigned}, FloatFormat::F32, source, rounding), expected)
              << std::hex << source << " " << bits << isSigned;
        }
}

TEST(Convert, IntegerToFloat) {
  std::mt19937_64 random(3);
  for (unsigned i = 0; i < 100000; ++i) {
    unsigned bits = 8u << (random() % 4);
    bool isSigned = random() & 1;
    uint64_t value = random() >> (random() % 64) & (bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1);
    for (FloatFormat to : {FloatFormat::F16, FloatFormat::BF16, FloatFormat::F32, FloatFormat::F64})
      for (Rounding rounding : allRoundings) {
        APFloat expected(semantics(to));
        expected.convertFromAPInt(llvm::APInt(bits, value), isSigned, mode(rounding));
        ASSERT_EQ(convertIntegerToFloat(to, {bits, isSigned}, value, rounding),
                  expected.bitcastToAPInt().getZExtValue())
            << value << " " << bits << isSigned;
      }
  }
}

TEST(Convert, IntegerToInteger) {
  EXPECT_EQ(convertInteger({64, true}, {8, true}, 0x80), 0xffffffffffffff80u);
  EXPECT_EQ(convertInteger({64, false}, {8, false}, 0x80), 0x80u);
  EXPECT_EQ(convertInteger({8, true}, {32, true}, 0x1ff), 0xffu);
  EXPECT_EQ(convertInteger({8, true}, {32, true}, 200, true), 127u);
  EXPECT_EQ(convertInteger({8, true}, {32, true}, 0xffffff00, true), 0x80u);
  EXPECT_EQ(convertInteger({8, false}, {32, true}, 0xffffff00, true), 0u);
  EXPECT_EQ(convertInteger({32, true}, {32, false}, 0xffffffff, true), 0x7fffffffu);
  EXPECT_EQ(convertInteger({16, false}, {64, false}, 0x12345, true), 0xffffu);
}

TEST(Convert, Packed) {
  FloatConversion options;
  EXPECT_EQ(convertPacked(FloatFormat::F16, FloatFormat::E4M3, 2, 0x3840), 0x3c004000u); // 1 above 2
  options.saturateFinite = true;
  EXPECT_EQ(convertPacked(FloatFormat::E5M2, FloatFormat::F16, 2, 0x3c004000, options), 0x3c40u);
}

} // namespace
