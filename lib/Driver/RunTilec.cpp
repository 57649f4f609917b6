// The tool around the compiler: crash recovery and the rendering of diagnostics.
#include "tilec/Driver/CommandLine.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace tilec {
namespace {

/// Deeply nested input must not end in a stack overflow: recursive passes run on a stack of this many bytes.
constexpr unsigned stackBytes = 256u << 20;

/// LLVM calls this before it aborts; the crash recovery then regains control.
void keepFatalError(void *text, const char *reason, bool) { *static_cast<std::string *>(text) = reason; }

/// compile(), where a crash or a fatal error of a library is an internal error like any other.
ExitStatus compileSafely(const CompileOptions &options, SourceManager &sources, DiagnosticEngine &diagnostics) {
  ExitStatus status = ExitStatus::Internal;
  std::string fatalError;
  install_fatal_error_handler(keepFatalError, &fatalError);
  CrashRecoveryContext::Enable();
  CrashRecoveryContext recovery;
  bool survived =
      recovery.RunSafelyOnThread([&] { status = compile(options, sources, diagnostics, outs(), errs()); }, stackBytes);
  CrashRecoveryContext::Disable();
  remove_fatal_error_handler();
  if (survived)
    return status;
  std::string reason = fatalError.empty() ? "tilec crashed" : "LLVM stopped: " + fatalError;
  diagnostics.report({}, diag::err_internal) << "tilec crashed" << writeReproducer(options, sources, reason, "");
  return ExitStatus::Internal;
}

bool applyWarnings(const CommandLine &commandLine, WarningOptions &warnings) {
  for (const std::string &option : commandLine.warnings) {
    if (warnings.apply(option))
      continue;
    StringRef meant = WarningOptions::suggest(option);
    errs() << "tilec: error: unknown warning `-W" << option << "`";
    if (!meant.empty())
      errs() << "; did you mean `-W" << meant << "`?";
    errs() << "\n";
    return false;
  }
  if (commandLine.noWarnings)
    warnings.disableAll();
  return true;
}

/// Answers that do not reach standard output are a failure; LLVM would end the program with a message of its own.
ExitStatus finishOutput(ExitStatus status) {
  outs().flush();
  if (!outs().has_error())
    return status;
  errs() << "tilec: error: cannot write standard output: " << outs().error().message() << "\n";
  outs().clear_error();
  return ExitStatus::InputErrors;
}

} // namespace

ExitStatus runTilec(ArrayRef<const char *> arguments) {
  std::string program = sys::fs::getMainExecutable(arguments[0], nullptr);
  CommandLine commandLine;
  std::vector<std::string> words(arguments.begin() + 1, arguments.end());
  if (auto status = parseCommandLine(sys::path::parent_path(program), std::move(words), commandLine, outs(), errs()))
    return finishOutput(*status);

  SourceManager sources;
  DiagnosticEngine diagnostics(sources);
  if (!applyWarnings(commandLine, diagnostics.getWarningOptions()))
    return ExitStatus::CommandLine;
  diagnostics.setErrorLimit(commandLine.errorLimit);
  ExitStatus status = compileSafely(commandLine.compile, sources, diagnostics);
  if (commandLine.jsonDiagnostics) {
    JSONRenderer renderer(errs(), sources);
    diagnostics.finish(renderer);
  } else {
    TextRenderer renderer(errs(), sources, shouldUseColour(commandLine.colour, errs()));
    diagnostics.finish(renderer);
  }
  return status;
}

} // namespace tilec
