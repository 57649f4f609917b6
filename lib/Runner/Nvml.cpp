// Loads libnvidia-ml and reads clocks. Numbers are those of nvml.h.
#include "Nvml.h"

#include "llvm/Support/DynamicLibrary.h"

using namespace tilec::runner;

static constexpr int smClock = 1, memoryClock = 2; // nvmlClockType_t

ClockReader::ClockReader(const std::string &bus) {
  std::string reason;
  llvm::sys::DynamicLibrary library = llvm::sys::DynamicLibrary::getPermanentLibrary("libnvidia-ml.so.1", &reason);
  if (!library.isValid())
    return;
  auto start = reinterpret_cast<int (*)()>(library.getAddressOfSymbol("nvmlInit_v2"));
  auto find =
      reinterpret_cast<int (*)(const char *, void **)>(library.getAddressOfSymbol("nvmlDeviceGetHandleByPciBusId_v2"));
  getClock = reinterpret_cast<int (*)(void *, int, unsigned *)>(library.getAddressOfSymbol("nvmlDeviceGetClockInfo"));
  if (!start || !find || !getClock || start() != 0 || find(bus.c_str(), &device) != 0)
    device = nullptr;
}

std::optional<Clocks> ClockReader::read() const {
  Clocks clocks;
  if (!device || getClock(device, smClock, &clocks.sm) != 0 || getClock(device, memoryClock, &clocks.memory) != 0)
    return std::nullopt;
  return clocks;
}
