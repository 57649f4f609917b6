// Races, initialisation and proxies of single bytes, by vector clocks (C. Flanagan and S. Freund, FastTrack, 2009).
#include "tilec/Simulator/Memory.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include <cstring>

using namespace tilec::simulator;

namespace {
constexpr RecordId setBit = 1u << 31;
constexpr uint8_t severalLanes = 255, wholeWarp = 254;

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
           record.actor == access.actor && record.atomic == access.atomic && record.cluster == cluster &&
           record.site.block == access.site.block && record.atomic == access.atomic;
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

// Writers of one value: the first and the last of each actor.
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

// How an access relates to an earlier one that it conflicts with. A plain read beside atomic operations of others may
// see an old value, but a whole one, as the loops around compare-and-swap expect that begin with such a read.
AccessChecker::Relation AccessChecker::relate(RecordId id, uint8_t lane, const Access &access, bool needsProxyFence,
                                              bool oneReads) const {
  if (id <= hostRecord)
    return Relation::Fine;
  const AccessRecord &before = records[id];
  bool generic = before.proxy == Proxy::Generic && access.proxy == Proxy::Generic;
  if ((before.atomic && access.atomic) || (oneReads && generic && (before.atomic || access.atomic)))
    return Relation::Fine;
  if (before.cluster == cluster && before.actor == access.actor) {
    bool otherLane = lane != laneOf(access) && lane != wholeWarp && laneOf(access) != wholeWarp;
    bool unordered = before.time == access.time && before.site.instruction != access.site.instruction;
    return otherLane && unordered ? Relation::OtherLane : Relation::Fine;
  }
  if (!ordered(before, access))
    return Relation::Unordered;
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

// Writers of a set wrote the same value: it is enough for a read to be ordered after one of them, a write that changes
// the value must be ordered after all.
void AccessChecker::checkWriters(const ByteShadow &shadow, const Conflict &conflict, bool any) {
  if (!(shadow.writer & setBit)) {
    report(relate(shadow.writer, shadow.writerLane, conflict.access, true, any), shadow.writer, shadow.writerLane,
           conflict);
    return;
  }
  Relation first = Relation::Fine;
  RecordId firstId = 0;
  for (RecordId member : sets[shadow.writer & ~setBit]) {
    Relation relation = relate(member, severalLanes, conflict.access, true, any);
    if (relation == Relation::Fine && any)
      return;
    if (relation != Relation::Fine && first == Relation::Fine) {
      first = relation;
      firstId = member;
    }
  }
  report(first, firstId, severalLanes, conflict);
}

void AccessChecker::checkReaders(const ByteShadow &shadow, RecordId own, const Conflict &conflict) {
  auto check = [&](RecordId reader) {
    if (reader != own)
      report(relate(reader, shadow.readerLane, conflict.access, false, true), reader, shadow.readerLane, conflict);
  };
  if (shadow.readers & setBit)
    for (RecordId reader : sets[shadow.readers & ~setBit])
      check(reader);
  else if (shadow.readers)
    check(shadow.readers);
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
    // Writing what is there already changes nothing for anybody: it may come at any time.
    if (known && shadow.writer != own && region.bytes[i] == data[i - offset] && !access.atomic) {
      shadow.writer = addWriter(shadow.writer, own);
      shadow.writerLane = lane;
      continue;
    }
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
