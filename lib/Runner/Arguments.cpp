// Binds NAME=VALUE to the arguments of a kernel.
#include "tilec/Runner/Arguments.h"

#include "tilec/Runner/Launcher.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace tilec::runner;

TensorBinding *Arguments::find(StringRef name) {
  auto found = find_if(tensors, [&](const TensorBinding &tensor) { return tensor.name == name; });
  return found == tensors.end() ? nullptr : &*found;
}

namespace {
class Binder {
public:
  Binder(const json::Object &kernel, const ArgumentOptions &options) : kernel(kernel), options(options) {}

  Expected<Arguments> run();

private:
  StringRef kindOf(StringRef name) const;
  std::vector<std::string> names() const;
  Error checkNames() const;
  Error bindNumber(StringRef name, StringRef text);
  Error bindTensor(const json::Object &argument);
  Error readContents(const json::Object &argument, TensorBinding &tensor, const TensorSource &source);
  void solveShape(const json::Object &argument, ArrayRef<int64_t> shape);
  Error finish(const json::Object &argument, TensorBinding &tensor);
  void makeContents(TensorBinding &tensor);
  Error checkSizes() const;
  Error evaluateShape(const json::Object &argument, TensorBinding &tensor);
  std::optional<StringRef> given(StringRef name) const;

  const json::Object &kernel;
  const ArgumentOptions &options;
  Arguments result;
  HostValues values;
  std::map<std::string, TensorSource> sources;
};
} // namespace

static std::vector<const json::Object *> argumentsOf(const json::Object &kernel) {
  std::vector<const json::Object *> result;
  if (const json::Array *list = kernel.getArray("arguments"))
    for (const json::Value &value : *list)
      if (const json::Object *argument = value.getAsObject())
        result.push_back(argument);
  return result;
}

static std::string nameOf(const json::Object &argument) { return argument.getString("name").value_or("").str(); }

std::optional<StringRef> Binder::given(StringRef name) const {
  for (const auto &[key, value] : options.values)
    if (key == name)
      return StringRef(value);
  return std::nullopt;
}

std::vector<std::string> Binder::names() const {
  std::vector<std::string> result;
  for (const json::Object *argument : argumentsOf(kernel))
    result.push_back(nameOf(*argument));
  return result;
}

Error Binder::checkNames() const {
  std::vector<std::string> known = names();
  auto check = [&](StringRef name) -> Error {
    if (is_contained(known, name.str()))
      return Error::success();
    return createStringError("kernel `" + kernel.getString("name").value_or("") + "` has no argument `" + name +
                             "`; it has " + join(known, ", "));
  };
  Error error = Error::success();
  StringSet<> seen;
  for (const auto &[name, value] : options.values) {
    error = joinErrors(std::move(error), check(name));
    if (!seen.insert(name).second)
      error = joinErrors(std::move(error), createStringError("`" + name + "` is given twice"));
  }
  for (const auto *lists : {&options.strides, &options.shapes})
    for (const auto &[name, list] : *lists)
      error = joinErrors(std::move(error), check(name));
  for (const auto &[name, offset] : options.offsets)
    error = joinErrors(std::move(error), check(name));
  return error;
}

StringRef Binder::kindOf(StringRef name) const {
  for (const json::Object *argument : argumentsOf(kernel))
    if (nameOf(*argument) == name)
      return argument->getString("kind") == "tensor" ? "tensor"
             : argument->getString("kind") == "dim"  ? "dim"
                                                     : argument->getString("type").value_or("");
  return "";
}

// `type` is "dim" or an element type.
Error Binder::bindNumber(StringRef name, StringRef text) {
  StringRef type = kindOf(name);
  bool isFloat = type.starts_with("f") || type == "bf16";
  Number number;
  number.isReal = isFloat;
  std::optional<int64_t> word =
      StringSwitch<std::optional<int64_t>>(text).Case("true", 1).Case("false", 0).Default(std::nullopt);
  bool bad = isFloat ? text.getAsDouble(number.real) : !word && text.getAsInteger(0, number.integer);
  uint64_t unsignedValue;
  if (bad && type == "u64" && !text.getAsInteger(0, unsignedValue)) {
    number.integer = static_cast<int64_t>(unsignedValue);
    bad = false;
  }
  if (bad)
    return createStringError("`" + name + "=" + text + "` is no " + (isFloat ? "number" : "integer"));
  if (word)
    number.integer = *word;
  if (!isFloat)
    number.real = static_cast<double>(number.integer);
  values.names[name.str()] = result.numbers[name.str()] = number;
  return Error::success();
}

