// Layout: construction, invariants, the canonical form, and the map between places and coordinates.
#include "tilec/Layout/Layout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <tuple>

using namespace tilec;

static constexpr llvm::StringLiteral ownerLetters = "rlwgcb";

// The registers, threads and blocks of a kernel are far below this; the bound keeps products inside 32 bits.
static constexpr uint64_t maxOwnerNumber = uint64_t(1) << 30;

char tilec::ownerLetter(Owner owner) { return ownerLetters[static_cast<unsigned>(owner)]; }

uint32_t Place::get(Owner owner) const { return const_cast<Place *>(this)->get(owner); }

uint32_t &Place::get(Owner owner) {
  switch (owner) {
  case Owner::Register:
    return reg;
  case Owner::Lane:
    return lane;
  case Owner::Warp:
    return warp;
  case Owner::Group:
    return group;
  case Owner::Cluster:
    return cluster;
  case Owner::Grid:
    break;
  }
  return grid;
}

bool Place::operator==(const Place &other) const {
  return reg == other.reg && lane == other.lane && warp == other.warp && group == other.group &&
         cluster == other.cluster && grid == other.grid;
}

Layout::Layout() { repDigits.push_back({Owner::Lane, 1, lanesPerWarp}); }

//===---------------------------------------------------------------------------------------------------------------===
// Construction
//===---------------------------------------------------------------------------------------------------------------===

static bool fail(std::string *error, const llvm::Twine &reason) {
  if (error)
    *error = reason.str();
  return false;
}

/// Turns positions into weights. `specs` are all digits of all owners; `digits` receives them in the same order.
static bool assignWeights(llvm::ArrayRef<DigitSpec> specs, llvm::SmallVectorImpl<Digit> &digits, std::string *error) {
  digits.assign(specs.size(), Digit());
  llvm::SmallVector<unsigned> order(specs.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](unsigned a, unsigned b) {
    return std::make_tuple(specs[a].owner, specs[a].position, a) <
           std::make_tuple(specs[b].owner, specs[b].position, b);
  });
  uint64_t weight = 1;
  for (unsigned i = 0; i < order.size(); ++i) {
    const DigitSpec &spec = specs[order[i]];
    bool sameOwner = i > 0 && specs[order[i - 1]].owner == spec.owner;
    if (sameOwner && specs[order[i - 1]].position == spec.position)
      return fail(error, llvm::Twine("digit `") + llvm::Twine(ownerLetter(spec.owner)) + llvm::Twine(spec.position) +
                             "` is used twice");
    if (!sameOwner)
      weight = 1;
    if (spec.radix == 0)
      return fail(error, "a radix is 0");
    digits[order[i]] = {spec.owner, static_cast<uint32_t>(weight), spec.radix};
    weight *= spec.radix;
    if (weight > maxOwnerNumber)
      return fail(error, "the radices multiply to more than 2^30");
  }
  return true;
}

std::optional<Layout> Layout::get(const LayoutSpec &spec, std::string *error) {
  llvm::SmallVector<DigitSpec, 16> specs;
  for (const auto &dim : spec.dims)
    specs.append(dim.begin(), dim.end());
  specs.append(spec.replicated.begin(), spec.replicated.end());
  for (const PartialSpec &digit : spec.partial)
    specs.push_back(digit.digit);

  llvm::SmallVector<Digit, 16> weighted;
  if (!assignWeights(specs, weighted, error))
    return std::nullopt;

  const Digit *next = weighted.begin();
  llvm::SmallVector<DigitList, 2> dims;
  for (const auto &dim : spec.dims) {
    dims.emplace_back(next, next + dim.size());
    next += dim.size();
  }
  llvm::ArrayRef<Digit> replicated(next, spec.replicated.size());
  next += spec.replicated.size();
  llvm::SmallVector<PartialDigit> partial;
  for (const PartialSpec &digit : spec.partial)
    partial.push_back({*next++, digit.kind});
  return get(dims, replicated, partial, error);
}

