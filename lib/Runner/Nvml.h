// Clocks of a card, from NVIDIA's management library where it is installed.
#ifndef TILEC_RUNNER_NVML_H
#define TILEC_RUNNER_NVML_H

#include "tilec/Runner/Benchmark.h"

namespace tilec::runner {

class ClockReader {
public:
  /// `bus` is the card's PCI address, as cuDeviceGetPCIBusId writes it.
  explicit ClockReader(const std::string &bus);
  /// Nothing where the library or the card is not known.
  std::optional<Clocks> read() const;

private:
  void *device = nullptr;
  int (*getClock)(void *, int, unsigned *) = nullptr;
};

} // namespace tilec::runner

#endif // TILEC_RUNNER_NVML_H
