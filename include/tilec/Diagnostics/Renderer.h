// Renderers turn diagnostics into text for people or JSON for tools.
#ifndef TILEC_DIAGNOSTICS_RENDERER_H
#define TILEC_DIAGNOSTICS_RENDERER_H

#include "tilec/Diagnostics/Diagnostic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace tilec {

class DiagnosticRenderer {
public:
  virtual ~DiagnosticRenderer();
  virtual void render(const Diagnostic &diagnostic) = 0;
  /// Called once after the last diagnostic of the compilation. `omitted` errors went past the limit.
  virtual void finish(unsigned omitted) = 0;
};

enum class ColourMode { Auto, Always, Never };

/// Whether to colour `os`: Auto colours a terminal unless the environment sets NO_COLOR to something.
bool shouldUseColour(ColourMode mode, llvm::raw_ostream &os);

/// file:line:column: severity[code]: message, the source line, carets, notes, the repaired line.
class TextRenderer : public DiagnosticRenderer {
public:
  TextRenderer(llvm::raw_ostream &os, const SourceManager &sources, bool colour)
      : os(os), sources(sources), colour(colour) {}
  void render(const Diagnostic &diagnostic) override;
  void finish(unsigned omitted) override;

private:
  llvm::raw_ostream &os;
  const SourceManager &sources;
  bool colour;
};

/// One JSON array; see docs/diagnostics/README.md for its fields.
class JSONRenderer : public DiagnosticRenderer {
public:
  JSONRenderer(llvm::raw_ostream &os, const SourceManager &sources) : os(os), sources(sources) {}
  void render(const Diagnostic &diagnostic) override;
  void finish(unsigned omitted) override;

private:
  llvm::raw_ostream &os;
  const SourceManager &sources;
  llvm::json::Array array;
};

} // namespace tilec

#endif // TILEC_DIAGNOSTICS_RENDERER_H