std::optional<Layout> Layout::get(llvm::ArrayRef<DigitList> dims, llvm::ArrayRef<Digit> replicated,
                                  llvm::ArrayRef<PartialDigit> partial, std::string *error) {
  Layout layout;
  layout.dims.assign(dims.begin(), dims.end());
  layout.repDigits.assign(replicated.begin(), replicated.end());
  layout.partDigits.assign(partial.begin(), partial.end());
  layout.canonicalize();
  std::string reason;
  if (layout.verify(reason))
    return layout;
  fail(error, reason);
  return std::nullopt;
}

static bool continues(const Digit &inner, const Digit &outer) {
  return inner.owner == outer.owner && uint64_t(inner.weight) * inner.radix == outer.weight;
}

static bool lessByWeight(const Digit &a, const Digit &b) {
  return std::make_pair(a.owner, a.weight) < std::make_pair(b.owner, b.weight);
}

/// Drops digits of radix 1 and joins neighbours that continue each other.
template <typename List, typename GetDigit, typename MayJoin>
static void joinNeighbours(List &list, GetDigit digitOf, MayJoin mayJoin) {
  List joined;
  for (const auto &item : list) {
    if (digitOf(item).radix == 1)
      continue;
    if (!joined.empty() && continues(digitOf(joined.back()), digitOf(item)) && mayJoin(joined.back(), item))
      digitOf(joined.back()).radix *= digitOf(item).radix;
    else
      joined.push_back(item);
  }
  list = joined;
}

void Layout::canonicalize() {
  auto self = [](auto &digit) -> auto & { return digit; };
  auto always = [](const Digit &, const Digit &) { return true; };
  for (DigitList &dim : dims)
    joinNeighbours(dim, self, always);
  llvm::sort(repDigits, lessByWeight);
  joinNeighbours(repDigits, self, always);
  llvm::sort(partDigits, [](const PartialDigit &a, const PartialDigit &b) { return lessByWeight(a.digit, b.digit); });
  joinNeighbours(
      partDigits, [](auto &partial) -> auto & { return partial.digit; },
      [](const PartialDigit &a, const PartialDigit &b) { return a.kind == b.kind; });
}

//===---------------------------------------------------------------------------------------------------------------===
// Invariants
//===---------------------------------------------------------------------------------------------------------------===

llvm::SmallVector<Digit, 8> Layout::digitsOf(Owner owner) const {
  llvm::SmallVector<Digit, 8> result;
  auto take = [&](const Digit &digit) {
    if (digit.owner == owner)
      result.push_back(digit);
  };
  for (const DigitList &dim : dims)
    llvm::for_each(dim, take);
  llvm::for_each(repDigits, take);
  for (const PartialDigit &partial : partDigits)
    take(partial.digit);
  llvm::sort(result, lessByWeight);
  return result;
}

bool Layout::verify(std::string &error) const {
  for (unsigned i = 0; i < numOwners; ++i) {
    uint64_t weight = 1;
    for (const Digit &digit : digitsOf(static_cast<Owner>(i))) {
      if (digit.weight != weight)
        return fail(&error,
                    llvm::Twine("the digits of owner `") + llvm::Twine(ownerLetters[i]) + "` leave a gap or overlap");
      weight *= digit.radix;
      if (digit.radix == 0 || weight > maxOwnerNumber)
        return fail(&error, "a radix is 0 or the radices multiply to more than 2^30");
    }
  }
  for (const DigitList &dim : dims)
    for (const Digit &digit : dim)
      if (!llvm::isPowerOf2_32(digit.radix) && (digit.owner != Owner::Register || &digit != &dim.back()))
        return fail(&error, llvm::Twine("radix ") + llvm::Twine(digit.radix) +
                                " is not a power of two; only the outermost digit of a dimension may be that, "
                                "in registers");
  auto checkUnmapped = [&](const Digit &digit) {
    if (digit.owner == Owner::Register)
      return fail(&error, "register digits cannot be replicated or partial");
    return llvm::isPowerOf2_32(digit.radix) || fail(&error, "a replicated or partial radix is not a power of two");
  };
  for (const Digit &digit : repDigits)
    if (!checkUnmapped(digit))
      return false;
  for (const PartialDigit &partial : partDigits)
    if (!checkUnmapped(partial.digit))
      return false;
  if (numLanes() != lanesPerWarp)
    return fail(&error, llvm::Twine("the lane digits multiply to ") + llvm::Twine(numLanes()) + ", not 32");
  return true;
}

