// Bytes with shadow state: bounds, initialisation and races of global and shared memory.
//
// The shadow of a byte is who wrote it last and who has read it since, as numbers of recorded accesses. A record is the
// actor, its time, the instruction and the proxy; the same warp at the same instruction and time shares one.
#ifndef TILEC_SIMULATOR_MEMORY_H
#define TILEC_SIMULATOR_MEMORY_H

#include "tilec/Simulator/Clock.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <memory>

namespace tilec::simulator {

/// Generic addresses of the windows; global addresses are generic addresses.
constexpr uint64_t windowBytes = uint64_t(1) << 40;
constexpr uint64_t sharedWindow = 0x71 * windowBytes, parameterWindow = 0x72 * windowBytes;
constexpr uint64_t constantWindow = 0x73 * windowBytes, localWindow = 0x74 * windowBytes;
constexpr uint64_t globalBase = 0x7e * windowBytes;
/// Shared memory of the block of rank r in its cluster begins at r * sharedBlockStride + sharedBase (the first KiB
/// belongs to the system on Hopper).
constexpr uint32_t sharedBlockStride = 1u << 24, sharedBase = 1024;

/// Number of a record; 0: never; 1: by the host before the launch.
using RecordId = uint32_t;
constexpr RecordId hostRecord = 1;

struct ByteShadow {
  /// A record, or a set of strong stores of one value.
  RecordId writer = 0;
  /// 0, a record, or a set of records (highest bit).
  RecordId readers = 0;
  uint8_t writerLane = 0;
  /// 255: several.
  uint8_t readerLane = 0;
};

struct AccessRecord {
  /// Cluster in the launch: actors are numbered within it.
  uint32_t cluster = 0;
  Actor actor = 0;
  Proxy proxy = Proxy::Generic;
  bool atomic = false, mbarrier = false, strongStore = false, guess = false;
  Scope scope = Scope::Device;
  Time time = 0;
  uint32_t convergence = 0;
  Site site;
};

/// A piece of memory with a shadow for each byte.
struct MemoryRegion {
  uint64_t base = 0;
  std::string name;
  std::vector<uint8_t> bytes;
  std::vector<ByteShadow> shadow;

  MemoryRegion(uint64_t base, uint64_t size, std::string name = {})
      : base(base), name(std::move(name)), bytes(size), shadow(size) {}
  bool contains(uint64_t address, uint64_t count) const {
    return address >= base && count <= bytes.size() && address - base <= bytes.size() - count;
  }
};

/// The rules: who may touch which byte when.
class AccessChecker {
public:
  explicit AccessChecker(Report &faults) : faults(faults), records(2) {}
  bool checkRaces = true, checkInitialized = true, checkProxies = true;

  void read(MemoryRegion &region, uint64_t offset, unsigned count, const Access &access, FaultKind race);
  /// `data`: what is about to be written. Lanes of one instruction may write one value to a byte.
  void write(MemoryRegion &region, uint64_t offset, unsigned count, const uint8_t *data, const Access &access,
             FaultKind race);
  /// Marks bytes as written by the host.
  static void initialize(MemoryRegion &region, uint64_t offset, uint64_t count);

  uint32_t cluster = 0;

private:
  RecordId record(const Access &access);
  RecordId addReader(RecordId readers, RecordId reader, const Access &access);
  bool ordered(const AccessRecord &before, const Access &access) const;

  enum class Relation : uint8_t { Fine, Unordered, OtherLane, OtherProxy };
  /// A byte and who touches it, for reports.
  struct Conflict {
    const MemoryRegion &region;
    uint64_t offset;
    const Access &access;
    FaultKind race;
    const char *verb, *beforeVerb;
  };
  Relation relate(RecordId id, uint8_t lane, const Access &access, bool needsProxyFence, bool oneReads) const;
  void report(Relation relation, RecordId id, uint8_t lane, const Conflict &conflict);
  RecordId addWriter(RecordId writers, RecordId writer);
  bool morallyStrong(const AccessRecord &before, const Access &access) const;
  bool repeatsStrongStores(const ByteShadow &shadow, const Access &access) const;
  void checkWriters(const ByteShadow &shadow, const Conflict &conflict, bool reads);
  void forEachReader(const ByteShadow &shadow, RecordId own, llvm::function_ref<void(RecordId)> use) const;
  void exemptReaders(const ByteShadow &shadow, RecordId own, const Access &access);
  void checkReaders(const ByteShadow &shadow, RecordId own, const Conflict &conflict);
  void reportUninitialized(const MemoryRegion &region, uint64_t offset, const Access &access);

  Report &faults;
  std::vector<AccessRecord> records;
  RecordId lastRecord = hostRecord;
  llvm::DenseMap<std::pair<uint64_t, const void *>, RecordId> recordOf;
  std::vector<std::vector<RecordId>> sets;
  llvm::DenseMap<std::pair<RecordId, RecordId>, RecordId> setOf, writersOf;
};

/// Global memory of a device: allocations with unaddressable gaps between them.
class DeviceMemory {
public:
  /// A new allocation at a multiple of 256; its bytes are uninitialised.
  uint64_t allocate(uint64_t bytes, std::string name = {});
  /// Nothing if the range is not inside one allocation.
  MemoryRegion *find(uint64_t address, uint64_t bytes);
  bool copyIn(uint64_t address, const void *data, uint64_t bytes);
  bool copyOut(void *data, uint64_t address, uint64_t bytes);
  /// Forgets who touched what; initialised bytes stay so. Called between launches.
  void startLaunch();
  /// "17 bytes behind `A` (4096 bytes)".
  std::string describe(uint64_t address) const;

private:
  std::vector<std::unique_ptr<MemoryRegion>> regions;
  uint64_t next = globalBase;
  MemoryRegion *last = nullptr;
};

} // namespace tilec::simulator

#endif // TILEC_SIMULATOR_MEMORY_H
