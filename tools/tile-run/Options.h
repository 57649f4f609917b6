// The command line of tile-run.
#ifndef TILEC_TOOLS_TILE_RUN_OPTIONS_H
#define TILEC_TOOLS_TILE_RUN_OPTIONS_H

#include "tilec/Runner/Arguments.h"
#include "tilec/Runner/Compare.h"
#include "tilec/Simulator/Async.h"

namespace tilec {

struct TileRunOptions {
  std::string input, ptx, json, kernel, variant, tilec, arch;
  std::vector<std::string> defines, compileOptions;
  runner::ArgumentOptions arguments;
  /// NAME to FILE; the name may be empty if the kernel has one result.
  std::vector<std::pair<std::string, std::string>> outputs, references;
  std::optional<double> relative, absolute;
  uint64_t seed = 1, seeds = 1;
  simulator::Schedule schedule = simulator::Schedule::Late;
  bool scheduleGiven = false;
  int64_t sms = 8;
  bool simulate = false, gpu = false, decode = false, report = false, quiet = false, checks = true;
  bool bench = false;
  unsigned repetitions = 50;
};

/// The exit status if the program should end now: 0 after --help, 2 after a mistake, which is printed.
std::optional<int> parseCommandLine(int argc, char **argv, TileRunOptions &options);

} // namespace tilec

#endif // TILEC_TOOLS_TILE_RUN_OPTIONS_H
