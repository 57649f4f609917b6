// The -W options: which warnings are on and which count as errors.
#ifndef TILEC_DIAGNOSTICS_WARNINGOPTIONS_H
#define TILEC_DIAGNOSTICS_WARNINGOPTIONS_H

#include "tilec/Diagnostics/Kinds.h"
#include "llvm/ADT/DenseMap.h"

namespace tilec {

class WarningOptions {
public:
  /// Applies one option, later ones win: all, perf, no-perf, error, no-error, NAME, no-NAME, error=NAME and
  /// no-error=NAME (what follows -W). False if the name is not known.
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
  llvm::DenseMap<unsigned, bool> enabled;
  llvm::DenseMap<unsigned, bool> asError;
};

} // namespace tilec

#endif // TILEC_DIAGNOSTICS_WARNINGOPTIONS_H
