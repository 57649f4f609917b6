// Execution of a warp: fragments, guards, checks of registers.
#include "tilec/Simulator/Warp.h"

#include "Counters.h"
#include "SpecialRegisters.h"
#include "tilec/Simulator/Block.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

using namespace tilec::simulator;

Warp::Warp(Block &block, const Program &program, unsigned index, LaneMask lanes, unsigned firstThread)
    : block_(block), program(program), index(index), firstThread(firstThread), local(program.localBytes * laneCount),
      registers(size_t(program.numSlots) * laneCount), predicates(program.numPredicates),
      definedLanes(program.numSlots, 0), definedPredicates(program.numPredicates, 0),
      stamps(program.numSlots, fenceEpoch) {
  registerBudget = program.launchRegisters;
  actor = block.cluster.newActor();
  // Time 1 is the start, which others may know of before they know of anything that it does.
  knows.generic.raise(actor, 2);
  Fragment all;
  all.lanes = lanes;
  fragments.push_back(all);
  auto fill = [&](Slot slot, auto value) {
    for (unsigned lane = 0; lane < laneCount; ++lane)
      this->lanes(slot)[lane] = value(lane);
    definedLanes[slot] = ~0u;
  };
  for (auto [slot, value] : program.constants)
    fill(slot, [value = value](unsigned) { return value; });
  for (auto [slot, address] : program.sharedAddresses)
    fill(slot, [&, address = address](unsigned) { return address + block.rank * uint64_t(sharedBlockStride); });
  for (auto &special : program.specials)
    fill(special.first, [&](unsigned lane) { return specialValue(special.second, *this, lane); });
}

LaneMask Warp::liveLanes() const {
  LaneMask live = 0;
  for (const Fragment &fragment : fragments)
    live |= fragment.lanes;
  return live;
}

Access Warp::access(const Op &op, int lane) const {
  Access access;
  access.site = {block_.linear, static_cast<int>(index), lane, op.source};
  access.actor = actor;
  access.time = time();
  access.convergence = convergence;
  access.knows = &knows;
  return access;
}

void Warp::fault(FaultKind kind, const Op &op, int lane, std::string message) {
  Fault fault;
  fault.kind = kind;
  fault.site = access(op, lane).site;
  fault.message = std::move(message);
  block_.state.report.add(std::move(fault));
}

//===----------------------------------------------------------------------===//
// Fragments
//===----------------------------------------------------------------------===//

Flow Warp::block(std::string why) {
  current().waiting = std::move(why);
  current().seen = block_.cluster.progress;
  return Flow::Block;
}

bool Warp::converged(const Op &op, LaneMask lanes, LaneMask members) {
  LaneMask wanted = members & liveLanes();
  if (lanes & ~members)
    fault(FaultKind::BarrierMisuse, op, llvm::countr_zero(lanes & ~members),
          "a lane runs this that its mask does not name");
  if ((lanes & wanted) == wanted)
    return true;
  block("waits for lane " + std::to_string(llvm::countr_zero(wanted & ~lanes)) + " of its warp");
  return false;
}

void Warp::branch(LaneMask taken, uint32_t target) {
  Fragment &fragment = current();
  if (taken == fragment.lanes) {
    fragment.pc = target;
    return;
  }
  ++fragment.pc;
  if (taken == 0)
    return;
  fragment.lanes &= ~taken;
  Fragment split;
  split.lanes = taken;
  split.pc = target;
  fragments.push_back(split);
}

void Warp::exit(LaneMask lanes) {
  Fragment &fragment = current();
  fragment.lanes &= ~lanes;
  ++fragment.pc;
  block_.cluster.noteProgress();
  if (fragment.lanes)
    return;
  fragments.erase(fragments.begin() + active);
  active = 0;
  if (!fragments.empty())
    return;
  block_.barriers.leave(*this);
  block_.leave(*this);
  block_.cluster.completeBarrier();
}

int Warp::choose() const {
  int best = -1;
  for (size_t i = 0; i < fragments.size(); ++i) {
    const Fragment &fragment = fragments[i];
    bool waits = !fragment.waiting.empty() && fragment.seen == block_.cluster.progress;
    if (waits)
      continue;
    if (best < 0 || program.order[fragment.pc] < program.order[fragments[best].pc])
      best = static_cast<int>(i);
  }
  return best;
}

// Lanes that have met go on together. A fragment that waits for lanes of its warp tries again with them.
void Warp::merge() {
  for (size_t i = 0; i < fragments.size(); ++i)
    for (size_t j = i + 1; j < fragments.size();) {
      bool mid = fragments[i].barrier >= 0 || fragments[j].barrier >= 0;
      if (fragments[i].pc != fragments[j].pc || mid) {
        ++j;
        continue;
      }
      fragments[i].lanes |= fragments[j].lanes;
      fragments[i].waiting.clear();
      fragments.erase(fragments.begin() + j);
    }
}

