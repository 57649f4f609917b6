// Diagnostics as text for people.
#include "SourceLine.h"
#include "tilec/Diagnostics/Renderer.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Process.h"
#include <algorithm>
#include <cstdlib>

using namespace tilec;

DiagnosticRenderer::~DiagnosticRenderer() = default;

bool tilec::shouldUseColour(ColourMode mode, llvm::raw_ostream &os) {
  if (mode != ColourMode::Auto)
    return mode == ColourMode::Always;
  const char *noColour = std::getenv("NO_COLOR");
  return !(noColour && *noColour) && os.is_displayed() && os.has_colors();
}

namespace {
/// Writes one diagnostic or note.
class Writer {
public:
  Writer(llvm::raw_ostream &os, const SourceManager &sources, bool colour) : os(os), sources(sources), colour(colour) {}

  void write(const Diagnostic &diagnostic);

private:
  void writeImportChain(FileID file);
  void writeHeader(const Diagnostic &diagnostic);
  void writeSnippet(const Diagnostic &diagnostic);
  void writeFixIts(llvm::ArrayRef<FixIt> fixIts);
  void writeLabelled(llvm::StringRef label, llvm::StringRef text);
  void setColour(llvm::raw_ostream::Colors value, bool bold = true) {
    if (colour)
      os << "\x1b[" << (bold ? "1;" : "") << 30 + static_cast<int>(value) << 'm';
  }
  void setBold() {
    if (colour)
      os << "\x1b[1m";
  }
  void resetColour() {
    if (colour)
      os << "\x1b[0m";
  }

  llvm::raw_ostream &os;
  const SourceManager &sources;
  bool colour;
};
} // namespace

void Writer::write(const Diagnostic &diagnostic) {
  if (diagnostic.severity != Severity::Note)
    writeImportChain(sources.getFile(diagnostic.range.begin));
  writeHeader(diagnostic);
  if (diagnostic.range.isValid())
    writeSnippet(diagnostic);
  writeFixIts(diagnostic.fixIts);
  std::string hint = diagnostic.hint();
  if (!hint.empty())
    writeLabelled("hint", hint);
  for (const Diagnostic &note : diagnostic.notes)
    write(note);
}

void Writer::writeImportChain(FileID file) {
  if (!file.isValid() || !sources.getImportLoc(file).isValid())
    return;
  SourceLoc importLoc = sources.getImportLoc(file);
  FileID importer = sources.getFile(importLoc);
  writeImportChain(importer);
  os << "in the file imported by " << sources.getName(importer) << ':' << sources.getLineColumn(importLoc).line
     << ":\n";
}

static llvm::StringRef getLabel(Severity severity) {
  return severity == Severity::Error ? "error" : severity == Severity::Warning ? "warning" : "note";
}

void Writer::writeHeader(const Diagnostic &diagnostic) {
  const KindInfo &info = diagnostic.info();
  setBold();
  if (diagnostic.range.isValid()) {
    LineColumn place = sources.getLineColumn(diagnostic.range.begin);
    os << sources.getName(sources.getFile(diagnostic.range.begin)) << ':' << place.line << ':' << place.column << ": ";
  } else {
    os << "tilec: ";
  }
  setColour(diagnostic.severity == Severity::Error     ? llvm::raw_ostream::RED
            : diagnostic.severity == Severity::Warning ? llvm::raw_ostream::MAGENTA
                                                       : llvm::raw_ostream::CYAN);
  os << getLabel(diagnostic.severity);
  if (!info.code.empty())
    os << '[' << info.code << ']';
  os << ':';
  resetColour();
  setBold();
  os << ' ' << diagnostic.message();
  resetColour();
  if (info.severity == Severity::Warning)
    os << (diagnostic.severity == Severity::Error ? " [-Werror=" : " [-W") << info.flag << ']';
  os << '\n';
}

