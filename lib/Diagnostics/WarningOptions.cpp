// The -W options.
#include "tilec/Diagnostics/WarningOptions.h"
#include <algorithm>

using namespace tilec;

static bool isFlag(llvm::StringRef name) {
  return llvm::any_of(getAllKinds(),
                      [&](const KindInfo &info) { return info.severity == Severity::Warning && info.flag == name; });
}

/// True if the option `name`, a flag or a group, covers the warning.
static bool covers(llvm::StringRef name, const KindInfo &info) {
  if (info.severity != Severity::Warning)
    return false;
  return info.flag == name || (name == "perf" && info.group == WarningGroup::Perf) ||
         (name == "all" && info.group != WarningGroup::Perf);
}

bool WarningOptions::apply(llvm::StringRef option) {
  bool on = !option.consume_front("no-");
  if (option == "error")
    return errors = on, true;
  bool isError = option.consume_front("error=");
  bool isGroup = option == "all" || option == "perf";
  if (!isGroup && !isFlag(option))
    return false;
  if (isError) {
    for (const KindInfo &info : getAllKinds())
      if (covers(option, info))
        asError[info.flag] = on;
    if (!on)
      return true;
  }
  if (option == "all")
    allOn = on;
  else if (option == "perf")
    perfOn = on;
  else
    enabled[option] = on;
  return true;
}

Severity WarningOptions::getSeverity(diag::Kind kind) const {
  const KindInfo &info = getKindInfo(kind);
  if (info.severity != Severity::Warning)
    return info.severity;
  if (silent)
    return Severity::Ignored;
  bool groupOn = info.group == WarningGroup::Default || (info.group == WarningGroup::All ? allOn : perfOn);
  auto named = enabled.find(info.flag);
  if (!(named == enabled.end() ? groupOn : named->second))
    return Severity::Ignored;
  auto promoted = asError.find(info.flag);
  return (promoted == asError.end() ? errors : promoted->second) ? Severity::Error : Severity::Warning;
}

llvm::StringRef WarningOptions::suggest(llvm::StringRef option) {
  option.consume_front("no-");
  option.consume_front("error=");
  llvm::StringRef best;
  unsigned bestDistance = static_cast<unsigned>(option.size() / 3 + 1);
  auto consider = [&](llvm::StringRef name) {
    unsigned distance = option.edit_distance(name, /*AllowReplacements=*/true, bestDistance);
    if (distance < bestDistance) {
      best = name;
      bestDistance = distance;
    }
  };
  for (const KindInfo &info : getAllKinds())
    if (info.severity == Severity::Warning)
      consider(info.flag);
  for (llvm::StringRef group : {"all", "perf", "error"})
    consider(group);
  return best;
}
