// SharedLayout: where the elements of a tile lie in shared memory.
//
// A tile of rows x columns (columns contiguous) is stored either row after row, or in *panels*: the bytes of a row are
// cut into spans of 128, 64 or 32 bytes, and panel p holds span p of every row, one row after another:
// [panel][row][span]. Panels are swizzled as TMA writes and wgmma reads them: the 16-byte chunk of an address, bits 4
// and up, is xored with bits 7 and up, of which the 128-byte swizzle takes three, the 64-byte swizzle two and the
// 32-byte swizzle one. For 128 bytes that is "chunk ^= row % 8". One TMA box writes one panel, or all of them through
// a map that sees the columns as (span, panels).
//
// Text form, without the shape (the type of the buffer has it): `swizzle = 128, panels`, `none`, or `pad = 16` for
// rows with 16 unused bytes at the end.
#ifndef TILEC_LAYOUT_SHAREDLAYOUT_H
#define TILEC_LAYOUT_SHAREDLAYOUT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdint>
#include <optional>
#include <string>

namespace tilec {

class SharedLayout {
public:
  /// Row after row without padding.
  SharedLayout() = default;

  /// Panels of `span` = 32, 64 or 128 bytes.
  static SharedLayout swizzled(uint32_t span);
  /// Row after row, each followed by `bytes` unused bytes.
  static SharedLayout padded(uint32_t bytes);

  /// The layout of an operand tile: the widest span that divides the bytes of a row; none where not even 32 does.
  static SharedLayout forRow(int64_t rowBytes);

  /// 0 for layouts without panels.
  uint32_t span() const { return spanBytes; }
  uint32_t pad() const { return padBytes; }
  bool isSwizzled() const { return spanBytes != 0; }

  /// Bytes after which the swizzle repeats, hence the alignment of a buffer: 1024, 512, 256, or 16 without swizzle.
  uint32_t alignment() const { return isSwizzled() ? 8 * spanBytes : 16; }

  /// The swizzle as an address computation: address ^= (address >> 7 & mask) << 4. The mask is 0 without swizzle.
  uint32_t swizzleMask() const { return isSwizzled() ? spanBytes / 16 - 1 : 0; }
  int64_t swizzle(int64_t address) const { return address ^ ((address >> 7 & swizzleMask()) << 4); }

  /// Code of the TMA descriptor (CU_TENSOR_MAP_SWIZZLE_*): 0 none, 1 for 32, 2 for 64, 3 for 128 bytes.
  uint32_t tmaSwizzleCode() const;
  /// Code of the wgmma descriptor, bits 62-63: 0 none, 3 for 32, 2 for 64, 1 for 128 bytes.
  uint32_t wgmmaSwizzleCode() const;

  void print(llvm::raw_ostream &os) const;
  std::string str() const;
  static std::optional<SharedLayout> parse(llvm::StringRef text, std::string *error = nullptr);

  bool operator==(const SharedLayout &other) const {
    return spanBytes == other.spanBytes && padBytes == other.padBytes;
  }
  bool operator!=(const SharedLayout &other) const { return !(*this == other); }
  friend llvm::hash_code hash_value(const SharedLayout &layout) {
    return llvm::hash_combine(layout.spanBytes, layout.padBytes);
  }

private:
  uint32_t spanBytes = 0;
  uint32_t padBytes = 0;
};

/// Which dimension of an MMA operand is contiguous in shared memory: k, or m or n.
enum class OperandMajor : uint8_t { K, MN };

/// Fields of a wgmma matrix descriptor that do not depend on the address; bytes, not yet divided by 16.
struct WgmmaDescriptor {
  uint32_t leadingByteOffset = 0;
  uint32_t strideByteOffset = 0;
  uint32_t swizzleCode = 0;
  /// The instruction's tnspA or tnspB flag.
  bool transposed = false;

  /// The descriptor with the start address 0; the lowering adds `(address & 0x3ffff) >> 4`.
  uint64_t encode() const;
};

/// A tile in shared memory: a layout with a shape. Elements of less than 8 bits are packed.
struct SharedTile {
  SharedLayout layout;
  int64_t rows = 1;
  int64_t columns = 1;
  unsigned elementBits = 8;

  int64_t rowBytes() const { return (columns * elementBits + 7) / 8; }
  int64_t panels() const;
  /// Bytes from one panel to the next: rows * span.
  int64_t panelBytes() const;
  /// Columns of one panel.
  int64_t panelColumns() const;
  /// Bytes from one row to the next, within a panel.
  int64_t pitch() const;
  int64_t bytes() const;

  /// Byte offset of an element from the start of the buffer, which has the layout's alignment.
  int64_t address(int64_t row, int64_t column) const;
  /// The same before the swizzle is applied.
  int64_t linearAddress(int64_t row, int64_t column) const;

  /// The descriptor that makes wgmma read this tile as an operand: K-major tiles have rows m or n and columns k,
  /// MN-major tiles have rows k and columns m or n. None where the hardware has none: no swizzle, rows not a multiple
  /// of 8, panels not full, or MN-major elements of other than 16 bits.
  std::optional<WgmmaDescriptor> wgmmaDescriptor(OperandMajor major) const;

  /// What to add to the start address to reach row or column `mn` (m or n) and `k`. `k` is a multiple of the
  /// instruction's K (32 bytes of a K-major row; 16 rows of an MN-major tile); `mn` is a multiple of 8, and of a whole
  /// panel for MN-major tiles.
  int64_t wgmmaOffset(OperandMajor major, int64_t mn, int64_t k) const;
};

/// Cycles of the shared-memory pipe that one warp-wide access of `bytes` (1 to 16) a lane takes. `addresses` has a
/// byte address for each of 32 lanes, negative for inactive ones. 8-byte accesses run half a warp at a time and
/// 16-byte accesses a quarter; in each part, the bank with the most distinct 4-byte words decides.
unsigned sharedWavefronts(llvm::ArrayRef<int64_t> addresses, unsigned bytes);

/// The least that an access of this width by 32 lanes can take: 1, 2 or 4.
unsigned idealWavefronts(unsigned bytes);

} // namespace tilec

#endif // TILEC_LAYOUT_SHAREDLAYOUT_H
