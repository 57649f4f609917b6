// Writes the launcher of one kernel: checks, choice of the variant, parameters, launches.
#include "HeaderText.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace tilec {
namespace {

constexpr unsigned workspaceAlignment = 256;

class LauncherWriter {
public:
  LauncherWriter(const KernelInfo &kernel, StringRef prefix, unsigned firstEntry, raw_ostream &os)
      : kernel(kernel), prefix(prefix), names(kernel), printer(kernel, names, prefix), entry(firstEntry), os(os) {}

  void write() {
    if (!kernel.workspaces.empty())
      writeWorkspaceSize();
    writeComment();
    os << "static inline CUresult " << launcherName(!kernel.workspaces.empty()) << "(CUstream stream"
       << (kernel.workspaces.empty() ? "" : ", CUdeviceptr workspace, size_t workspace_bytes") << listParameters(true)
       << ") {\n";
    writeBody();
    os << "}\n";
    if (!kernel.workspaces.empty())
      writeAllocatingLauncher();
  }

private:
  std::string launcherName(bool withWorkspace) const {
    return toIdentifier(kernel.name) + (withWorkspace ? "_launch_in" : "_launch");
  }
  std::string quote(const Twine &text) const { return toStringLiteral((kernel.name + ": " + text).str()); }
  void failIf(const Twine &condition, StringRef code, const Twine &text, StringRef indent = "  ") {
    os << indent << "if (" << condition << ")\n"
       << indent << "  return " << prefix << "_fail_(" << code << ", " << quote(text) << ");\n";
  }

  /// With `kinds` as a declaration, without as a call's arguments; either follows other parameters.
  std::string listParameters(bool withTypes) const;
  bool needsMultiprocessors() const;
  void writeWorkspaceSize();
  void writeComment();
  void writeBody();
  void writeMultiprocessors(StringRef failure);
  void writeTensorChecks();
  void writeOverlapChecks();
  void writeWorkspaces();
  bool hasCosts() const {
    return any_of(kernel.variants, [](const Variant &variant) { return variant.cost.has_value(); });
  }
  std::string conditionOf(const Variant &variant) const;
  void writeChoice();
  void writeVariant(const Variant &variant, unsigned number);
  void writeLaunch(const Launch &launch);
  std::string writeParameter(const Parameter &parameter, unsigned index);
  void writeSpan(const Argument &argument);
  void writeTensorMap(const Parameter &parameter, unsigned index);
  void writeAllocatingLauncher();