//===---------------------------------------------------------------------------------------------------------------===
// The map
//===---------------------------------------------------------------------------------------------------------------===

uint32_t Layout::numberOf(Owner owner) const {
  auto digits = digitsOf(owner);
  return digits.empty() ? 1 : digits.back().weight * digits.back().radix;
}

int64_t Layout::covered(unsigned dim) const {
  int64_t positions = 1;
  for (const Digit &digit : dims[dim])
    positions *= digit.radix;
  return positions;
}

Coordinates Layout::covered() const {
  Coordinates result;
  for (unsigned dim = 0; dim < rank(); ++dim)
    result.push_back(covered(dim));
  return result;
}

bool Layout::covers(llvm::ArrayRef<int64_t> shape) const {
  if (shape.size() != rank())
    return false;
  for (unsigned dim = 0; dim < rank(); ++dim)
    if (covered(dim) < shape[dim])
      return false;
  return true;
}

Coordinates Layout::coordinates(const Place &place) const {
  Coordinates result;
  for (const DigitList &dim : dims) {
    int64_t coordinate = 0, stride = 1;
    for (const Digit &digit : dim) {
      coordinate += digit.valueIn(place.get(digit.owner)) * stride;
      stride *= digit.radix;
    }
    result.push_back(coordinate);
  }
  return result;
}

Coordinates Layout::coordinates(uint32_t reg, uint32_t lane, uint32_t warp) const {
  Place place;
  place.reg = reg;
  place.lane = lane;
  place.warp = warp;
  return coordinates(place);
}

Coordinates Layout::registerOffset(uint32_t reg) const { return coordinates(reg, 0, 0); }

llvm::SmallVector<Term, 4> Layout::terms(unsigned dim) const {
  llvm::SmallVector<Term, 4> result;
  int64_t stride = 1;
  for (const Digit &digit : dims[dim]) {
    if (digit.owner != Owner::Register)
      result.push_back({digit.owner, digit.weight, digit.radix, stride});
    stride *= digit.radix;
  }
  return result;
}

std::optional<Place> Layout::placeOf(llvm::ArrayRef<int64_t> coordinates) const {
  assert(coordinates.size() == rank() && "one coordinate a dimension");
  Place place;
  for (unsigned dim = 0; dim < rank(); ++dim) {
    int64_t rest = coordinates[dim];
    if (rest < 0)
      return std::nullopt;
    for (const Digit &digit : dims[dim]) {
      place.get(digit.owner) += static_cast<uint32_t>(rest % digit.radix) * digit.weight;
      rest /= digit.radix;
    }
    if (rest != 0)
      return std::nullopt;
  }
  return place;
}

llvm::SmallVector<Place, 4> Layout::placesOf(llvm::ArrayRef<int64_t> coordinates) const {
  llvm::SmallVector<Place, 4> places;
  std::optional<Place> first = placeOf(coordinates);
  if (!first)
    return places;
  places.push_back(*first);
  for (const Digit &digit : repDigits) {
    unsigned known = places.size();
    for (uint32_t value = 1; value < digit.radix; ++value)
      for (unsigned i = 0; i < known; ++i) {
        Place copy = places[i];
        copy.get(digit.owner) += value * digit.weight;
        places.push_back(copy);
      }
  }
  return places;
}

