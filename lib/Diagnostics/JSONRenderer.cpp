// Diagnostics as JSON for tools.
#include "tilec/Diagnostics/Renderer.h"

using namespace tilec;
namespace json = llvm::json;

static json::Object toJSON(LineColumn place, size_t offset) {
  return json::Object{{"line", place.line}, {"column", place.column}, {"offset", static_cast<int64_t>(offset)}};
}

/// Text that may hold any bytes, as valid UTF-8.
static std::string toText(llvm::StringRef text) { return json::isUTF8(text) ? text.str() : json::fixUTF8(text); }

static json::Value toJSON(SourceRange range, const SourceManager &sources) {
  FileID file = sources.getFile(range.begin);
  if (!file.isValid())
    return nullptr;
  return json::Object{{"file", toText(sources.getName(file))},
                      {"begin", toJSON(sources.getLineColumn(range.begin), sources.getOffset(range.begin))},
                      {"end", toJSON(sources.getLineColumn(range.end), sources.getOffset(range.end))}};
}

static json::Array toJSON(llvm::ArrayRef<FixIt> fixIts, const SourceManager &sources) {
  json::Array result;
  for (const FixIt &fixIt : fixIts)
    result.push_back(json::Object{{"range", toJSON(fixIt.range, sources)}, {"text", toText(fixIt.text)}});
  return result;
}

static json::Object toJSON(const Diagnostic &diagnostic, const SourceManager &sources) {
  const KindInfo &info = diagnostic.info();
  json::Object object{{"message", toText(diagnostic.message())}, {"range", toJSON(diagnostic.range, sources)}};
  if (diagnostic.severity == Severity::Note)
    return object;
  object["severity"] = diagnostic.severity == Severity::Error ? "error" : "warning";
  object["code"] = info.code;
  if (info.severity == Severity::Warning)
    object["flag"] = info.flag;
  std::string hint = diagnostic.hint();
  if (!hint.empty())
    object["hint"] = toText(hint);
  json::Array highlights;
  for (SourceRange highlight : diagnostic.highlights)
    highlights.push_back(toJSON(highlight, sources));
  object["highlights"] = std::move(highlights);
  object["fixIts"] = toJSON(diagnostic.fixIts, sources);
  json::Array notes;
  for (const Diagnostic &note : diagnostic.notes)
    notes.push_back(toJSON(note, sources));
  object["notes"] = std::move(notes);
  return object;
}

void JSONRenderer::render(const Diagnostic &diagnostic) { array.push_back(toJSON(diagnostic, sources)); }

void JSONRenderer::finish(unsigned omitted) {
  if (omitted != 0)
    array.push_back(json::Object{{"omittedErrors", omitted}});
  os << llvm::formatv("{0:2}", json::Value(std::move(array))) << '\n';
  array = json::Array();
  os.flush();
}
