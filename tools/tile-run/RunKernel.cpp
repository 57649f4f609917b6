// Compiles, runs and checks one kernel, or a PTX file that is a test of its own.
#include "RunKernel.h"

#include "Compile.h"
#include "tilec/Runner/Counts.h"
#include "tilec/Runner/CudaDevice.h"
#include "tilec/Runner/PtxTest.h"
#include "tilec/Runner/Session.h"
#include "tilec/Runner/SimulatorDevice.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include <chrono>
#include <cmath>

using namespace tilec;
using namespace tilec::runner;
using namespace llvm;

namespace {

constexpr int success = 0, failure = 1;

class Run {
public:
  Run(const TileRunOptions &options, const char *program) : options(options), program(program) {}
  int run();

private:
  int fail(const Twine &message, int status = failure);
  int fail(Error error, int status = failure) { return fail(toString(std::move(error)), status); }
  raw_ostream &note() { return options.quiet ? nulls() : outs(); }

  int openDevice();
  Expected<const json::Object *> findKernel() const;
  int runTest();
  int runSeeds(const json::Object &kernel, Arguments &arguments);
  int runOnce(Session &session, uint64_t seed);
  int reportFaults();
  int useResults(Session &session);
  int check(StringRef name, const HostTensor &result, StringRef path);
  void describe(const LaunchPlan &plan, double seconds);
  void show(StringRef name, const HostTensor &tensor);
  int bench(Session &session);
  simulator::Options simulatorOptions();
  void progress(uint64_t done, uint64_t all);

  const TileRunOptions &options;
  const char *program;
  CompiledKernels kernels;
  std::unique_ptr<Device> device;
  SimulatorDevice *simulated = nullptr;
  CudaDevice *gpu = nullptr;
  std::chrono::steady_clock::time_point started, lastProgress;
};

double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

} // namespace

int Run::fail(const Twine &message, int status) {
  outs().flush();
  if (!message.isTriviallyEmpty() && !message.str().empty())
    errs() << "tile-run: error: " << message << "\n";
  return status;
}

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

// One line after three seconds, then one every ten.
void Run::progress(uint64_t done, uint64_t all) {
  if (options.quiet || secondsSince(started) < 3 || secondsSince(lastProgress) < 10)
    return;
  lastProgress = std::chrono::steady_clock::now();
  errs() << format("tile-run: %llu of %llu blocks, %.0f s\n", static_cast<unsigned long long>(done),
                   static_cast<unsigned long long>(all), secondsSince(started));
}

simulator::Options Run::simulatorOptions() {
  simulator::Options result;
  result.seed = options.seed;
  result.schedule = options.schedule;
  result.checkRaces = result.checkInitialized = result.checkProxies = options.checks;
  result.count = options.report;
  return result;
}

// Compiles for a GPU if there is one, for the simulator otherwise.
int Run::openDevice() {
  bool wantsGpu = !options.simulate && !options.report && options.seeds == 1 && !options.scheduleGiven;
  std::unique_ptr<CudaDevice> card;
  if (wantsGpu || options.gpu || options.bench) {
    Expected<std::unique_ptr<CudaDevice>> opened = CudaDevice::open();
    if (opened)
      card = std::move(*opened);
    else if (options.gpu || options.bench)
      return fail(opened.takeError());
    else
      consumeError(opened.takeError());
  }
  std::string arch = !options.arch.empty() ? options.arch : card ? card->architecture() : "sm_90a";
  int status = failure;
  Expected<CompiledKernels> compiled =
      options.ptx.empty() ? compileKernels(options, arch, card != nullptr, program, status) : readKernels(options);
  if (!compiled)
    return fail(compiled.takeError(), status);
  kernels = std::move(*compiled);
  if (card) {
    if (Error error =
            card->load(ArrayRef(reinterpret_cast<const uint8_t *>(kernels.image.data()), kernels.image.size())))
      return fail(std::move(error));
    gpu = card.get();
    device = std::move(card);
    return success;
  }
  Expected<std::unique_ptr<simulator::Module>> module = simulator::Module::parse(kernels.image);
  if (!module)
    return fail(module.takeError());
  auto simulator = std::make_unique<SimulatorDevice>(std::move(*module), simulatorOptions(), options.sms);
  simulated = simulator.get();
  device = std::move(simulator);
  return success;
}

