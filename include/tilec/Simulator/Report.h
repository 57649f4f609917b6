// What the simulator finds: faults with their place, and counts by line.
#ifndef TILEC_SIMULATOR_REPORT_H
#define TILEC_SIMULATOR_REPORT_H

#include "tilec/Simulator/Ptx.h"
#include "llvm/ADT/StringRef.h"
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace tilec::simulator {

enum class FaultKind : uint8_t {
  OutOfBounds,
  Misaligned,
  UninitializedMemory,
  UninitializedRegister,
  SharedRace,
  GlobalRace,
  MissingProxyFence,
  PendingRegister,
  MissingWgmmaFence,
  BarrierMisuse,
  Deadlock,
  RegisterBudget,
  /// Shared memory of a block that may not have begun or may have ended.
  SharedLifetime,
  Trap,
  Unsupported
};
llvm::StringRef nameOf(FaultKind kind);

/// Who does something and where. `lane` is -1 for all lanes of a warp, `warp` -1 for none.
struct Site {
  uint32_t block = 0;
  int warp = -1, lane = -1;
  const Instruction *instruction = nullptr;
};

struct Fault {
  FaultKind kind = FaultKind::Unsupported;
  Site site;
  /// The other access of a race; `instruction` is null if there is none.
  Site other;
  std::string message;
  /// How often it was found at these two instructions.
  unsigned count = 1;
};

/// Counts of one instruction over the launch. Instructions are those of warps.
struct LineCounts {
  uint64_t executed = 0;
  /// How often a warp stood here until another, or an asynchronous operation, did something.
  uint64_t waits = 0;
  /// Accesses of threads to shared memory: cycles without conflicts.
  uint64_t sharedAccesses = 0;
  /// Shared-memory cycles beyond one for each access (four bytes a bank, 32 banks).
  uint64_t bankConflicts = 0;
  /// 32-byte sectors of global memory that threads touch, and the bytes of them that were not asked for.
  uint64_t globalSectors = 0, wastedBytes = 0;
  /// Bulk copies (boxes of a tensor map, or runs of bytes), the bytes that they move between global memory and each
  /// block's shared memory, and the bytes of boxes that lie outside of the tensor, which are filled or left out.
  uint64_t boxes = 0, bulkBytes = 0, clippedBytes = 0;
  /// Operations of Tensor Cores, two for each multiply-add, and the bytes of operands that they read from shared
  /// memory.
  uint64_t tensorOperations = 0, operandBytes = 0;
};

/// A count by its name in reports.
struct CountField {
  const char *key;
  const char *title;
  uint64_t LineCounts::*field;
};
inline constexpr CountField countFields[] = {
    {"instructions", "instructions", &LineCounts::executed},
    {"waits", "waits", &LineCounts::waits},
    {"shared-accesses", "shared", &LineCounts::sharedAccesses},
    {"bank-conflicts", "conflicts", &LineCounts::bankConflicts},
    {"global-sectors", "sectors", &LineCounts::globalSectors},
    {"wasted-bytes", "wasted bytes", &LineCounts::wastedBytes},
    {"boxes", "boxes", &LineCounts::boxes},
    {"bulk-bytes", "bulk bytes", &LineCounts::bulkBytes},
    {"clipped-bytes", "clipped", &LineCounts::clippedBytes},
    {"tensor-operations", "tensor ops", &LineCounts::tensorOperations},
    {"operand-bytes", "operand bytes", &LineCounts::operandBytes},
};

class Report {
public:
  /// One fault for each kind and pair of instructions; further ones only count.
  void add(Fault fault);
  const std::vector<Fault> &faults() const { return list; }
  bool clean() const { return list.empty(); }
  bool contains(FaultKind kind) const;
  /// "ptx:12 (gemm.tile:7): shared-memory race: ..."
  std::string text(const PtxModule &module) const;

  /// What would be a fault but for a rule with a name (docs/simulator.md, "Exemptions"): how often, at which
  /// instruction.
  void exempt(const char *rule, const Instruction *instruction) { ++exemptions[{rule, instruction}]; }
  std::map<std::pair<std::string, const Instruction *>, uint64_t> exemptions;
  /// "ptx:12 (gemm.tile:7): exempt by equal-strong-stores, 64 times", a line each.
  std::string exemptionText(const PtxModule &module) const;

  std::map<const Instruction *, LineCounts> counts;
  uint64_t instructions = 0;

private:
  std::vector<Fault> list;
  std::map<std::tuple<FaultKind, const Instruction *, const Instruction *>, size_t> known;
};

/// "ptx:12 (gemm.tile:7)"
std::string describe(const Instruction *instruction, const PtxModule &module);

} // namespace tilec::simulator

#endif // TILEC_SIMULATOR_REPORT_H
