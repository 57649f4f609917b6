// Casts of rule 13 on the host against LLVM's arbitrary-precision numbers: every 16-bit pattern, random wider ones, and
// patterns next to where rounding and saturation change.
#include "HostFunction.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/APSInt.h"
#include "llvm/ADT/StringSwitch.h"
#include "gtest/gtest.h"

#include <random>

using namespace llvm;
using namespace tilec::test;

namespace {

struct ScalarType {
  StringRef name;
  const fltSemantics *semantics; // null for integers
  unsigned width;                // in a register
  bool isUnsigned = false;
};

ScalarType floating(StringRef name) {
  const fltSemantics &semantics = *StringSwitch<const fltSemantics *>(name)
                                       .Case("f8E4M3FN", &APFloat::Float8E4M3FN())
                                       .Case("f8E5M2", &APFloat::Float8E5M2())
                                       .Case("f16", &APFloat::IEEEhalf())
                                       .Case("bf16", &APFloat::BFloat())
                                       .Case("tf32", &APFloat::FloatTF32())
                                       .Case("f32", &APFloat::IEEEsingle())
                                       .Default(&APFloat::IEEEdouble());
  return {name, &semantics, name == "tf32" ? 32 : APFloat::getSizeInBits(semantics)};
}
ScalarType integer(StringRef name, unsigned width, bool isUnsigned) { return {name, nullptr, width, isUnsigned}; }

const ScalarType floats[] = {floating("f8E4M3FN"), floating("f8E5M2"), floating("f16"), floating("bf16"),
                             floating("tf32"),     floating("f32"),    floating("f64")};
const ScalarType integers[] = {integer("i1", 1, true),     integer("i4", 4, false),   integer("i2", 2, true),
                               integer("i4", 4, true),     integer("i8", 8, false),   integer("i8", 8, true),
                               integer("i16", 16, false),  integer("i16", 16, true),  integer("i32", 32, false),
                               integer("i32", 32, true),   integer("i64", 64, false), integer("i64", 64, true),
                               integer("index", 64, false)};

/// Bit patterns of `width` bits: all of them, or random ones with runs of equal bits, so that ties are frequent.
std::vector<uint64_t> patterns(unsigned width) {
  std::vector<uint64_t> result;
  if (width <= 16) {
    for (uint64_t bits = 0; bits < uint64_t(1) << width; ++bits)
      result.push_back(bits);
    return result;
  }
  std::mt19937_64 random(width);
  uint64_t mask = ~uint64_t(0) >> (64 - width);
  for (int i = 0; i < 20000; ++i) {
    uint64_t bits = random() >> random() % 64;
    result.push_back(bits & mask);
    result.push_back(-bits & mask);
    // A run of zeros or ones at a random place and length, one off either way.
    uint64_t low = (uint64_t(1) << random() % width) - 1;
    for (uint64_t offset : {-1, 0, 1}) {
      result.push_back(((random() & ~low) + offset) & mask);
      result.push_back(((random() | low) + offset) & mask);
      result.push_back(((bits & ~low) + (low / 2 + 1) + offset) & mask);
    }
  }
  for (uint64_t bits : {0, 1, 2})
    result.insert(result.end(), {bits, -bits & mask, (mask / 2 + bits) & mask, mask / 2 - bits});
  return result;
}

/// Random patterns are rarely in the range of narrow types; these are values of f32 or f64 near numbers of `narrow`.
void appendNeighbours(std::vector<uint64_t> &result, const ScalarType &wide, const ScalarType &narrow) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20000; ++i) {
    uint64_t code = random() & (~uint64_t(0) >> (64 - std::min(narrow.width, 19u)));
    if (narrow.name == "tf32")
      code = random() & 0x7ffff;
    APFloat a(*narrow.semantics, APInt(APFloat::getSizeInBits(*narrow.semantics), code));
    if (!a.isFinite() || a.isLargest() || a.isNegative())
      continue;
    APFloat b = a;
    b.next(false);
    bool inexact;
    a.convert(APFloat::IEEEquad(), APFloat::rmNearestTiesToEven, &inexact);
    b.convert(APFloat::IEEEquad(), APFloat::rmNearestTiesToEven, &inexact);
    APFloat middle = a;
    middle.add(b, APFloat::rmNearestTiesToEven);
    middle.multiply(APFloat(APFloat::IEEEquad(), "0.5"), APFloat::rmNearestTiesToEven);
    middle.convert(*wide.semantics, APFloat::rmTowardZero, &inexact);
    uint64_t bits = middle.bitcastToAPInt().getZExtValue(), sign = (random() & 1) << (wide.width - 1);
    for (uint64_t offset : {-1, 0, 1})
      result.push_back((bits + offset) | sign);
  }
}

