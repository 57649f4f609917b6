// Machine: what the compiler knows about one GPU architecture. Passes ask these fields and never test for names.
#ifndef TILEC_MACHINE_MACHINE_H
#define TILEC_MACHINE_MACHINE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <vector>

namespace tilec {

struct Machine {
  /// The target's name as `--arch` and ptxas take it, for instance `sm_90a`.
  llvm::StringRef name;
  /// A card that has it.
  llvm::StringRef card;
  /// Compute capability times ten, for `if arch >= 90`.
  int64_t arch;
  int64_t multiprocessors;
  /// Shared memory that one block may use, and that one multiprocessor has, in bytes.
  int64_t sharedPerBlock;
  int64_t sharedPerMultiprocessor;
  /// 32-bit registers of a multiprocessor; the most that one thread can address.
  int64_t registers;
  int64_t maxRegistersPerThread;
  int64_t maxThreadsPerBlock;
  int64_t maxThreadsPerMultiprocessor;
  /// Of the card's memory, in 10^9 bytes a second.
  int64_t bandwidth;
  /// Asynchronous warpgroup MMA, tensor memory access with mbarriers, `setmaxnreg`, clusters.
  bool hasWgmma;
  bool hasTma;
  /// f8 operands of mma.sync, and f8 conversion instructions.
  bool hasF8;

  /// Bytes that each multiprocessor must have on their way to keep the memory busy.
  int64_t bytesInFlight() const;
};

/// All targets, oldest first.
llvm::ArrayRef<Machine> machines();

/// The names of the cards that `--arch` takes for a machine; the first one is its `card`.
std::vector<llvm::StringRef> cardsOf(const Machine &machine);

/// The machine named `sm_90a` or by a card (`h200`), in upper or lower case, or null.
const Machine *findMachine(llvm::StringRef name);

/// The machine that is probably meant by a name such as `sm_90`, `sm90` or `compute_90a`: the one with its number; null
/// if there is none.
const Machine *findSimilarMachine(llvm::StringRef name);

} // namespace tilec

#endif // TILEC_MACHINE_MACHINE_H
