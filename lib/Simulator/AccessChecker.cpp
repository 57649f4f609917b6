// Races, initialisation and proxies of single bytes, by vector clocks (C. Flanagan and S. Freund, FastTrack, 2009).
#include "tilec/Simulator/Memory.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include <cstring>

using namespace tilec::simulator;

namespace {
constexpr RecordId setBit = 1u << 31;
constexpr uint8_t severalLanes = 255, wholeWarp = 254;

/// Names of exemptions (docs/simulator.md).
constexpr char guessOfSwap[] = "guess-of-compare-and-swap", equalStrongStores[] = "equal-strong-stores";

uint8_t laneOf(const Access &access) { return access.site.lane < 0 ? wholeWarp : access.site.lane; }
} // namespace

void AccessChecker::initialize(MemoryRegion &region, uint64_t offset, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i)
    region.shadow[offset + i].writer = hostRecord;
}

// Accesses of one warp instruction come one after the other: they share the last record.
RecordId AccessChecker::record(const Access &access) {
  auto matches = [&](const AccessRecord &record) {
    return record.site.instruction == access.site.instruction && record.time == access.time &&
           record.actor == access.actor && record.atomic == access.atomic && record.mbarrier == access.mbarrier &&
           record.cluster == cluster && record.site.block == access.site.block;
  };
  if (matches(records[lastRecord]))
    return lastRecord;
  uint64_t key = uint64_t(cluster) << 40 ^ uint64_t(access.actor) << 28 ^ access.time ^ uint64_t(access.atomic) << 63;
  auto [entry, isNew] = recordOf.try_emplace({key, access.site.instruction}, records.size());
  if (!isNew && matches(records[entry->second]))
    return lastRecord = entry->second;
  entry->second = records.size();
  AccessRecord next;
  next.cluster = cluster;
  next.actor = access.actor;
  next.proxy = access.proxy;
  next.atomic = access.atomic;
  next.mbarrier = access.mbarrier;
  next.guess = access.guess;
  next.strongStore = access.strongStore;
  next.scope = access.scope;
  next.convergence = access.convergence;
  next.time = access.time;
  next.site = access.site;
  records.push_back(next);
  return lastRecord = records.size() - 1;
}

bool AccessChecker::ordered(const AccessRecord &before, const Access &access) const {
  if (before.cluster == cluster)
    return access.knows->generic[before.actor] >= before.time;
  auto other = access.knows->foreign.find(before.cluster);
  return other != access.knows->foreign.end() && other->second[before.actor] >= before.time;
}

// The reads of a byte that no later one is ordered after.
RecordId AccessChecker::addReader(RecordId readers, RecordId reader, const Access &access) {
  if (readers == 0 || readers == reader)
    return reader;
  auto [entry, isNew] = setOf.try_emplace({readers, reader}, 0);
  if (!isNew)
    return entry->second;
  std::vector<RecordId> members;
  if (readers & setBit)
    members = sets[readers & ~setBit];
  else
    members.push_back(readers);
  std::vector<RecordId> kept;
  for (RecordId member : members) {
    const AccessRecord &record = records[member];
    bool sameActor = record.cluster == cluster && record.actor == access.actor;
    if (member != reader && !sameActor && !ordered(record, access))
      kept.push_back(member);
  }
  kept.push_back(reader);
  if (kept.size() == 1)
    return entry->second = reader;
  sets.push_back(std::move(kept));
  return entry->second = (sets.size() - 1) | setBit;
}

// PTX ISA, "Morally strong operations": the scope of each holds the other's thread, and both go through one proxy; an
// mbarrier is an object of both.
bool AccessChecker::morallyStrong(const AccessRecord &before, const Access &access) const {
  if (!before.atomic || !access.atomic)
    return false;
  if (before.mbarrier && access.mbarrier)
    return true;
  Scope narrower = std::min(before.scope, access.scope);
  bool holds = narrower == Scope::Device || (narrower == Scope::Cluster && before.cluster == cluster) ||
               before.site.block == access.site.block;
  return holds && before.proxy == access.proxy;
}

