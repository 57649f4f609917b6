// Bits of registers that nothing has written, through moves, shifts, permutations and logic: code that packs bytes
// begins with a register whose upper part is replaced later.
#include "tilec/Simulator/Block.h"
#include "tilec/Simulator/Warp.h"
#include "llvm/Support/MathExtras.h"

using namespace tilec::simulator;

uint64_t Warp::undefinedBits(Slot slot, unsigned lane) const {
  if (definedLanes[slot] >> lane & 1)
    return 0;
  unsigned width = slot < program.slotBits.size() ? program.slotBits[slot] : 64;
  uint64_t all = llvm::maskTrailingOnes<uint64_t>(width);
  return partlyUndefined.empty() ? all : partlyUndefined[size_t(slot) * laneCount + lane] & all;
}

void Warp::setUndefinedBits(Slot slot, unsigned lane, uint64_t bits) {
  LaneMask bit = LaneMask(1) << lane;
  if (bits == 0) {
    definedLanes[slot] |= bit;
    return;
  }
  if (partlyUndefined.empty())
    partlyUndefined.assign(registers.size(), ~uint64_t(0));
  definedLanes[slot] &= ~bit;
  partlyUndefined[size_t(slot) * laneCount + lane] = bits;
}

void Warp::checkDefined(const Op &op, unsigned use, LaneMask lanes) {
  Slot slot = op.uses[use];
  uint64_t read = llvm::maskTrailingOnes<uint64_t>(use < op.narrowFrom ? 64u : op.readBits);
  for (unsigned lane = 0; lane < laneCount; ++lane) {
    uint64_t missing = lanes >> lane & 1 ? undefinedBits(slot, lane) : 0;
    if (!(missing & read))
      continue;
    bool partly = slot < program.slotBits.size() && llvm::popcount(missing) < program.slotBits[slot];
    fault(FaultKind::UninitializedRegister, op, static_cast<int>(lane),
          "reads `" + program.slotNames[slot] + "`, which nothing has written" + (partly ? " as a whole" : ""));
    return;
  }
}

// A bit of the result is undefined if both values are possible.
static uint64_t undefinedByTable(uint8_t table, const uint64_t (&values)[3], const uint64_t (&undefined)[3]) {
  uint64_t zeros = 0, ones = 0;
  for (unsigned entry = 0; entry < 8; ++entry) {
    uint64_t possible = ~uint64_t(0);
    for (unsigned i = 0; i < 3; ++i)
      possible &= undefined[i] | (entry >> (2 - i) & 1 ? values[i] : ~values[i]);
    (table >> entry & 1 ? ones : zeros) |= possible;
  }
  return zeros & ones;
}

// Instructions that move bits move the marks of undefined ones in the same way, so they run on the marks.
void Warp::moveMarks(const Op &op, LaneMask lanes, std::vector<LaneValues> &marks) {
  llvm::SmallVector<Slot> touched(op.uses.begin(), op.uses.begin() + op.movedUses());
  touched.append(op.defs.begin(), op.defs.end());
  std::vector<LaneValues> saved;
  for (Slot slot : touched) {
    saved.emplace_back();
    std::copy_n(this->lanes(slot), laneCount, saved.back().begin());
  }
  for (Slot slot : llvm::ArrayRef(touched).drop_back(op.defs.size()))
    for (unsigned lane = 0; lane < laneCount; ++lane)
      this->lanes(slot)[lane] = undefinedBits(slot, lane);
  op.execute(*this, op, lanes);
  for (auto [mark, slot] : llvm::zip(marks, op.defs))
    std::copy_n(this->lanes(slot), laneCount, mark.begin());
  for (auto [slot, values] : llvm::zip(touched, saved))
    std::copy_n(values.begin(), laneCount, this->lanes(slot));
}

std::vector<Warp::LaneValues> Warp::undefinedResults(const Op &op, LaneMask lanes) {
  std::vector<LaneValues> marks(op.defs.size());
  if (!op.truthTable) {
    moveMarks(op, lanes, marks);
    return marks;
  }
  for (unsigned lane = 0; lane < laneCount; ++lane) {
    uint64_t values[3] = {0, 0, 0}, undefined[3] = {0, 0, 0};
    for (unsigned i = 0; i < op.uses.size(); ++i) {
      values[i] = this->lanes(op.uses[i])[lane];
      undefined[i] = undefinedBits(op.uses[i], lane);
    }
    marks[0][lane] = undefinedByTable(*op.truthTable, values, undefined);
  }
  return marks;
}