// Dimensions that stand alone in a shape follow from an array.
void Binder::solveShape(const json::Object &argument, ArrayRef<int64_t> shape) {
  const json::Array *expressions = argument.getArray("shape");
  if (!expressions || expressions->size() != shape.size())
    return; // the launcher reports it
  for (auto [expression, extent] : zip(*expressions, shape))
    if (std::optional<StringRef> name = expression.getAsString(); name && kindOf(*name) == "dim")
      values.names.try_emplace(name->str(), extent);
}

// "f32[M, N]"
static std::string declarationText(const json::Object &argument) {
  std::string text = argument.getString("type").value_or("").str() + "[";
  const json::Array *shape = argument.getArray("shape");
  ListSeparator comma;
  for (const json::Value &extent : shape ? *shape : json::Array()) {
    text += StringRef(comma);
    text += expressionText(extent);
  }
  return text + "]";
}

Error Binder::readContents(const json::Object &argument, TensorBinding &tensor, const TensorSource &source) {
  Expected<tilec::interpreter::NpyArray> array = tilec::interpreter::readNpy(source.path);
  if (!array)
    return array.takeError();
  Expected<HostTensor> contents = convertArray(*tensor.type, *array);
  if (!contents)
    return createStringError("`" + source.path + "` for `" + tensor.name + "`: " + toString(contents.takeError()));
  size_t rank = argument.getArray("shape") ? argument.getArray("shape")->size() : 0;
  if (contents->shape.size() != rank)
    return createStringError("`" + source.path + "` has " + Twine(contents->shape.size()) + " dimensions, and `" +
                             tensor.name + "` is " + declarationText(argument));
  tensor.shape = contents->shape;
  tensor.contents = std::move(*contents);
  return Error::success();
}

Error Binder::bindTensor(const json::Object &argument) {
  TensorBinding tensor;
  tensor.name = nameOf(argument);
  Expected<const ElementType *> type = findElementType(argument.getString("type").value_or(""));
  if (!type)
    return createStringError("`" + tensor.name + "`: " + toString(type.takeError()));
  tensor.type = *type;
  StringRef access = argument.getString("access").value_or("in");
  tensor.access = access == "in" ? TensorBinding::In : access == "out" ? TensorBinding::Out : TensorBinding::InOut;
  std::optional<StringRef> text = given(tensor.name);
  if (text && tensor.access == TensorBinding::Out)
    return createStringError("`" + tensor.name + "` is an output; write --out " + tensor.name + "=file.npy");
  tensor.origin = text.value_or("normal").str();
  Expected<TensorSource> source = parseTensorSource(tensor.origin);
  if (!source)
    return createStringError("`" + tensor.name + "`: " + toString(source.takeError()));
  if (source->kind == TensorSource::File)
    if (Error error = readContents(argument, tensor, *source))
      return error;
  auto shape = options.shapes.find(tensor.name);
  if (tensor.shape.empty() && shape != options.shapes.end())
    tensor.shape = shape->second;
  if (tensor.shape.empty() && source->shape)
    tensor.shape = *source->shape;
  if (!tensor.shape.empty())
    solveShape(argument, tensor.shape);
  sources[tensor.name] = *source;
  result.tensors.push_back(std::move(tensor));
  return Error::success();
}

Error Binder::evaluateShape(const json::Object &argument, TensorBinding &tensor) {
  const json::Array *expressions = argument.getArray("shape");
  for (const json::Value &expression : expressions ? *expressions : json::Array()) {
    Expected<int64_t> extent = evaluate(expression, values);
    if (!extent) {
      consumeError(extent.takeError());
      return createStringError("the size of `" + tensor.name + "`, " + expressionText(expression) +
                               ", is not known; give " + expressionText(expression) + "=NUMBER");
    }
    if (*extent < 0)
      return createStringError("the size of `" + tensor.name + "`, " + expressionText(expression) + " = " +
                               Twine(*extent) + ", is negative");
    tensor.shape.push_back(*extent);
  }
  return Error::success();
}

