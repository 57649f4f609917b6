// The command line of tilec.
#ifndef TILEC_DRIVER_COMMANDLINE_H
#define TILEC_DRIVER_COMMANDLINE_H

#include "tilec/Diagnostics/Renderer.h"
#include "tilec/Driver/Compile.h"
#include <optional>

namespace tilec {

struct CommandLine {
  CompileOptions compile;
  ColourMode colour = ColourMode::Auto;
  bool jsonDiagnostics = false;
  unsigned errorLimit = 20;
  /// What followed each -W, and whether -w was given.
  std::vector<std::string> warnings;
  bool noWarnings = false;
};

/// Reads the arguments after the program's name, and before them those of the environment variable TILEC_FLAGS.
/// Questions such as --help are answered on `out` and mistakes explained on `err`; the exit status is then returned.
std::optional<ExitStatus> parseCommandLine(llvm::StringRef program, std::vector<std::string> arguments,
                                           CommandLine &result, llvm::raw_ostream &out, llvm::raw_ostream &err);

/// The whole tool: reads the command line, compiles and renders diagnostics.
ExitStatus runTilec(llvm::ArrayRef<const char *> arguments);

} // namespace tilec

#endif // TILEC_DRIVER_COMMANDLINE_H
