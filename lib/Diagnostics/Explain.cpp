// The pages of `tilec --explain CODE`.
#include "tilec/Diagnostics/Diagnostic.h"
#include "llvm/ADT/StringExtras.h"

using namespace tilec;

namespace {
struct Page {
  llvm::StringLiteral code;
  llvm::StringLiteral text;
};
} // namespace

static constexpr Page pages[] = {
#define TILEC_PAGE(code, text) {#code, text},
#include "ExplanationPages.inc"
#undef TILEC_PAGE
    {"", ""},
};

static const Page *findPage(llvm::StringRef code) {
  for (const Page &page : pages)
    if (!code.empty() && page.code == code)
      return &page;
  return nullptr;
}

bool tilec::hasExplanationPage(llvm::StringRef code) { return findPage(code) != nullptr; }

/// The format with readable words instead of placeholders.
static std::string withoutPlaceholders(llvm::StringRef format) {
  std::vector<DiagnosticArgument> ellipses(countParameters(format), DiagnosticArgument(std::string("...")));
  return formatDiagnostic(format, ellipses);
}

std::optional<std::string> tilec::explain(llvm::StringRef code) {
  const KindInfo *info = findKindByCode(code);
  if (!info)
    info = findKindByFlag(code);
  if (!info)
    return std::nullopt;
  if (const Page *page = findPage(info->code))
    return page->text.str();
  std::string text = ("# " + info->code + ": " + withoutPlaceholders(info->message) + "\n").str();
  if (!info->hint.empty())
    text += "\n" + withoutPlaceholders(info->hint) + "\n";
  if (info->severity == Severity::Warning)
    text += ("\nOptions: `-W" + info->flag + "`, `-Wno-" + info->flag + "`, `-Werror=" + info->flag + "`.\n").str();
  return text;
}
