// The table of diagnostic kinds.
#include "tilec/Diagnostics/Kinds.h"

using namespace tilec;

static constexpr KindInfo kinds[] = {
#define TILEC_ERROR(id, code, message, hint)                                                                           \
  {diag::id, #id, #code, Severity::Error, "", WarningGroup::Default, message, hint},
#define TILEC_WARNING(id, code, flag, group, message, hint)                                                            \
  {diag::id, #id, #code, Severity::Warning, flag, WarningGroup::group, message, hint},
#define TILEC_NOTE(id, message) {diag::id, #id, "", Severity::Note, "", WarningGroup::Default, message, ""},
#include "tilec/Diagnostics/Kinds.def"
};

llvm::ArrayRef<KindInfo> tilec::getAllKinds() { return kinds; }

const KindInfo &tilec::getKindInfo(diag::Kind kind) { return kinds[kind]; }

const KindInfo *tilec::findKindByCode(llvm::StringRef code) {
  if (code.empty())
    return nullptr;
  for (const KindInfo &info : kinds)
    if (info.code.equals_insensitive(code))
      return &info;
  return nullptr;
}

const KindInfo *tilec::findKindByFlag(llvm::StringRef flag) {
  flag.consume_front("-W");
  if (flag.empty())
    return nullptr;
  for (const KindInfo &info : kinds)
    if (info.flag == flag)
      return &info;
  return nullptr;
}
