// Contents of tensors: files, generators, images of device memory.
#include "tilec/Runner/HostTensor.h"

#include "tilec/Runner/Launcher.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>
#include <cstring>
#include <random>

using namespace llvm;
using namespace tilec::runner;
using tilec::interpreter::NpyArray;

//===----------------------------------------------------------------------===//
// Sources
//===----------------------------------------------------------------------===//

// `name(arguments)` or `name`; false if there is an opening parenthesis alone.
static bool splitCall(StringRef text, StringRef &name, SmallVectorImpl<StringRef> &arguments) {
  size_t open = text.find('(');
  name = text.take_front(open).trim();
  if (open == StringRef::npos)
    return true;
  if (!text.ends_with(")"))
    return false;
  text.slice(open + 1, text.size() - 1).split(arguments, ',', -1, /*KeepEmpty=*/false);
  for (StringRef &argument : arguments)
    argument = argument.trim();
  return true;
}

static std::optional<TensorSource::Kind> kindOf(StringRef name) {
  return StringSwitch<std::optional<TensorSource::Kind>>(name)
      .Cases("rand", "uniform", TensorSource::Uniform)
      .Cases("normal", "randn", TensorSource::Normal)
      .Case("range", TensorSource::Range)
      .Cases("zeros", "ones", "full", TensorSource::Constant)
      .Default(std::nullopt);
}

