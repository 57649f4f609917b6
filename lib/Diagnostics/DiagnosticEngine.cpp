// Collecting, sorting and counting of diagnostics.
#include "tilec/Diagnostics/DiagnosticEngine.h"
#include "tilec/Diagnostics/Renderer.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cassert>

using namespace tilec;

Diagnostic &DiagnosticBuilder::get() { return noteIndex ? diagnostic->notes[*noteIndex] : *diagnostic; }

DiagnosticBuilder &DiagnosticBuilder::add(DiagnosticArgument argument) {
  get().arguments.push_back(std::move(argument));
  return *this;
}

DiagnosticBuilder &DiagnosticBuilder::operator<<(llvm::StringRef argument) {
  return add(DiagnosticArgument(argument.str()));
}

DiagnosticBuilder &DiagnosticBuilder::operator<<(SourceRange highlight) {
  get().highlights.push_back(highlight);
  return *this;
}

DiagnosticBuilder &DiagnosticBuilder::operator<<(const FixIt &fixIt) {
  get().fixIts.push_back(fixIt);
  return *this;
}

DiagnosticBuilder DiagnosticBuilder::note(SourceRange range, diag::Kind kind) {
  assert(getKindInfo(kind).severity == Severity::Note && "only notes are attached");
  Diagnostic note;
  note.kind = kind;
  note.severity = Severity::Note;
  note.range = range;
  diagnostic->notes.push_back(std::move(note));
  return DiagnosticBuilder(diagnostic, static_cast<unsigned>(diagnostic->notes.size() - 1));
}

DiagnosticBuilder DiagnosticEngine::report(SourceRange range, diag::Kind kind) {
  auto diagnostic = std::make_shared<Diagnostic>();
  diagnostic->kind = kind;
  diagnostic->severity = warnings.getSeverity(kind);
  diagnostic->range = range;
  assert(diagnostic->severity != Severity::Note && "notes are attached to a diagnostic");
  if (diagnostic->severity == Severity::Ignored)
    return DiagnosticBuilder(std::move(diagnostic));
  add(diagnostic);
  return DiagnosticBuilder(std::move(diagnostic));
}

void DiagnosticEngine::add(std::shared_ptr<Diagnostic> diagnostic) {
  ++(diagnostic->severity == Severity::Error ? numErrors : numWarnings);
  // A file that is wrong everywhere must not fill the memory: past this number only the count goes on.
  constexpr size_t mostPending = 10000;
  if (pending.size() < mostPending)
    pending.push_back(std::move(diagnostic));
  else if (diagnostic->severity == Severity::Error)
    ++numOmittedErrors;
}

bool DiagnosticEngine::allErrors(llvm::function_ref<bool(const Diagnostic &)> test) const {
  return hasErrors() && llvm::all_of(pending, [&](const std::shared_ptr<Diagnostic> &diagnostic) {
           return diagnostic->severity != Severity::Error || test(*diagnostic);
         });
}

/// Equal keys are repetitions of one diagnostic.
static std::string getKey(const Diagnostic &diagnostic) {
  return std::to_string(diagnostic.kind) + ":" + std::to_string(diagnostic.range.begin.getRaw()) + ":" +
         std::to_string(diagnostic.range.end.getRaw()) + ":" + diagnostic.message();
}

void DiagnosticEngine::emit(DiagnosticRenderer &renderer) {
  std::vector<std::pair<uint32_t, size_t>> order;
  order.reserve(pending.size());
  for (size_t i = 0; i < pending.size(); ++i)
    order.emplace_back(pending[i]->range.begin.getRaw(), i);
  std::sort(order.begin(), order.end());
  for (auto [position, index] : order) {
    const std::shared_ptr<Diagnostic> &diagnostic = pending[index];
    if (!emittedKeys.insert(getKey(*diagnostic)).second)
      continue;
    if (diagnostic->severity == Severity::Error) {
      if (errorLimit != 0 && numEmittedErrors == errorLimit) {
        ++numOmittedErrors;
        continue;
      }
      ++numEmittedErrors;
    }
    renderer.render(*diagnostic);
  }
  pending.clear();
}

void DiagnosticEngine::finish(DiagnosticRenderer &renderer) {
  emit(renderer);
  renderer.finish(numOmittedErrors);
}
