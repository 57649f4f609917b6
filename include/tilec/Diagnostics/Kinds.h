// The kinds of diagnostics, generated from Kinds.def, and what is known of each.
#ifndef TILEC_DIAGNOSTICS_KINDS_H
#define TILEC_DIAGNOSTICS_KINDS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>

namespace tilec {

namespace diag {
enum Kind : uint16_t {
#define TILEC_ERROR(id, code, message, hint) id,
#define TILEC_WARNING(id, code, flag, group, message, hint) id,
#define TILEC_NOTE(id, message) id,
#include "tilec/Diagnostics/Kinds.def"
};
} // namespace diag

enum class Severity : uint8_t { Ignored, Note, Warning, Error };

/// Which option turns a warning on: none (Default), -Wall, or -Wperf.
enum class WarningGroup : uint8_t { Default, All, Perf };

/// The declaration of a kind. `code` is empty for notes, `flag` and `group` matter for warnings only.
struct KindInfo {
  diag::Kind kind;
  llvm::StringLiteral id;
  llvm::StringLiteral code;
  Severity severity;
  llvm::StringLiteral flag;
  WarningGroup group;
  llvm::StringLiteral message;
  llvm::StringLiteral hint;
};

/// All kinds, in the order of Kinds.def.
llvm::ArrayRef<KindInfo> getAllKinds();
const KindInfo &getKindInfo(diag::Kind kind);
/// The kind with this code, in any case of letters; nothing if there is none.
const KindInfo *findKindByCode(llvm::StringRef code);
/// The kind of the warning with this name, `spills` or as it is printed, `-Wspills`; nothing if there is none.
const KindInfo *findKindByFlag(llvm::StringRef flag);

/// The page that `tilec --explain CODE` prints, as Markdown: the page of docs/diagnostics, or the message and the hint
/// where a kind has none. Nothing for an unknown code.
std::optional<std::string> explain(llvm::StringRef code);
/// True if docs/diagnostics has a page for the code.
bool hasExplanationPage(llvm::StringRef code);

} // namespace tilec

#endif // TILEC_DIAGNOSTICS_KINDS_H
