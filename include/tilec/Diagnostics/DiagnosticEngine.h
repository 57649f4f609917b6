// Collects diagnostics and hands them to a renderer in source order. One engine a compilation; no global state.
//
//   engine.report(range, diag::err_expected) << "`)`" << "`]`" << FixIt::insertion(loc, ")");
//   engine.report(range, diag::err_redeclared) << name;
//   auto d = engine.report(range, diag::err_redeclared) << name;
//   d.note(previous, diag::note_declared_here) << name;
#ifndef TILEC_DIAGNOSTICS_DIAGNOSTICENGINE_H
#define TILEC_DIAGNOSTICS_DIAGNOSTICENGINE_H

#include "tilec/Diagnostics/Diagnostic.h"
#include "tilec/Diagnostics/WarningOptions.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/Twine.h"
#include <memory>
#include <type_traits>

namespace tilec {

class DiagnosticRenderer;

/// Adds arguments, highlights, fix-its and notes to a diagnostic just reported. Copies refer to the same diagnostic; it
/// must not outlive the engine's next emit().
class DiagnosticBuilder {
public:
  DiagnosticBuilder &operator<<(llvm::StringRef argument);
  DiagnosticBuilder &operator<<(const char *argument) { return *this << llvm::StringRef(argument); }
  DiagnosticBuilder &operator<<(const std::string &argument) { return *this << llvm::StringRef(argument); }
  DiagnosticBuilder &operator<<(const llvm::Twine &argument) { return *this << argument.str(); }
  template <typename Int, std::enable_if_t<std::is_integral_v<Int> && !std::is_same_v<Int, bool>, int> = 0>
  DiagnosticBuilder &operator<<(Int argument) {
    if constexpr (std::is_signed_v<Int>)
      return add(DiagnosticArgument(static_cast<int64_t>(argument)));
    else
      return add(DiagnosticArgument(static_cast<uint64_t>(argument)));
  }
  DiagnosticBuilder &operator<<(SourceRange highlight);
  DiagnosticBuilder &operator<<(const FixIt &fixIt);
  /// Attaches a note; the result takes the note's own arguments.
  DiagnosticBuilder note(SourceRange range, diag::Kind kind);

private:
  friend class DiagnosticEngine;
  explicit DiagnosticBuilder(std::shared_ptr<Diagnostic> target) : diagnostic(std::move(target)) {}
  DiagnosticBuilder(std::shared_ptr<Diagnostic> target, unsigned note)
      : diagnostic(std::move(target)), noteIndex(note) {}
  DiagnosticBuilder &add(DiagnosticArgument argument);
  Diagnostic &get();

  std::shared_ptr<Diagnostic> diagnostic;
  std::optional<unsigned> noteIndex;
};

class DiagnosticEngine {
public:
  explicit DiagnosticEngine(const SourceManager &sources) : sources(sources) {}
  DiagnosticEngine(const DiagnosticEngine &) = delete;
  DiagnosticEngine &operator=(const DiagnosticEngine &) = delete;

  /// Reports a kind at a place; SourceRange() for none. Arguments follow by `<<`.
  DiagnosticBuilder report(SourceRange range, diag::Kind kind);

  /// Removes and returns what was collected; the counts stay.
  std::vector<std::shared_ptr<Diagnostic>> take() { return std::exchange(pending, {}); }
  /// Reports a diagnostic that another engine collected.
  void add(std::shared_ptr<Diagnostic> diagnostic);

  /// Hands everything collected since the last call to the renderer in source order: diagnostics without a place first,
  /// then by file in order of loading and by position; exact repetitions and errors past the limit are left out.
  void emit(DiagnosticRenderer &renderer);

  /// emit(), then tells the renderer that the compilation is over.
  void finish(DiagnosticRenderer &renderer);

  /// Errors reported so far, warnings that count as errors included.
  unsigned getNumErrors() const { return numErrors; }
  unsigned getNumWarnings() const { return numWarnings; }
  bool hasErrors() const { return numErrors != 0; }
  /// Whether there are errors and all that are collected and not emitted yet pass a test.
  bool allErrors(llvm::function_ref<bool(const Diagnostic &)> test) const;

  /// At most this many errors are emitted; 0 for no limit.
  void setErrorLimit(unsigned limit) { errorLimit = limit; }
  WarningOptions &getWarningOptions() { return warnings; }
  const SourceManager &getSources() const { return sources; }

private:
  const SourceManager &sources;
  WarningOptions warnings;
  std::vector<std::shared_ptr<Diagnostic>> pending;
  llvm::StringSet<> emittedKeys;
  unsigned errorLimit = 20;
  unsigned numErrors = 0;
  unsigned numWarnings = 0;
  unsigned numEmittedErrors = 0;
  unsigned numOmittedErrors = 0;
};

} // namespace tilec

#endif // TILEC_DIAGNOSTICS_DIAGNOSTICENGINE_H