llvm::SmallVector<uint32_t, 8> Layout::contiguousRegisters(unsigned dim) const {
  llvm::SmallVector<uint32_t, 8> run{0};
  for (const Digit &digit : dims[dim]) {
    if (digit.owner != Owner::Register)
      break;
    unsigned inner = run.size();
    for (uint32_t value = 1; value < digit.radix; ++value)
      for (unsigned i = 0; i < inner; ++i)
        run.push_back(run[i] + value * digit.weight);
  }
  return run;
}

uint32_t Layout::vectorWidth(unsigned dim, uint32_t limit) const {
  size_t run = contiguousRegisters(dim).size();
  uint32_t width = 1;
  while (width * 2 <= limit && run % (width * 2) == 0)
    width *= 2;
  return width;
}

//===---------------------------------------------------------------------------------------------------------------===
// Comparison
//===---------------------------------------------------------------------------------------------------------------===

bool Layout::operator==(const Layout &other) const {
  return dims == other.dims && repDigits == other.repDigits && partDigits == other.partDigits;
}

static llvm::hash_code hashDigit(const Digit &digit) {
  return llvm::hash_combine(static_cast<unsigned>(digit.owner), digit.weight, digit.radix);
}

llvm::hash_code tilec::hash_value(const Layout &layout) {
  llvm::hash_code hash = llvm::hash_value(layout.rank());
  for (const Layout::DigitList &dim : layout.dims) {
    hash = llvm::hash_combine(hash, dim.size());
    for (const Digit &digit : dim)
      hash = llvm::hash_combine(hash, hashDigit(digit));
  }
  for (const Digit &digit : layout.repDigits)
    hash = llvm::hash_combine(hash, hashDigit(digit));
  for (const PartialDigit &partial : layout.partDigits)
    hash = llvm::hash_combine(hash, hashDigit(partial.digit), static_cast<unsigned>(partial.kind));
  return hash;
}

bool tilec::equivalent(const Layout &first, const Layout &second) { return first == second; }

/// The digit at a stride, cut so that it starts there.
static std::optional<Digit> digitAt(llvm::ArrayRef<Digit> digits, int64_t stride, int64_t radix) {
  int64_t inner = 1;
  for (const Digit &digit : digits) {
    int64_t outer = inner * digit.radix;
    if (stride < outer) {
      uint32_t skipped = static_cast<uint32_t>(stride / inner);
      uint32_t rest = static_cast<uint32_t>(llvm::divideCeil(digit.radix, skipped));
      if (radix > 0)
        rest = std::min<uint32_t>(rest, static_cast<uint32_t>(radix));
      return Digit{digit.owner, digit.weight * skipped, rest};
    }
    inner = outer;
  }
  return std::nullopt;
}

llvm::SmallVector<RefinedDigit, 8> tilec::refineDim(const Layout &first, const Layout &second, unsigned dim) {
  // Every boundary inside a list is a power of two, because only the outermost digit may be anything else.
  llvm::SmallVector<int64_t, 16> cuts;
  for (const Layout *layout : {&first, &second}) {
    int64_t stride = 1;
    for (const Digit &digit : layout->digits(dim)) {
      cuts.push_back(stride);
      stride *= digit.radix;
    }
    if (llvm::isPowerOf2_64(stride))
      cuts.push_back(stride);
  }
  llvm::sort(cuts);
  cuts.erase(llvm::unique(cuts), cuts.end());

  llvm::SmallVector<RefinedDigit, 8> result;
  for (unsigned i = 0; i < cuts.size(); ++i) {
    int64_t radix = i + 1 < cuts.size() ? cuts[i + 1] / cuts[i] : 0;
    RefinedDigit refined{cuts[i], digitAt(first.digits(dim), cuts[i], radix),
                         digitAt(second.digits(dim), cuts[i], radix)};
    if (refined.first || refined.second)
      result.push_back(refined);
  }
  return result;
}