APFloat floatOf(const ScalarType &type, uint64_t bits) {
  if (type.name == "tf32")
    return APFloat(APFloat::IEEEsingle(), APInt(32, bits));
  return APFloat(*type.semantics, APInt(type.width, bits));
}

/// The register of a float: tf32 values are f32.
uint64_t registerOf(const ScalarType &type, APFloat value) {
  bool inexact;
  if (type.name == "tf32")
    value.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &inexact);
  return value.bitcastToAPInt().getZExtValue();
}

bool isF8(const ScalarType &type) { return type.name.starts_with("f8"); }

/// A conversion that did not saturate: f8 has its largest number instead of infinity, and instead of the NaN that e4m3
/// has for what is too large.
APFloat saturated(const ScalarType &to, APFloat converted, bool wasNaN, bool isNegative) {
  if (isF8(to) && !wasNaN && !converted.isFinite())
    return APFloat::getLargest(*to.semantics, isNegative);
  return converted;
}

uint64_t expectedFloat(const ScalarType &from, const ScalarType &to, uint64_t bits) {
  bool inexact;
  if (from.semantics) {
    APFloat value = floatOf(from, bits);
    bool wasNaN = value.isNaN(), isNegative = value.isNegative();
    value.convert(*to.semantics, APFloat::rmNearestTiesToEven, &inexact);
    return registerOf(to, saturated(to, value, wasNaN, isNegative));
  }
  APInt value(from.width, bits);
  APFloat converted(*to.semantics);
  converted.convertFromAPInt(value, !from.isUnsigned, APFloat::rmNearestTiesToEven);
  return registerOf(to, saturated(to, converted, false, !from.isUnsigned && value.isNegative()));
}

uint64_t expectedInteger(const ScalarType &from, const ScalarType &to, uint64_t bits) {
  if (!from.semantics) {
    APInt value(from.width, bits);
    value = from.isUnsigned ? value.zextOrTrunc(to.width) : value.sextOrTrunc(to.width);
    return value.getZExtValue();
  }
  APFloat value = floatOf(from, bits);
  if (value.isNaN())
    return 0;
  APSInt result(to.width, to.isUnsigned);
  bool exact;
  value.convertToInteger(result, APFloat::rmTowardZero, &exact);
  return result.getZExtValue();
}

bool isNaN(const ScalarType &type, uint64_t bits) { return type.semantics && floatOf(type, bits).isNaN(); }

void expectCasts(const ScalarType &from, const ScalarType &to) {
  HostFunction cast = HostFunction::cast(from.name.str(), to.name.str(), from.isUnsigned, to.isUnsigned);
  std::vector<uint64_t> inputs = patterns(from.width);
  if (from.width >= 32 && from.semantics && to.semantics && to.width <= from.width)
    appendNeighbours(inputs, from, to);
  int failures = 0;
  for (uint64_t bits : inputs) {
    // A tf32 register holds a tf32 number.
    if (from.name == "tf32")
      bits &= ~uint64_t(0x1fff);
    uint64_t expected = to.semantics ? expectedFloat(from, to, bits) : expectedInteger(from, to, bits);
    uint64_t got = cast(bits);
    if (got == expected || (isNaN(to, got) && isNaN(to, expected)))
      continue;
    ADD_FAILURE() << from.name.str() << (from.isUnsigned ? "u" : "") << " to " << to.name.str()
                  << (to.isUnsigned ? "u" : "") << ": " << std::hex << bits << " becomes " << got << ", not "
                  << expected;
    if (++failures == 3)
      return;
  }
}

TEST(ScalarCasts, FloatToFloat) {
  for (const ScalarType &from : floats)
    for (const ScalarType &to : floats)
      if (from.name != to.name)
        expectCasts(from, to);
}
TEST(ScalarCasts, IntegerToFloat) {
  for (const ScalarType &from : integers)
    for (const ScalarType &to : floats)
      expectCasts(from, to);
}
// There is no cast to bool.
TEST(ScalarCasts, FloatToInteger) {
  for (const ScalarType &from : floats)
    for (const ScalarType &to : ArrayRef(integers).drop_front())
      expectCasts(from, to);
}
TEST(ScalarCasts, IntegerToInteger) {
  for (const ScalarType &from : integers)
    for (const ScalarType &to : ArrayRef(integers).drop_front())
      expectCasts(from, to);
}

} // namespace
