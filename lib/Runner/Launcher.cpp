// Checks arguments, chooses a variant, evaluates grids and parameters.
#include "tilec/Runner/Launcher.h"

#include "tilec/Runner/Elements.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace tilec::runner;

std::vector<int64_t> tilec::runner::rowMajorStrides(ArrayRef<int64_t> shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;)
    strides[i - 1] = strides[i] * shape[i];
  return strides;
}

int64_t tilec::runner::spanOf(ArrayRef<int64_t> shape, ArrayRef<int64_t> strides) {
  int64_t last = 0;
  for (auto [extent, stride] : zip(shape, strides)) {
    if (extent == 0)
      return 0;
    last += (extent - 1) * stride;
  }
  return last + 1;
}

Launcher::Launcher(const json::Object &kernel, Device &device) : kernel(kernel), device(device) {
  values.aligned = [this](StringRef name, int64_t bytes) {
    const TensorArgument &tensor = tensors[name.str()];
    return is_contained(tensor.shape, 0) || tensor.address % bytes == 0;
  };
}

Error Launcher::fault(const Twine &message) const {
  return createStringError(kernel.getString("name").value_or("") + ": " + message);
}

static StringRef text(const json::Object &object, StringRef field) { return object.getString(field).value_or(""); }

static std::vector<const json::Object *> objects(const json::Object &object, StringRef field) {
  std::vector<const json::Object *> result;
  if (const json::Array *list = object.getArray(field))
    for (const json::Value &value : *list)
      if (const json::Object *entry = value.getAsObject())
        result.push_back(entry);
  return result;
}

std::vector<const json::Object *> Launcher::tensorArguments() const {
  std::vector<const json::Object *> result = objects(kernel, "arguments");
  erase_if(result, [](const json::Object *argument) { return text(*argument, "kind") != "tensor"; });
  return result;
}

std::vector<int64_t> Launcher::stridesOf(StringRef name) const {
  const TensorArgument &tensor = tensors.at(name.str());
  return tensor.strides ? *tensor.strides : rowMajorStrides(tensor.shape);
}

Expected<int64_t> Launcher::number(const json::Object &object, StringRef field) {
  const json::Value *expression = object.get(field);
  if (!expression)
    return fault("the reflection file lacks `" + field + "`");
  return evaluate(*expression, values);
}