// Strong stores of one value: the first and the last of each actor.
RecordId AccessChecker::addWriter(RecordId writers, RecordId writer) {
  auto [entry, isNew] = writersOf.try_emplace({writers, writer}, 0);
  if (!isNew)
    return entry->second;
  std::vector<RecordId> members;
  if (writers & setBit)
    members = sets[writers & ~setBit];
  else
    members.push_back(writers);
  unsigned ofActor = 0;
  for (RecordId &member : members) {
    bool same = records[member].cluster == records[writer].cluster && records[member].actor == records[writer].actor;
    if (same && ++ofActor == 2)
      member = writer;
  }
  if (ofActor < 2)
    members.push_back(writer);
  sets.push_back(std::move(members));
  return entry->second = (sets.size() - 1) | setBit;
}

// How an access relates to an earlier one that it conflicts with (PTX ISA, "Data-Races"): one happened before the
// other, or they are morally strong. One exemption has a name: the plain read that a loop around a compare-and-swap
// begins with may see an old value, which the compare-and-swap finds out.
AccessChecker::Relation AccessChecker::relate(RecordId id, uint8_t lane, const Access &access, bool needsProxyFence,
                                              bool oneReads) const {
  if (id <= hostRecord)
    return Relation::Fine;
  const AccessRecord &before = records[id];
  if (morallyStrong(before, access))
    return Relation::Fine;
  if (before.cluster == cluster && before.actor == access.actor) {
    bool otherLane = lane != laneOf(access) && lane != wholeWarp && laneOf(access) != wholeWarp;
    bool unordered = before.convergence == access.convergence && before.site.instruction != access.site.instruction;
    bool guesses = oneReads && ((before.guess && access.atomic) || (access.guess && before.atomic));
    return otherLane && unordered && !guesses ? Relation::OtherLane : Relation::Fine;
  }
  if (!ordered(before, access)) {
    if (!oneReads || !((before.guess && access.atomic) || (access.guess && before.atomic)))
      return Relation::Unordered;
    faults.exempt(guessOfSwap, before.guess ? before.site.instruction : access.site.instruction);
    return Relation::Fine;
  }
  bool crosses = before.cluster == cluster && access.proxy == Proxy::Async && before.proxy == Proxy::Generic;
  return needsProxyFence && crosses && access.knows->async[before.actor] < before.time ? Relation::OtherProxy
                                                                                       : Relation::Fine;
}

void AccessChecker::report(Relation relation, RecordId id, uint8_t lane, const Conflict &conflict) {
  bool wanted = relation == Relation::OtherProxy ? checkProxies : checkRaces;
  if (relation == Relation::Fine || !wanted)
    return;
  std::string text = std::string(conflict.verb) + " of byte " + std::to_string(conflict.offset);
  if (!conflict.region.name.empty())
    text += " of " + conflict.region.name;
  text += relation == Relation::Unordered   ? " that nothing orders after "
          : relation == Relation::OtherLane ? " without bar.warp.sync after another lane's "
                                            : " through the asynchronous proxy without fence.proxy.async after ";
  Fault fault;
  fault.kind = relation == Relation::OtherProxy ? FaultKind::MissingProxyFence : conflict.race;
  fault.site = conflict.access.site;
  fault.other = records[id].site;
  fault.other.lane = lane >= wholeWarp ? -1 : lane;
  fault.message = text + conflict.beforeVerb;
  faults.add(std::move(fault));
}

// Writers of a set are strong stores of one value, which do not race with each other. A write that changes the value
// must be ordered after all of them, a read after one: the others store what it reads anyway, so that this race has a
// name and is no fault.
void AccessChecker::checkWriters(const ByteShadow &shadow, const Conflict &conflict, bool reads) {
  if (!(shadow.writer & setBit)) {
    report(relate(shadow.writer, shadow.writerLane, conflict.access, true, reads), shadow.writer, shadow.writerLane,
           conflict);
    return;
  }
  Relation first = Relation::Fine;
  RecordId firstId = 0;
  bool anyFine = false;
  for (RecordId member : sets[shadow.writer & ~setBit]) {
    // Which lanes of the warp it were is not kept.
    Relation relation = relate(member, wholeWarp, conflict.access, true, reads);
    anyFine |= relation == Relation::Fine;
    if (relation != Relation::Fine && first == Relation::Fine) {
      first = relation;
      firstId = member;
    }
  }
  if (reads && anyFine && first != Relation::Fine)
    faults.exempt(equalStrongStores, records[firstId].site.instruction);
  else
    report(first, firstId, severalLanes, conflict);
}