  const KernelInfo &kernel;
  StringRef prefix;
  ArgumentNames names;
  ExprPrinter printer;
  unsigned entry;
  raw_ostream &os;
};

StringRef cTypeOf(const Argument &argument) {
  switch (argument.kind) {
  case Argument::Kind::Tensor:
    return "CUdeviceptr";
  case Argument::Kind::Dim:
    return "int64_t";
  case Argument::Kind::Scalar:
    return findHostType(argument.type)->cType;
  }
  llvm_unreachable("all kinds are handled");
}

/// Calls `visit` with the C type and the name of every parameter of the launcher.
template <typename Visit> void forEachParameter(const KernelInfo &kernel, const ArgumentNames &names, Visit visit) {
  for (const Argument &argument : kernel.arguments) {
    visit(cTypeOf(argument), names.get(argument.name));
    for (size_t i = 0; argument.dynamicStrides && i < argument.shape.size(); ++i)
      visit("int64_t", names.get(argument.name + ".stride" + utostr(i)));
  }
}

std::string LauncherWriter::listParameters(bool withTypes) const {
  std::string result;
  forEachParameter(kernel, names, [&](StringRef type, StringRef name) {
    result += ", " + (withTypes ? type.str() + " " : "") + name.str();
  });
  return result;
}

bool LauncherWriter::needsMultiprocessors() const {
  auto uses = [](const HostExpr &expr) { return mentions(expr, "sm_count"); };
  auto launchUses = [&](const Launch &launch) {
    return any_of(launch.grid, uses) || any_of(launch.params, [&](const Parameter &parameter) {
             return uses(parameter.value) || any_of(parameter.dims, uses) || any_of(parameter.strides, uses);
           });
  };
  return any_of(kernel.variants,
                [&](const Variant &v) {
                  return any_of(v.when, uses) || (v.cost && uses(*v.cost)) || any_of(v.launches, launchUses);
                }) ||
         any_of(kernel.workspaces, [&](const Workspace &w) { return uses(w.bytes); });
}

void LauncherWriter::writeMultiprocessors(StringRef failure) {
  if (!needsMultiprocessors())
    return;
  os << "  int tilec_sm_count = 0;\n  CUdevice tilec_device = 0;\n"
     << "  tilec_result = cuCtxGetDevice(&tilec_device);\n  if (tilec_result == CUDA_SUCCESS)\n"
     << "    tilec_result = cuDeviceGetAttribute(&tilec_sm_count, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, "
        "tilec_device);\n"
     << "  if (tilec_result != CUDA_SUCCESS)\n    return " << failure << ";\n";
}

/// `text` in a line comment: without characters that could continue the line.
std::string toComment(StringRef text) {
  std::string result;
  for (char c : text)
    result += isPrint(c) && c != '\\' && c != '?' ? c : ' ';
  return result;
}

std::string describe(const HostExpr &expr) {
  switch (expr.kind) {
  case HostExpr::Kind::Integer:
    return itostr(expr.integer);
  case HostExpr::Kind::Float:
    return formatv("{0}", expr.number);
  case HostExpr::Kind::Name:
    return expr.text;
  case HostExpr::Kind::Operation:
    return expr.text + "(" +
           join(map_range(expr.operands, [](const HostExpr &operand) { return describe(operand); }), ", ") + ")";
  }
  llvm_unreachable("all kinds are handled");
}

void LauncherWriter::writeComment() {
  os << "\n// Launches `" << toComment(kernel.name)
     << "` on a stream. Wrong arguments launch nothing and return an error "
     << "that\n// " << prefix
     << "_error_string explains; so does a launch whose outputs are all empty, successfully.\n";
  for (const Argument &argument : kernel.arguments) {
    os << "//   " << names.get(argument.name) << ": ";
    if (argument.kind == Argument::Kind::Dim) {
      os << "a dimension\n";
      continue;
    }
    os << argument.type;
    if (argument.kind == Argument::Kind::Tensor)
      os << "[" << toComment(join(map_range(argument.shape, describe), ", ")) << "], "
         << (argument.access == Argument::Access::In    ? "read"
             : argument.access == Argument::Access::Out ? "written"
                                                        : "read and written")
         << (argument.dynamicStrides ? ", followed by its strides in elements" : "");
    else if (argument.type == "bf16" || argument.type == "f16" || argument.type.substr(0, 2) == "f8")
      os << ", as its bits";
    os << "\n";
  }
  for (const Contract &contract : kernel.contracts)
    os << "// Requires " << toComment(contract.text) << ".\n";
  if (!kernel.workspaces.empty())
    os << "// `workspace` is device memory of at least " << toIdentifier(kernel.name)
       << "_workspace_size bytes, aligned to " << workspaceAlignment
       << ", that\n// belongs to this launch until it has run.\n";
}

/// The bytes from a tensor's first element to behind its last one, with its shape and strides; negative where one of
/// these is.
void LauncherWriter::writeSpan(const Argument &argument) {
  std::string name = names.get(argument.name).str(), shape = "NULL", strides = "NULL";
  if (!argument.shape.empty()) {
    shape = "tilec_shape_" + name;
    strides = "tilec_strides_" + name;
    os << "  const int64_t " << shape << "[] = " << printer.printList(argument.shape) << ";\n"
       << "  const int64_t " << strides << "[] = " << printer.printList(argument.strides) << ";\n";
  }
  os << formatv("  const int64_t {0} = {1}_span_({2}, {3}, {4}, {5});\n", spanName(name), prefix, argument.shape.size(),
                shape, strides, findHostType(argument.type)->bits);
}

void LauncherWriter::writeTensorChecks() {
  for (const Argument &argument : kernel.arguments)
    if (argument.kind == Argument::Kind::Dim)
      failIf(names.get(argument.name) + " < 0", "CUDA_ERROR_INVALID_VALUE",
             "dimension `" + argument.name + "` is negative");
  for (const Contract &contract : kernel.contracts)
    failIf("!(" + printer.print(contract.condition) + ")", "CUDA_ERROR_INVALID_VALUE",
           "`" + contract.text + "` does not hold");
  for (const Argument &argument : kernel.arguments) {
    if (argument.kind != Argument::Kind::Tensor)
      continue;
    writeSpan(argument);
    std::string name = names.get(argument.name).str(), span = spanName(name);
    unsigned bits = findHostType(argument.type)->bits;
    std::string quoted = ("`" + Twine(argument.name) + "`").str();
    failIf(Twine(span) + " < 0", "CUDA_ERROR_INVALID_VALUE", "an extent or a stride of " + quoted + " is negative");
    failIf(Twine(span) + " > 0 && " + name + " == 0", "CUDA_ERROR_INVALID_VALUE", quoted + " is null");
    failIf(prefix + "_too_large_(" + name + ", " + span + ")", "CUDA_ERROR_INVALID_VALUE", quoted + " is too large");
    if (bits > 8)
      failIf(Twine(span) + " > 0 && " + name + " % " + Twine(bits / 8) + " != 0", "CUDA_ERROR_MISALIGNED_ADDRESS",
             quoted + " is not aligned to its elements");
    for (size_t i = 0; argument.isOutput() && argument.dynamicStrides && i < argument.shape.size(); ++i)
      failIf(formatv("tilec_shape_{0}[{1}] > 1 && tilec_strides_{0}[{1}] == 0", name, i).str(),
             "CUDA_ERROR_INVALID_VALUE", "a stride of " + quoted + ", which is written, is 0");
  }
}

void LauncherWriter::writeOverlapChecks() {
  ArrayRef<Argument> arguments = kernel.arguments;
  for (size_t i = 0; i < arguments.size(); ++i)
    for (size_t j = i + 1; j < arguments.size(); ++j) {
      const Argument &a = arguments[i], &b = arguments[j];
      if (a.kind != Argument::Kind::Tensor || b.kind != Argument::Kind::Tensor || !(a.isOutput() || b.isOutput()))
        continue;
      StringRef aName = names.get(a.name), bName = names.get(b.name);
      failIf(formatv("{0}_overlap_({1}, {2}, {3}, {4})", prefix, aName, spanName(aName), bName, spanName(bName)).str(),
             "CUDA_ERROR_INVALID_VALUE", "`" + a.name + "` and `" + b.name + "` overlap");
    }
  std::vector<std::string> empty;
  for (const Argument &argument : arguments)
    if (argument.isOutput())
      empty.push_back(spanName(names.get(argument.name)) + " == 0");
  if (!empty.empty())
    os << "  if (" << join(empty, " && ") << ")\n    return CUDA_SUCCESS;\n";
}

void LauncherWriter::writeWorkspaceSize() {
  os << "\n// The bytes of workspace that a launch of `" << toComment(kernel.name)
     << "` needs; negative if that cannot be told.\nstatic inline int64_t " << toIdentifier(kernel.name)
     << "_workspace_size(" << StringRef(listParameters(true)).drop_front(2) << ") {\n  int64_t tilec_total = 0;\n";
  if (needsMultiprocessors())
    os << "  CUresult tilec_result;\n";
  forEachParameter(kernel, names, [&](StringRef, StringRef name) { os << "  (void)" << name << ";\n"; });
  writeMultiprocessors("-1");
  // Whether a tensor is aligned may decide.
  for (const Argument &argument : kernel.arguments)
    if (argument.kind == Argument::Kind::Tensor &&
        any_of(kernel.workspaces, [&](const Workspace &w) { return mentions(w.bytes, argument.name); }))
      writeSpan(argument);
  for (const Workspace &workspace : kernel.workspaces)
    os << formatv("  tilec_total = {0}_add_(tilec_total, {0}_align_up_({1}, {2}));\n", prefix,
                  printer.print(workspace.bytes), workspaceAlignment);
  os << "  return tilec_total;\n}\n";
}

/// Carves the workspaces out of the memory given and clears those that must start as zeros.
void LauncherWriter::writeWorkspaces() {
  os << "  int64_t tilec_used = 0;\n";
  for (const Workspace &workspace : kernel.workspaces) {
    std::string name = names.get(workspace.name).str();
    os << formatv("  const int64_t {0} = {1};\n", spanName(name), printer.print(workspace.bytes))
       << formatv("  CUdeviceptr {0} = workspace + (CUdeviceptr)tilec_used;\n", name)
       << formatv("  tilec_used = {0}_add_(tilec_used, {0}_align_up_({1}, {2}));\n", prefix, spanName(name),
                  workspaceAlignment);
  }
  failIf("tilec_used < 0 || (uint64_t)tilec_used > workspace_bytes", "CUDA_ERROR_INVALID_VALUE",
         "the workspace is too small");
  failIf("workspace % " + Twine(workspaceAlignment) + " != 0", "CUDA_ERROR_MISALIGNED_ADDRESS",
         "the workspace is not aligned to " + Twine(workspaceAlignment) + " bytes");
  for (const Workspace &workspace : kernel.workspaces) {
    std::string name = names.get(workspace.name).str();
    if (workspace.clear)
      os << formatv("  if ({0} > 0) {{\n    tilec_result = cuMemsetD8Async({1}, 0, (size_t){0}, stream);\n"
                    "    if (tilec_result != CUDA_SUCCESS)\n      return {2}_fail_(tilec_result, NULL);\n  }\n",
                    spanName(name), name, prefix);
    else
      os << "  (void)" << name << ";\n";
  }
}

void LauncherWriter::writeBody() {
  os << "  CUresult tilec_result = " << prefix << "_fail_(CUDA_SUCCESS, NULL);\n";
  for (const Argument &argument : kernel.arguments)
    if (argument.kind != Argument::Kind::Tensor)
      os << "  (void)" << names.get(argument.name) << ";\n";
  writeTensorChecks();
  writeOverlapChecks();
  writeMultiprocessors((prefix + "_fail_(tilec_result, NULL)").str());
  if (!kernel.workspaces.empty())
    writeWorkspaces();
  if (hasCosts())
    writeChoice();
  for (auto [number, variant] : enumerate(kernel.variants)) {
    writeVariant(variant, number);
    if (variant.when.empty() && !hasCosts())
      return;
  }
  os << "  return " << prefix << "_fail_(CUDA_ERROR_INVALID_VALUE, "
     << quote("no variant of the kernel accepts these arguments") << ");\n";
}

std::string LauncherWriter::conditionOf(const Variant &variant) const {
  if (variant.when.empty())
    return "1";
  return join(map_range(variant.when, [&](const HostExpr &expr) { return printer.print(expr); }), " && ");
}

/// Of the variants whose conditions hold, the number of the one of least cost.
void LauncherWriter::writeChoice() {
  os << "  int tilec_choice = -1;\n  int64_t tilec_least = 0;\n";
  for (auto [number, variant] : enumerate(kernel.variants))
    // Compilers warn of comparisons in two pairs of parentheses, so the condition is no operand of `if`.
    os << "  {\n    const int tilec_fits = " << conditionOf(variant)
       << ";\n    const int64_t tilec_cost = " << (variant.cost ? printer.print(*variant.cost) : "0")
       << ";\n    if (tilec_fits && (tilec_choice < 0 || tilec_cost < tilec_least)) {\n      tilec_choice = " << number
       << ";\n      tilec_least = tilec_cost;\n    }\n  }\n";
}

void LauncherWriter::writeVariant(const Variant &variant, unsigned number) {
  os << "  // Variant " << toComment(variant.name) << ".\n  {\n";
  bool isConditional = !variant.when.empty() || hasCosts();
  if (isConditional)
    os << "    const int tilec_chosen = " << (hasCosts() ? "tilec_choice == " + utostr(number) : conditionOf(variant))
       << ";\n    if (tilec_chosen) {\n";
  for (const Launch &launch : variant.launches)
    writeLaunch(launch);
  os << "    return CUDA_SUCCESS;\n";
  os << (isConditional ? "    }\n  }\n" : "  }\n");
}

void LauncherWriter::writeLaunch(const Launch &launch) {
  os << "    {\n      const int64_t tilec_grid[3] = " << printer.printList(launch.grid) << ";\n"
     << formatv("      static const unsigned tilec_cluster[3] = {{{0}, {1}, {2}};\n", launch.cluster[0],
                launch.cluster[1], launch.cluster[2]);
  std::vector<std::string> addresses;
  for (auto [index, parameter] : enumerate(launch.params))
    addresses.push_back("&" + writeParameter(parameter, index));
  std::string params = "NULL";
  if (!addresses.empty()) {
    params = "tilec_params";
    os << "      void *tilec_params[] = {" << join(addresses, ", ") << "};\n";
  }
  os << formatv("      tilec_result = {0}_run_(stream, {1}, {2}, tilec_grid, {3}, tilec_cluster, {4}, {5});\n", prefix,
                entry++, toStringLiteral(launch.entry), launch.block, launch.shared, params)
     << "      if (tilec_result != CUDA_SUCCESS)\n        return tilec_result;\n    }\n";
}

/// Writes what a parameter needs and returns the variable that holds it.
std::string LauncherWriter::writeParameter(const Parameter &parameter, unsigned index) {
  std::string local = "tilec_arg_" + utostr(index);
  switch (parameter.kind) {
  case Parameter::Kind::Pointer:
  case Parameter::Kind::Scalar:
    return names.get(parameter.name).str();
  case Parameter::Kind::TensorMap:
    writeTensorMap(parameter, index);
    return local;
  case Parameter::Kind::Int:
    break;
  }
  std::string value = printer.print(parameter.value);
  if (parameter.type == "i64") {
    os << "      int64_t " << local << " = " << value << ";\n";
    return local;
  }
  std::string wide = "tilec_wide_" + utostr(index);
  os << "      const int64_t " << wide << " = " << value << ";\n"
     << "      int32_t " << local << " = (int32_t)" << wide << ";\n";
  failIf(local + " != " + wide, "CUDA_ERROR_INVALID_VALUE", "the tensors are too large for 32-bit positions", "      ");
  return local;
}

void LauncherWriter::writeTensorMap(const Parameter &parameter, unsigned index) {
  std::string n = utostr(index);
  std::string strides = "NULL";
  os << "      __attribute__((aligned(64))) CUtensorMap tilec_arg_" << n << ";\n"
     << "      const int64_t tilec_dims_" << n << "[] = " << printer.printList(parameter.dims) << ";\n";
  if (!parameter.strides.empty()) {
    strides = "tilec_steps_" + n;
    os << "      const int64_t " << strides << "[] = " << printer.printList(parameter.strides) << ";\n";
  }
  os << "      static const cuuint32_t tilec_box_" << n << "[] = {"
     << join(map_range(parameter.box, [](int64_t extent) { return itostr(extent); }), ", ") << "};\n";
  std::string swizzle = parameter.swizzle ? utostr(parameter.swizzle) + "B" : "NONE";
  std::string promotion = parameter.l2 ? "L2_" + utostr(parameter.l2) + "B" : "NONE";
  os << formatv(
            "      tilec_result = {0}_encode_(&tilec_arg_{1}, CU_TENSOR_MAP_DATA_TYPE_{2}, {3}, {4}, tilec_dims_{1}, "
            "{5}, tilec_box_{1}, CU_TENSOR_MAP_SWIZZLE_{6}, CU_TENSOR_MAP_L2_PROMOTION_{7}, {8});\n",
            prefix, n, findHostType(parameter.type)->tensorMapType, parameter.dims.size(), names.get(parameter.name),
            strides, swizzle, promotion, quote("the driver cannot describe `" + parameter.name + "` for TMA"))
     << "      if (tilec_result != CUDA_SUCCESS)\n        return tilec_result;\n";
}

/// The launcher without a workspace takes one from the stream's memory pool.
void LauncherWriter::writeAllocatingLauncher() {
  std::string name = toIdentifier(kernel.name);
  std::string arguments = listParameters(false);
  os << formatv("\n// The same with a workspace from the memory pool of the stream.\n"
                "static inline CUresult {0}_launch(CUstream stream{1}) {{\n"
                "  const int64_t tilec_size = {0}_workspace_size({2});\n"
                "  CUdeviceptr tilec_workspace = 0;\n"
                "  CUresult tilec_result, tilec_freed;\n",
                name, listParameters(true), StringRef(arguments).drop_front(2))
     << formatv("  if (tilec_size <= 0)\n    return {0}_launch_in(stream, 0, 0{1});\n"
                "  tilec_result = cuMemAllocAsync(&tilec_workspace, (size_t)tilec_size, stream);\n"
                "  if (tilec_result != CUDA_SUCCESS)\n    return {2}_fail_(tilec_result, {3});\n",
                name, arguments, prefix, quote("the workspace cannot be allocated"))
     << formatv("  tilec_result = {0}_launch_in(stream, tilec_workspace, (size_t)tilec_size{1});\n"
                "  tilec_freed = cuMemFreeAsync(tilec_workspace, stream);\n"
                "  return tilec_result != CUDA_SUCCESS ? tilec_result : tilec_freed;\n}\n",
                name, arguments);
}

} // namespace

std::string writeLauncher(const KernelInfo &kernel, StringRef prefix, unsigned firstEntry) {
  std::string text;
  raw_string_ostream os(text);
  LauncherWriter(kernel, prefix, firstEntry, os).write();
  return text;
}

} // namespace tilec
