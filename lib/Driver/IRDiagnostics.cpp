// Turns what passes say about operations into diagnostics of tilec and into remarks.
#include "IRDiagnostics.h"
#include "mlir/IR/Location.h"

using namespace llvm;

namespace tilec {

IRDiagnostics::IRDiagnostics(mlir::MLIRContext &context, DiagnosticEngine &diagnostics)
    : diagnostics(diagnostics), handler(&context, [this](mlir::Diagnostic &diagnostic) { return handle(diagnostic); }) {
}

SourceRange IRDiagnostics::getRange(mlir::Location location) const {
  auto position = location->findInstanceOf<mlir::FileLineColLoc>();
  if (!position)
    return {};
  const SourceManager &sources = diagnostics.getSources();
  for (uint32_t index = 0; index < sources.getNumFiles(); ++index) {
    FileID file{index};
    if (sources.getName(file) != position.getFilename().getValue())
      continue;
    unsigned line = std::max(position.getLine(), 1u);
    unsigned column = std::max(position.getColumn(), 1u);
    size_t offset = sources.getLineStart(file, line) + column - 1;
    return SourceRange(sources.getLoc(file, std::min(offset, sources.getText(file).size())));
  }
  return {};
}

void IRDiagnostics::handleError(mlir::Diagnostic &diagnostic, SourceRange range) {
  std::string text = diagnostic.str();
  auto [code, message] = StringRef(text).split(": ");
  const KindInfo *kind = findKindByCode(code);
  if (kind && kind->severity == Severity::Error) {
    if (!range.isValid() || reported.insert({kind->kind, range.begin.getRaw()}).second)
      diagnostics.report(range, kind->kind) << message;
  } else if (errorKind) {
    diagnostics.report(range, *errorKind) << text;
  } else {
    internalErrors += text + "\n";
  }
}

mlir::LogicalResult IRDiagnostics::handle(mlir::Diagnostic &diagnostic) {
  SourceRange range = getRange(diagnostic.getLocation());
  switch (diagnostic.getSeverity()) {
  case mlir::DiagnosticSeverity::Error:
    handleError(diagnostic, range);
    break;
  case mlir::DiagnosticSeverity::Warning:
    diagnostics.report(range, diag::warn_slow_path) << diagnostic.str();
    break;
  case mlir::DiagnosticSeverity::Remark:
    remarks.push_back({step, range, diagnostic.str()});
    break;
  case mlir::DiagnosticSeverity::Note:
    break;
  }
  return mlir::success();
}

} // namespace tilec
