// Measures and prints times, rates and their parts of the card's ceilings.
#include "Bench.h"

#include "tilec/Runner/Work.h"
#include "llvm/Support/Format.h"

using namespace tilec;
using namespace tilec::runner;
using namespace llvm;

namespace {

class BenchReport {
public:
  BenchReport(CudaDevice &device, raw_ostream &os) : device(device), os(os) {}

  void times(const Measurement &measured);
  void clocks(const Measurement &measured);
  void bytes(double moved, const Measurement &measured);
  void operations(const Work &work, const Measurement &measured);

private:
  void line(StringRef name, const Spread &spread);
  void ceiling(Expected<Ceiling> ceiling, double rate, const char *of, double scale, const char *unit);

  CudaDevice &device;
  raw_ostream &os;
};

} // namespace

void BenchReport::line(StringRef name, const Spread &spread) {
  os << name << format("%.2f us, %.2f to %.2f in 8 of 10 of %zu", spread.median, spread.low, spread.high, spread.count);
}

void BenchReport::times(const Measurement &measured) {
  line("single launch: ", measured.single);
  os << " (cold cache, after a pause)\n";
  line("sustained:     ", measured.sustained);
  os << " batches (launches without pauses)\n";
}

void BenchReport::clocks(const Measurement &measured) {
  auto text = [&](const char *when, const std::optional<Clocks> &clocks) {
    if (clocks)
      os << when << " " << clocks->sm << " / " << clocks->memory;
  };
  if (!measured.before) {
    os << "clocks: not known, there is no NVML (libnvidia-ml.so.1)\n";
    return;
  }
  os << "clocks, SM / memory in MHz:";
  text(" before", measured.before);
  text(", under load", measured.during);
  text(", after", measured.after);
  os << "\n";
}

void BenchReport::ceiling(Expected<Ceiling> ceiling, double rate, const char *of, double scale, const char *unit) {
  if (!ceiling) {
    os << "; " << of << ": " << toString(ceiling.takeError()) << "\n";
    return;
  }
  os << format(", %.0f %% of ", 100 * rate / ceiling->rate) << of << format(", %.1f %s, ", ceiling->rate / scale, unit)
     << ceiling->origin << "\n";
}

void BenchReport::bytes(double moved, const Measurement &measured) {
  constexpr double giga = 1e9;
  double rate = moved / (measured.sustained.median * 1e-6);
  os << format("tensors: %.1f MB, each read or written once: %.1f GB/s", moved / 1e6, rate / giga);
  ceiling(copyCeiling(device), rate, "a copy", giga, "GB/s");
  // What fits the cache stays there from one launch to the next.
  if (moved < static_cast<double>(device.cacheBytes())) {
    double cold = moved / (measured.single.median * 1e-6);
    os << format("  (they fit the second-level cache; a single launch on a cold one: %.1f GB/s)\n", cold / giga);
  }
}

void BenchReport::operations(const Work &work, const Measurement &measured) {
  constexpr double tera = 1e12;
  if (work.products > 0) {
    double rate = work.products / (measured.sustained.median * 1e-6);
    os << format("products: %.4g operations on %s: %.1f TFLOP/s", work.products, work.productType.c_str(), rate / tera);
    if (std::optional<std::string> kind = peakOf(work.productType))
      ceiling(peakCeiling(device, *kind), rate, "products alone", tera, "TFLOP/s");
    else
      os << "\n";
  }
  if (work.others > 0)
    os << format("other arithmetic: %.4g operations: %.2f TFLOP/s\n", work.others,
                 work.others / (measured.sustained.median * 1e-6) / tera);
}

int tilec::benchmark(CudaDevice &device, const Session &session, const Arguments &arguments, const std::string &kernel,
                     const TileRunOptions &options, const Console &console) {
  if (session.plan().launches.empty()) {
    console.note() << "nothing to measure: every output is empty\n";
    return success;
  }
  std::vector<CudaDevice::Cleared> cleared;
  for (const Workspace &workspace : session.plan().workspaces)
    if (workspace.clear)
      cleared.push_back({workspace.address, static_cast<size_t>(workspace.bytes)});
  Expected<Measurement> measured = device.measure(session.plan().launches, cleared, options.repetitions);
  if (!measured)
    return console.fail(measured.takeError());
  BenchReport report(device, console.note());
  report.times(*measured);
  report.clocks(*measured);
  report.bytes(bytesMoved(arguments), *measured);
  Expected<Work> work = options.input.empty()
                            ? Expected<Work>(createStringError("there is no .tile file"))
                            : countWork({options.input, kernel, options.defines, options.importFolders}, arguments);
  if (work)
    report.operations(*work, *measured);
  else
    console.note() << "operations: not known, " << toString(work.takeError()) << "\n";
  return success;
}
