// Turns what passes say about operations into diagnostics of tilec and into remarks.
#ifndef TILEC_LIB_DRIVER_IRDIAGNOSTICS_H
#define TILEC_LIB_DRIVER_IRDIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"
#include "tilec/Diagnostics/DiagnosticEngine.h"
#include <string>
#include <vector>

namespace tilec {

/// A decision of a pass and where it was taken.
struct Remark {
  std::string step;
  SourceRange range;
  std::string text;
};

/// While it lives, errors of passes are reported as `errorKind` and warnings as slow paths, both at the source position
/// of the operation; remarks are kept. Where no kind is given, errors are kept as text only: they are then faults of
/// the compiler.
class IRDiagnostics {
public:
  IRDiagnostics(mlir::MLIRContext &context, DiagnosticEngine &diagnostics);

  void setStep(llvm::StringRef name) { step = name.str(); }
  void setErrorKind(std::optional<diag::Kind> kind) { errorKind = kind; }
  /// The text of the errors without a kind since the last call.
  std::string takeInternalErrors() { return std::exchange(internalErrors, ""); }
  llvm::ArrayRef<Remark> getRemarks() const { return remarks; }

private:
  mlir::LogicalResult handle(mlir::Diagnostic &diagnostic);
  SourceRange getRange(mlir::Location location) const;

  DiagnosticEngine &diagnostics;
  std::string step;
  std::optional<diag::Kind> errorKind;
  std::string internalErrors;
  std::vector<Remark> remarks;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace tilec

#endif // TILEC_LIB_DRIVER_IRDIAGNOSTICS_H
