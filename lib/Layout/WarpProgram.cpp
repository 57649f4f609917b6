// Building the shuffles and selects of a conversion inside the warps.
//
// A conversion moves coordinate bits between register numbers, lane bits and warp bits. The builder keeps, for every
// combination of the bits that are in registers now, the value that holds it, and moves one bit at a time:
//   select    a register bit goes to a thread bit that is replicated: one select for two registers, no shuffle;
//   exchange  a register bit and a lane bit change places: one shuffle and three selects for two registers;
//   spread    a lane bit goes to a register bit and the lane is replicated: one shuffle for each register;
//   permute   lane bits change places among themselves: one indexed shuffle for each register, last of all.
#include "tilec/Layout/WarpProgram.h"

#include "ElementBits.h"

#include "llvm/ADT/STLExtras.h"

#include <map>

using namespace tilec;

unsigned WarpProgram::shuffles() const {
  return llvm::count_if(steps, [](const WarpStep &step) { return step.kind != WarpStep::Kind::Select; });
}

bool WarpProgram::isIdentity() const {
  if (!steps.empty() || results.size() != numInputs)
    return false;
  for (const auto &result : llvm::enumerate(results))
    if (result.value() != static_cast<int32_t>(result.index()))
      return false;
  return true;
}

namespace {
class Builder {
public:
  Builder(const Layout &fromLayout, const Layout &toLayout)
      : from(fromLayout), to(toLayout), bits(elementBits(fromLayout, toLayout)) {
    for (const ElementBit &bit : bits)
      now.push_back(bit.from);
  }

  bool staysInWarps() const;
  WarpProgram build(unsigned elementBits);

private:
  /// The element bits that are 1 in a register's offset, as a mask over `bits`.
  uint64_t keyOf(const Layout &layout, uint32_t reg) const;
  uint32_t elementsPerUnit(unsigned elementBits) const;
  bool samePackedBit(uint32_t weight) const;
  /// The element bit that a thread bit holds now.
  std::optional<unsigned> holderOf(BitPlace place) const;

  void loadInputs();
  void moveToThreads();
  void select(unsigned element, BitPlace target);
  void exchange(unsigned element, unsigned holder, BitPlace target);
  void spread(unsigned element);
  void permuteLanes();
  void storeResults();

  int32_t shuffle(int32_t value, uint32_t laneMask);
  int32_t choose(BitPlace bit, int32_t set, int32_t clear);
  int32_t add(const WarpStep &step) {
    program.steps.push_back(step);
    return static_cast<int32_t>(program.numInputs + program.steps.size() - 1);
  }
  /// Calls `combine(key, value with the bit 0, value with the bit 1)` for each pair of registers that differ in it.
  template <typename Combine> void forEachPair(unsigned element, Combine combine);

  const Layout &from, &to;
  llvm::SmallVector<ElementBit, 24> bits;
  llvm::SmallVector<std::optional<BitPlace>, 24> now;
  // An ordered map, so that the program does not depend on addresses or hashing.
  std::map<uint64_t, int32_t> values;
  WarpProgram program;
};
} // namespace

bool Builder::staysInWarps() const {
  for (const ElementBit &bit : bits) {
    bool fromOutside = bit.from && bit.from->owner > Owner::Lane;
    bool toOutside = bit.to && bit.to->owner > Owner::Warp;
    if ((fromOutside || toOutside) && bit.from != bit.to)
      return false;
  }
  return true;
}

uint64_t Builder::keyOf(const Layout &layout, uint32_t reg) const {
  Coordinates offset = layout.registerOffset(reg);
  uint64_t key = 0;
  for (unsigned i = 0; i < bits.size(); ++i)
    if (bits[i].dim < offset.size() && (offset[bits[i].dim] >> bits[i].bit & 1))
      key |= uint64_t(1) << i;
  return key;
}

/// Whether registers that differ in the bit `weight` are the two positions of one coordinate bit in both layouts.
bool Builder::samePackedBit(uint32_t weight) const {
  BitPlace place{Owner::Register, weight};
  auto splits = [&](const Layout &layout) {
    for (unsigned dim = 0; dim < layout.rank(); ++dim)
      for (const Digit &digit : layout.digits(dim))
        if (digit.owner == Owner::Register && weight >= digit.weight && weight < digit.weight * digit.radix)
          return digit.radix % (2 * weight / digit.weight) == 0;
    return false;
  };
  return splits(from) && splits(to) &&
         llvm::any_of(bits, [&](const ElementBit &bit) { return bit.from == place && bit.to == place; });
}

uint32_t Builder::elementsPerUnit(unsigned elementBits) const {
  uint32_t unit = 1;
  while (unit * 2 * elementBits <= 32 && samePackedBit(unit))
    unit *= 2;
  return unit;
}

std::optional<unsigned> Builder::holderOf(BitPlace place) const {
  for (unsigned i = 0; i < bits.size(); ++i)
    if (now[i] == place)
      return i;
  return std::nullopt;
}

int32_t Builder::shuffle(int32_t value, uint32_t laneMask) {
  WarpStep step;
  step.kind = WarpStep::Kind::ShuffleXor;
  step.first = static_cast<uint32_t>(value);
  step.laneMask = laneMask;
  return add(step);
}

