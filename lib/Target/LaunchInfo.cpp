// Reads the launch interface from the attributes that the lowering attaches to a module.
#include "tilec/Target/LaunchInfo.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using mlir::ArrayAttr;
using mlir::Attribute;
using mlir::DictionaryAttr;
using mlir::IntegerAttr;
using mlir::StringAttr;

namespace tilec {
namespace {

/// Reads fields of nested dictionaries. The first fault is kept and turns all later reads into no-ops, so that the
/// readers below need no checks of their own.
class Reader {
public:
  Error takeError() {
    if (fault.empty())
      return Error::success();
    return createStringError(inconvertibleErrorCode(), fault);
  }
  bool failed() const { return !fault.empty(); }
  void fail(const Twine &message) {
    if (fault.empty())
      fault = (context + ": " + message).str();
  }
  void setContext(const Twine &text) { context = text.str(); }

  template <typename T> T get(DictionaryAttr dict, StringRef field) {
    auto value = dict ? dict.getAs<T>(field) : T();
    if (!value)
      fail("field `" + field + "` is missing or of the wrong type");
    return value;
  }
  std::string getString(DictionaryAttr dict, StringRef field) {
    auto attr = get<StringAttr>(dict, field);
    return attr ? attr.str() : "";
  }
  int64_t getInt(DictionaryAttr dict, StringRef field) {
    auto attr = get<IntegerAttr>(dict, field);
    return attr ? attr.getInt() : 0;
  }
  bool getFlag(DictionaryAttr dict, StringRef field) {
    if (!dict || !dict.get(field))
      return false;
    if (dict.getAs<mlir::UnitAttr>(field))
      return true;
    auto attr = dict.getAs<IntegerAttr>(field);
    return attr && !attr.getValue().isZero();
  }
  std::string getType(DictionaryAttr dict) {
    std::string type = getString(dict, "type");
    if (!failed() && !findHostType(type))
      fail("unknown element type `" + type + "`");
    return type;
  }
  ArrayRef<Attribute> getArray(DictionaryAttr dict, StringRef field) {
    auto attr = get<ArrayAttr>(dict, field);
    return attr ? attr.getValue() : ArrayRef<Attribute>();
  }
  std::vector<HostExpr> getExprs(DictionaryAttr dict, StringRef field) {
    std::vector<HostExpr> result;
    for (Attribute attr : getArray(dict, field))
      result.push_back(readExpr(attr));
    return result;
  }
  std::vector<int64_t> getInts(DictionaryAttr dict, StringRef field) {
    std::vector<int64_t> result;
    for (Attribute attr : getArray(dict, field)) {
      if (auto integer = dyn_cast<IntegerAttr>(attr))
        result.push_back(integer.getInt());
      else
        fail("field `" + field + "` holds something else than integers");
    }
    return result;
  }
  HostExpr readExpr(Attribute attr);

private:
  HostExpr readOperation(ArrayAttr attr);

