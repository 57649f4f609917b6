// Binds host arrays to the parameters of a kernel.
#include "tilec/Interpreter/Arguments.h"

#include "tilec/Interpreter/Npy.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include <cstring>

using namespace mlir;
using namespace tilec::interpreter;

static llvm::Error fault(const Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

static StringRef field(DictionaryAttr argument, StringRef name) {
  auto text = argument.getAs<StringAttr>(name);
  return text ? text.getValue() : StringRef();
}

// Bits of an element type in memory and the numpy type of its storage values.
static unsigned elementBits(StringRef type) {
  return llvm::StringSwitch<unsigned>(type)
      .Case("u2", 2)
      .Cases({"i4", "u4"}, 4)
      .Cases({"bool", "i8", "u8", "f8e4m3", "f8e5m2"}, 8)
      .Cases({"i16", "u16", "f16", "bf16"}, 16)
      .Cases({"i64", "u64", "f64", "index"}, 64)
      .Default(32);
}

static std::string storageType(StringRef type) {
  unsigned bytes = std::max(elementBits(type) / 8, 1u);
  char kind = type == "f16" || type == "f32" || type == "f64" ? 'f' : type.starts_with("i") ? 'i' : 'u';
  return kind + std::to_string(bytes);
}

// The text of a host expression as a user writes it.
static std::string text(Attribute expression) {
  if (auto integer = dyn_cast<IntegerAttr>(expression))
    return std::to_string(integer.getInt());
  if (auto name = dyn_cast<StringAttr>(expression))
    return name.str();
  auto list = dyn_cast<ArrayAttr>(expression);
  auto op = list && list.size() == 3 ? dyn_cast<StringAttr>(list[0]) : StringAttr();
  if (!op)
    return "?";
  StringRef sign = llvm::StringSwitch<StringRef>(op.getValue())
                       .Case("add", " + ")
                       .Case("sub", " - ")
                       .Case("mul", " * ")
                       .Case("div", " / ")
                       .Case("rem", " % ")
                       .Default("");
  if (sign.empty())
    return op.str() + "(" + text(list[1]) + ", " + text(list[2]) + ")";
  return "(" + text(list[1]) + sign.str() + text(list[2]) + ")";
}

std::vector<int64_t> HostArrays::Layout::elements() const {
  std::vector<int64_t> result = {0};
  for (auto [size, stride] : llvm::zip(shape, strides)) {
    std::vector<int64_t> next;
    next.reserve(result.size() * std::max<int64_t>(size, 0));
    for (int64_t base : result)
      for (int64_t i = 0; i < size; ++i)
        next.push_back(base + i * stride);
    result = std::move(next);
  }
  return result;
}

llvm::Error HostArrays::bind(LaunchArguments &arguments) {
  auto list = kernel.getAs<ArrayAttr>("arguments");
  for (auto argument : list.getAsRange<DictionaryAttr>())
    if (field(argument, "kind") != "tensor")
      if (llvm::Error error = bindScalar(argument, arguments))
        return error;
  for (auto argument : list.getAsRange<DictionaryAttr>())
    if (field(argument, "kind") == "tensor")
      if (llvm::Error error = bindShape(argument, arguments))
        return error;
  for (auto argument : list.getAsRange<DictionaryAttr>()) {
    std::string name = field(argument, "name").str();
    if (field(argument, "kind") == "tensor") {
      if (llvm::Error error = bindTensor(argument, arguments))
        return error;
    } else if (!arguments.integers.count(name) && !arguments.floats.count(name)) {
      return fault("nothing gives the value of `" + name + "`");
    } else if (field(argument, "kind") == "dim" && arguments.integers[name] < 0) {
      return fault("the dimension `" + name + "` is negative");
    }
  }
  return llvm::Error::success();
}

llvm::Error HostArrays::bindScalar(DictionaryAttr argument, LaunchArguments &arguments) {
  std::string name = field(argument, "name").str();
  auto given = host.inputs.find(name);
  if (given == host.inputs.end())
    return llvm::Error::success();
  StringRef value = given->second, type = field(argument, "type");
  if (type.starts_with("f") || type == "bf16" || type == "tf32") {
    char *end = nullptr;
    double number = std::strtod(given->second.c_str(), &end);
    if (end == given->second.c_str() || *end != 0)
      return fault("`" + value + "` is no number for `" + name + "`");
    arguments.floats[name] = number;
    return llvm::Error::success();
  }
  int64_t integer = 0;
  uint64_t unsignedInteger = 0;
  if (value == "true" || value == "false")
    integer = value == "true";
  else if (!value.getAsInteger(0, unsignedInteger))
    integer = static_cast<int64_t>(unsignedInteger);
  else if (value.getAsInteger(0, integer))
    return fault("`" + value + "` is no integer for `" + name + "`");
  arguments.integers[name] = integer;
  return llvm::Error::success();
}

// Dimensions that are names of launch arguments follow from arrays and --shape; known ones must agree.
llvm::Error HostArrays::bindShape(DictionaryAttr argument, LaunchArguments &arguments) {
  std::string name = field(argument, "name").str();
  auto input = host.inputs.find(name);
  std::vector<int64_t> shape;
  if (auto given = host.shapes.find(name); given != host.shapes.end()) {
    shape = given->second;
  } else if (input != host.inputs.end()) {
    llvm::Expected<NpyArray> array = readNpy(input->second);
    if (!array)
      return array.takeError();
    shape = array->shape;
  } else {
    return llvm::Error::success();
  }
  if (llvm::Error error = bindSizes(argument, "shape", shape, arguments))
    return error;
  layouts[name].shape = shape;
  return llvm::Error::success();
}

llvm::Error HostArrays::bindSizes(DictionaryAttr argument, StringRef what, ArrayRef<int64_t> given,
                                  LaunchArguments &arguments) {
  StringRef name = field(argument, "name");
  auto expressions = argument.getAs<ArrayAttr>(what);
  if (expressions.size() != given.size())
    return fault("`" + name + "` has " + Twine(expressions.size()) + " dimensions, the given " + what + " has " +
                 Twine(given.size()));
  for (auto [d, expression] : llvm::enumerate(expressions)) {
    auto dimension = dyn_cast<StringAttr>(expression);
    if (dimension && arguments.integers.try_emplace(dimension.str(), given[d]).second)
      continue;
    llvm::Expected<double> expected = evaluateHostExpression(expression, arguments);
    if (!expected) {
      llvm::consumeError(expected.takeError());
      continue;
    }
    if (static_cast<int64_t>(*expected) != given[d])
      return fault("the " + what + " of `" + name + "` has " + Twine(given[d]) + " in dimension " + Twine(d) +
                   " where `" + text(expression) + "` is " + Twine(static_cast<int64_t>(*expected)));
  }
  return llvm::Error::success();
}

llvm::Error HostArrays::bindStrides(DictionaryAttr argument, Layout &layout, LaunchArguments &arguments) {
  std::string name = field(argument, "name").str();
  auto given = host.steps.find(name);
  if (given != host.steps.end()) {
    layout.strides = given->second;
    return bindSizes(argument, "strides", layout.strides, arguments);
  }
  SmallVector<int64_t, 4> natural = rowMajorStrides(layout.shape);
  for (auto [d, expression] : llvm::enumerate(argument.getAs<ArrayAttr>("strides"))) {
    if (auto stride = dyn_cast<StringAttr>(expression))
      arguments.integers.try_emplace(stride.str(), natural[d]);
    llvm::Expected<double> value = evaluateHostExpression(expression, arguments);
    if (!value)
      return value.takeError();
    layout.strides.push_back(static_cast<int64_t>(*value));
  }
  return llvm::Error::success();
}

llvm::Error HostArrays::bindTensor(DictionaryAttr argument, LaunchArguments &arguments) {
  std::string name = field(argument, "name").str();
  Layout &layout = layouts[name];
  layout.shape.clear();
  for (Attribute expression : argument.getAs<ArrayAttr>("shape")) {
    llvm::Expected<double> size = evaluateHostExpression(expression, arguments);
    if (!size)
      return fault("the shape of `" + name + "` is not known: " + llvm::toString(size.takeError()));
    layout.shape.push_back(static_cast<int64_t>(*size));
  }
  // Now every dimension is known, so that shapes which had to wait are checked too.
  if (llvm::Error error = bindShape(argument, arguments))
    return error;
  if (llvm::Error error = bindStrides(argument, layout, arguments))
    return error;
  int64_t span = 1;
  for (auto [size, stride] : llvm::zip(layout.shape, layout.strides))
    span = size <= 0 || span == 0 ? 0 : span + (size - 1) * stride;
  int64_t bits = elementBits(field(argument, "type"));
  Buffer &buffer = arguments.tensors[name];
  buffer.name = name;
  buffer.bytes.assign((span * bits + 7) / 8, 0xFF);
  auto offset = host.offsets.find(name);
  arguments.addresses[name] = offset == host.offsets.end() ? 0 : offset->second * bits / 8;
  if (!host.inputs.count(name)) {
    if (field(argument, "access") == "in")
      return fault("nothing gives the tensor `" + name + "`");
    return llvm::Error::success();
  }
  return fill(argument, layout, buffer);
}

// Moves storage values between an array and memory.
static void copyElement(uint8_t *memory, int64_t element, uint8_t *value, unsigned bits, bool toMemory) {
  if (bits >= 8) {
    uint8_t *place = memory + element * bits / 8;
    std::memcpy(toMemory ? place : value, toMemory ? value : place, bits / 8);
    return;
  }
  unsigned shift = element * bits % 8, mask = (1u << bits) - 1;
  uint8_t &byte = memory[element * bits / 8];
  if (toMemory)
    byte = static_cast<uint8_t>((byte & ~(mask << shift)) | (*value & mask) << shift);
  else
    *value = byte >> shift & mask;
}

llvm::Error HostArrays::fill(DictionaryAttr argument, const Layout &layout, Buffer &buffer) {
  std::string name = field(argument, "name").str();
  llvm::Expected<NpyArray> array = readNpy(host.inputs.at(name));
  if (!array)
    return array.takeError();
  StringRef type = field(argument, "type");
  unsigned bits = elementBits(type);
  if (array->itemSize() != std::max<int64_t>(bits / 8, 1))
    return fault("`" + name + "` holds elements of " + Twine(array->itemSize()) + " bytes, `" + type + "` takes " +
                 Twine(std::max(bits / 8, 1u)));
  for (auto [i, element] : llvm::enumerate(layout.elements()))
    copyElement(buffer.bytes.data(), element, array->bytes.data() + i * array->itemSize(), bits, true);
  return llvm::Error::success();
}

llvm::Error HostArrays::write(LaunchArguments &arguments) {
  for (auto argument : kernel.getAs<ArrayAttr>("arguments").getAsRange<DictionaryAttr>())
    if (field(argument, "kind") == "tensor" && field(argument, "access") != "in")
      if (llvm::Error error = writeTensor(argument, arguments.tensors[field(argument, "name").str()]))
        return error;
  return llvm::Error::success();
}

llvm::Error HostArrays::writeTensor(DictionaryAttr argument, const Buffer &buffer) {
  std::string name = field(argument, "name").str();
  const Layout &layout = layouts[name];
  StringRef type = field(argument, "type");
  unsigned bits = elementBits(type);
  std::vector<uint8_t> memory = buffer.bytes;
  NpyArray array;
  array.type = storageType(type);
  array.shape = layout.shape;
  array.bytes.resize(array.size() * array.itemSize());
  std::vector<int64_t> elements = layout.elements();
  for (auto [i, element] : llvm::enumerate(elements)) {
    uint8_t *value = array.bytes.data() + i * array.itemSize();
    copyElement(memory.data(), element, value, bits, false);
    if (type == "i4" && *value > 7)
      *value |= 0xF0;
  }
  if (bits >= 8) {
    for (int64_t element : elements)
      std::memset(memory.data() + element * bits / 8, 0xFF, bits / 8);
    if (llvm::any_of(memory, [](uint8_t byte) { return byte != 0xFF; }))
      return fault("the kernel wrote between the elements of `" + name + "`");
  }
  auto path = host.outputs.find(name);
  return path == host.outputs.end() ? llvm::Error::success() : writeNpy(path->second, array);
}
