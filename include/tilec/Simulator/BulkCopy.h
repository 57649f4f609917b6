// cp.async.bulk.tensor: which bytes of global and shared memory a transfer moves (PTX ISA, "Tensor").
//
// A transfer is a list of pieces of at most 16 bytes, the unit of the swizzle; what lies outside the tensor is filled
// in shared memory and left alone in global memory.
#ifndef TILEC_SIMULATOR_BULKCOPY_H
#define TILEC_SIMULATOR_BULKCOPY_H

#include "tilec/Simulator/TensorMap.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <optional>

namespace tilec::simulator {

/// `bytes` at `shared` (an offset in shared memory) and `global`. Where `inside` is false the elements are out of
/// bounds and `global` means nothing.
struct TransferPiece {
  uint32_t shared = 0;
  uint64_t global = 0;
  unsigned bytes = 0;
  bool inside = true;
};

/// Calls `use` for every piece of the box at `coordinates` (elements, from the innermost dimension), which lies at
/// `shared` in shared memory.
void forEachPiece(const TensorMap &map, llvm::ArrayRef<int32_t> coordinates, uint32_t shared,
                  llvm::function_ref<void(const TransferPiece &)> use);

/// Null, or why the transfer is not allowed: alignment of shared memory and of the first coordinate, number of
/// coordinates.
const char *checkTransfer(const TensorMap &map, llvm::ArrayRef<int32_t> coordinates, uint32_t shared);

/// Whether a store may begin here: no coordinate is negative.
bool isStorePlace(llvm::ArrayRef<int32_t> coordinates);

/// What loads write outside the tensor: zeros, or NaN of the map's type.
void fillOutside(const TensorMap &map, uint8_t *bytes, unsigned count);

/// What loads make of elements: rounding to tf32, flushing of subnormals. In place.
void convertLoaded(const TensorMap &map, uint8_t *bytes, unsigned count);

enum class BulkReduction : uint8_t { Add, Minimum, Maximum, Increment, Decrement, And, Or, Xor };

/// The reduction of this PTX modifier.
std::optional<BulkReduction> reductionNamed(llvm::StringRef modifier);

/// How cp.reduce.async.bulk reads its elements: those of TensorMapType and of the PTX types alike.
enum class ReductionType : uint8_t { U8, U32, S32, U64, S64, F16, BF16, F32, F64, B32, B64 };

/// `target` op= `source` on one element, both in little-endian bytes.
void reduceElement(BulkReduction operation, ReductionType type, uint8_t *target, const uint8_t *source);
unsigned bytesOf(ReductionType type);
/// The type of a tensor map's elements in cp.reduce.async.bulk.tensor.
ReductionType reductionType(TensorMapType type);

} // namespace tilec::simulator

#endif // TILEC_SIMULATOR_BULKCOPY_H