static uint64_t seedOf(StringRef name, uint64_t seed) {
  // FNV-1a over the name, so that tensors differ.
  for (char c : name)
    seed = (seed ^ static_cast<uint8_t>(c)) * 0x100000001b3u;
  return seed;
}

Error Binder::finish(const json::Object &argument, TensorBinding &tensor) {
  bool scalar = argument.getArray("shape") && argument.getArray("shape")->empty();
  if (tensor.shape.empty() && !scalar)
    if (Error error = evaluateShape(argument, tensor))
      return error;
  auto strides = options.strides.find(tensor.name);
  tensor.strided = strides != options.strides.end();
  tensor.strides = tensor.strided ? strides->second : rowMajorStrides(tensor.shape);
  const json::Array *declared = argument.getArray("strides");
  bool follows = !tensor.strided && declared && !argument.getBoolean("dynamic_strides").value_or(false);
  for (size_t i = 0; follows && i < std::min(declared->size(), tensor.strides.size()); ++i) {
    Expected<int64_t> stride = evaluate((*declared)[i], values);
    if (!stride)
      return stride.takeError();
    if (tensor.shape[i] > 1)
      tensor.strides[i] = *stride;
  }
  if (tensor.strides.size() != tensor.shape.size())
    return createStringError("`" + tensor.name + "` has " + Twine(tensor.shape.size()) + " dimensions and " +
                             Twine(tensor.strides.size()) + " strides");
  auto offset = options.offsets.find(tensor.name);
  tensor.offset = offset == options.offsets.end() ? 0 : offset->second;
  if (tensor.offset < 0)
    return createStringError("--offset of `" + tensor.name + "` is negative");
  return Error::success();
}

static std::string sizeText(double bytes) {
  const char *unit = "bytes";
  for (const char *larger : {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"})
    if (bytes >= 1024) {
      bytes /= 1024;
      unit = larger;
    }
  std::string text;
  raw_string_ostream(text) << format("%.4g ", bytes) << unit;
  return text;
}

// In floats, which do not overflow.
Error Binder::checkSizes() const {
  double all = 0;
  for (const TensorBinding &tensor : result.tensors) {
    double elements = 1, span = 1;
    for (auto [extent, stride] : zip(tensor.shape, tensor.strides)) {
      elements *= static_cast<double>(extent);
      span += static_cast<double>(std::max<int64_t>(extent - 1, 0)) * static_cast<double>(stride);
    }
    double bytes = std::max(elements, elements == 0 ? 0 : span) * tensor.type->bytes;
    all += bytes;
    if (all > options.mostBytes)
      return createStringError("the tensors are too large: " +
                               (all == bytes ? "`" + tensor.name + "` has " : "with `" + tensor.name + "` they have ") +
                               sizeText(all) + ", and this machine has memory for " + sizeText(options.mostBytes));
  }
  return Error::success();
}

void Binder::makeContents(TensorBinding &tensor) {
  if (tensor.access != TensorBinding::Out && !tensor.contents)
    tensor.contents =
        generateTensor(*tensor.type, tensor.shape, sources[tensor.name], seedOf(tensor.name, options.seed));
}

Expected<Arguments> Binder::run() {
  if (Error error = checkNames())
    return error;
  for (const auto &[name, text] : options.values)
    if (kindOf(name) != "tensor")
      if (Error error = bindNumber(name, text))
        return error;
  for (const json::Object *argument : argumentsOf(kernel))
    if (argument->getString("kind") == "tensor")
      if (Error error = bindTensor(*argument))
        return error;
  for (const json::Object *argument : argumentsOf(kernel))
    if (TensorBinding *tensor = result.find(nameOf(*argument)))
      if (Error error = finish(*argument, *tensor))
        return error;
  if (Error error = checkSizes())
    return error;
  for (TensorBinding &tensor : result.tensors)
    makeContents(tensor);
  return std::move(result);
}

Expected<Arguments> tilec::runner::bindArguments(const json::Object &kernel, const ArgumentOptions &options) {
  return Binder(kernel, options).run();
}
