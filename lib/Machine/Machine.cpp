// The table of architectures. Sizes: CUDA C++ Programming Guide, "Compute Capabilities".
#include "tilec/Machine/Machine.h"

using namespace tilec;

static const Machine table[] = {
    {"sm_80", "a100", 80, 108, 163 * 1024, 164 * 1024, 65536, 255, 1024, false, false, false},
    {"sm_86", "a10", 86, 84, 99 * 1024, 100 * 1024, 65536, 255, 1024, false, false, false},
    {"sm_89", "l40s", 89, 142, 99 * 1024, 100 * 1024, 65536, 255, 1024, false, false, true},
    {"sm_90a", "h200", 90, 132, 227 * 1024, 228 * 1024, 65536, 255, 1024, true, true, true},
};

llvm::ArrayRef<Machine> tilec::machines() { return table; }

const Machine *tilec::findMachine(llvm::StringRef name) {
  for (const Machine &machine : table)
    if (machine.name == name || machine.card == name)
      return &machine;
  return name == "h100" ? &table[3] : nullptr;
}