Expected<std::vector<int64_t>> Launcher::numbers(const json::Object &object, StringRef field) {
  const json::Array *list = object.getArray(field);
  if (!list)
    return fault("the reflection file lacks `" + field + "`");
  std::vector<int64_t> result;
  for (const json::Value &expression : *list) {
    Expected<int64_t> value = evaluate(expression, values);
    if (!value)
      return value.takeError();
    result.push_back(*value);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

// Dimensions from bare uses in shapes, strides, the device.
Error Launcher::solve() {
  values.names["sm_count"] = device.smCount();
  std::vector<std::string> dims;
  for (const json::Object *argument : objects(kernel, "arguments")) {
    std::string name = text(*argument, "name").str();
    if (text(*argument, "kind") == "dim")
      dims.push_back(name);
    else if (text(*argument, "kind") == "scalar" && !values.names.count(name))
      return fault("argument `" + Twine(name) + "` is missing; give " + name + "=NUMBER");
    else if (text(*argument, "kind") == "tensor" && !tensors.count(name))
      return fault("tensor `" + Twine(name) + "` is missing");
  }
  for (const json::Object *argument : tensorArguments()) {
    StringRef name = text(*argument, "name");
    const TensorArgument &tensor = tensors[name.str()];
    const json::Array *shape = argument->getArray("shape");
    if (!shape || shape->size() != tensor.shape.size())
      return fault("`" + name + "` has " + Twine(tensor.shape.size()) + " dimensions, expected " +
                   Twine(shape ? shape->size() : 0));
    Expected<const ElementType *> type = findElementType(text(*argument, "type"));
    if (!type)
      return type.takeError();
    elementBytes[name.str()] = (*type)->bytes;
    for (auto [expression, extent] : zip(*shape, tensor.shape))
      if (std::optional<StringRef> dim = expression.getAsString(); dim && is_contained(dims, dim->str()))
        values.names.try_emplace(dim->str(), extent);
    for (auto [i, stride] : enumerate(stridesOf(name)))
      values.names[(name + ".stride" + Twine(i)).str()] = stride;
  }
  for (const std::string &dim : dims) {
    auto found = values.names.find(dim);
    if (found == values.names.end())
      return fault("dimension `" + Twine(dim) + "` follows from no argument; give " + dim + "=NUMBER");
    if (found->second.integer < 0)
      return fault("dimension `" + Twine(dim) + "` = " + Twine(found->second.integer) + " is negative");
  }
  return Error::success();
}

Error Launcher::checkShapes() {
  for (const json::Object *argument : tensorArguments()) {
    StringRef name = text(*argument, "name");
    for (auto [i, pair] : enumerate(zip(*argument->getArray("shape"), tensors[name.str()].shape))) {
      auto &[expression, extent] = pair;
      Expected<int64_t> want = evaluate(expression, values);
      if (!want)
        return want.takeError();
      if (*want == extent)
        continue;
      std::string formula = expression.getAsInteger() ? "" : expressionText(expression) + " = ";
      return fault("dimension " + Twine(i) + " of `" + name + "` is " + Twine(extent) + ", expected " + formula +
                   Twine(*want));
    }
  }
  return Error::success();
}

Error Launcher::checkContracts() {
  for (const json::Object *contract : objects(kernel, "contracts")) {
    Expected<int64_t> holds = number(*contract, "condition");
    if (!holds)
      return holds.takeError();
    if (!*holds)
      return fault("contract `" + text(*contract, "text") + "` does not hold");
  }
  return Error::success();
}

Error Launcher::checkStrides() {
  for (const json::Object *argument : tensorArguments()) {
    StringRef name = text(*argument, "name");
    const TensorArgument &tensor = tensors[name.str()];
    std::vector<int64_t> strides = stridesOf(name);
    if (argument->getBoolean("dynamic_strides").value_or(false)) {
      for (auto [extent, stride] : zip(tensor.shape, strides))
        if (stride < 0 || (stride == 0 && extent > 1 && text(*argument, "access") != "in"))
          return fault("a stride of `" + name + "` is " + Twine(stride) +
                       "; strides are positive, and 0 only for inputs");
      continue;
    }
    Expected<std::vector<int64_t>> want = numbers(*argument, "strides");
    if (!want)
      return want.takeError();
    for (auto [i, extent, stride, expected] : enumerate(tensor.shape, strides, *want))
      if (tensor.strides && extent > 1 && stride != expected)
        return fault("stride " + Twine(i) + " of `" + name + "` is " + Twine(stride) + ", expected " + Twine(expected));
  }
  return Error::success();
}

Error Launcher::checkAddresses() {
  for (const json::Object *argument : tensorArguments()) {
    StringRef name = text(*argument, "name");
    const TensorArgument &tensor = tensors[name.str()];
    if (!is_contained(tensor.shape, 0) && (tensor.address == 0 || tensor.address % elementBytes[name.str()]))
      return fault("the address of `" + name + "` is not a multiple of its element's size");
  }
  return Error::success();
}

Error Launcher::checkOverlap() {
  struct Range {
    StringRef name;
    uint64_t first, last;
    bool stored;
  };
  std::vector<Range> ranges;
  for (const json::Object *argument : tensorArguments()) {
    StringRef name = text(*argument, "name");
    const TensorArgument &tensor = tensors[name.str()];
    uint64_t bytes = spanOf(tensor.shape, stridesOf(name)) * elementBytes[name.str()];
    Range range = {name, tensor.address, tensor.address + bytes, text(*argument, "access") != "in"};
    for (const Range &other : ranges)
      if ((range.stored || other.stored) && std::max(range.first, other.first) < std::min(range.last, other.last))
        return fault("`" + other.name + "` and `" + name + "` overlap, and one of them is stored");
    ranges.push_back(range);
  }
  return Error::success();
}

bool Launcher::outputsEmpty() const {
  bool any = false;
  for (const json::Object *argument : tensorArguments()) {
    if (text(*argument, "access") == "in")
      continue;
    any = true;
    if (!is_contained(tensors.at(text(*argument, "name").str()).shape, 0))
      return false;
  }
  return any;
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

Expected<bool> Launcher::holds(const json::Object &variant) {
  const json::Array *conditions = variant.getArray("when");
  if (!conditions)
    return fault("the reflection file lacks `when`");
  for (const json::Value &condition : *conditions) {
    Expected<int64_t> value = evaluate(condition, values);
    if (!value)
      return value.takeError();
    if (!*value)
      return false;
  }
  return true;
}

/// Whether a variant is one that is asked for: by its name, by what follows the kernel's name in it, or by its last
/// part.
bool Launcher::isForced(StringRef variant) const {
  return variant == forced || variant.ends_with("__" + forced) ||
         (variant.consume_front(text(kernel, "name")) && variant.ltrim("_") == forced);
}

// Of the variants whose conditions hold the one of least cost, the first of equals.
Expected<const json::Object *> Launcher::chooseVariant() {
  std::string names;
  const json::Object *best = nullptr;
  int64_t least = 0;
  for (const json::Object *variant : objects(kernel, "variants")) {
    StringRef name = text(*variant, "name");
    names += (names.empty() ? "`" : ", `") + name.str() + "`";
    if (!forced.empty() && !isForced(name))
      continue;
    Expected<bool> fits = holds(*variant);
    if (!fits)
      return fits.takeError();
    if (!*fits && !forced.empty())
      return fault("the conditions of variant `" + Twine(forced) + "` do not hold for these arguments");
    if (!*fits)
      continue;
    Expected<int64_t> cost = variant->get("cost") ? number(*variant, "cost") : Expected<int64_t>(0);
    if (!cost)
      return cost.takeError();
    if (!best || *cost < least) {
      best = variant;
      least = *cost;
    }
  }
  if (best)
    return best;
  if (!forced.empty())
    return fault("there is no variant `" + Twine(forced) + "`; the variants are " + names);
  return fault("no variant accepts these arguments");
}

Error Launcher::allocateWorkspaces(LaunchPlan &plan) {
  for (const json::Object *entry : objects(kernel, "workspaces")) {
    Workspace workspace;
    workspace.name = text(*entry, "name").str();
    workspace.clear = entry->getBoolean("clear").value_or(false);
    Expected<int64_t> bytes = number(*entry, "bytes");
    if (!bytes)
      return bytes.takeError();
    workspace.bytes = *bytes;
    Expected<uint64_t> address = device.allocate(*bytes, workspace.name);
    if (!address)
      return address.takeError();
    workspaces[workspace.name] = workspace.address = *address;
    plan.workspaces.push_back(workspace);
  }
  return Error::success();
}

Expected<LaunchPlan> Launcher::plan(const std::map<std::string, TensorArgument> &givenTensors,
                                    const std::map<std::string, Number> &givenNumbers) {
  tensors = givenTensors;
  values.names = givenNumbers;
  for (auto check : {&Launcher::solve, &Launcher::checkShapes, &Launcher::checkContracts, &Launcher::checkStrides,
                     &Launcher::checkAddresses, &Launcher::checkOverlap})
    if (Error error = (this->*check)())
      return error;
  Expected<const json::Object *> variant = chooseVariant();
  if (!variant)
    return variant.takeError();
  LaunchPlan plan;
  plan.variant = text(**variant, "name").str();
  if (outputsEmpty())
    return plan;
  if (Error error = allocateWorkspaces(plan))
    return error;
  for (const json::Object *launch : objects(**variant, "launches")) {
    Expected<std::optional<ReadyLaunch>> result = ready(*launch);
    if (!result)
      return result.takeError();
    if (*result)
      plan.launches.push_back(std::move(**result));
  }
  return plan;
}

// Nothing where the grid is empty.
Expected<std::optional<ReadyLaunch>> Launcher::ready(const json::Object &launch) {
  ReadyLaunch result;
  result.entry = text(launch, "entry").str();
  Expected<std::vector<int64_t>> grid = numbers(launch, "grid"), cluster = numbers(launch, "cluster");
  if (!grid)
    return joinErrors(grid.takeError(), cluster ? Error::success() : cluster.takeError());
  if (!cluster)
    return cluster.takeError();
  if (grid->size() != 3 || cluster->size() != 3)
    return fault("the reflection file has a malformed grid");
  copy(*grid, result.grid.begin());
  copy(*cluster, result.cluster.begin());
  if (any_of(result.grid, [](int64_t extent) { return extent <= 0; }))
    return std::nullopt;
  // Limits of a grid (CUDA C++ Programming Guide, compute capabilities).
  if (result.grid[0] > INT32_MAX || result.grid[1] > UINT16_MAX || result.grid[2] > UINT16_MAX)
    return fault("the tensors need more blocks than a grid can have");
  Expected<int64_t> block = number(launch, "block"), shared = number(launch, "shared");
  if (!block)
    return joinErrors(block.takeError(), shared ? Error::success() : shared.takeError());
  if (!shared)
    return shared.takeError();
  result.block = *block;
  result.shared = *shared;
  for (const json::Object *entry : objects(launch, "params")) {
    Expected<std::vector<uint8_t>> bytes = parameter(*entry);
    if (!bytes)
      return bytes.takeError();
    result.params.push_back(std::move(*bytes));
  }
  return result;
}

static std::vector<uint8_t> littleEndian(uint64_t value, unsigned bytes) {
  std::vector<uint8_t> result;
  result.reserve(bytes);
  for (unsigned i = 0; i < bytes; ++i)
    result.push_back(static_cast<uint8_t>(value >> (8 * i)));
  return result;
}

Expected<std::vector<uint8_t>> Launcher::parameter(const json::Object &entry) {
  StringRef kind = text(entry, "kind");
  if (kind == "pointer") {
    std::string name = text(entry, "tensor").str();
    auto workspace = workspaces.find(name);
    return littleEndian(workspace != workspaces.end() ? workspace->second : tensors[name].address, 8);
  }
  if (kind == "int") {
    Expected<int64_t> value = number(entry, "value");
    if (!value)
      return value.takeError();
    return littleEndian(static_cast<uint64_t>(*value), text(entry, "type") == "i64" ? 8 : 4);
  }
  if (kind == "scalar") {
    Expected<const ElementType *> type = findElementType(text(entry, "type"));
    if (!type)
      return type.takeError();
    const Number &value = values.names[text(entry, "name").str()];
    std::vector<uint8_t> bytes((*type)->bytes);
    if (value.isReal)
      encodeElement(**type, value.real, bytes.data());
    else
      encodeInteger(**type, value.integer, bytes.data());
    return bytes;
  }
  if (kind == "tensormap")
    return tensorMap(entry);
  return fault("the reflection file has a parameter of the unknown kind `" + kind + "`");
}

Expected<std::vector<uint8_t>> Launcher::tensorMap(const json::Object &entry) {
  std::string name = text(entry, "tensor").str();
  auto workspace = workspaces.find(name);
  TensorMapRequest request;
  request.type = text(entry, "type").str();
  request.address = workspace != workspaces.end() ? workspace->second : tensors[name].address;
  Expected<std::vector<int64_t>> dims = numbers(entry, "dims");
  if (!dims)
    return dims.takeError();
  Expected<std::vector<int64_t>> strides = numbers(entry, "strides");
  if (!strides)
    return strides.takeError();
  Expected<std::vector<int64_t>> box = numbers(entry, "box");
  if (!box)
    return box.takeError();
  request.dims.assign(dims->begin(), dims->end());
  request.strides.assign(strides->begin(), strides->end());
  request.box.assign(box->begin(), box->end());
  // Nothing is read where an extent is 0, but the map must be valid.
  if (any_of(*dims, [](int64_t extent) { return extent <= 0; })) {
    request.address = 256;
    for (uint64_t &extent : request.dims)
      extent = std::max<int64_t>(static_cast<int64_t>(extent), 1);
    request.strides.assign(strides->size(), 256);
  }
  request.swizzle = static_cast<unsigned>(entry.getInteger("swizzle").value_or(0));
  request.promotion = static_cast<unsigned>(entry.getInteger("l2").value_or(0));
  Expected<std::array<uint8_t, 128>> bytes = device.encodeTensorMap(request);
  if (!bytes)
    return fault("the tensor map of `" + Twine(name) + "`: " + toString(bytes.takeError()));
  return std::vector<uint8_t>(bytes->begin(), bytes->end());
}
