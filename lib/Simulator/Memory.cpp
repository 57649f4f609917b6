// Global memory of a device: allocations and copies from and to the host.
#include "tilec/Simulator/Memory.h"

#include "llvm/Support/MathExtras.h"
#include <cstring>

using namespace tilec::simulator;

uint64_t DeviceMemory::allocate(uint64_t bytes, std::string name) {
  constexpr uint64_t alignment = 256, gap = 4096;
  uint64_t address = next;
  next = llvm::alignTo(next + bytes + gap, alignment);
  regions.push_back(std::make_unique<MemoryRegion>(address, bytes, std::move(name)));
  return address;
}

MemoryRegion *DeviceMemory::find(uint64_t address, uint64_t bytes) {
  if (last && last->contains(address, bytes))
    return last;
  // Allocations are in order of their addresses.
  auto after = std::upper_bound(
      regions.begin(), regions.end(), address,
      [](uint64_t value, const std::unique_ptr<MemoryRegion> &region) { return value < region->base; });
  if (after == regions.begin())
    return nullptr;
  --after;
  if (!(*after)->contains(address, bytes))
    return nullptr;
  return last = after->get();
}

bool DeviceMemory::copyIn(uint64_t address, const void *data, uint64_t bytes) {
  MemoryRegion *region = find(address, bytes);
  if (!region)
    return false;
  if (bytes)
    std::memcpy(&region->bytes[address - region->base], data, bytes);
  AccessChecker::initialize(*region, address - region->base, bytes);
  return true;
}

bool DeviceMemory::copyOut(void *data, uint64_t address, uint64_t bytes) {
  MemoryRegion *region = find(address, bytes);
  if (!region)
    return false;
  if (bytes)
    std::memcpy(data, &region->bytes[address - region->base], bytes);
  return true;
}

void DeviceMemory::startLaunch() {
  for (const std::unique_ptr<MemoryRegion> &region : regions)
    for (ByteShadow &shadow : region->shadow) {
      RecordId writer = shadow.writer ? hostRecord : 0;
      shadow = ByteShadow();
      shadow.writer = writer;
    }
}

std::string DeviceMemory::describe(uint64_t address) const {
  std::string text;
  uint64_t best = ~uint64_t(0);
  for (const std::unique_ptr<MemoryRegion> &region : regions) {
    uint64_t size = region->bytes.size(), end = region->base + size;
    bool before = address < region->base;
    uint64_t distance = before ? region->base - address : address >= end ? address - end : 0;
    if (distance >= best)
      continue;
    best = distance;
    std::string name = region->name.empty() ? "an allocation" : "`" + region->name + "`";
    text = std::to_string(distance) + (before ? " bytes before " : " bytes behind ") + name + " of " +
           std::to_string(size) + " bytes";
  }
  return text.empty() ? "nothing is allocated" : text;
}
