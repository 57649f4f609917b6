// A kernel in the form that runs: one function and resolved register slots for each instruction.
#ifndef TILEC_SIMULATOR_PROGRAM_H
#define TILEC_SIMULATOR_PROGRAM_H

#include "tilec/Simulator/Ptx.h"
#include "llvm/ADT/DenseMap.h"
#include <algorithm>
#include <memory>
#include <optional>

namespace tilec::simulator {

class Warp;
struct Op;
using LaneMask = uint32_t;
/// A register of a warp: 32 values of 64 bits, of which the upper bits of narrower types are zero. Constants and
/// special registers are slots too. Predicates are numbered apart.
using Slot = uint32_t;

/// Next: done, go on behind it. Jump: the handler has set the fragments' places. Block: not done; the same instruction
/// runs again when something has changed.
enum class Flow : uint8_t { Next, Jump, Block };
using Execute = Flow (*)(Warp &warp, const Op &op, LaneMask lanes);

/// What a handler keeps beyond slots, made when the instruction is decoded.
struct Payload {
  virtual ~Payload() = default;
};

struct Op {
  Execute execute = nullptr;
  const Instruction *source = nullptr;
  /// Predicate of the guard, or -1.
  int guard = -1;
  bool guardNegated = false;
  /// In the order in which the decoder asked for them. Before the handler runs, `uses` are checked to be initialised;
  /// after it `defs` are, in the lanes that ran.
  llvm::SmallVector<Slot, 4> uses, defs, predicateUses, predicateDefs;
  /// The handler keeps track of initialised registers itself.
  bool manualChecks = false;
  /// Undefined bits of the first `moved` operands make bits of the results undefined instead of being a fault: by the
  /// truth table of three operands as lop3 numbers it, or else as the handler moves bits.
  bool propagates = false;
  uint8_t moved = 255;
  std::optional<uint8_t> truthTable;
  /// Operands from `narrowFrom` on are read as far as this.
  uint8_t readBits = 64, narrowFrom = 0;
  /// wgmma may use registers of which others are in flight.
  bool handlesPending = false;
  Space space = Space::Generic;
  /// Of an address, and whatever numbers a handler needs.
  int64_t offset = 0;
  uint64_t data[2] = {0, 0};
  /// A branch's target.
  uint32_t target = 0;
  std::shared_ptr<const Payload> payload;

  unsigned movedUses() const { return std::min<unsigned>(moved, uses.size()); }
  template <typename T> const T &as() const { return static_cast<const T &>(*payload); }
};

/// Op::data[0] of a plain load from an address to which a compare-and-swap of the kernel goes.
constexpr uint64_t guessOfCompareAndSwap = 1;

struct Program {
  const PtxModule *module = nullptr;
  const PtxKernel *kernel = nullptr;
  std::vector<Op> ops;
  /// The ret behind the last instruction.
  Instruction end;
  /// Order in which diverged lanes run: the lanes with the lowest go first, so that they meet again (a weak topological
  /// order of the control flow graph).
  std::vector<uint32_t> order;

  unsigned numSlots = 0, numPredicates = 0;
  /// Slots that hold the same value in all lanes.
  std::vector<std::pair<Slot, uint64_t>> constants;
  /// Constants that move with the block's rank: addresses of shared variables.
  std::vector<std::pair<Slot, uint64_t>> sharedAddresses;
  /// "tid.x" and so on.
  std::vector<std::pair<Slot, std::string>> specials;
  /// Declared registers come first, then constants and special registers.
  std::vector<std::string> slotNames, predicateNames;
  /// Widths of the declared registers, up to 64.
  std::vector<uint8_t> slotBits;
  /// The slot or predicate of each register of the kernel, and those that results go to which nobody wants.
  std::vector<Slot> slotOf;
  Slot sinkSlot = 0, sinkPredicate = 0;
  /// In the variable's own space; shared memory as the block of rank 0 sees it.
  llvm::DenseMap<const PtxVariable *, uint64_t> addressOf;

  /// Registers of a thread at launch, as ptxas may use (PTX ISA, ".maxnreg"; a quarter of 64K for each warp scheduler).
  unsigned launchRegisters = 0;

  /// The variable of an operand.
  const PtxVariable &variable(unsigned index) const;

  /// Bytes of static shared memory; dynamic shared memory begins at `dynamicShared`.
  uint32_t staticShared = 0, dynamicShared = 0;
  uint64_t localBytes = 0;
  /// The bytes of constant memory.
  std::vector<uint8_t> constantBytes;
};

/// Fails with "line 12: ..." where an instruction is not known or malformed.
llvm::Expected<std::unique_ptr<Program>> decodeKernel(const PtxModule &module, const PtxKernel &kernel);

} // namespace tilec::simulator

#endif // TILEC_SIMULATOR_PROGRAM_H
