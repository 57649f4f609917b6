// Times launches with events: single ones on a cold cache, and many without pauses.
#include "CudaDriver.h"
#include "Nvml.h"
#include "tilec/Runner/CudaDevice.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <chrono>
#include <thread>

using namespace llvm;
using namespace tilec::runner;

Spread Spread::of(std::vector<double> values) {
  if (values.empty())
    return {};
  llvm::sort(values);
  size_t last = values.size() - 1;
  return {values[values.size() / 2], values[last / 10], values[last - last / 10], values.size()};
}

namespace {
// Two events, and memory that takes the cache.
class Scope {
public:
  explicit Scope(const CudaDriver &driver) : driver(driver) {}
  ~Scope() {
    for (void *event : {first, second})
      if (event)
        driver.cuEventDestroy(event);
    for (CudaAddress address : memory)
      driver.cuMemFree(address);
  }
  Error events() {
    if (Error error = driver.check(driver.cuEventCreate(&first, 0), "cuEventCreate"))
      return error;
    return driver.check(driver.cuEventCreate(&second, 0), "cuEventCreate");
  }
  Expected<CudaAddress> allocate(size_t bytes) {
    CudaAddress address = 0;
    if (Error error = driver.check(driver.cuMemAlloc(&address, bytes), "cuMemAlloc"))
      return std::move(error);
    memory.push_back(address);
    return address;
  }
  void *first = nullptr, *second = nullptr;

private:
  const CudaDriver &driver;
  std::vector<CudaAddress> memory;
};
} // namespace

Expected<double> CudaDevice::timeOf(function_ref<Error()> work) {
  Scope scope(*driver);
  if (Error error = scope.events())
    return std::move(error);
  driver->cuEventRecord(scope.first, nullptr);
  if (Error error = work())
    return std::move(error);
  driver->cuEventRecord(scope.second, nullptr);
  if (Error error = driver->check(driver->cuEventSynchronize(scope.second), "the kernel"))
    return std::move(error);
  float milliseconds = 0;
  if (Error error =
          driver->check(driver->cuEventElapsedTime(&milliseconds, scope.first, scope.second), "cuEventElapsedTime"))
    return std::move(error);
  return 1000.0 * milliseconds;
}

Expected<double> CudaDevice::timeLaunches(ArrayRef<ReadyLaunch> launches, ArrayRef<Cleared> cleared, unsigned count) {
  return timeOf([&]() -> Error {
    for (unsigned i = 0; i < count; ++i) {
      for (const Cleared &memory : cleared)
        driver->cuMemsetD8Async(memory.address, 0, memory.bytes, nullptr);
      for (const ReadyLaunch &launch : launches)
        if (Error error = start(launch))
          return error;
    }
    return Error::success();
  });
}

Expected<Measurement> CudaDevice::measure(ArrayRef<ReadyLaunch> launches, ArrayRef<Cleared> cleared,
                                          unsigned repetitions) {
  constexpr unsigned warmUp = 3, batches = 10, mostLaunches = 100000;
  constexpr double batchMicroseconds = 50000;
  constexpr auto pause = std::chrono::milliseconds(2);
  ClockReader clocks(busAddress());
  Measurement result;
  result.before = clocks.read();
  Expected<double> first = timeLaunches(launches, cleared, warmUp);
  if (!first)
    return first.takeError();

  // The cache twice over, so that nothing of the tensors is left.
  Scope scope(*driver);
  size_t flushed = std::max<size_t>(2 * cacheBytes(), size_t(1) << 20);
  Expected<CudaAddress> flush = scope.allocate(flushed);
  if (!flush)
    return flush.takeError();
  std::vector<double> single, sustained;
  for (unsigned i = 0; i < repetitions; ++i) {
    if (Error error = driver->check(driver->cuCtxSynchronize(), "cuCtxSynchronize"))
      return std::move(error);
    std::this_thread::sleep_for(pause);
    // The launch is queued behind it, so that the time from the call to the card is not part of what is measured.
    driver->cuMemsetD8Async(*flush, static_cast<unsigned char>(i), flushed, nullptr);
    Expected<double> time = timeLaunches(launches, cleared, 1);
    if (!time)
      return time.takeError();
    single.push_back(*time);
  }
  result.single = Spread::of(std::move(single));
  double guess = std::max(result.single.median, 1.0);
  unsigned count = static_cast<unsigned>(std::clamp(batchMicroseconds / guess, 1.0, double(mostLaunches)));
  for (unsigned i = 0; i < batches; ++i) {
    Expected<double> time = timeLaunches(launches, cleared, count);
    if (!time)
      return time.takeError();
    // The clock still is that of the batch that has just ended.
    if (i == batches / 2)
      result.during = clocks.read();
    sustained.push_back(*time / count);
  }
  result.sustained = Spread::of(std::move(sustained));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  result.after = clocks.read();
  return result;
}

Expected<double> CudaDevice::timeCopy(size_t bytes) {
  constexpr unsigned times = 10;
  Scope scope(*driver);
  Expected<CudaAddress> from = scope.allocate(bytes);
  if (!from)
    return from.takeError();
  Expected<CudaAddress> to = scope.allocate(bytes);
  if (!to)
    return to.takeError();
  driver->cuMemsetD8(*from, 1, bytes);
  double best = 0;
  for (unsigned i = 0; i < times; ++i) {
    Expected<double> time = timeOf(
        [&] { return driver->check(driver->cuMemcpyDtoDAsync(*to, *from, bytes, nullptr), "cuMemcpyDtoDAsync"); });
    if (!time)
      return time.takeError();
    best = i == 0 ? *time : std::min(best, *time);
  }
  return best;
}