int32_t Builder::choose(BitPlace bit, int32_t set, int32_t clear) {
  if (set == clear || clear == WarpProgram::undefined)
    return set;
  if (set == WarpProgram::undefined)
    return clear;
  WarpStep step;
  step.first = static_cast<uint32_t>(set);
  step.second = static_cast<uint32_t>(clear);
  step.bit = {bit.owner, bit.weight};
  return add(step);
}

template <typename Combine> void Builder::forEachPair(unsigned element, Combine combine) {
  uint64_t mask = uint64_t(1) << element;
  std::map<uint64_t, int32_t> old;
  old.swap(values);
  auto valueOf = [&](uint64_t key) {
    auto found = old.find(key);
    return found == old.end() ? WarpProgram::undefined : found->second;
  };
  for (const auto &entry : old)
    if (!(entry.first & mask) || !old.count(entry.first & ~mask))
      combine(entry.first & ~mask, valueOf(entry.first & ~mask), valueOf(entry.first | mask));
}

void Builder::loadInputs() {
  for (uint32_t reg = 0; reg < from.numRegisters(); reg += program.elementsPerValue) {
    uint64_t key = keyOf(from, reg);
    bool needed = true;
    for (unsigned i = 0; i < bits.size(); ++i)
      needed &= !(key >> i & 1) || bits[i].to.has_value();
    if (needed)
      values[key] = static_cast<int32_t>(reg / program.elementsPerValue);
  }
}

void Builder::select(unsigned element, BitPlace target) {
  forEachPair(element, [&](uint64_t key, int32_t clear, int32_t set) { values[key] = choose(target, set, clear); });
  now[element] = target;
}

void Builder::exchange(unsigned element, unsigned holder, BitPlace target) {
  uint64_t holderMask = uint64_t(1) << holder;
  bool needsHolder = bits[holder].to.has_value();
  forEachPair(element, [&](uint64_t key, int32_t clear, int32_t set) {
    // Lanes with the bit clear keep `clear` and send `set`, the others the reverse.
    int32_t received = shuffle(choose(target, clear, set), target.weight);
    values[key] = choose(target, received, clear);
    if (needsHolder)
      values[key | holderMask] = choose(target, set, received);
  });
  now[holder] = now[element];
  now[element] = target;
}

void Builder::spread(unsigned element) {
  BitPlace place = *now[element];
  std::map<uint64_t, int32_t> old;
  old.swap(values);
  for (const auto &[key, value] : old) {
    int32_t received = shuffle(value, place.weight);
    values[key] = choose(place, received, value);
    if (bits[element].to)
      values[key | uint64_t(1) << element] = choose(place, value, received);
  }
  // From here on the bit is in the key, that is, in registers; its step is irrelevant.
  now[element] = BitPlace{Owner::Register, 0};
}

void Builder::moveToThreads() {
  for (bool moved = true; moved;) {
    moved = false;
    for (unsigned i = 0; i < bits.size(); ++i) {
      if (!now[i] || !now[i]->isRegister() || !bits[i].to || bits[i].to->isRegister())
        continue;
      BitPlace target = *bits[i].to;
      // A warp bit is never held by another element here: staysInWarps.
      if (std::optional<unsigned> holder = holderOf(target))
        exchange(i, *holder, target);
      else
        select(i, target);
      moved = true;
    }
  }
}

void Builder::permuteLanes() {
  bool moves = false;
  for (uint32_t weight = 1; weight < lanesPerWarp; weight *= 2) {
    std::optional<unsigned> holder = holderOf({Owner::Lane, weight});
    BitPlace source = holder && bits[*holder].to ? *bits[*holder].to : BitPlace{Owner::Lane, weight};
    moves |= source != BitPlace{Owner::Lane, weight};
    program.sourceLane.push_back({source.owner, source.weight, 2, weight});
  }
  if (!moves) {
    program.sourceLane.clear();
    return;
  }
  for (auto &entry : values) {
    WarpStep step;
    step.kind = WarpStep::Kind::ShuffleIndex;
    step.first = static_cast<uint32_t>(entry.second);
    entry.second = add(step);
  }
}

void Builder::storeResults() {
  for (uint32_t reg = 0; reg < to.numRegisters(); reg += program.elementsPerValue) {
    auto found = values.find(keyOf(to, reg));
    program.results.push_back(found == values.end() ? WarpProgram::undefined : found->second);
  }
}

WarpProgram Builder::build(unsigned elementBits) {
  program.elementsPerValue = elementsPerUnit(elementBits);
  program.numInputs = from.numRegisters() / program.elementsPerValue;
  loadInputs();
  moveToThreads();
  for (unsigned i = 0; i < bits.size(); ++i)
    if (now[i] && now[i]->owner == Owner::Lane && (!bits[i].to || bits[i].to->isRegister()))
      spread(i);
  permuteLanes();
  storeResults();
  return std::move(program);
}

std::optional<WarpProgram> tilec::buildWarpProgram(const Layout &from, const Layout &to, unsigned elementBits) {
  if (from.rank() != to.rank() || from.partial() != to.partial())
    return std::nullopt;
  for (unsigned owner = static_cast<unsigned>(Owner::Warp); owner < numOwners; ++owner)
    if (from.numberOf(static_cast<Owner>(owner)) != to.numberOf(static_cast<Owner>(owner)))
      return std::nullopt;
  Builder builder(from, to);
  if (!builder.staysInWarps())
    return std::nullopt;
  return builder.build(elementBits);
}
