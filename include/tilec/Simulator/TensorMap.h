// Tensor maps: what cuTensorMapEncodeTiled makes of its parameters, in an encoding of the simulator's own.
#ifndef TILEC_SIMULATOR_TENSORMAP_H
#define TILEC_SIMULATOR_TENSORMAP_H

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tilec::simulator {

/// Numbers of CUtensorMapDataType.
enum class TensorMapType : uint8_t { U8, U16, U32, S32, U64, S64, F16, F32, F64, BF16, F32Flushed, TF32, TF32Flushed };

/// The parameters of cuTensorMapEncodeTiled without interleaving. Dimensions from the innermost.
struct TensorMap {
  TensorMapType type = TensorMapType::U8;
  uint64_t address = 0;
  /// In elements; 1 to 5 dimensions.
  std::vector<uint64_t> sizes;
  /// In bytes, from the second dimension.
  std::vector<uint64_t> strides;
  /// In elements of the tensor; the elements transferred are every `elementStrides`-th of them.
  std::vector<uint32_t> box;
  /// All 1 if empty.
  std::vector<uint32_t> elementStrides;
  /// 0, 32, 64 or 128 bytes.
  unsigned swizzle = 0;
  /// 0, 64, 128 or 256 bytes. No effect.
  unsigned promotion = 0;
  /// Out of bounds reads as NaN instead of 0.
  bool fillNaN = false;

  unsigned rank() const { return static_cast<unsigned>(sizes.size()); }
  unsigned elementBytes() const;
  /// Elements of a dimension that one transfer moves.
  uint32_t boxElements(unsigned dimension) const;
  /// Bytes of a transfer.
  uint64_t boxBytes() const;
  /// Empty, or which rule of cuTensorMapEncodeTiled does not hold.
  std::string check() const;
};

/// The 128 bytes of a CUtensorMap.
using TensorMapBytes = std::array<uint8_t, 128>;

TensorMapBytes encodeTensorMap(const TensorMap &map);
/// Nothing if the bytes are no tensor map of the simulator.
std::optional<TensorMap> decodeTensorMap(const uint8_t *bytes);

} // namespace tilec::simulator

#endif // TILEC_SIMULATOR_TENSORMAP_H
