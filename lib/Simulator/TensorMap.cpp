// Encoding, decoding and the rules of tensor maps.
#include "tilec/Simulator/TensorMap.h"

#include "llvm/ADT/Twine.h"
#include <cstring>

using namespace tilec::simulator;

namespace {
constexpr uint32_t magic = 0x70616d74;
constexpr unsigned maxRank = 5;

// The bytes of an encoded map.
struct Encoded {
  uint32_t magic;
  uint8_t type, rank, fillNaN, reserved;
  uint16_t swizzle, promotion;
  uint16_t box[maxRank];
  uint8_t elementStrides[maxRank];
  uint64_t address;
  uint32_t lastIndices[maxRank]; // extents reach 2^32
  uint64_t strides[maxRank - 1];
};
static_assert(sizeof(Encoded) <= sizeof(TensorMapBytes));
} // namespace

unsigned TensorMap::elementBytes() const {
  static constexpr uint8_t bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
  return bytes[static_cast<unsigned>(type)];
}

uint32_t TensorMap::boxElements(unsigned dimension) const {
  uint32_t step = elementStrides.empty() ? 1 : elementStrides[dimension];
  return (box[dimension] + step - 1) / step;
}

uint64_t TensorMap::boxBytes() const {
  uint64_t bytes = elementBytes();
  for (unsigned i = 0; i < rank(); ++i)
    bytes *= boxElements(i);
  return bytes;
}

// CUDA Driver API, cuTensorMapEncodeTiled.
std::string TensorMap::check() const {
  using llvm::Twine;
  auto number = [](uint64_t value) { return std::to_string(value); };
  if (rank() < 1 || rank() > maxRank || strides.size() != rank() - 1 || box.size() != rank() ||
      (!elementStrides.empty() && elementStrides.size() != rank()))
    return "a tensor map has 1 to 5 dimensions, each with a box, all but the first with a stride";
  if (address % 16)
    return "the address is not a multiple of 16";
  for (unsigned i = 0; i < rank(); ++i) {
    if (sizes[i] < 1 || sizes[i] > uint64_t(1) << 32)
      return "extent " + number(sizes[i]) + " is not 1 to 2^32";
    if (box[i] < 1 || box[i] > 256)
      return "the box has " + number(box[i]) + " elements in a dimension; 1 to 256 are possible";
    if (!elementStrides.empty() && (elementStrides[i] < 1 || elementStrides[i] > 8))
      return "an element stride is not 1 to 8";
  }
  for (uint64_t stride : strides)
    if (stride % 16 || stride >= uint64_t(1) << 40)
      return "stride " + number(stride) + " is not a multiple of 16 below 2^40";
  uint64_t inner = uint64_t(box[0]) * elementBytes();
  if (inner % 16)
    return "the box has " + number(inner) + " bytes in the innermost dimension, not a multiple of 16";
  if (swizzle && inner > swizzle)
    return "the box has " + number(inner) + " bytes in the innermost dimension, more than the swizzle's span of " +
           number(swizzle);
  bool floats = type >= TensorMapType::F16;
  if (fillNaN && !floats)
    return "integers cannot be filled with NaN";
  return "";
}

TensorMapBytes tilec::simulator::encodeTensorMap(const TensorMap &map) {
  Encoded encoded = {};
  encoded.magic = magic;
  encoded.type = static_cast<uint8_t>(map.type);
  encoded.rank = static_cast<uint8_t>(map.rank());
  encoded.fillNaN = map.fillNaN;
  encoded.swizzle = static_cast<uint16_t>(map.swizzle);
  encoded.promotion = static_cast<uint16_t>(map.promotion);
  encoded.address = map.address;
  for (unsigned i = 0; i < map.rank(); ++i) {
    encoded.box[i] = static_cast<uint16_t>(map.box[i]);
    encoded.elementStrides[i] = static_cast<uint8_t>(map.elementStrides.empty() ? 1 : map.elementStrides[i]);
    encoded.lastIndices[i] = static_cast<uint32_t>(map.sizes[i] - 1);
    if (i > 0)
      encoded.strides[i - 1] = map.strides[i - 1];
  }
  TensorMapBytes bytes = {};
  std::memcpy(bytes.data(), &encoded, sizeof(encoded));
  return bytes;
}

std::optional<TensorMap> tilec::simulator::decodeTensorMap(const uint8_t *bytes) {
  Encoded encoded;
  std::memcpy(&encoded, bytes, sizeof(encoded));
  if (encoded.magic != magic || encoded.rank > maxRank)
    return std::nullopt;
  TensorMap map;
  map.type = static_cast<TensorMapType>(encoded.type);
  map.fillNaN = encoded.fillNaN;
  map.swizzle = encoded.swizzle;
  map.promotion = encoded.promotion;
  map.address = encoded.address;
  for (unsigned i = 0; i < encoded.rank; ++i) {
    map.box.push_back(encoded.box[i]);
    map.elementStrides.push_back(encoded.elementStrides[i]);
    map.sizes.push_back(uint64_t(encoded.lastIndices[i]) + 1);
    if (i > 0)
      map.strides.push_back(encoded.strides[i - 1]);
  }
  return map;
}
