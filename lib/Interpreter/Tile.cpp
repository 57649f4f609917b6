// Tiles and number formats of the interpreter.
#include "tilec/Interpreter/Tile.h"

#include "llvm/ADT/APFloat.h"
#include <array>
#include <cmath>
#include <cstring>

using namespace mlir;
using namespace tilec::interpreter;

Storage tilec::interpreter::storageOf(Type element) {
  if (element.isF64())
    return Storage::Double;
  return isa<FloatType>(element) ? Storage::Single : Storage::Integer;
}

template <> std::vector<int64_t> &Tile::data() { return integers; }
template <> std::vector<float> &Tile::data() { return singles; }
template <> std::vector<double> &Tile::data() { return doubles; }

static int64_t numElements(ArrayRef<int64_t> shape) {
  int64_t n = 1;
  for (int64_t size : shape)
    n *= size;
  return n;
}

Tile::Tile(Type element, ArrayRef<int64_t> shape)
    : element(element), storage(storageOf(element)), shape(shape.begin(), shape.end()) {
  int64_t n = numElements(shape);
  if (storage == Storage::Integer)
    integers.resize(n);
  else if (storage == Storage::Single)
    singles.resize(n);
  else
    doubles.resize(n);
}

Tile::Tile(Type type)
    : Tile(getElementTypeOrSelf(type),
           isa<RankedTensorType>(type) ? cast<RankedTensorType>(type).getShape() : ArrayRef<int64_t>()) {}

int64_t Tile::size() const { return numElements(shape); }

void Tile::setPoison(int64_t i) {
  if (poison.empty())
    poison.resize(size());
  poison[i] = 1;
}

void Tile::addPoison(const Tile &other) {
  if (other.poison.empty())
    return;
  if (poison.empty()) {
    poison = other.poison;
    return;
  }
  for (size_t i = 0; i < poison.size(); ++i)
    poison[i] |= other.poison[i];
}

double Tile::number(int64_t i) const {
  if (storage == Storage::Integer)
    return static_cast<double>(integers[i]);
  return storage == Storage::Single ? singles[i] : doubles[i];
}

void Tile::copyElement(int64_t to, const Tile &from, int64_t i) {
  if (storage == Storage::Integer)
    integers[to] = from.integers[i];
  else if (storage == Storage::Single)
    singles[to] = from.singles[i];
  else
    doubles[to] = from.doubles[i];
  if (from.isPoison(i))
    setPoison(to);
}

TilePtr tilec::interpreter::makeIndex(MLIRContext *context, int64_t value) {
  auto tile = std::make_shared<Tile>(IndexType::get(context), ArrayRef<int64_t>());
  tile->integers[0] = value;
  return tile;
}

SmallVector<int64_t, 4> tilec::interpreter::rowMajorStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t, 4> strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;)
    strides[d - 1] = strides[d] * shape[d];
  return strides;
}

void tilec::interpreter::advance(MutableArrayRef<int64_t> point, ArrayRef<int64_t> shape) {
  for (size_t d = point.size(); d-- > 0;) {
    ++point[d];
    if (point[d] < shape[d])
      return;
    point[d] = 0;
  }
}

//===----------------------------------------------------------------------===//
// Number formats
//===----------------------------------------------------------------------===//

int64_t tilec::interpreter::wrapInteger(int64_t value, unsigned width) {
  if (width == 64)
    return value;
  uint64_t bits = static_cast<uint64_t>(value) << (64 - width);
  return width == 1 ? static_cast<int64_t>(bits >> 63) : static_cast<int64_t>(bits) >> (64 - width);
}

uint64_t tilec::interpreter::asUnsigned(int64_t value, unsigned width) {
  return width == 64 ? static_cast<uint64_t>(value) : static_cast<uint64_t>(value) & ((uint64_t(1) << width) - 1);
}

unsigned tilec::interpreter::integerWidth(Type element) {
  return element.isIndex() ? 64 : cast<IntegerType>(element).getWidth();
}

double tilec::interpreter::roundToFormat(double value, Type element) {
  if (element.isF64() || std::isnan(value))
    return value;
  if (element.isF32())
    return static_cast<float>(value);
  const llvm::fltSemantics &format = cast<FloatType>(element).getFloatSemantics();
  bool saturates = isa<Float8E4M3FNType, Float8E5M2Type>(element);
  double top = llvm::APFloat::getLargest(format).convertToDouble();
  if (std::isinf(value))
    return saturates ? std::copysign(top, value) : value;
  if (value == 0)
    return value;
  int precision = static_cast<int>(llvm::APFloat::semanticsPrecision(format));
  int exponent = std::max(std::ilogb(value), static_cast<int>(llvm::APFloat::semanticsMinExponent(format)));
  int ulp = exponent - (precision - 1);
  double rounded = std::ldexp(std::nearbyint(std::ldexp(value, -ulp)), ulp);
  if (std::fabs(rounded) > top)
    return std::copysign(saturates ? top : HUGE_VAL, value);
  return rounded;
}

uint64_t tilec::interpreter::encodeFloat(double value, Type element) {
  if (element.isF64()) {
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
  }
  float single = static_cast<float>(value);
  uint32_t bits;
  std::memcpy(&bits, &single, sizeof bits);
  if (element.isF32() || element.isTF32())
    return bits;
  if (element.isBF16())
    return std::isnan(single) ? 0x7FC0 | (bits >> 31 << 15) : bits >> 16;
  llvm::APFloat exact(single);
  bool losesInfo = false;
  exact.convert(cast<FloatType>(element).getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return exact.bitcastToAPInt().getZExtValue();
}

// The values of all codes of an 8-bit or 16-bit format.
static std::vector<float> decodingTable(const llvm::fltSemantics &format, unsigned width) {
  std::vector<float> table(size_t(1) << width);
  for (size_t code = 0; code < table.size(); ++code)
    table[code] = static_cast<float>(llvm::APFloat(format, llvm::APInt(width, code)).convertToDouble());
  return table;
}

double tilec::interpreter::decodeFloat(uint64_t bits, Type element) {
  static const std::vector<float> e4m3 = decodingTable(llvm::APFloat::Float8E4M3FN(), 8);
  static const std::vector<float> e5m2 = decodingTable(llvm::APFloat::Float8E5M2(), 8);
  static const std::vector<float> half = decodingTable(llvm::APFloat::IEEEhalf(), 16);
  if (element.isF64()) {
    double value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
  if (isa<Float8E4M3FNType>(element))
    return e4m3[bits & 0xFF];
  if (isa<Float8E5M2Type>(element))
    return e5m2[bits & 0xFF];
  if (element.isF16())
    return half[bits & 0xFFFF];
  uint32_t pattern = element.isBF16() ? static_cast<uint32_t>(bits << 16) : static_cast<uint32_t>(bits);
  float value;
  std::memcpy(&value, &pattern, sizeof value);
  return value;
}

unsigned tilec::interpreter::memoryBits(Type element) {
  if (element.isIndex())
    return 64;
  if (element.isTF32())
    return 32;
  unsigned width = element.getIntOrFloatBitWidth();
  return width == 1 ? 8 : width;
}