Expected<const json::Object *> Run::findKernel() const {
  const json::Object *root = kernels.reflection.getAsObject();
  const json::Array *list = root ? root->getArray("kernels") : nullptr;
  if (!list || list->empty())
    return createStringError("the file has no kernels");
  std::vector<std::string> names;
  const json::Object *found = nullptr;
  for (const json::Value &value : *list) {
    const json::Object *kernel = value.getAsObject();
    if (!kernel)
      continue;
    names.push_back(kernel->getString("name").value_or("").str());
    if (names.back() == options.kernel || (options.kernel.empty() && list->size() == 1))
      found = kernel;
  }
  if (found)
    return found;
  if (options.kernel.empty())
    return createStringError("the file has several kernels, " + join(names, ", ") + "; choose with --kernel=NAME");
  return createStringError("the file has no kernel `" + options.kernel + "`; it has " + join(names, ", "));
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

int Run::reportFaults() {
  unsigned count = 0;
  for (const simulator::Report &report : simulated->reports) {
    count += static_cast<unsigned>(report.faults().size());
    if (!report.clean())
      errs() << report.text(simulated->ptx());
  }
  return count ? fail(Twine(count) + (count == 1 ? " fault" : " faults")) : success;
}

int Run::runTest() {
  Expected<PtxTest> test = parsePtxTest(kernels.image);
  if (!test)
    return fail(test.takeError());
  if (!simulated)
    return fail("PTX files that are tests run in the simulator only; add --simulate");
  if (Error error = placeArguments(*test, *device, options.seed))
    return fail(std::move(error));
  if (Error error = device->launch(test->launch))
    return fail(std::move(error));
  const simulator::Report &report = simulated->reports.back();
  note() << report.text(simulated->ptx());
  if (test->faults.empty())
    return report.clean() ? success : fail("faults in a file that should have none");
  for (const std::string &name : test->faults)
    if (none_of(report.faults(), [&](const simulator::Fault &fault) { return nameOf(fault.kind) == name; }))
      return fail("the fault `" + Twine(name) + "` was not found");
  return success;
}

void Run::describe(const LaunchPlan &plan, double seconds) {
  for (const ReadyLaunch &launch : plan.launches)
    note() << launch.entry << ": " << launch.grid[0] * launch.grid[1] * launch.grid[2] << " blocks of " << launch.block
           << " threads, " << launch.shared << " bytes of dynamic shared memory\n";
  if (plan.launches.empty())
    note() << plan.variant << ": nothing to launch, every output is empty\n";
  if (simulated)
    note() << format("simulated in %.2f s, no faults\n", seconds);
  else
    note() << "ran on " << gpu->name() << "\n";
}

// The first elements of the last dimension.
void Run::show(StringRef name, const HostTensor &tensor) {
  constexpr int64_t most = 6;
  int64_t count = std::min(tensor.size(), most);
  if (!tensor.shape.empty())
    count = std::min(count, tensor.shape.back());
  note() << name << ": " << tensor.type->name << "[";
  interleaveComma(tensor.shape, note());
  note() << "]";
  for (int64_t i = 0; i < count; ++i) {
    double value = tensor.value(i);
    note() << (i ? ", " : " = ") << format("%g", std::isnan(value) ? std::abs(value) : value);
  }
  note() << (count < tensor.size() ? ", ...\n" : "\n");
}

static std::string position(ArrayRef<int64_t> shape, int64_t at) {
  std::string text;
  for (int64_t extent : reverse(shape)) {
    text.insert(0, std::to_string(at % extent) + (text.empty() ? "" : ", "));
    at /= extent;
  }
  return text;
}

int Run::check(StringRef name, const HostTensor &result, StringRef path) {
  Expected<interpreter::NpyArray> array = interpreter::readNpy(path);
  if (!array)
    return fail(array.takeError());
  if (array->shape != result.shape)
    return fail("`" + path + "` has another shape than `" + name + "`");
  // A reference of higher precision stays one.
  bool precise = result.type->kind == ElementType::Float && array->type == "f8";
  Expected<HostTensor> reference = convertArray(precise ? *cantFail(findElementType("f64")) : *result.type, *array);
  if (!reference)
    return fail("`" + path + "`: " + toString(reference.takeError()));
  Tolerance tolerance = defaultTolerance(*result.type);
  tolerance.relative = options.relative.value_or(tolerance.relative);
  tolerance.absolute = options.absolute.value_or(tolerance.absolute);
  Comparison comparison = compareTensors(result, *reference, tolerance);
  note() << name << ": " << comparison.total << " elements against " << path << ", worst error "
         << format("%.3g", comparison.worstError);
  if (result.type->kind == ElementType::Float)
    note() << format(", %.0f %% of what is allowed (rtol %.3g, atol %.3g of the root mean square)",
                     100 * comparison.worstShare, tolerance.relative, tolerance.absolute);
  note() << "\n";
  if (comparison.wrong == 0)
    return success;
  return fail(Twine(comparison.wrong) + " of " + Twine(comparison.total) + " elements of `" + name +
              "` are wrong; the first at [" + position(result.shape, comparison.at) + "] is " +
              formatv("{0}", comparison.got).str() + ", expected " + formatv("{0}", comparison.want).str());
}

int Run::useResults(Session &session) {
  Expected<std::vector<HostTensor>> results = session.results();
  if (!results)
    return fail(results.takeError());
  std::vector<std::string> names = session.resultNames();
  auto find = [&](StringRef name) -> const HostTensor * {
    for (auto [known, tensor] : zip(names, *results))
      if (known == name || (name.empty() && names.size() == 1))
        return &tensor;
    return nullptr;
  };
  int status = success;
  for (const auto *list : {&options.outputs, &options.references})
    for (const auto &[name, path] : *list) {
      const HostTensor *tensor = find(name);
      if (!tensor)
        return fail("there is no result `" + name + "`; the results are " + join(names, ", "), 2);
      if (list == &options.references)
        status = std::max(status, check(name.empty() ? names[0] : name, *tensor, path));
      else if (Error error = interpreter::writeNpy(path, toArray(*tensor, options.decode)))
        return fail(std::move(error));
    }
  if (options.outputs.empty() && options.references.empty())
    for (auto [name, tensor] : zip(names, *results))
      show(name, tensor);
  return status;
}

int Run::bench(Session &session) {
  Expected<std::vector<double>> times = gpu->time(session.plan().launches, options.repetitions);
  if (!times)
    return fail(times.takeError());
  llvm::sort(*times);
  note() << format("%.2f us median of %zu launches, %.2f to %.2f\n", (*times)[times->size() / 2], times->size(),
                   times->front(), times->back());
  return success;
}

int Run::runOnce(Session &session, uint64_t seed) {
  started = lastProgress = std::chrono::steady_clock::now();
  auto progressed = [this](uint64_t done, uint64_t all) { progress(done, all); };
  if (simulated) {
    simulated->reports.clear();
    simulated->launchOptions().seed = seed;
    simulated->launchOptions().progress = progressed;
  }
  if (Error error = session.run())
    return fail(std::move(error));
  double seconds = secondsSince(started);
  if (simulated)
    if (int status = reportFaults()) {
      errs() << "tile-run: the seed was " << seed << "\n";
      return status;
    }
  if (seed == options.seed)
    describe(session.plan(), seconds);
  return useResults(session);
}

int Run::runSeeds(const json::Object &kernel, Arguments &arguments) {
  for (uint64_t i = 0; i < options.seeds; ++i) {
    Session session(kernel, arguments, *device);
    if (!options.variant.empty())
      session.forceVariant(options.variant);
    if (Error error = session.prepare())
      return fail(std::move(error));
    if (int status = runOnce(session, options.seed + i))
      return status;
    if (options.bench)
      if (int status = bench(session))
        return status;
  }
  if (options.seeds > 1)
    note() << options.seeds << " seeds, no faults\n";
  if (options.report && simulated)
    printCounts(simulated->reports, simulated->ptx(), outs());
  return success;
}

int Run::run() {
  if (int status = openDevice())
    return status;
  if (!options.ptx.empty() && options.json.empty())
    return runTest();
  Expected<const json::Object *> kernel = findKernel();
  if (!kernel)
    return fail(kernel.takeError());
  Expected<Arguments> arguments = bindArguments(**kernel, options.arguments);
  if (!arguments)
    return fail(arguments.takeError());
  return runSeeds(**kernel, *arguments);
}

int tilec::runKernel(const TileRunOptions &options, const char *program) { return Run(options, program).run(); }
