// Instructions in which the lanes of a warp exchange values: shfl, vote, match, redux, activemask, elect (PTX ISA,
// "Parallel Synchronization and Communication Instructions").
#include "Lanes.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace tilec::simulator;

namespace {
// The member mask that the instruction's lanes give in use `use`; all must give the same.
LaneMask membersOf(Warp &warp, const Op &op, unsigned use, LaneMask lanes) {
  const uint64_t *masks = warp.lanes(op.uses[use]);
  LaneMask members = masks[llvm::countr_zero(lanes)];
  forLanes(lanes, [&](unsigned lane) {
    if (LaneMask(masks[lane]) != members)
      warp.fault(FaultKind::BarrierMisuse, op, lane, "lanes name different member masks");
  });
  return members;
}

void setPredicate(Warp &warp, Slot slot, LaneMask lanes, uint32_t value) {
  uint32_t &d = warp.predicate(slot);
  d = (d & ~lanes) | (value & lanes);
}

//===----------------------------------------------------------------------===//
// shfl
//===----------------------------------------------------------------------===//

enum class Shuffle : uint64_t { Up, Down, Butterfly, Index };

struct ShuffleSource {
  unsigned lane;
  bool inside;
};

ShuffleSource shuffleSource(Shuffle mode, unsigned lane, uint32_t b, uint32_t c) {
  unsigned segment = c >> 8 & 0x1f, clamp = c & 0x1f;
  int most = (lane & segment) | (clamp & ~segment & 0x1f), least = lane & segment;
  int source = 0;
  bool inside = false;
  b &= 0x1f;
  switch (mode) {
  case Shuffle::Up:
    source = int(lane) - int(b);
    inside = source >= most;
    break;
  case Shuffle::Down:
    source = lane + b;
    inside = source <= most;
    break;
  case Shuffle::Butterfly:
    source = lane ^ b;
    inside = source <= most;
    break;
  case Shuffle::Index:
    source = least | (b & ~segment & 0x1f);
    inside = source <= most;
    break;
  }
  return {inside ? unsigned(source) : lane, inside};
}

Flow shuffle(Warp &warp, const Op &op, LaneMask lanes) {
  LaneMask members = membersOf(warp, op, 3, lanes);
  if (!warp.converged(op, lanes, members))
    return Flow::Block;
  const uint64_t *a = warp.lanes(op.uses[0]), *b = warp.lanes(op.uses[1]), *c = warp.lanes(op.uses[2]);
  LaneMask inside = 0;
  uint64_t results[laneCount], undefined[laneCount];
  forLanes(lanes, [&](unsigned lane) {
    ShuffleSource source = shuffleSource(Shuffle(op.data[0]), lane, b[lane], c[lane]);
    if (!(lanes >> source.lane & 1))
      warp.fault(FaultKind::BarrierMisuse, op, lane,
                 "reads from lane " + std::to_string(source.lane) + ", which does not take part");
    results[lane] = a[source.lane];
    undefined[lane] = warp.undefinedBits(op.uses[0], source.lane);
    inside |= LaneMask(source.inside) << lane;
  });
  uint64_t *d = warp.lanes(op.defs[0]);
  forLanes(lanes, [&](unsigned lane) {
    d[lane] = results[lane];
    warp.setUndefinedBits(op.defs[0], lane, undefined[lane]);
  });
  if (!op.predicateDefs.empty()) {
    setPredicate(warp, op.predicateDefs[0], lanes, inside);
    warp.definedPredicate(op.predicateDefs[0]) |= lanes;
  }
  return Flow::Next;
}

bool decodeShuffle(Decoder &d) {
  if (!d.instruction->has("sync"))
    return d.fail("the form without .sync");
  llvm::StringRef mode = d.oneOf({"up", "down", "bfly", "idx"});
  d.op->data[0] = static_cast<uint64_t>(mode == "up"     ? Shuffle::Up
                                        : mode == "down" ? Shuffle::Down
                                        : mode == "bfly" ? Shuffle::Butterfly
                                                         : Shuffle::Index);
  const Operand &result = d.operand(0);
  bool pair = result.is(Operand::Kind::Pair);
  d.define(pair ? result.elements[0] : result);
  if (pair)
    d.definePredicate(result.elements[1]);
  for (unsigned i = 1; i <= 4; ++i)
    d.use(d.operand(i), {PtxType::Bits, 32, false});
  d.op->manualChecks = true;
  d.op->execute = shuffle;
  return !d.failed();
}

//===----------------------------------------------------------------------===//
// vote, match, activemask, elect
//===----------------------------------------------------------------------===//

enum class Vote : uint64_t { All, Any, Uniform, Ballot };

// data[1]: the predicate is negated.
Flow vote(Warp &warp, const Op &op, LaneMask lanes) {
  LaneMask members = membersOf(warp, op, 0, lanes);
  if (!warp.converged(op, lanes, members))
    return Flow::Block;
  LaneMask yes = (op.data[1] ? ~warp.predicate(op.predicateUses[0]) : warp.predicate(op.predicateUses[0])) & lanes;
  bool all = yes == lanes, any = yes != 0;
  if (Vote(op.data[0]) == Vote::Ballot) {
    uint64_t *d = warp.lanes(op.defs[0]);
    forLanes(lanes, [&](unsigned lane) { d[lane] = yes; });
    return Flow::Next;
  }
  bool result = Vote(op.data[0]) == Vote::All ? all : Vote(op.data[0]) == Vote::Any ? any : all || !any;
  setPredicate(warp, op.predicateDefs[0], lanes, result ? ~0u : 0);
  return Flow::Next;
}

bool decodeVote(Decoder &d) {
  if (!d.instruction->has("sync"))
    return d.fail("the form without .sync");
  llvm::StringRef mode = d.oneOf({"all", "any", "uni", "ballot"});
  bool ballot = mode == "ballot";
  d.op->data[0] = static_cast<uint64_t>(mode == "all"   ? Vote::All
                                        : mode == "any" ? Vote::Any
                                        : ballot        ? Vote::Ballot
                                                        : Vote::Uniform);
  if (ballot)
    d.define(d.operand(0));
  else
    d.definePredicate(d.operand(0));
  d.op->data[1] = d.operand(1).negated;
  d.usePredicate(d.operand(1));
  d.use(d.operand(2));
  d.op->execute = vote;
  return !d.failed();
}

Flow match(Warp &warp, const Op &op, LaneMask lanes) {
  LaneMask members = membersOf(warp, op, 1, lanes);
  if (!warp.converged(op, lanes, members))
    return Flow::Block;
  const uint64_t *a = warp.lanes(op.uses[0]);
  uint64_t results[laneCount];
  bool all = true;
  forLanes(lanes, [&](unsigned lane) {
    results[lane] = 0;
    forLanes(lanes, [&](unsigned other) { results[lane] |= uint64_t(a[other] == a[lane]) << other; });
    all &= results[lane] == lanes;
  });
  uint64_t *d = warp.lanes(op.defs[0]);
  forLanes(lanes, [&](unsigned lane) { d[lane] = op.data[0] ? (all ? lanes : 0) : results[lane]; });
  if (!op.predicateDefs.empty())
    setPredicate(warp, op.predicateDefs[0], lanes, all ? ~0u : 0);
  return Flow::Next;
}

bool decodeMatch(Decoder &d) {
  d.op->data[0] = d.instruction->has("all");
  const Operand &result = d.operand(0);
  bool pair = result.is(Operand::Kind::Pair);
  d.define(pair ? result.elements[0] : result);
  if (pair)
    d.definePredicate(result.elements[1]);
  d.use(d.operand(1));
  d.use(d.operand(2));
  d.op->execute = match;
  return !d.failed();
}

Flow activeMask(Warp &warp, const Op &op, LaneMask lanes) {
  uint64_t *d = warp.lanes(op.defs[0]);
  forLanes(lanes, [&](unsigned lane) { d[lane] = lanes; });
  return Flow::Next;
}

bool decodeActiveMask(Decoder &d) {
  d.define(d.operand(0));
  d.op->execute = activeMask;
  return !d.failed();
}

// The hardware elects the first lane.
Flow elect(Warp &warp, const Op &op, LaneMask lanes) {
  LaneMask members = membersOf(warp, op, 0, lanes);
  if (!warp.converged(op, lanes, members))
    return Flow::Block;
  unsigned leader = llvm::countr_zero(lanes);
  uint64_t *d = warp.lanes(op.defs[0]);
  forLanes(lanes, [&](unsigned lane) { d[lane] = leader; });
  setPredicate(warp, op.predicateDefs[0], lanes, 1u << leader);
  return Flow::Next;
}

bool decodeElect(Decoder &d) {
  const Operand &result = d.operand(0);
  if (!result.is(Operand::Kind::Pair))
    return d.fail("expected two results");
  d.define(result.elements[0]);
  d.definePredicate(result.elements[1]);
  d.use(d.operand(1));
  d.op->execute = elect;
  return !d.failed();
}

//===----------------------------------------------------------------------===//
// redux
//===----------------------------------------------------------------------===//

enum class Reduction : uint64_t { Add, Minimum, Maximum, And, Or, Xor };

template <typename T> T combine(Reduction reduction, T a, T b) {
  switch (reduction) {
  case Reduction::Add:
    return static_cast<T>(uint32_t(a) + uint32_t(b));
  case Reduction::Minimum:
    return std::min(a, b);
  case Reduction::Maximum:
    return std::max(a, b);
  case Reduction::And:
    return a & b;
  case Reduction::Or:
    return a | b;
  case Reduction::Xor:
    return a ^ b;
  }
  return a;
}

template <typename T> Flow reduce(Warp &warp, const Op &op, LaneMask lanes) {
  LaneMask members = membersOf(warp, op, 1, lanes);
  if (!warp.converged(op, lanes, members))
    return Flow::Block;
  const uint64_t *a = warp.lanes(op.uses[0]);
  unsigned first = llvm::countr_zero(lanes);
  T result = fromBits<T>(a[first]);
  forLanes(lanes & ~(1u << first),
           [&](unsigned lane) { result = combine(Reduction(op.data[0]), result, fromBits<T>(a[lane])); });
  uint64_t *d = warp.lanes(op.defs[0]);
  forLanes(lanes, [&](unsigned lane) { d[lane] = toBits(result); });
  return Flow::Next;
}

bool decodeReduce(Decoder &d) {
  std::optional<PtxType> type = lastType(d);
  llvm::StringRef name = d.oneOf({"add", "min", "max", "and", "or", "xor"});
  if (!type || isFloat(*type) || name.empty())
    return d.fail("the simulator does not know this reduction");
  d.op->data[0] = static_cast<uint64_t>(llvm::StringSwitch<Reduction>(name)
                                            .Case("min", Reduction::Minimum)
                                            .Case("max", Reduction::Maximum)
                                            .Case("and", Reduction::And)
                                            .Case("or", Reduction::Or)
                                            .Case("xor", Reduction::Xor)
                                            .Default(Reduction::Add));
  d.op->execute = type->kind == PtxType::Signed ? reduce<int32_t> : reduce<uint32_t>;
  return decodeMap(d, *type, 2);
}
} // namespace

void tilec::simulator::addWarpInstructions(InstructionTable &table) {
  table["shfl"] = decodeShuffle;
  table["vote"] = decodeVote;
  table["match"] = decodeMatch;
  table["activemask"] = decodeActiveMask;
  table["elect"] = decodeElect;
  table["redux"] = decodeReduce;
}
