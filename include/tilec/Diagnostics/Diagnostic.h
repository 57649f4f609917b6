// One reported diagnostic: its kind, its arguments, where it points, its notes and its fix-its.
#ifndef TILEC_DIAGNOSTICS_DIAGNOSTIC_H
#define TILEC_DIAGNOSTICS_DIAGNOSTIC_H

#include "tilec/Diagnostics/Kinds.h"
#include "tilec/Diagnostics/SourceManager.h"
#include "llvm/ADT/ArrayRef.h"
#include <string>
#include <variant>
#include <vector>

namespace tilec {

/// A change to the source that would repair it: `range` is replaced by `text`. An empty range inserts.
struct FixIt {
  SourceRange range;
  std::string text;

  static FixIt insertion(SourceLoc loc, llvm::StringRef text) { return {SourceRange(loc), text.str()}; }
  static FixIt replacement(SourceRange range, llvm::StringRef text) { return {range, text.str()}; }
  static FixIt removal(SourceRange range) { return {range, std::string()}; }
};

/// A value for a `{n}` of a message.
using DiagnosticArgument = std::variant<std::string, int64_t, uint64_t>;

struct Diagnostic {
  diag::Kind kind;
  Severity severity;
  /// The caret stands at its start; the rest is underlined. Invalid for a diagnostic without a place.
  SourceRange range;
  std::vector<DiagnosticArgument> arguments;
  /// Further ranges to underline.
  std::vector<SourceRange> highlights;
  /// All belong to one repair and are applied together.
  std::vector<FixIt> fixIts;
  std::vector<Diagnostic> notes;

  const KindInfo &info() const { return getKindInfo(kind); }
  /// The text of the message and of the hint (possibly empty) with the arguments filled in.
  std::string message() const;
  std::string hint() const;
};

/// `format` with `{n}`, `{n:s}` and `{n:bytes}` replaced; a missing argument is printed as `?`.
std::string formatDiagnostic(llvm::StringRef format, llvm::ArrayRef<DiagnosticArgument> arguments);
/// The number of arguments that `format` refers to.
unsigned countParameters(llvm::StringRef format);

} // namespace tilec

#endif // TILEC_DIAGNOSTICS_DIAGNOSTIC_H
