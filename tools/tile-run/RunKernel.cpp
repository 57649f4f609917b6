// Compiles, runs and checks one kernel, or a PTX file that is a test of its own.
#include "RunKernel.h"

#include "Bench.h"
#include "Compile.h"
#include "Results.h"
#include "tilec/Runner/Counts.h"
#include "tilec/Runner/CudaDevice.h"
#include "tilec/Runner/Progress.h"
#include "tilec/Runner/PtxTest.h"
#include "tilec/Runner/Session.h"
#include "tilec/Runner/SimulatorDevice.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include <chrono>
#include <unistd.h>

using namespace tilec;
using namespace tilec::runner;
using namespace llvm;

namespace {

class Run {
public:
  Run(const TileRunOptions &given, const char *program)
      : options(given), program(program), console(options.quiet), results(options, console) {}
  int run();

private:
  int fail(const Twine &message, int status = failure) { return console.fail(message, status); }
  int fail(Error error, int status = failure) { return console.fail(std::move(error), status); }
  raw_ostream &note() { return console.note(); }

  int openDevice();
  Expected<const json::Object *> findKernel() const;
  int runTest();
  int runSeeds(const json::Object &kernel, Arguments &arguments);
  int runOnce(Session &session, const Arguments &arguments, uint64_t seed);
  int reportFaults();
  int report();
  /// Whether the simulator's counts are wanted.
  bool counts() const { return options.report || !options.reportFile.empty() || !options.reportFail.empty(); }
  void takeOutputs(const json::Object &kernel);
  void describe(const LaunchPlan &plan, double seconds);
  simulator::Options simulatorOptions();

  TileRunOptions options;
  const char *program;
  Console console;
  Results results;
  CompiledKernels kernels;
  std::unique_ptr<Device> device;
  SimulatorDevice *simulated = nullptr;
  CudaDevice *gpu = nullptr;
};

// Bytes of memory for each byte of a tensor: the contents, their image and the results; in the simulator the device's
// memory with 12 bytes of shadow state a byte too.
constexpr double hostCopies = 3, simulatedCopies = 16;

double memoryBytes() { return double(sysconf(_SC_PHYS_PAGES)) * double(sysconf(_SC_PAGESIZE)); }

double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

} // namespace

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

simulator::Options Run::simulatorOptions() {
  simulator::Options result;
  result.seed = options.seed;
  result.schedule = options.schedule;
  result.checkRaces = result.checkInitialized = result.checkProxies = options.looksForFaults;
  result.count = counts();
  return result;
}

// Compiles for a GPU if there is one, for the simulator otherwise.
int Run::openDevice() {
  bool wantsGpu = !options.simulate && !counts() && options.seeds == 1 && !options.scheduleGiven;
  std::unique_ptr<CudaDevice> card;
  if (wantsGpu || options.gpu || options.bench) {
    Expected<std::unique_ptr<CudaDevice>> opened = CudaDevice::open();
    if (opened)
      card = std::move(*opened);
    else if (options.gpu || options.bench)
      return fail(Twine(options.bench ? "--bench" : "--gpu") + " needs a GPU: " + toString(opened.takeError()),
                  toolMissing);
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
    return report.clean() ? this->report() : fail("faults in a file that should have none");
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
  if (!simulated) {
    note() << "ran on " << gpu->name() << "\n";
    return;
  }
  note() << format("simulated in %.2f s, no faults\n", seconds);
  for (const simulator::Report &report : simulated->reports)
    note() << report.exemptionText(simulated->ptx());
}

int Run::runOnce(Session &session, const Arguments &arguments, uint64_t seed) {
  auto started = std::chrono::steady_clock::now();
  {
    Progress progress("blocks", options.quiet);
    auto progressed = [&](uint64_t done, uint64_t all) { progress.update(done, all); };
    if (simulated) {
      simulated->reports.clear();
      simulated->launchOptions().seed = seed;
      simulated->launchOptions().progress = progressed;
    }
    if (Error error = session.run())
      return fail(std::move(error));
  }
  double seconds = secondsSince(started);
  if (simulated)
    if (int status = reportFaults()) {
      errs() << "tile-run: the seed was " << seed << "\n";
      return status;
    }
  if (seed == options.seed)
    describe(session.plan(), seconds);
  return results.use(session, arguments);
}

// The counts of the last run.
int Run::report() {
  if (!counts())
    return success;
  CountReport counts(simulated->reports, simulated->ptx());
  if (options.report)
    counts.print(outs());
  if (!options.reportFile.empty()) {
    auto write = [&](raw_ostream &os) {
      os << formatv("{0:2}\n", counts.toJson());
      return Error::success();
    };
    if (Error error = writeToOutput(options.reportFile, write))
      return fail("cannot write `" + options.reportFile + "`: " + toString(std::move(error)));
  }
  int status = success;
  for (const std::string &name : options.reportFail)
    if (Error error = counts.requireZero(name))
      status = fail(std::move(error));
  return status;
}

int Run::runSeeds(const json::Object &kernel, Arguments &arguments) {
  for (uint64_t i = 0; i < options.seeds; ++i) {
    Session session(kernel, arguments, *device);
    if (!options.variant.empty())
      session.forceVariant(options.variant);
    if (Error error = session.prepare())
      return fail(std::move(error));
    if (int status = runOnce(session, arguments, options.seed + i))
      return status;
    if (options.bench)
      if (int status =
              benchmark(*gpu, session, arguments, kernel.getString("name").value_or("").str(), options, console))
        return status;
  }
  if (options.seeds > 1)
    note() << options.seeds << " seeds, no faults\n";
  return simulated ? report() : success;
}

// `C=c.npy` of an output is where it goes.
void Run::takeOutputs(const json::Object &kernel) {
  const json::Array *list = kernel.getArray("arguments");
  for (const json::Value &value : list ? *list : json::Array()) {
    const json::Object *argument = value.getAsObject();
    if (!argument || argument->getString("access") != "out")
      continue;
    StringRef name = argument->getString("name").value_or("");
    erase_if(options.arguments.values, [&](const auto &pair) {
      bool isOutput = pair.first == name && StringRef(pair.second).ends_with(".npy");
      if (isOutput)
        options.outputs.push_back(pair);
      return isOutput;
    });
  }
}

int Run::run() {
  if (int status = openDevice())
    return status;
  if (!options.ptx.empty() && options.json.empty())
    return runTest();
  Expected<const json::Object *> kernel = findKernel();
  if (!kernel)
    return fail(kernel.takeError());
  takeOutputs(**kernel);
  options.arguments.mostBytes = memoryBytes() / (simulated ? simulatedCopies : hostCopies);
  Expected<Arguments> arguments = bindArguments(**kernel, options.arguments);
  if (!arguments)
    return fail(arguments.takeError());
  if (int status = results.prepare((*kernel)->getString("name").value_or("").str(), *arguments))
    return status;
  return runSeeds(**kernel, *arguments);
}

int tilec::runKernel(const TileRunOptions &options, const char *program) { return Run(options, program).run(); }
