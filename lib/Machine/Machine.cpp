// The table of architectures. Sizes: CUDA C++ Programming Guide, "Compute Capabilities"; memory: the cards'
// data sheets.
#include "tilec/Machine/Machine.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

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

namespace {
/// Another card of an architecture, by NVIDIA's list of compute capabilities.
struct OtherCard {
  llvm::StringLiteral card;
  llvm::StringLiteral machine;
};
} // namespace

static constexpr OtherCard otherCards[] = {
    {"a30", "sm_80"},      {"a2", "sm_86"},       {"a16", "sm_86"},     {"a40", "sm_86"},        {"rtxa4000", "sm_86"},
    {"rtxa5000", "sm_86"}, {"rtxa6000", "sm_86"}, {"rtx3060", "sm_86"}, {"rtx3070", "sm_86"},    {"rtx3080", "sm_86"},
    {"rtx3090", "sm_86"},  {"l4", "sm_89"},       {"l40", "sm_89"},     {"rtx6000ada", "sm_89"}, {"rtx4060", "sm_89"},
    {"rtx4070", "sm_89"},  {"rtx4080", "sm_89"},  {"rtx4090", "sm_89"}, {"h100", "sm_90a"},      {"h800", "sm_90a"},
    {"h20", "sm_90a"},     {"gh200", "sm_90a"},
};

std::vector<llvm::StringRef> tilec::cardsOf(const Machine &machine) {
  std::vector<llvm::StringRef> cards = {machine.card};
  for (const OtherCard &other : otherCards)
    if (other.machine == machine.name)
      cards.push_back(other.card);
  return cards;
}

const Machine *tilec::findMachine(llvm::StringRef name) {
  for (const Machine &machine : table)
    if (machine.name.equals_insensitive(name) ||
        llvm::any_of(cardsOf(machine), [&](llvm::StringRef card) { return card.equals_insensitive(name); }))
      return &machine;
  return nullptr;
}

const Machine *tilec::findSimilarMachine(llvm::StringRef name) {
  auto getNumber = [](llvm::StringRef text) { return text.drop_until(llvm::isDigit).take_while(llvm::isDigit); };
  for (const Machine &machine : table)
    if (getNumber(machine.name) == getNumber(name))
      return &machine;
  return nullptr;
}

// Little's law with the time that a load takes on a busy card. On the H200 a copy reaches 0.85 of its best rate with
// 32 KB in flight on a multiprocessor and comes near it with 64 KB, which are 1.8 us of the card's bandwidth.
int64_t Machine::bytesInFlight() const {
  constexpr int64_t loadedLatency = 1800;
  return bandwidth * loadedLatency / multiprocessors;
}
