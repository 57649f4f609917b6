// tile-interpret: runs a kernel of a .tile or .mlir file on arrays in .npy files, without a GPU. It executes the tile
// level as IRGen makes it, or any later level that a .mlir file holds, one scalar at a time.
#include "LoadModule.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tilec/Dialect/TileGPU/TileGPUDialect.h"
#include "tilec/Interpreter/Arguments.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace tilec;

static cl::OptionCategory category("tile-interpret options");
static cl::opt<std::string> input(cl::Positional, cl::Required, cl::desc("FILE.tile or FILE.mlir"), cl::cat(category));
static cl::opt<std::string> kernelName("kernel", cl::desc("the kernel to run"), cl::value_desc("name"), cl::Required,
                                       cl::cat(category));
static cl::list<std::string> defines("D", cl::Prefix, cl::desc("a constant of the main file's kernels"),
                                     cl::value_desc("name=value"), cl::cat(category));
static cl::list<std::string> inputs("in", cl::desc("a scalar, dimension or input array"),
                                    cl::value_desc("name=number or file.npy"), cl::cat(category));
static cl::list<std::string> outputs("out", cl::desc("where to write a result"), cl::value_desc("name=file.npy"),
                                     cl::cat(category));
static cl::list<std::string> shapes("shape", cl::desc("the shape of an out tensor"), cl::value_desc("name=a,b"),
                                    cl::cat(category));
static cl::list<std::string> steps("steps", cl::desc("strides in elements"), cl::value_desc("name=a,b"),
                                   cl::cat(category));
static cl::list<std::string> offsets("offset", cl::desc("elements from an aligned address"), cl::value_desc("name=n"),
                                     cl::cat(category));
static cl::opt<uint64_t> seed("seed", cl::desc("orders parallel iterations and processes"), cl::init(1),
                              cl::cat(category));

static int fail(const Twine &message) {
  errs() << "tile-interpret: error: " << message << "\n";
  return 1;
}

// Calls `use(name, value)` for each `name=value`; false after a malformed one.
template <typename F> static bool forEachPair(const cl::list<std::string> &options, F use) {
  for (StringRef option : options) {
    auto [name, value] = option.split('=');
    if (name.empty() || value.empty() || !use(name.str(), value)) {
      fail("`" + option + "` is not of the form that `--help` shows");
      return false;
    }
  }
  return true;
}

static bool parseList(StringRef text, std::vector<int64_t> &list) {
  SmallVector<StringRef, 4> parts;
  text.split(parts, ',');
  for (StringRef part : parts)
    if (part.trim().getAsInteger(0, list.emplace_back()))
      return false;
  return true;
}

static bool parseArguments(interpreter::HostArguments &host,
                           std::vector<std::pair<std::string, std::string>> &constants) {
  auto into = [](auto &map) {
    return [&map](std::string name, StringRef value) {
      map[name] = value.str();
      return true;
    };
  };
  auto lists = [](auto &map) {
    return [&map](std::string name, StringRef value) { return parseList(value, map[name]); };
  };
  return forEachPair(defines,
                     [&](std::string name, StringRef value) {
                       constants.push_back({name, value.str()});
                       return true;
                     }) &&
         forEachPair(inputs, into(host.inputs)) && forEachPair(outputs, into(host.outputs)) &&
         forEachPair(shapes, lists(host.shapes)) && forEachPair(steps, lists(host.steps)) &&
         forEachPair(offsets,
                     [&](std::string name, StringRef value) { return !value.getAsInteger(0, host.offsets[name]); });
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, "runs kernels of the tile language on arrays without a GPU\n");
  interpreter::HostArguments host;
  std::vector<std::pair<std::string, std::string>> constants;
  if (!parseArguments(host, constants))
    return 2;

  mlir::DialectRegistry registry;
  registry.insert<mlir::arith::ArithDialect, mlir::math::MathDialect, mlir::scf::SCFDialect, mlir::func::FuncDialect,
                  tile::TileDialect, tilegpu::TileGPUDialect>();
  mlir::MLIRContext context(registry);
  context.loadAllAvailableDialects();
  mlir::ScopedDiagnosticHandler handler(&context, [](mlir::Diagnostic &diagnostic) {
    errs() << diagnostic.getLocation() << ": error: " << diagnostic.str() << "\n";
  });
  mlir::OwningOpRef<mlir::ModuleOp> module = loadModule(input, constants, context);
  if (!module)
    return 1;
  mlir::DictionaryAttr kernel = interpreter::findKernel(*module, kernelName);
  if (!kernel)
    return fail("`" + input + "` has no kernel `" + kernelName + "`");

  interpreter::LaunchArguments arguments;
  interpreter::HostArrays arrays(kernel, host);
  if (Error error = arrays.bind(arguments))
    return fail(toString(std::move(error)));
  if (Error error = interpreter::checkContracts(kernel, arguments))
    return fail(toString(std::move(error)));
  if (Error error = interpreter::launch(*module, kernelName, arguments, {seed}))
    return fail(toString(std::move(error)));
  if (Error error = arrays.write(arguments))
    return fail(toString(std::move(error)));
  return 0;
}
