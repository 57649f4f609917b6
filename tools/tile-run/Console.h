// What tile-run says: notes on standard output unless it is quiet, errors on standard error.
#ifndef TILEC_TOOLS_TILE_RUN_CONSOLE_H
#define TILEC_TOOLS_TILE_RUN_CONSOLE_H

#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

namespace tilec {

/// Exit statuses, those of docs/tile-run.md.
constexpr int success = 0, failure = 1, wrongCommandLine = 2, toolMissing = 3;

class Console {
public:
  explicit Console(bool quiet) : quiet(quiet) {}

  llvm::raw_ostream &note() const { return quiet ? llvm::nulls() : llvm::outs(); }
  /// Prints the message, unless it is empty, and returns the status.
  int fail(const llvm::Twine &message, int status = failure) const;
  int fail(llvm::Error error, int status = failure) const { return fail(llvm::toString(std::move(error)), status); }
  bool isQuiet() const { return quiet; }

private:
  bool quiet;
};

} // namespace tilec

#endif // TILEC_TOOLS_TILE_RUN_CONSOLE_H