  std::string fault;
  std::string context;
};

/// The least and greatest number of operands of an operation; nothing for an unknown one.
std::optional<std::pair<unsigned, unsigned>> getArity(StringRef op) {
  return StringSwitch<std::optional<std::pair<unsigned, unsigned>>>(op)
      .Cases({"add", "mul", "min", "max", "and", "or"}, std::make_pair(1u, ~0u))
      .Cases({"sub", "div", "rem", "ceil_div", "align_up"}, std::make_pair(2u, 2u))
      .Cases({"eq", "ne", "lt", "le", "gt", "ge", "aligned"}, std::make_pair(2u, 2u))
      .Case("not", std::make_pair(1u, 1u))
      .Default(std::nullopt);
}

HostExpr Reader::readExpr(Attribute attr) {
  HostExpr result;
  if (auto integer = dyn_cast<IntegerAttr>(attr)) {
    result.integer = integer.getInt();
  } else if (auto name = dyn_cast<StringAttr>(attr)) {
    result.kind = HostExpr::Kind::Name;
    result.text = name.str();
  } else if (auto number = dyn_cast<mlir::FloatAttr>(attr)) {
    result.kind = HostExpr::Kind::Float;
    result.number = number.getValueAsDouble();
  } else if (auto operation = dyn_cast<ArrayAttr>(attr)) {
    return readOperation(operation);
  } else {
    fail("a host expression is neither a number, a name nor an operation");
  }
  return result;
}

HostExpr Reader::readOperation(ArrayAttr attr) {
  HostExpr result;
  result.kind = HostExpr::Kind::Operation;
  auto name = attr.empty() ? StringAttr() : dyn_cast<StringAttr>(attr[0]);
  auto arity = name ? getArity(name) : std::nullopt;
  unsigned count = attr.size() - 1;
  if (!arity || count < arity->first || count > arity->second) {
    fail("a host expression has an unknown operation or a wrong number of operands");
    return result;
  }
  result.text = name.str();
  for (Attribute operand : attr.getValue().drop_front())
    result.operands.push_back(readExpr(operand));
  return result;
}

Argument readArgument(Reader &reader, DictionaryAttr dict) {
  Argument result;
  result.name = reader.getString(dict, "name");
  std::string kind = reader.getString(dict, "kind");
  if (kind == "dim")
    return result;
  result.type = reader.getType(dict);
  result.kind = Argument::Kind::Scalar;
  if (kind == "scalar") {
    if (!reader.failed() && findHostType(result.type)->cType.empty())
      reader.fail("scalar `" + result.name + "` has a type that cannot be passed");
    return result;
  }
  if (kind != "tensor")
    reader.fail("unknown kind of argument `" + kind + "`");
  result.kind = Argument::Kind::Tensor;
  std::string access = reader.getString(dict, "access");
  if (access != "in" && access != "out" && access != "inout")
    reader.fail("unknown access `" + access + "`");
  result.access = access == "in"    ? Argument::Access::In
                  : access == "out" ? Argument::Access::Out
                                    : Argument::Access::InOut;
  result.shape = reader.getExprs(dict, "shape");
  result.strides = reader.getExprs(dict, "strides");
  result.dynamicStrides = reader.getFlag(dict, "dynamic_strides");
  if (result.shape.size() != result.strides.size())
    reader.fail("tensor `" + result.name + "` has another number of strides than of dimensions");
  return result;
}

KernelInfo readKernel(Reader &reader, DictionaryAttr dict) {
  KernelInfo kernel;
  reader.setContext("tilec.kernels");
  kernel.name = reader.getString(dict, "name");
  reader.setContext("tilec.kernels, `" + kernel.name + "`");
  for (Attribute attr : reader.getArray(dict, "arguments"))
    kernel.arguments.push_back(readArgument(reader, dyn_cast<DictionaryAttr>(attr)));
  for (Attribute attr : reader.getArray(dict, "contracts")) {
    auto contract = dyn_cast<DictionaryAttr>(attr);
    if (auto condition = reader.get<Attribute>(contract, "condition"))
      kernel.contracts.push_back({reader.readExpr(condition), reader.getString(contract, "text")});
  }
  if (!dict || !dict.get("workspaces"))
    return kernel;
  for (Attribute attr : reader.getArray(dict, "workspaces")) {
    auto workspace = dyn_cast<DictionaryAttr>(attr);
    if (auto bytes = reader.get<Attribute>(workspace, "bytes"))
      kernel.workspaces.push_back(
          {reader.getString(workspace, "name"), reader.readExpr(bytes), reader.getFlag(workspace, "clear")});
  }
  return kernel;
}

void readTensorMap(Reader &reader, DictionaryAttr dict, Parameter &result) {
  result.dims = reader.getExprs(dict, "dims");
  result.strides = reader.getExprs(dict, "strides");
  result.box = reader.getInts(dict, "box");
  result.swizzle = reader.getInt(dict, "swizzle");
  result.l2 = reader.getInt(dict, "l2");
  size_t rank = result.dims.size();
  if (rank < 1 || rank > 5 || result.strides.size() + 1 != rank || result.box.size() != rank)
    reader.fail("the tensor map of `" + result.name + "` has a rank outside 1 to 5 or fields of different lengths");
  // Limits of cuTensorMapEncodeTiled.
  for (int64_t extent : result.box)
    if (extent < 1 || extent > 256)
      reader.fail("the tensor map of `" + result.name + "` has a box extent outside 1 to 256");
  if (!is_contained({0, 32, 64, 128}, result.swizzle) || !is_contained({0, 64, 128, 256}, result.l2))
    reader.fail("the tensor map of `" + result.name + "` has an unknown swizzle or L2 promotion");
}

Parameter readParameter(Reader &reader, DictionaryAttr dict) {
  Parameter result;
  std::string kind = reader.getString(dict, "kind");
  if (kind == "int") {
    result.type = reader.getType(dict);
    if (result.type != "i64" && result.type != "i32")
      reader.fail("an integer parameter is neither i32 nor i64");
    if (auto value = reader.get<Attribute>(dict, "value"))
      result.value = reader.readExpr(value);
  } else if (kind == "scalar") {
    result.kind = Parameter::Kind::Scalar;
    result.name = reader.getString(dict, "name");
    result.type = reader.getType(dict);
  } else if (kind == "pointer") {
    result.kind = Parameter::Kind::Pointer;
    result.name = reader.getString(dict, "tensor");
  } else if (kind == "tensormap") {
    result.kind = Parameter::Kind::TensorMap;
    result.name = reader.getString(dict, "tensor");
    result.type = reader.getType(dict);
    readTensorMap(reader, dict, result);
  } else {
    reader.fail("unknown kind of parameter `" + kind + "`");
  }
  return result;
}

Launch readLaunch(Reader &reader, StringRef entry, DictionaryAttr dict) {
  Launch result;
  result.entry = entry.str();
  result.block = reader.getInt(dict, "block");
  result.shared = reader.getInt(dict, "shared");
  std::vector<HostExpr> grid = reader.getExprs(dict, "grid");
  std::vector<int64_t> cluster = reader.getInts(dict, "cluster");
  if (grid.size() != 3 || cluster.size() != 3)
    reader.fail("`grid` or `cluster` does not have three elements");
  if (reader.failed())
    return result;
  llvm::move(grid, result.grid.begin());
  copy(cluster, result.cluster.begin());
  for (Attribute attr : reader.getArray(dict, "params"))
    result.params.push_back(readParameter(reader, dyn_cast<DictionaryAttr>(attr)));
  return result;
}

/// Adds the launch of one kernel function to its kernel.
void addLaunch(Reader &reader, std::vector<KernelInfo> &kernels, mlir::LLVM::LLVMFuncOp function, DictionaryAttr dict) {
  reader.setContext("tilec.launch of `" + function.getName() + "`");
  std::string name = reader.getString(dict, "kernel");
  std::string variantName = reader.getString(dict, "variant");
  auto kernel = find_if(kernels, [&](const KernelInfo &k) { return k.name == name; });
  if (kernel == kernels.end())
    return reader.fail("no kernel `" + name + "` in tilec.kernels");
  auto variant = find_if(kernel->variants, [&](const Variant &v) { return v.name == variantName; });
  if (variant == kernel->variants.end()) {
    kernel->variants.push_back({variantName, reader.getExprs(dict, "when"), std::nullopt, {}});
    variant = std::prev(kernel->variants.end());
    if (Attribute cost = dict ? dict.get("cost") : Attribute())
      variant->cost = reader.readExpr(cost);
  }
  // Functions of one variant stand in the order of their stages.
  if (reader.getInt(dict, "stage") != static_cast<int64_t>(variant->launches.size()))
    return reader.fail("the stages of variant `" + variantName + "` are not numbered in the order of their functions");
  variant->launches.push_back(readLaunch(reader, function.getName(), dict));
}

} // namespace

Expected<std::vector<KernelInfo>> readLaunchInfo(mlir::ModuleOp module) {
  Reader reader;
  reader.setContext("module");
  std::vector<KernelInfo> kernels;
  for (Attribute attr : reader.getArray(module->getAttrDictionary(), "tilec.kernels"))
    kernels.push_back(readKernel(reader, dyn_cast<DictionaryAttr>(attr)));
  for (auto function : module.getOps<mlir::LLVM::LLVMFuncOp>())
    if (auto dict = function->getAttrOfType<DictionaryAttr>("tilec.launch"))
      addLaunch(reader, kernels, function, dict);
  for (const KernelInfo &kernel : kernels)
    if (kernel.variants.empty())
      reader.fail("kernel `" + kernel.name + "` has no function");
  if (Error error = reader.takeError())
    return error;
  return kernels;
}

} // namespace tilec
