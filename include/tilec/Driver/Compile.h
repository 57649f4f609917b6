// The compiler as a library: one call compiles one file.
#ifndef TILEC_DRIVER_COMPILE_H
#define TILEC_DRIVER_COMPILE_H

#include "tilec/Diagnostics/DiagnosticEngine.h"
#include "tilec/Driver/CompileOptions.h"
#include "llvm/Support/raw_ostream.h"

namespace tilec {

/// The exit status of the tool.
enum class ExitStatus { Success = 0, InputErrors = 1, CommandLine = 2, ToolFailed = 3, Internal = 70 };

/// Compiles `options.input` and writes the outputs, all of them or none. Problems are reported to `diagnostics`, which
/// the caller emits; `sources` receives the files read. `out` takes outputs named `-`, `log` dumps, timings and tables.
ExitStatus compile(const CompileOptions &options, SourceManager &sources, DiagnosticEngine &diagnostics,
                   llvm::raw_ostream &out, llvm::raw_ostream &log);

/// Writes what is needed to repeat a failed compilation to a new temporary file: the command line, the sources and
/// `details`. Returns its path, or an empty string if it cannot be written.
std::string writeReproducer(const CompileOptions &options, const SourceManager &sources, llvm::StringRef reason,
                            llvm::StringRef details);

/// The version of tilec, such as `0.1.0`.
llvm::StringRef getVersion();

} // namespace tilec

#endif // TILEC_DRIVER_COMPILE_H
