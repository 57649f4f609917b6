// Element types of tensors on the host.
#include "tilec/Runner/Elements.h"

#include "tilec/Simulator/Convert.h"
#include "llvm/ADT/bit.h"
#include <cmath>
#include <cstring>

using namespace tilec::runner;
using namespace tilec::simulator;

static constexpr ElementType elementTypes[] = {
    {"bool", "u1", 1, ElementType::Bool, 0},         {"i8", "i1", 1, ElementType::Signed, 0},
    {"i16", "i2", 2, ElementType::Signed, 0},        {"i32", "i4", 4, ElementType::Signed, 0},
    {"i64", "i8", 8, ElementType::Signed, 0},        {"index", "i8", 8, ElementType::Signed, 0},
    {"u8", "u1", 1, ElementType::Unsigned, 0},       {"u16", "u2", 2, ElementType::Unsigned, 0},
    {"u32", "u4", 4, ElementType::Unsigned, 0},      {"u64", "u8", 8, ElementType::Unsigned, 0},
    {"f8e4m3", "u1", 1, ElementType::Float, 0x1p-3}, {"f8e5m2", "u1", 1, ElementType::Float, 0x1p-2},
    {"f16", "f2", 2, ElementType::Float, 0x1p-10},   {"bf16", "u2", 2, ElementType::Float, 0x1p-7},
    {"f32", "f4", 4, ElementType::Float, 0x1p-23},   {"f64", "f8", 8, ElementType::Float, 0x1p-52},
};

llvm::Expected<const ElementType *> tilec::runner::findElementType(llvm::StringRef name) {
  for (const ElementType &type : elementTypes)
    if (name == type.name)
      return &type;
  return llvm::createStringError("tensors of type `" + name + "` cannot be run");
}

static FloatFormat formatOf(const ElementType &type) {
  switch (type.bytes) {
  case 1:
    return type.epsilon == 0x1p-3 ? FloatFormat::E4M3 : FloatFormat::E5M2;
  case 2:
    return type.epsilon == 0x1p-10 ? FloatFormat::F16 : FloatFormat::BF16;
  case 4:
    return FloatFormat::F32;
  default:
    return FloatFormat::F64;
  }
}

// f32 is what the host has, bf16 its upper half.
static double decodeFloat(const ElementType &type, uint64_t bits) {
  FloatFormat format = formatOf(type);
  if (format == FloatFormat::F32 || format == FloatFormat::BF16)
    return llvm::bit_cast<float>(static_cast<uint32_t>(format == FloatFormat::F32 ? bits : bits << 16));
  return toDouble(format, bits);
}

int64_t tilec::runner::decodeInteger(const ElementType &type, const uint8_t *bytes) {
  uint64_t bits = 0;
  std::memcpy(&bits, bytes, type.bytes);
  unsigned shift = type.kind == ElementType::Signed ? 64 - 8 * type.bytes : 0;
  return static_cast<int64_t>(bits << shift) >> shift;
}

double tilec::runner::decodeElement(const ElementType &type, const uint8_t *bytes) {
  uint64_t bits = 0;
  std::memcpy(&bits, bytes, type.bytes);
  if (type.kind == ElementType::Float)
    return decodeFloat(type, bits);
  if (type.kind == ElementType::Signed)
    return static_cast<double>(decodeInteger(type, bytes));
  return static_cast<double>(bits);
}

void tilec::runner::encodeInteger(const ElementType &type, int64_t value, uint8_t *bytes) {
  if (type.kind == ElementType::Float)
    return encodeElement(type, static_cast<double>(value), bytes);
  uint64_t bits = type.kind == ElementType::Bool ? value != 0 : static_cast<uint64_t>(value);
  std::memcpy(bytes, &bits, type.bytes);
}

void tilec::runner::encodeElement(const ElementType &type, double value, uint8_t *bytes) {
  if (type.kind != ElementType::Float) {
    bool representable = std::abs(value) < 0x1p63;
    return encodeInteger(type, representable ? static_cast<int64_t>(std::nearbyint(value)) : 0, bytes);
  }
  FloatConversion options;
  options.saturateFinite = type.bytes == 1;
  uint64_t bits = convertFloat(formatOf(type), FloatFormat::F64, llvm::bit_cast<uint64_t>(value), options);
  std::memcpy(bytes, &bits, type.bytes);
}
