// The table of architectures.
#include "tilec/Target/Arch.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace llvm;

namespace tilec {

// PTX 8.6 has everything that sm_90a needs; one level for all keeps the texts comparable.
static constexpr TargetArch archs[] = {
    {"sm_80", "+ptx86", "A100, A30", 166912},
    {"sm_86", "+ptx86", "A40, A10, RTX3090", 101376},
    {"sm_89", "+ptx86", "L40, L4, RTX4090", 101376},
    {"sm_90a", "+ptx86", "H100, H200, GH200", 232448},
};

ArrayRef<TargetArch> getTargetArchs() { return archs; }

const TargetArch *findTargetArch(StringRef name) {
  for (const TargetArch &arch : archs) {
    SmallVector<StringRef> cards;
    arch.cards.split(cards, ", ");
    if (name.equals_insensitive(arch.name) || any_of(cards, [&](StringRef c) { return name.equals_insensitive(c); }))
      return &arch;
  }
  return nullptr;
}

const TargetArch &getDefaultTargetArch() { return *findTargetArch("sm_90a"); }

} // namespace tilec
