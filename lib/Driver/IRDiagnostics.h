// Turns what passes say about operations into diagnostics of tilec and into remarks.
#ifndef TILEC_LIB_DRIVER_IRDIAGNOSTICS_H
#define TILEC_LIB_DRIVER_IRDIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"
#include "tilec/Diagnostics/DiagnosticEngine.h"
#include <set>
#include <string>
#include <vector>

namespace tilec {

/// A decision of a pass and where it was taken.
struct Remark {
  std::string step;
  SourceRange range;
  std::string text;
};

/// While it lives, what passes say is sorted. An error that begins with the code of a kind, as in `E0412: too large`,
/// is the user's and is reported as that kind at the operation's place in the source. All other errors are faults of
/// the compiler and are kept as text, unless setErrorKind names a kind for them. Warnings are reported as slow paths,
/// remarks are kept.
class IRDiagnostics {
public:
  IRDiagnostics(mlir::MLIRContext &context, DiagnosticEngine &diagnostics);

  void setStep(llvm::StringRef name) { step = name.str(); }
  void setErrorKind(std::optional<diag::Kind> kind) { errorKind = kind; }
  /// The text of the compiler's own faults since the last call.
  std::string takeInternalErrors() { return std::exchange(internalErrors, ""); }
  llvm::ArrayRef<Remark> getRemarks() const { return remarks; }

private:
  void handleError(mlir::Diagnostic &diagnostic, SourceRange range);
  mlir::LogicalResult handle(mlir::Diagnostic &diagnostic);
  SourceRange getRange(mlir::Location location) const;

  DiagnosticEngine &diagnostics;
  std::string step;
  std::optional<diag::Kind> errorKind;
  std::string internalErrors;
  std::vector<Remark> remarks;
  /// Kinds and places reported. All variants of a kernel have the same faults; one is enough.
  std::set<std::pair<unsigned, uint32_t>> reported;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace tilec

#endif // TILEC_LIB_DRIVER_IRDIAGNOSTICS_H