unsigned Warp::run(unsigned budget) {
  // Lanes that poll global memory must not keep those back that they wait for.
  constexpr unsigned patience = 4096;
  unsigned count = 0;
  while (count < budget && !fragments.empty()) {
    int chosen = choose();
    if (chosen < 0)
      break;
    active = chosen;
    unsigned stop = std::min(budget, count + patience);
    while (count < stop && !fragments.empty()) {
      Fragment &fragment = current();
      fragment.waiting.clear();
      ++count;
      step(program.ops[fragment.pc]);
      if (fragments.size() > 1) {
        merge();
        break;
      }
      if (!fragments.empty() && !fragments[0].waiting.empty())
        break;
    }
  }
  return count;
}

void Warp::notePoll(const Op &op, uint64_t address, uint64_t value) {
  Poll &poll = polls[static_cast<size_t>(&op - program.ops.data()) % polls.size()];
  bool same = poll.op == &op && poll.address == address && poll.value == value;
  poll = {&op, address, value, same ? poll.repeats + 1 : 0};
}

const Warp::Poll *Warp::polled() const {
  constexpr uint64_t often = 64;
  const Poll *most = &polls[0];
  for (const Poll &poll : polls)
    if (poll.repeats > most->repeats)
      most = &poll;
  return most->repeats >= often ? most : nullptr;
}

//===----------------------------------------------------------------------===//
// One instruction
//===----------------------------------------------------------------------===//

bool Warp::checkOperands(const Op &op, LaneMask lanes) {
  bool passes = false;
  unsigned moved = op.propagates ? op.movedUses() : 0;
  for (auto [use, slot] : llvm::enumerate(op.uses)) {
    if ((definedLanes[slot] & lanes) != lanes && !op.manualChecks) {
      if (use < moved)
        passes = true;
      else if (block_.state.options.checkInitialized)
        checkDefined(op, use, lanes);
    }
    if (op.handlesPending)
      continue;
    if (stamps[slot] != pendingMark)
      stamps[slot] = fenceEpoch;
    else
      fault(FaultKind::PendingRegister, op, -1,
            "reads `" + program.slotNames[slot] + "` while a wgmma in flight owns it");
  }
  for (Slot slot : op.predicateUses)
    if ((definedPredicates[slot] & lanes) != lanes && !op.manualChecks && block_.state.options.checkInitialized)
      fault(FaultKind::UninitializedRegister, op, llvm::countr_zero(lanes & ~definedPredicates[slot]),
            "reads `" + program.predicateNames[slot] + "`, which nothing has written");
  return passes;
}

void Warp::defineResults(const Op &op, LaneMask lanes) {
  for (Slot slot : op.defs) {
    if (!op.manualChecks)
      definedLanes[slot] |= lanes;
    if (op.handlesPending)
      continue;
    if (stamps[slot] == pendingMark && slot != program.sinkSlot)
      fault(FaultKind::PendingRegister, op, -1,
            "writes `" + program.slotNames[slot] + "` while a wgmma in flight owns it");
    stamps[slot] = fenceEpoch;
  }
  if (!op.manualChecks)
    for (Slot slot : op.predicateDefs)
      definedPredicates[slot] |= lanes;
}

void Warp::step(const Op &op) {
  LaneMask lanes = current().lanes;
  if (op.guard >= 0) {
    if ((definedPredicates[op.guard] & lanes) != lanes && block_.state.options.checkInitialized)
      fault(FaultKind::UninitializedRegister, op, llvm::countr_zero(lanes & ~definedPredicates[op.guard]),
            "is guarded by `" + program.predicateNames[op.guard] + "`, which nothing has written");
    lanes &= op.guardNegated ? ~predicates[op.guard] : predicates[op.guard];
    if (lanes == 0) {
      ++current().pc;
      return;
    }
  }
  std::vector<LaneValues> undefined;
  if (checkOperands(op, lanes))
    undefined = undefinedResults(op, lanes);
  Flow flow = op.execute(*this, op, lanes);
  if (block_.state.options.count)
    countStep(*this, op, flow);
  switch (flow) {
  case Flow::Next:
    ++current().pc;
    current().waitCounted = false;
    defineResults(op, lanes);
    for (auto [slot, bits] : llvm::zip(op.defs, undefined))
      for (LaneMask rest = lanes; rest; rest &= rest - 1)
        setUndefinedBits(slot, llvm::countr_zero(rest), bits[llvm::countr_zero(rest)]);
    return;
  case Flow::Jump:
  case Flow::Block:
    return;
  }
}
