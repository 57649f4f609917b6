// Races, initialisation and proxies of single bytes, by vector clocks (C. Flanagan and S. Freund, FastTrack, 2009).
#include "tilec/Simulator/Memory.h"

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
           record.actor == access.actor && record.cluster == cluster && record.site.block == access.site.block;
  };
  if (matches(records[lastRecord]))
    return lastRecord;
  uint64_t key = uint64_t(cluster) << 40 ^ uint64_t(access.actor) << 28 ^ access.time;
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

void AccessChecker::checkAgainst(RecordId id, uint8_t lane, const char *verb, const char *beforeVerb,
                                 const Access &access, const MemoryRegion &region, uint64_t offset, FaultKind race,
                                 bool needsProxyFence) {
  if (id <= hostRecord)
    return;
  const AccessRecord &before = records[id];
  if (before.atomic && access.atomic)
    return;
  auto report = [&](FaultKind kind, const std::string &what) {
    std::string place = region.name.empty() ? "" : " of `" + region.name + "`";
    Fault fault;
    fault.kind = kind;
    fault.site = access.site;
    fault.other = before.site;
    fault.other.lane = lane >= wholeWarp ? -1 : lane;
    fault.message = std::string(verb) + " of byte " + std::to_string(offset) + place + what;
    this->report.add(std::move(fault));
  };
  if (before.cluster == cluster && before.actor == access.actor) {
    bool otherLane = lane != laneOf(access) && lane != wholeWarp && laneOf(access) != wholeWarp;
    bool unordered = before.time == access.time && before.site.instruction != access.site.instruction;
    if (checkRaces && otherLane && unordered)
      report(race, std::string(" without bar.warp.sync after ") + beforeVerb + " by another lane of the warp");
    return;
  }
  if (!ordered(before, access)) {
    if (checkRaces)
      report(race, std::string(" that nothing orders after ") + beforeVerb);
  } else if (checkProxies && needsProxyFence && before.cluster == cluster && access.proxy == Proxy::Async &&
             before.proxy == Proxy::Generic && access.knows->async[before.actor] < before.time) {
    report(FaultKind::MissingProxyFence,
           std::string(" through the asynchronous proxy without fence.proxy.async after ") + beforeVerb);
  }
}

void AccessChecker::read(MemoryRegion &region, uint64_t offset, unsigned count, const Access &access, FaultKind race) {
  RecordId own = record(access);
  uint8_t lane = laneOf(access);
  bool uninitialized = false;
  for (uint64_t i = offset; i < offset + count; ++i) {
    ByteShadow &shadow = region.shadow[i];
    uninitialized |= shadow.writer == 0;
    if (shadow.writer > hostRecord && shadow.writer != own)
      checkAgainst(shadow.writer, shadow.writerLane, "read", "the write", access, region, i, race, true);
    bool sameLane = shadow.readers == 0 || (shadow.readers == own && shadow.readerLane == lane);
    shadow.readers = addReader(shadow.readers, own, access);
    shadow.readerLane = sameLane ? lane : shadow.readers == own && shadow.readerLane != lane ? severalLanes : lane;
  }
  if (uninitialized && checkInitialized) {
    std::string place = region.name.empty() ? "" : " of `" + region.name + "`";
    Fault fault;
    fault.kind = FaultKind::UninitializedMemory;
    fault.site = access.site;
    fault.message = "read of bytes that nobody has written, at " + std::to_string(offset) + place;
    report.add(std::move(fault));
  }
}

void AccessChecker::write(MemoryRegion &region, uint64_t offset, unsigned count, const uint8_t *data,
                          const Access &access, FaultKind race) {
  RecordId own = record(access);
  uint8_t lane = laneOf(access);
  for (uint64_t i = offset; i < offset + count; ++i) {
    ByteShadow &shadow = region.shadow[i];
    if (shadow.writer > hostRecord) {
      bool sameInstruction = shadow.writer == own && shadow.writerLane != lane;
      if (sameInstruction && !access.atomic && checkRaces && region.bytes[i] != data[i - offset]) {
        Fault fault;
        fault.kind = race;
        fault.site = fault.other = access.site;
        fault.other.lane = shadow.writerLane >= wholeWarp ? -1 : shadow.writerLane;
        fault.message = "lanes of one instruction write different values to byte " + std::to_string(i) +
                        (region.name.empty() ? "" : " of `" + region.name + "`");
        report.add(std::move(fault));
      }
      if (shadow.writer != own)
        checkAgainst(shadow.writer, shadow.writerLane, "write", "the write", access, region, i, race, true);
    }
    if (shadow.readers & setBit) {
      for (RecordId reader : sets[shadow.readers & ~setBit])
        checkAgainst(reader, reader == own ? lane : shadow.readerLane, "write", "the read", access, region, i, race,
                     false);
    } else if (shadow.readers && shadow.readers != own) {
      checkAgainst(shadow.readers, shadow.readerLane, "write", "the read", access, region, i, race, false);
    }
    shadow.readers = 0;
    shadow.writer = own;
    shadow.writerLane = lane;
  }
}
