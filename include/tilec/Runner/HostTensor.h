// Tensors on the host: contents from files and generators, their image in device memory, results.
#ifndef TILEC_RUNNER_HOSTTENSOR_H
#define TILEC_RUNNER_HOSTTENSOR_H

#include "tilec/Interpreter/Npy.h"
#include "tilec/Runner/Elements.h"
#include "llvm/ADT/ArrayRef.h"
#include <optional>
#include <vector>

namespace tilec::runner {

/// What the user writes for a tensor:
///   file.npy             storage values (bf16 as uint16, f8 as uint8), or numbers of another type, which are converted
///   rand, normal         seeded random: uniform in [-1, 1) or standard normal; integers -8 to 7, unsigned 0 to 15
///   range                0, 1, 2, ... in row-major order
///   zeros, full(x)       one value
/// A generator takes the shape as arguments, `rand(512, 768)`, where the dimensions are not given otherwise, and
/// `seed=7`. `full` takes its value last: `full(512, 768, 2.5)`.
struct TensorSource {
  enum Kind : uint8_t { File, Uniform, Normal, Range, Constant };
  Kind kind = Normal;
  std::string path;
  std::optional<std::vector<int64_t>> shape;
  std::optional<uint64_t> seed;
  double value = 0;
};

/// Fails with a message for the user.
llvm::Expected<TensorSource> parseTensorSource(llvm::StringRef text);

/// A dense row-major array of storage values.
struct HostTensor {
  const ElementType *type = nullptr;
  std::vector<int64_t> shape;
  std::vector<uint8_t> bytes;

  int64_t size() const;
  double value(int64_t index) const { return decodeElement(*type, &bytes[index * type->bytes]); }
};

/// A tensor of generated values. `seed` is used where the source has none.
HostTensor generateTensor(const ElementType &type, llvm::ArrayRef<int64_t> shape, const TensorSource &source,
                          uint64_t seed);

/// The array as elements of the type. Arrays of the storage type are taken as they are; floats are rounded, integers
/// converted if all values fit.
llvm::Expected<HostTensor> convertArray(const ElementType &type, const interpreter::NpyArray &array);

/// The storage values, or where `decoded` bf16 and f8 as float32.
interpreter::NpyArray toArray(const HostTensor &tensor, bool decoded);

/// A tensor in device memory: its elements at strides, with poison (0xff) between them.
class DeviceImage {
public:
  /// Strides in elements.
  DeviceImage(const ElementType &type, std::vector<int64_t> shape, std::vector<int64_t> strides);

  /// Bytes from the first element to the last.
  size_t bytes() const { return image.size(); }
  llvm::ArrayRef<uint8_t> contents() const { return image; }
  llvm::MutableArrayRef<uint8_t> contents() { return image; }
  /// The contiguous pieces of memory that hold elements: byte offset and size.
  std::vector<std::pair<int64_t, int64_t>> pieces() const;
  void place(const HostTensor &tensor);
  HostTensor extract() const;
  /// Bytes between the elements that do not hold poison any more.
  int64_t strayBytes() const;

private:
  /// Byte offsets of the elements in row-major order.
  std::vector<int64_t> offsets() const;

  const ElementType *type;
  std::vector<int64_t> shape, strides;
  /// The elements lie in row-major order without gaps.
  bool dense = false;
  std::vector<uint8_t> image;
};

} // namespace tilec::runner

#endif // TILEC_RUNNER_HOSTTENSOR_H
