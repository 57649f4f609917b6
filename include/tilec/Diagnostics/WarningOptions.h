// The -W options: which warnings are on and which count as errors.
#ifndef TILEC_DIAGNOSTICS_WARNINGOPTIONS_H
#define TILEC_DIAGNOSTICS_WARNINGOPTIONS_H

#include "tilec/Diagnostics/Kinds.h"
#include "llvm/ADT/StringMap.h"

namespace tilec {

class WarningOptions {
public:
  /// Applies what follows -W: all, perf, error, NAME, error=NAME (NAME may be all or perf), each also with no- before
  /// it. An option for one name wins over the groups, a later one over an earlier one. False if the name is not known.
  bool apply(llvm::StringRef option);
  /// -w: no warnings at all.
  void disableAll() { silent = true; }

  /// The severity with which a kind is reported now.
  Severity getSeverity(diag::Kind kind) const;

  /// The name of a warning that `option` may have meant, or "".
  static llvm::StringRef suggest(llvm::StringRef option);

private:
  bool silent = false;
  bool allOn = false;
  bool perfOn = false;
  bool errors = false;
  llvm::StringMap<bool> enabled;
  llvm::StringMap<bool> asError;
};

} // namespace tilec

#endif // TILEC_DIAGNOSTICS_WARNINGOPTIONS_H
