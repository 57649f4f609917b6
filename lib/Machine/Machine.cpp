// The table of architectures. Sizes: CUDA C++ Programming Guide, "Compute Capabilities"; memory: the cards'
// data sheets.
#include "tilec/Machine/Machine.h"

using namespace tilec;

// In the order of the fields: name, card, arch, multiprocessors, shared memory of a block and of a multiprocessor,
// registers of a multiprocessor and of a thread, threads of a block and of a multiprocessor, bandwidth, features.
static const Machine table[] = {
    {"sm_80", "a100", 80, 108, 163 * 1024, 164 * 1024, 65536, 255, 1024, 2048, 1935, false, false, false},
    {"sm_86", "a10", 86, 84, 99 * 1024, 100 * 1024, 65536, 255, 1024, 1536, 600, false, false, false},
    {"sm_89", "l40s", 89, 142, 99 * 1024, 100 * 1024, 65536, 255, 1024, 1536, 864, false, false, true},
    {"sm_90a", "h200", 90, 132, 227 * 1024, 228 * 1024, 65536, 255, 1024, 2048, 4800, true, true, true},
};

llvm::ArrayRef<Machine> tilec::machines() { return table; }

const Machine *tilec::findMachine(llvm::StringRef name) {
  for (const Machine &machine : table)
    if (machine.name == name || machine.card == name)
      return &machine;
  // The other card of sm_90a.
  return name == "h100" ? findMachine("sm_90a") : nullptr;
}

// Little's law with the time that a load takes on a busy card. On the H200 a copy reaches 0.85 of its best rate with
// 32 KB in flight on a multiprocessor and comes near it with 64 KB, which are 1.8 us of the card's bandwidth.
int64_t Machine::bytesInFlight() const {
  constexpr int64_t loadedLatency = 1800;
  return bandwidth * loadedLatency / multiprocessors;
}
