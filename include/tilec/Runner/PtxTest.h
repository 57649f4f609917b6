// PTX files that say in comments how they are run and what must be found (docs/simulator.md, "PTX files as tests").
#ifndef TILEC_RUNNER_PTXTEST_H
#define TILEC_RUNNER_PTXTEST_H

#include "tilec/Runner/Device.h"
#include "llvm/ADT/StringRef.h"

namespace tilec::runner {

struct PtxTestArgument {
  enum Kind : uint8_t { In, Out, Scalar } kind = Scalar;
  std::string type;
  int64_t count = 0;
  /// iota, zero or random; the value of a scalar.
  std::string contents;
};

struct PtxTest {
  ReadyLaunch launch;
  std::vector<PtxTestArgument> arguments;
  /// Names of faults that must be reported.
  std::vector<std::string> faults;
};

/// Fails where the file has no `RUN-PTX` line or a malformed one.
llvm::Expected<PtxTest> parsePtxTest(llvm::StringRef ptx);

/// Allocates and fills the arguments and completes `test.launch.params`.
llvm::Error placeArguments(PtxTest &test, Device &device, uint64_t seed);

} // namespace tilec::runner

#endif // TILEC_RUNNER_PTXTEST_H
