// Branches, ends of threads, and instructions that steer the launch (PTX ISA, "Control Flow Instructions",
// "Miscellaneous Instructions").
#include "Lanes.h"

using namespace tilec::simulator;

namespace {
Flow branch(Warp &warp, const Op &op, LaneMask lanes) {
  warp.branch(lanes, op.target);
  return Flow::Jump;
}

bool decodeBranch(Decoder &d) {
  const Operand &target = d.operand(0);
  if (!target.is(Operand::Kind::Label))
    return d.fail("expected a label");
  d.op->execute = branch;
  d.op->target = target.index;
  return !d.failed();
}

Flow endThreads(Warp &warp, const Op &op, LaneMask lanes) {
  warp.exit(lanes);
  return Flow::Jump;
}

bool decodeExit(Decoder &d) {
  d.op->execute = endThreads;
  return true;
}

Flow trap(Warp &warp, const Op &op, LaneMask lanes) {
  warp.fault(FaultKind::Trap, op, llvm::countr_zero(lanes), "the program stops itself");
  warp.exit(lanes);
  return Flow::Jump;
}

bool decodeTrap(Decoder &d) {
  d.op->execute = trap;
  return true;
}

Flow nothing(Warp &, const Op &, LaneMask) { return Flow::Next; }

bool decodeNothing(Decoder &d) {
  d.op->execute = nothing;
  return true;
}

// data[0]: registers of a thread, data[1]: inc.
Flow setRegisters(Warp &warp, const Op &op, LaneMask lanes) {
  if (!warp.converged(op, lanes, ~0u))
    return Flow::Block;
  constexpr unsigned fewest = 24, most = 256, unit = 8;
  unsigned wanted = op.data[0], have = warp.registerBudget;
  bool increase = op.data[1];
  auto fault = [&](const std::string &what) {
    warp.fault(FaultKind::RegisterBudget, op, -1, std::to_string(wanted) + " registers: " + what);
    return Flow::Next;
  };
  if (wanted < fewest || wanted > most || wanted % unit)
    return fault("the number must be a multiple of 8 from 24 to 256");
  if (increase ? wanted < have : wanted > have)
    return fault("the warp has " + std::to_string(have) + " already");
  int64_t difference = (int64_t(wanted) - have) * laneCount;
  if (difference > warp.block_.registersFree)
    return warp.block("waits for " + std::to_string(difference) + " registers; " +
                      std::to_string(warp.block_.registersFree) + " are free");
  warp.block_.registersFree -= difference;
  warp.registerBudget = wanted;
  warp.block_.cluster.noteProgress();
  return Flow::Next;
}

bool decodeSetRegisters(Decoder &d) {
  d.op->execute = setRegisters;
  d.op->data[0] = d.constant(d.operand(0));
  d.op->data[1] = d.instruction->has("inc");
  return !d.failed();
}
} // namespace

void tilec::simulator::addControlInstructions(InstructionTable &table) {
  table["bra"] = decodeBranch;
  table["ret"] = decodeExit;
  table["exit"] = decodeExit;
  table["trap"] = decodeTrap;
  table["setmaxnreg"] = decodeSetRegisters;
  for (llvm::StringRef name : {"griddepcontrol", "nanosleep", "pmevent", "brkpt", "discard", "applypriority"})
    table[name] = decodeNothing;
}
