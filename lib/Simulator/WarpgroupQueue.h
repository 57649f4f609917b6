// The wgmma operations of four warps: issued by each, run once for all, waited for in groups (PTX ISA, "Asynchronous
// Warpgroup Level Matrix Instructions").
//
// Warp w's n-th wgmma is one operation together with the n-th of the three others. It runs when all four have issued
// it: at once, or as late as a warp waits for it (Schedule). A warp that waits for a group that another has not issued
// yet blocks until it has.
#ifndef TILEC_LIB_SIMULATOR_WARPGROUPQUEUE_H
#define TILEC_LIB_SIMULATOR_WARPGROUPQUEUE_H

#include "tilec/Simulator/Block.h"
#include "tilec/Simulator/Wgmma.h"
#include "llvm/ADT/DenseMap.h"

namespace tilec::simulator {

/// What the decoder keeps of a wgmma.mma_async.
struct WgmmaPayload : Payload {
  WgmmaInstruction info;
  /// Registers of A, then descriptors, in Op::uses; accumulators are Op::defs.
  unsigned numRegistersA = 0;
  /// scale-d: a predicate (Op::predicateUses[0]), or known.
  bool scalePredicate = false, scale = true;
};

class WarpgroupQueue : public WarpgroupState {
public:
  static constexpr unsigned warpCount = 4;

  WarpgroupQueue(Block &block, unsigned index);

  /// Adds an operation of a warp. `operation` must be the same for all four.
  void issue(Warp &warp, const Op &op, const WgmmaOperation &operation);
  /// Closes the warp's group.
  void commit(Warp &warp);
  /// Completes all but the newest `pending` groups and releases their registers in this warp; false, with the reason in
  /// `waitsFor`, if another warp has not issued them yet.
  bool wait(Warp &warp, unsigned pending, std::string &waitsFor);
  /// Whether the warp has a whole warpgroup around it.
  bool complete() const { return block.warps.size() >= first + warpCount; }

private:
  struct Issued {
    const Op *op = nullptr;
    WgmmaOperation operation;
    /// What each warp knew when it issued the operation.
    Knowledge knows[warpCount];
    bool disagrees = false;
  };
  struct Member {
    /// Number of operations issued; of operations before the end of each open group's predecessor.
    size_t issued = 0;
    std::vector<size_t> groupEnds;
    /// The last operation that uses a register.
    llvm::DenseMap<Slot, size_t> lastUse;
  };

  unsigned memberOf(const Warp &warp) const { return warp.index - first; }
  Warp &warp(unsigned member) { return *block.warps[first + member]; }
  size_t issuedByAll() const;
  void completeUpTo(size_t end);
  void run(Issued &issued, Time time);
  void release(Warp &warp, size_t end);

  Block &block;
  const unsigned first;
  const Actor actor;
  std::deque<Issued> operations; // from number `completed` on
  size_t completed = 0;
  Member members[warpCount];
};

} // namespace tilec::simulator

#endif // TILEC_LIB_SIMULATOR_WARPGROUPQUEUE_H