Expected<TensorSource> tilec::runner::parseTensorSource(StringRef text) {
  TensorSource source;
  if (text.ends_with(".npy")) {
    source.kind = TensorSource::File;
    source.path = text.str();
    return source;
  }
  if (text.ends_with(".npz"))
    return createStringError("`" + text + "` is an archive of arrays; save one with numpy.save as .npy");
  StringRef name;
  SmallVector<StringRef, 4> arguments;
  std::optional<TensorSource::Kind> kind;
  if (splitCall(text, name, arguments))
    kind = kindOf(name);
  if (!kind)
    return createStringError("`" + text +
                             "` is no contents of a tensor; write file.npy, rand, normal, range, zeros, "
                             "ones or full(x)");
  source.kind = *kind;
  source.value = name == "ones";
  if (name == "full") {
    if (arguments.empty() || arguments.pop_back_val().getAsDouble(source.value))
      return createStringError("`" + text + "` lacks the value; write full(x)");
  }
  std::vector<int64_t> shape;
  for (StringRef argument : arguments) {
    if (argument.consume_front("seed=")) {
      uint64_t seed;
      if (argument.getAsInteger(0, seed))
        return createStringError("`" + text + "` has a seed that is no number");
      source.seed = seed;
      continue;
    }
    if (argument.getAsInteger(0, shape.emplace_back()) || shape.back() < 0)
      return createStringError("`" + text + "` has the extent `" + argument + "`, which is no number");
  }
  if (!shape.empty())
    source.shape = shape;
  return source;
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

static int64_t product(ArrayRef<int64_t> shape) {
  int64_t n = 1;
  for (int64_t extent : shape)
    n *= extent;
  return n;
}

int64_t HostTensor::size() const { return product(shape); }

HostTensor tilec::runner::generateTensor(const ElementType &type, ArrayRef<int64_t> shape, const TensorSource &source,
                                         uint64_t seed) {
  HostTensor tensor = {&type, shape.vec(), std::vector<uint8_t>(product(shape) * type.bytes)};
  std::mt19937_64 random(source.seed.value_or(seed));
  auto unit = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  bool isFloat = type.kind == ElementType::Float;
  for (int64_t i = 0, n = tensor.size(); i < n; ++i) {
    uint8_t *element = &tensor.bytes[i * type.bytes];
    switch (source.kind) {
    case TensorSource::Range:
      encodeInteger(type, i, element);
      continue;
    case TensorSource::Constant:
      encodeElement(type, source.value, element);
      continue;
    case TensorSource::Uniform:
    case TensorSource::Normal:
    case TensorSource::File:
      break;
    }
    if (!isFloat) {
      int64_t value = static_cast<int64_t>(random() >> 60) - (type.kind == ElementType::Signed ? 8 : 0);
      encodeInteger(type, type.kind == ElementType::Bool ? value & 1 : value, element);
      continue;
    }
    double value = 2 * unit() - 1;
    if (source.kind == TensorSource::Normal) // Box and Muller; one of the two numbers
      value = std::sqrt(-2 * std::log(1 - unit())) * std::cos(6.283185307179586 * unit());
    encodeElement(type, value, element);
  }
  return tensor;
}

static const ElementType *typeOfArray(StringRef npy) {
  return cantFail(findElementType(StringSwitch<StringRef>(npy)
                                      .Case("f2", "f16")
                                      .Case("f4", "f32")
                                      .Case("f8", "f64")
                                      .Case("i1", "i8")
                                      .Case("i2", "i16")
                                      .Case("i4", "i32")
                                      .Case("i8", "i64")
                                      .Case("u2", "u16")
                                      .Case("u4", "u32")
                                      .Case("u8", "u64")
                                      .Case("b1", "bool")
                                      .Default("u8")));
}

Expected<HostTensor> tilec::runner::convertArray(const ElementType &type, const NpyArray &array) {
  HostTensor tensor = {&type, array.shape, array.bytes};
  if (array.type == type.npy || (type.kind == ElementType::Bool && array.type == "b1"))
    return tensor;
  const ElementType *from = typeOfArray(array.type);
  tensor.bytes.assign(array.size() * type.bytes, 0);
  for (int64_t i = 0, n = array.size(); i < n; ++i) {
    double value = decodeElement(*from, &array.bytes[i * from->bytes]);
    uint8_t *element = &tensor.bytes[i * type.bytes];
    encodeElement(type, value, element);
    if (type.kind != ElementType::Float && decodeElement(type, element) != value)
      return createStringError("it holds " + std::to_string(value) + ", which is no " + type.name);
  }
  return tensor;
}

NpyArray tilec::runner::toArray(const HostTensor &tensor, bool decoded) {
  NpyArray array = {tensor.type->npy, tensor.shape, tensor.bytes};
  if (!decoded || tensor.type->kind != ElementType::Float || tensor.type->npy[0] == 'f')
    return array;
  array.type = "f4";
  array.bytes.resize(tensor.size() * sizeof(float));
  for (int64_t i = 0, n = tensor.size(); i < n; ++i) {
    float value = static_cast<float>(tensor.value(i));
    std::memcpy(&array.bytes[i * sizeof(float)], &value, sizeof(float));
  }
  return array;
}

//===----------------------------------------------------------------------===//
// Device memory
//===----------------------------------------------------------------------===//

static constexpr uint8_t poison = 0xff;

DeviceImage::DeviceImage(const ElementType &type, std::vector<int64_t> shape, std::vector<int64_t> strides)
    : type(&type), shape(std::move(shape)), strides(std::move(strides)) {
  dense = this->strides == rowMajorStrides(this->shape);
  image.assign(spanOf(this->shape, this->strides) * type.bytes, poison);
}

std::vector<int64_t> DeviceImage::offsets() const {
  std::vector<int64_t> result, index(shape.size(), 0);
  int64_t count = product(shape), offset = 0;
  result.reserve(count);
  for (int64_t i = 0; i < count; ++i) {
    result.push_back(offset * type->bytes);
    for (size_t dimension = shape.size(); dimension-- > 0;) {
      offset += strides[dimension];
      if (++index[dimension] < shape[dimension])
        break;
      offset -= strides[dimension] * shape[dimension];
      index[dimension] = 0;
    }
  }
  return result;
}

std::vector<std::pair<int64_t, int64_t>> DeviceImage::pieces() const {
  if (dense)
    return {{0, static_cast<int64_t>(image.size())}};
  std::vector<int64_t> starts = offsets();
  llvm::sort(starts);
  std::vector<std::pair<int64_t, int64_t>> result;
  for (int64_t offset : starts)
    if (!result.empty() && result.back().first + result.back().second == offset)
      result.back().second += type->bytes;
    else
      result.push_back({offset, type->bytes});
  return result;
}

void DeviceImage::place(const HostTensor &tensor) {
  if (dense) {
    image = tensor.bytes;
    return;
  }
  const uint8_t *source = tensor.bytes.data();
  for (int64_t offset : offsets()) {
    std::memcpy(&image[offset], source, type->bytes);
    source += type->bytes;
  }
}

HostTensor DeviceImage::extract() const {
  if (dense)
    return {type, shape, image};
  HostTensor tensor = {type, shape, {}};
  tensor.bytes.reserve(product(shape) * type->bytes);
  for (int64_t offset : offsets())
    tensor.bytes.insert(tensor.bytes.end(), &image[offset], &image[offset] + type->bytes);
  return tensor;
}

int64_t DeviceImage::strayBytes() const {
  if (dense)
    return 0;
  std::vector<bool> owned(image.size());
  for (int64_t offset : offsets())
    for (unsigned i = 0; i < type->bytes; ++i)
      owned[offset + i] = true;
  int64_t count = 0;
  for (size_t i = 0; i < image.size(); ++i)
    count += !owned[i] && image[i] != poison;
  return count;
}
