// A warp: 32 lanes, their registers, and the fragments that lanes form when they diverge.
#ifndef TILEC_SIMULATOR_WARP_H
#define TILEC_SIMULATOR_WARP_H

#include "tilec/Simulator/Clock.h"
#include "tilec/Simulator/Memory.h"
#include "tilec/Simulator/Program.h"
#include <array>
#include <string>

namespace tilec::simulator {

class Block;

constexpr unsigned laneCount = 32;

/// Lanes that stand at the same instruction.
struct Fragment {
  LaneMask lanes = 0;
  uint32_t pc = 0;
  /// Why it does not go on, empty if it does; it is tried again when Block::progress differs from `seen`.
  std::string waiting;
  uint64_t seen = 0;
  /// A named barrier where it has arrived and waits, and the barrier's phase then.
  int barrier = -1;
  uint64_t barrierPhase = 0;
  /// The poll that failed last, and the progress then.
  uint32_t poll = ~0u;
  uint64_t pollSeen = 0;
  /// The wait at this instruction has been counted.
  bool waitCounted = false;
};

class Warp {
public:
  Warp(Block &block, const Program &program, unsigned index, LaneMask lanes, unsigned firstThread);

  /// Runs until every fragment waits or about `budget` instructions have run. Returns the number that ran.
  unsigned run(unsigned budget);
  bool finished() const { return fragments.empty(); }
  LaneMask liveLanes() const;

  // For handlers.
  uint64_t *lanes(Slot slot) { return &registers[size_t(slot) * laneCount]; }
  const uint64_t *lanes(Slot slot) const { return &registers[size_t(slot) * laneCount]; }
  uint32_t &predicate(Slot slot) { return predicates[slot]; }
  /// The address that a lane gives as use `use` of the instruction, with its offset.
  uint64_t address(const Op &op, unsigned use, unsigned lane) const {
    uint64_t sum = lanes(op.uses[use])[lane] + static_cast<uint64_t>(op.offset);
    return op.space == Space::Shared ? sum & 0xffffffff : sum;
  }
  /// This access of `lane` (-1: the warp as a whole), ordered as the warp is.
  Access access(const Op &op, int lane) const;
  void fault(FaultKind kind, const Op &op, int lane, std::string message);
  /// False, with the fragment blocked, unless all live lanes of `members` run this instruction together.
  bool converged(const Op &op, LaneMask lanes, LaneMask members);
  /// Blocks the current fragment.
  Flow block(std::string why);
  Fragment &current() { return fragments[active]; }
  /// Moves lanes of the current fragment to `target`, the others behind the instruction.
  void branch(LaneMask taken, uint32_t target);
  void exit(LaneMask lanes);
  const std::vector<Fragment> &allFragments() const { return fragments; }
  std::vector<Fragment> &allFragments() { return fragments; }

  // Initialised registers and registers in flight.
  LaneMask &defined(Slot slot) { return definedLanes[slot]; }
  /// Bits of a lane's register that nothing has written.
  uint64_t undefinedBits(Slot slot, unsigned lane) const;
  void setUndefinedBits(Slot slot, unsigned lane, uint64_t bits);
  LaneMask &definedPredicate(Slot slot) { return definedPredicates[slot]; }
  /// wgmma: the fence epoch of the last ordinary access, or of the start; `pendingMark` while an operation owns the
  /// register. An operation needs a wgmma.fence behind that.
  static constexpr uint32_t pendingMark = ~0u;
  uint32_t &stamp(Slot slot) { return stamps[slot]; }
  uint32_t fenceEpoch = 1;

  /// What this warp knows, and its own time.
  Knowledge knows;
  /// What it knew at its last fence of each scope or a wider one, and what relaxed atomics have read that the next
  /// fence of the scope makes known (PTX ISA, "Memory Consistency Model", release and acquire patterns).
  std::array<Knowledge, scopeCount> fenced, observed;
  Actor actor = 0;
  Time time() const { return knows.generic[actor]; }
  /// Behind every point where others may learn what the warp knows: what it does later is not part of that.
  void advance() { knows.generic.raise(actor, time() + 1); }
  /// The lanes have met, by a barrier or by what one has released and the others have acquired.
  void meet() {
    ++convergence;
    advance();
  }
  uint32_t convergence = 0;

  Block &block_;
  const Program &program;
  const unsigned index;
  /// Of lane 0.
  const unsigned firstThread;
  /// The phase of the cluster's barrier at each lane's last arrival, from 1; 0: it has waited.
  std::array<uint64_t, laneCount> clusterPhase{};
  /// CC.CF of the lanes (PTX ISA, "Extended-Precision Integer Arithmetic Instructions").
  LaneMask carry = 0;
  /// A read of memory that others may write, and how often it has given the same.
  struct Poll {
    const Op *op = nullptr;
    uint64_t address = 0, value = 0, repeats = 0;
  };
  void notePoll(const Op &op, uint64_t address, uint64_t value);
  /// The read that has repeated most, if it is a loop's; otherwise null.
  const Poll *polled() const;
  /// The last strong read that taught something, so that polling need not learn the same again.
  struct Lesson {
    uint64_t key = 0, version = 0;
    Scope scope = Scope::Block;
    bool acquire = false;
  };
  Lesson lastLesson;
  /// setmaxnreg: registers of a thread now.
  unsigned registerBudget = 0;
  std::vector<uint8_t> local;

private:
  /// Of instructions that lie beside each other.
  std::array<Poll, 4> polls;
  using LaneValues = std::array<uint64_t, laneCount>;
  /// Whether undefined bits go on to the results.
  bool checkOperands(const Op &op, LaneMask lanes);
  void checkDefined(const Op &op, unsigned use, LaneMask lanes);
  void moveMarks(const Op &op, LaneMask lanes, std::vector<LaneValues> &marks);
  /// The undefined bits of each result, asked for before the instruction runs.
  std::vector<LaneValues> undefinedResults(const Op &op, LaneMask lanes);
  void defineResults(const Op &op, LaneMask lanes);
  int choose() const;
  void merge();
  void step(const Op &op);

  std::vector<uint64_t> registers;
  std::vector<uint32_t> predicates;
  std::vector<LaneMask> definedLanes, definedPredicates;
  /// Undefined bits of lanes that are not in `definedLanes`; empty while they are all of the register's.
  std::vector<uint64_t> partlyUndefined;
  std::vector<uint32_t> stamps;
  std::vector<Fragment> fragments;
  size_t active = 0;
};

} // namespace tilec::simulator

#endif // TILEC_SIMULATOR_WARP_H
