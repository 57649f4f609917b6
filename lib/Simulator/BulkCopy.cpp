// The pieces of tensor transfers, filling, conversion and reduction of their elements.
#include "tilec/Simulator/BulkCopy.h"

#include "tilec/Simulator/Convert.h"
#include "tilec/Simulator/HalfArithmetic.h"
#include "tilec/Simulator/Wgmma.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/ErrorHandling.h"
#include <algorithm>
#include <cstring>

using namespace tilec::simulator;

static constexpr unsigned pieceBytes = 16;

namespace {
// Walks the rows of a box: all dimensions but the innermost.
class BoxWalk {
public:
  BoxWalk(const TensorMap &map, llvm::ArrayRef<int32_t> coordinates, uint32_t shared,
          llvm::function_ref<void(const TransferPiece &)> use)
      : map(map), coordinates(coordinates), shared(shared), use(use) {}

  void run() { walk(map.rank() - 1, map.address, true); }

private:
  int64_t step(unsigned dimension) const { return map.elementStrides.empty() ? 1 : map.elementStrides[dimension]; }
  int64_t position(unsigned dimension, uint32_t index) const {
    return int64_t(coordinates[dimension]) + int64_t(index) * step(dimension);
  }
  bool isInside(unsigned dimension, int64_t at) const {
    return at >= 0 && at < static_cast<int64_t>(map.sizes[dimension]);
  }
  void walk(unsigned dimension, uint64_t global, bool inside);
  void row(uint64_t global, bool inside);
  void emit(uint64_t global, unsigned bytes, bool inside);

  const TensorMap &map;
  llvm::ArrayRef<int32_t> coordinates;
  uint32_t shared;
  llvm::function_ref<void(const TransferPiece &)> use;
  uint32_t offset = 0;
};
} // namespace

void BoxWalk::walk(unsigned dimension, uint64_t global, bool inside) {
  if (dimension == 0)
    return row(global, inside);
  for (uint32_t i = 0; i < map.boxElements(dimension); ++i) {
    int64_t at = position(dimension, i);
    walk(dimension - 1, global + at * map.strides[dimension - 1], inside && isInside(dimension, at));
  }
}

void BoxWalk::emit(uint64_t global, unsigned bytes, bool inside) {
  use({swizzledAddress(shared + offset, map.swizzle), global, bytes, inside});
  offset += bytes;
}

// Runs of elements that are all inside or all outside, cut at units of the swizzle.
void BoxWalk::row(uint64_t global, bool inside) {
  unsigned size = map.elementBytes();
  uint32_t count = map.boxElements(0);
  for (uint32_t i = 0; i < count;) {
    int64_t at = position(0, i);
    bool here = inside && isInside(0, at);
    uint32_t most = std::max(1u, (pieceBytes - (shared + offset) % pieceBytes) / size), length = 1;
    if (step(0) == 1)
      while (length < most && i + length < count && (inside && isInside(0, at + length)) == here)
        ++length;
    emit(global + at * size, length * size, here);
    i += length;
  }
}

void tilec::simulator::forEachPiece(const TensorMap &map, llvm::ArrayRef<int32_t> coordinates, uint32_t shared,
                                    llvm::function_ref<void(const TransferPiece &)> use) {
  BoxWalk(map, coordinates, shared, use).run();
}

// PTX ISA, "Tensor", "Swizzling modes": shared memory is aligned to 128 bytes; the pattern of a swizzle repeats at 8
// spans, and transfers may begin at any multiple of 128 within it. An H200 ends a kernel with "illegal instruction"
// where the first coordinate is no multiple of 16 bytes (docs/simulator-probe.md).
const char *tilec::simulator::checkTransfer(const TensorMap &map, llvm::ArrayRef<int32_t> coordinates,
                                            uint32_t shared) {
  if (coordinates.size() != map.rank())
    return "the number of coordinates is not that of the tensor map's dimensions";
  if (shared % 128)
    return "the address in shared memory is not a multiple of 128";
  constexpr int64_t unit = 16;
  if (int64_t(coordinates[0]) * map.elementBytes() % unit)
    return "the first coordinate is not a multiple of 16 bytes";
  return nullptr;
}

// Loads may begin before the tensor, stores may not: an H200 ends the kernel with "illegal instruction".
bool tilec::simulator::isStorePlace(llvm::ArrayRef<int32_t> coordinates) {
  return llvm::all_of(coordinates, [](int32_t at) { return at >= 0; });
}

void tilec::simulator::fillOutside(const TensorMap &map, uint8_t *bytes, unsigned count) {
  std::memset(bytes, 0, count);
  if (!map.fillNaN)
    return;
  unsigned size = map.elementBytes();
  uint64_t nan = size == 2 ? 0x7fff : size == 4 ? 0x7fffffff : 0x7fffffffffffffff;
  for (unsigned i = 0; i + size <= count; i += size)
    std::memcpy(bytes + i, &nan, size);
}

