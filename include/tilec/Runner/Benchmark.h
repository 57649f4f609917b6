// What --bench measures: times, clocks, and what the card can do at best.
#ifndef TILEC_RUNNER_BENCHMARK_H
#define TILEC_RUNNER_BENCHMARK_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>
#include <vector>

namespace tilec::runner {

class CudaDevice;

/// Times in microseconds.
struct Spread {
  double median = 0;
  /// The tenth and the ninetieth of a hundred.
  double low = 0, high = 0;
  size_t count = 0;

  static Spread of(std::vector<double> values);
};

/// In MHz.
struct Clocks {
  unsigned sm = 0, memory = 0;
};

struct Measurement {
  /// One launch after a pause, the second-level cache flushed.
  Spread single;
  /// One launch of many that follow each other.
  Spread sustained;
  /// Before the first launch, while launches follow each other, and after the last. Nothing without NVML.
  std::optional<Clocks> before, during, after;
};

/// The kinds of arithmetic with a peak of their own: operands of Tensor Cores, or "f32" for multiply-adds of threads.
/// Nothing for types that are not probed, such as f64.
std::optional<std::string> peakOf(llvm::StringRef operandType);

/// PTX of a kernel `peak` of 256 threads that multiplies on Tensor Cores (or multiply-adds in f32) as fast as the
/// architecture can, operands from shared memory or registers; parameters: a 64-bit address that is never written, the
/// number of turns as u32. Fails where the architecture has no such operation.
struct PeakKernel {
  std::string ptx;
  /// Of one block in one turn.
  double operationsOfTurn = 0;
};
llvm::Expected<PeakKernel> makePeakKernel(llvm::StringRef architecture, llvm::StringRef kind);

/// A ceiling and where it comes from: "measured now", "measured on 2026-11-30".
struct Ceiling {
  double rate = 0;
  std::string origin;
};

/// Bytes a second of a copy in the card's memory, reads and writes together; measured once a card and kept in the
/// user's cache.
llvm::Expected<Ceiling> copyCeiling(CudaDevice &device);
/// Operations a second of a kind of peakOf.
llvm::Expected<Ceiling> peakCeiling(CudaDevice &device, llvm::StringRef kind);

} // namespace tilec::runner

#endif // TILEC_RUNNER_BENCHMARK_H
