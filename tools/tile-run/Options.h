// The command line of tile-run.
#ifndef TILEC_TOOLS_TILE_RUN_OPTIONS_H
#define TILEC_TOOLS_TILE_RUN_OPTIONS_H

#include "tilec/Runner/Arguments.h"
#include "tilec/Runner/Compare.h"
#include "tilec/Simulator/Async.h"

namespace tilec {

/// One --check.
struct CheckOption {
  enum Kind : uint8_t { Array, Expression, ExpressionFile } kind = Array;
  /// Of the result, for an array; empty if the kernel has one result.
  std::string name;
  /// The path or the expression.
  std::string text;
};

struct TileRunOptions {
  std::string input, ptx, json, kernel, variant, tilec, arch;
  std::vector<std::string> defines, importFolders;
  runner::ArgumentOptions arguments;
  /// NAME to FILE; the name may be empty if the kernel has one result.
  std::vector<std::pair<std::string, std::string>> outputs;
  std::vector<CheckOption> checks;
  std::optional<double> relative, absolute;
  /// Elements that expressions are evaluated for at least; 0 for all.
  std::optional<int64_t> checkElements;
  /// Where the counts go as JSON; "-" is standard output.
  std::string reportFile;
  /// Counts that must be 0.
  std::vector<std::string> reportFail;
  uint64_t seed = 1, seeds = 1;
  simulator::Schedule schedule = simulator::Schedule::Late;
  bool scheduleGiven = false;
  int64_t sms = 8;
  bool simulate = false, gpu = false, decode = false, report = false, quiet = false, looksForFaults = true;
  bool bench = false;
  unsigned repetitions = 50;
};

/// The exit status if the program should end now: 0 after --help, 2 after a mistake, which is printed.
std::optional<int> parseCommandLine(int argc, char **argv, TileRunOptions &options);

} // namespace tilec

#endif // TILEC_TOOLS_TILE_RUN_OPTIONS_H