void tilec::simulator::convertLoaded(const TensorMap &map, uint8_t *bytes, unsigned count) {
  bool flushes = map.type == TensorMapType::F32Flushed || map.type == TensorMapType::TF32Flushed;
  bool rounds = map.type == TensorMapType::TF32 || map.type == TensorMapType::TF32Flushed;
  if (!flushes && !rounds)
    return;
  for (unsigned i = 0; i + 4 <= count; i += 4) {
    uint32_t bits;
    std::memcpy(&bits, bytes + i, 4);
    if (flushes)
      bits = static_cast<uint32_t>(flushSubnormal(FloatFormat::F32, bits));
    if (rounds)
      bits = static_cast<uint32_t>(convertFloat(FloatFormat::TF32, FloatFormat::F32, bits));
    std::memcpy(bytes + i, &bits, 4);
  }
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

unsigned tilec::simulator::bytesOf(ReductionType type) {
  static constexpr uint8_t bytes[] = {1, 4, 4, 8, 8, 2, 2, 4, 8, 4, 8};
  return bytes[static_cast<unsigned>(type)];
}

ReductionType tilec::simulator::reductionType(TensorMapType type) {
  switch (type) {
  case TensorMapType::U8:
    return ReductionType::U8;
  case TensorMapType::U16:
  case TensorMapType::F16:
    return ReductionType::F16;
  case TensorMapType::U32:
    return ReductionType::U32;
  case TensorMapType::S32:
    return ReductionType::S32;
  case TensorMapType::U64:
    return ReductionType::U64;
  case TensorMapType::S64:
    return ReductionType::S64;
  case TensorMapType::BF16:
    return ReductionType::BF16;
  case TensorMapType::F64:
    return ReductionType::F64;
  case TensorMapType::F32:
  case TensorMapType::F32Flushed:
  case TensorMapType::TF32:
  case TensorMapType::TF32Flushed:
    return ReductionType::F32;
  }
  llvm_unreachable("a type without reductions");
}

template <typename T> static T reduceValue(BulkReduction operation, T target, T source) {
  switch (operation) {
  case BulkReduction::Add:
    return target + source;
  case BulkReduction::Minimum:
    return source < target ? source : target;
  case BulkReduction::Maximum:
    return target < source ? source : target;
  default:
    return source;
  }
}

// atom.inc and atom.dec wrap at the source (PTX ISA, "atom").
static uint64_t reduceBits(BulkReduction operation, uint64_t target, uint64_t source) {
  switch (operation) {
  case BulkReduction::And:
    return target & source;
  case BulkReduction::Or:
    return target | source;
  case BulkReduction::Xor:
    return target ^ source;
  case BulkReduction::Increment:
    return target >= source ? 0 : target + 1;
  case BulkReduction::Decrement:
    return target == 0 || target > source ? source : target - 1;
  default:
    return reduceValue(operation, target, source);
  }
}

static uint16_t reduceHalf(BulkReduction operation, FloatFormat format, uint16_t target, uint16_t source) {
  HalfOperation half = operation == BulkReduction::Add       ? HalfOperation::Add
                       : operation == BulkReduction::Minimum ? HalfOperation::Minimum
                                                             : HalfOperation::Maximum;
  return computeHalf(half, format, target, source);
}

template <typename T, typename F> static void update(uint8_t *target, const uint8_t *source, F combine) {
  T a, b;
  std::memcpy(&a, target, sizeof(T));
  std::memcpy(&b, source, sizeof(T));
  a = static_cast<T>(combine(a, b));
  std::memcpy(target, &a, sizeof(T));
}

void tilec::simulator::reduceElement(BulkReduction operation, ReductionType type, uint8_t *target,
                                     const uint8_t *source) {
  auto value = [&](auto a, auto b) { return reduceValue(operation, a, b); };
  auto bits = [&](uint64_t a, uint64_t b) { return reduceBits(operation, a, b); };
  bool compares = operation == BulkReduction::Minimum || operation == BulkReduction::Maximum;
  switch (type) {
  case ReductionType::U8:
    return update<uint8_t>(target, source, bits);
  case ReductionType::U32:
  case ReductionType::B32:
    return update<uint32_t>(target, source, bits);
  case ReductionType::U64:
  case ReductionType::B64:
    return update<uint64_t>(target, source, bits);
  case ReductionType::S32:
    return compares ? update<int32_t>(target, source, value) : update<uint32_t>(target, source, bits);
  case ReductionType::S64:
    return compares ? update<int64_t>(target, source, value) : update<uint64_t>(target, source, bits);
  case ReductionType::F32:
    // NaN has one pattern (H200).
    return update<uint32_t>(target, source, [&](uint32_t a, uint32_t b) {
      float sum = reduceValue(operation, llvm::bit_cast<float>(a), llvm::bit_cast<float>(b));
      return sum != sum ? static_cast<uint32_t>(formatInfo(FloatFormat::F32).nan) : llvm::bit_cast<uint32_t>(sum);
    });
  case ReductionType::F64:
    return update<double>(target, source, value);
  case ReductionType::F16:
  case ReductionType::BF16: {
    FloatFormat format = type == ReductionType::F16 ? FloatFormat::F16 : FloatFormat::BF16;
    return update<uint16_t>(target, source,
                            [&](uint16_t a, uint16_t b) { return reduceHalf(operation, format, a, b); });
  }
  }
}
