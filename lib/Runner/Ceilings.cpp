// Measures what a card can do, and keeps it in the user's cache.
#include "tilec/Runner/Benchmark.h"

#include "tilec/Runner/CudaDevice.h"
#include "llvm/Support/Chrono.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace tilec::runner;

// ~/.cache/tilec/ceilings.json: {"NVIDIA H200": {"copy": {"rate": 4.1e12, "measured": "2026-11-30"}}}. Empty where
// there is no such place.
static std::string cachePath() {
  SmallString<128> path;
  if (!sys::path::cache_directory(path))
    return "";
  sys::path::append(path, "tilec", "ceilings.json");
  return path.str().str();
}

static json::Object readCache() {
  auto file = MemoryBuffer::getFile(cachePath());
  if (!file)
    return {};
  Expected<json::Value> value = json::parse((*file)->getBuffer());
  if (!value) {
    consumeError(value.takeError());
    return {};
  }
  json::Object *object = value->getAsObject();
  return object ? std::move(*object) : json::Object();
}

// A cache that cannot be written is no cache.
static void writeCache(json::Object cache) {
  std::string path = cachePath();
  if (path.empty() || sys::fs::create_directories(sys::path::parent_path(path)))
    return;
  consumeError(writeToOutput(path, [&](raw_ostream &os) {
    os << formatv("{0:2}\n", json::Value(std::move(cache)));
    return Error::success();
  }));
}

static Expected<Ceiling> remembered(CudaDevice &device, StringRef what, function_ref<Expected<double>()> measure) {
  json::Object cache = readCache();
  json::Object *card = cache.getObject(device.name());
  if (json::Object *known = card ? card->getObject(what) : nullptr)
    if (std::optional<double> rate = known->getNumber("rate"); rate && *rate > 0)
      return Ceiling{*rate, "measured on " + known->getString("measured").value_or("an earlier day").str()};
  Expected<double> rate = measure();
  if (!rate)
    return rate.takeError();
  std::string today = formatv("{0:%Y-%m-%d}", std::chrono::system_clock::now()).str();
  if (!card) {
    cache[device.name()] = json::Object();
    card = cache.getObject(device.name());
  }
  (*card)[what] = json::Object{{"rate", *rate}, {"measured", today}};
  writeCache(std::move(cache));
  return Ceiling{*rate, "measured now"};
}

Expected<Ceiling> tilec::runner::copyCeiling(CudaDevice &device) {
  constexpr size_t bytes = size_t(1) << 30;
  return remembered(device, "copy", [&]() -> Expected<double> {
    Expected<double> time = device.timeCopy(bytes);
    if (!time)
      return time.takeError();
    return 2.0 * bytes / (*time * 1e-6);
  });
}

static std::vector<uint8_t> littleEndian(uint64_t value, unsigned bytes) {
  std::vector<uint8_t> result(bytes);
  for (unsigned i = 0; i < bytes; ++i)
    result[i] = static_cast<uint8_t>(value >> (8 * i));
  return result;
}

Expected<Ceiling> tilec::runner::peakCeiling(CudaDevice &device, StringRef kind) {
  return remembered(device, kind, [&]() -> Expected<double> {
    Expected<PeakKernel> kernel = makePeakKernel(device.architecture(), kind);
    if (!kernel)
      return kernel.takeError();
    if (Error error = device.load(ArrayRef(reinterpret_cast<const uint8_t *>(kernel->ptx.data()), kernel->ptx.size())))
      return std::move(error);
    Expected<uint64_t> target = device.allocate(4096, "peak");
    if (!target)
      return target.takeError();
    // Long enough to reach the clock that the card holds, and two blocks a multiprocessor where registers allow.
    constexpr uint64_t turns = 20000;
    constexpr unsigned launches = 10;
    ReadyLaunch launch;
    launch.entry = "peak";
    launch.grid[0] = 2 * device.smCount();
    launch.block = 256;
    launch.params = {littleEndian(*target, 8), littleEndian(turns, 4)};
    Expected<double> warm = device.timeLaunches(launch, {}, launches);
    Expected<double> time = warm ? device.timeLaunches(launch, {}, launches) : warm.takeError();
    device.free(*target);
    if (!time)
      return time.takeError();
    double operations = kernel->operationsOfTurn * turns * static_cast<double>(launch.grid[0]) * launches;
    return operations / (*time * 1e-6);
  });
}