// A strong store of the value that strong stores alone have put there.
bool AccessChecker::repeatsStrongStores(const ByteShadow &shadow, const Access &access) const {
  if (!access.strongStore || shadow.writer <= hostRecord)
    return false;
  auto fits = [&](RecordId id) { return records[id].strongStore && morallyStrong(records[id], access); };
  return shadow.writer & setBit ? llvm::all_of(sets[shadow.writer & ~setBit], fits) : fits(shadow.writer);
}

void AccessChecker::forEachReader(const ByteShadow &shadow, RecordId own,
                                  llvm::function_ref<void(RecordId)> use) const {
  if (!(shadow.readers & setBit)) {
    if (shadow.readers && shadow.readers != own)
      use(shadow.readers);
    return;
  }
  for (RecordId reader : sets[shadow.readers & ~setBit])
    if (reader != own)
      use(reader);
}

void AccessChecker::checkReaders(const ByteShadow &shadow, RecordId own, const Conflict &conflict) {
  forEachReader(shadow, own, [&](RecordId reader) {
    report(relate(reader, shadow.readerLane, conflict.access, false, true), reader, shadow.readerLane, conflict);
  });
}

void AccessChecker::exemptReaders(const ByteShadow &shadow, RecordId own, const Access &access) {
  forEachReader(shadow, own, [&](RecordId reader) {
    if (relate(reader, shadow.readerLane, access, false, true) != Relation::Fine)
      faults.exempt(equalStrongStores, access.site.instruction);
  });
}

void AccessChecker::reportUninitialized(const MemoryRegion &region, uint64_t offset, const Access &access) {
  Fault fault;
  fault.kind = FaultKind::UninitializedMemory;
  fault.site = access.site;
  fault.message = "read of byte " + std::to_string(offset) + (region.name.empty() ? "" : " of " + region.name) +
                  ", which nobody has written";
  faults.add(std::move(fault));
}

void AccessChecker::read(MemoryRegion &region, uint64_t offset, unsigned count, const Access &access, FaultKind race) {
  RecordId own = record(access);
  uint8_t lane = laneOf(access);
  for (uint64_t i = offset; i < offset + count; ++i) {
    ByteShadow &shadow = region.shadow[i];
    if (shadow.writer == 0 && checkInitialized)
      reportUninitialized(region, i, access);
    if (shadow.writer > hostRecord && shadow.writer != own)
      checkWriters(shadow, {region, i, access, race, "read", "the write"}, true);
    bool otherLanes = shadow.readers == own && shadow.readerLane != lane;
    shadow.readers = addReader(shadow.readers, own, access);
    shadow.readerLane = otherLanes ? severalLanes : lane;
  }
}

void AccessChecker::write(MemoryRegion &region, uint64_t offset, unsigned count, const uint8_t *data,
                          const Access &access, FaultKind race) {
  RecordId own = record(access);
  uint8_t lane = laneOf(access);
  for (uint64_t i = offset; i < offset + count; ++i) {
    ByteShadow &shadow = region.shadow[i];
    Conflict conflict{region, i, access, race, "write", "the write"};
    bool known = shadow.writer > hostRecord;
    if (known && shadow.writer != own && region.bytes[i] == data[i - offset] && repeatsStrongStores(shadow, access)) {
      exemptReaders(shadow, own, access);
      shadow.writer = addWriter(shadow.writer, own);
      shadow.writerLane = lane;
      continue;
    }
    // Lanes of one instruction may write one value: any of them is what remains (CUDA C++ Programming Guide, "SIMT
    // Architecture").
    if (known && shadow.writer == own && shadow.writerLane != lane && !access.atomic &&
        region.bytes[i] != data[i - offset])
      report(Relation::OtherLane, own, shadow.writerLane, conflict);
    if (known && shadow.writer != own)
      checkWriters(shadow, conflict, false);
    conflict.beforeVerb = "the read";
    checkReaders(shadow, own, conflict);
    shadow.readers = 0;
    shadow.writer = own;
    shadow.writerLane = lane;
  }
}