/// Underlines the part of `range` that lies in the line that starts at `lineStart`.
static void underline(std::string &marks, const SourceLine &layout, SourceLoc lineStart, SourceRange range) {
  int64_t size = static_cast<int64_t>(layout.columns.size()) - 1;
  int64_t begin = static_cast<int64_t>(range.begin.getRaw()) - lineStart.getRaw();
  int64_t end = static_cast<int64_t>(range.end.getRaw()) - lineStart.getRaw();
  if (!range.isValid() || end < 0 || begin > size)
    return;
  unsigned from = layout.columns[std::max<int64_t>(begin, 0)];
  unsigned to = layout.columns[std::min(end, size)];
  if (marks.size() < to)
    marks.resize(to, ' ');
  std::fill(marks.begin() + std::min(from, to), marks.begin() + to, '~');
}

void Writer::writeSnippet(const Diagnostic &diagnostic) {
  FileID file = sources.getFile(diagnostic.range.begin);
  unsigned line = sources.getLineColumn(diagnostic.range.begin).line;
  SourceLoc lineStart = sources.getLoc(file, sources.getLineStart(file, line));
  llvm::StringRef text = sources.getLine(file, line);
  size_t caret = std::min<size_t>(diagnostic.range.begin.getRaw() - lineStart.getRaw(), text.size());
  SourceLine layout = layOutLine(text, caret);
  std::string marks;
  underline(marks, layout, lineStart, diagnostic.range);
  for (SourceRange highlight : diagnostic.highlights)
    underline(marks, layout, lineStart, highlight);
  unsigned column = layout.columns[caret];
  if (marks.size() <= column)
    marks.resize(column + 1, ' ');
  marks[column] = '^';
  os << "  " << layout.text << "\n  ";
  setColour(llvm::raw_ostream::GREEN);
  os << marks;
  resetColour();
  os << '\n';
}

void Writer::writeLabelled(llvm::StringRef label, llvm::StringRef text) {
  os << "  ";
  setColour(llvm::raw_ostream::GREEN);
  os << label << ':';
  resetColour();
  os << ' ' << text << '\n';
}

/// The lines that the fix-its touch, repaired; empty if they do not lie in one file or overlap.
static std::string applyFixIts(const SourceManager &sources, llvm::ArrayRef<FixIt> fixIts) {
  std::vector<const FixIt *> sorted;
  for (const FixIt &fixIt : fixIts)
    sorted.push_back(&fixIt);
  // Insertions at one place keep their order, which is that of their addresses.
  std::sort(sorted.begin(), sorted.end(), [](const FixIt *a, const FixIt *b) {
    return a->range.begin != b->range.begin ? a->range.begin < b->range.begin : a < b;
  });
  SourceLoc first = sorted.front()->range.begin;
  SourceLoc last = first;
  FileID file = sources.getFile(first);
  if (!file.isValid())
    return "";
  size_t position = sources.getLineStart(file, sources.getLineColumn(first).line);
  std::string result;
  for (const FixIt *fixIt : sorted) {
    if (sources.getFile(fixIt->range.begin) != file || fixIt->range.begin < last)
      return "";
    last = fixIt->range.end;
    result += sources.getText(file).slice(position, sources.getOffset(fixIt->range.begin));
    result += fixIt->text;
    position = sources.getOffset(last);
  }
  llvm::StringRef rest = sources.getText(file).drop_front(position);
  result += rest.take_front(rest.find_first_of("\r\n"));
  return result;
}

void Writer::writeFixIts(llvm::ArrayRef<FixIt> fixIts) {
  if (fixIts.empty())
    return;
  llvm::SmallVector<llvm::StringRef> lines;
  std::string repaired = applyFixIts(sources, fixIts);
  llvm::StringRef(repaired).split(lines, '\n');
  for (llvm::StringRef line : lines)
    if (!line.trim().empty())
      writeLabelled("fix", layOutLine(line.trim(), 0).text);
}

void TextRenderer::render(const Diagnostic &diagnostic) { Writer(os, sources, colour).write(diagnostic); }

void TextRenderer::finish(unsigned omitted) {
  if (omitted != 0)
    os << "tilec: " << omitted << " more error" << (omitted == 1 ? "" : "s")
       << " not shown (--error-limit=0 shows all)\n";
  os.flush();
}
