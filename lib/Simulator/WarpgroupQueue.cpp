// The order and completion of the wgmma operations of a warpgroup.
#include "WarpgroupQueue.h"

#include "llvm/ADT/STLExtras.h"

using namespace tilec::simulator;

WarpgroupQueue::WarpgroupQueue(Block &block, unsigned index)
    : block(block), first(index * warpCount), actor(block.cluster.newActor()) {}

static bool sameOperation(const WgmmaOperation &a, const WgmmaOperation &b) {
  return a.descriptorA == b.descriptorA && a.descriptorB == b.descriptorB && a.accumulate == b.accumulate;
}

void WarpgroupQueue::issue(Warp &warp, const Op &op, const WgmmaOperation &operation) {
  Member &member = members[memberOf(warp)];
  size_t number = member.issued++;
  if (number - completed >= operations.size()) {
    operations.emplace_back();
    operations.back().op = &op;
    operations.back().operation = operation;
  }
  Issued &issued = operations[number - completed];
  issued.knows[memberOf(warp)] = warp.knows;
  issued.disagrees |= issued.op != &op || !sameOperation(issued.operation, operation);
  const auto &payload = op.as<WgmmaPayload>();
  for (Slot slot : llvm::concat<const Slot>(op.defs, llvm::ArrayRef(op.uses).take_front(payload.numRegistersA))) {
    member.lastUse[slot] = number;
    warp.stamp(slot) = Warp::pendingMark;
  }
  Schedule schedule = block.state.options.schedule;
  bool now = schedule == Schedule::Early || (schedule == Schedule::Random && block.state.random() % 2);
  block.cluster.noteProgress();
  if (now)
    completeUpTo(issuedByAll());
}

void WarpgroupQueue::commit(Warp &warp) {
  Member &member = members[memberOf(warp)];
  member.groupEnds.push_back(member.issued);
}

size_t WarpgroupQueue::issuedByAll() const {
  size_t least = members[0].issued;
  for (const Member &member : members)
    least = std::min(least, member.issued);
  return least;
}

bool WarpgroupQueue::wait(Warp &warp, unsigned pending, std::string &waitsFor) {
  Member &member = members[memberOf(warp)];
  if (member.groupEnds.size() <= pending)
    return true;
  size_t end = member.groupEnds[member.groupEnds.size() - 1 - pending];
  if (end > issuedByAll()) {
    for (unsigned other = 0; other < warpCount; ++other)
      if (members[other].issued < end)
        waitsFor = "wgmma that warp " + std::to_string(first + other) + " has not issued";
    return false;
  }
  completeUpTo(end);
  release(warp, end);
  return true;
}

void WarpgroupQueue::completeUpTo(size_t end) {
  while (completed < end) {
    run(operations.front(), static_cast<Time>(completed + 1));
    operations.pop_front();
    ++completed;
  }
}

// The operation reads shared memory with what all four warps knew.
static Knowledge commonKnowledge(const Knowledge (&knows)[WarpgroupQueue::warpCount]) {
  Knowledge common = knows[0];
  for (const Knowledge &other : llvm::drop_begin(knows)) {
    common.generic.meet(other.generic);
    common.async.meet(other.async);
  }
  return common;
}

void WarpgroupQueue::run(Issued &issued, Time time) {
  const Op &op = *issued.op;
  const auto &payload = op.as<WgmmaPayload>();
  if (issued.disagrees) {
    warp(0).fault(FaultKind::BarrierMisuse, op, -1, "the four warps of the warpgroup run different wgmma");
    return;
  }
  Knowledge common = commonKnowledge(issued.knows);
  Access access = warp(0).access(op, -1);
  access.actor = actor;
  access.time = time;
  access.proxy = Proxy::Async;
  access.knows = &common;
  WgmmaRegisters registers;
  for (unsigned member = 0; member < warpCount; ++member) {
    Warp &own = warp(member);
    for (Slot slot : llvm::ArrayRef(op.uses).take_front(payload.numRegistersA))
      registers.a[member].push_back(own.lanes(slot));
    for (Slot slot : op.defs)
      registers.d[member].push_back(own.lanes(slot));
  }
  // Descriptors hold offsets in the block's own shared memory.
  uint32_t base = block.rank * sharedBlockStride;
  auto read = [&](uint32_t address, uint8_t *bytes) {
    std::fill_n(bytes, 16, uint8_t(0));
    block.read(access, Space::Shared, base + address, bytes, 16, 16);
  };
  executeWgmma(issued.operation, read, registers);
}

void WarpgroupQueue::release(Warp &warp, size_t end) {
  Member &member = members[memberOf(warp)];
  warp.knows.generic.raise(actor, static_cast<Time>(end));
  warp.knows.async.raise(actor, static_cast<Time>(end));
  llvm::SmallVector<Slot> free;
  for (auto [slot, last] : member.lastUse)
    if (last < end)
      free.push_back(slot);
  for (Slot slot : free) {
    warp.stamp(slot) = 0;
    member.lastUse.erase(slot);
  }
}
