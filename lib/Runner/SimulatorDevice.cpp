// The simulator as a device.
#include "tilec/Runner/SimulatorDevice.h"

#include "tilec/Simulator/TensorMap.h"
#include "llvm/ADT/StringSwitch.h"
#include <cstring>

using namespace llvm;
using namespace tilec::runner;
namespace sim = tilec::simulator;

Expected<uint64_t> SimulatorDevice::allocate(size_t bytes, StringRef name) {
  return device.memory.allocate(bytes, name.str());
}

static Error outside() { return createStringError("the copy leaves the allocation"); }

Error SimulatorDevice::poison(uint64_t address, size_t bytes) {
  sim::MemoryRegion *region = device.memory.find(address, bytes);
  if (!region)
    return bytes ? outside() : Error::success();
  std::fill_n(region->bytes.begin() + static_cast<ptrdiff_t>(address - region->base), bytes, uint8_t(0xff));
  return Error::success();
}

Error SimulatorDevice::upload(uint64_t address, ArrayRef<uint8_t> bytes) {
  if (!bytes.empty() && !device.memory.copyIn(address, bytes.data(), bytes.size()))
    return outside();
  return Error::success();
}

Error SimulatorDevice::download(uint64_t address, MutableArrayRef<uint8_t> bytes) {
  if (!bytes.empty() && !device.memory.copyOut(bytes.data(), address, bytes.size()))
    return outside();
  return Error::success();
}

static std::optional<sim::TensorMapType> mapType(StringRef type) {
  using Type = sim::TensorMapType;
  return StringSwitch<std::optional<Type>>(type)
      .Cases("u8", "i8", "bool", "f8e4m3", "f8e5m2", Type::U8)
      .Cases("u16", "i16", Type::U16)
      .Case("u32", Type::U32)
      .Case("i32", Type::S32)
      .Case("u64", Type::U64)
      .Cases("i64", "index", Type::S64)
      .Case("f16", Type::F16)
      .Case("f32", Type::F32)
      .Case("f64", Type::F64)
      .Case("bf16", Type::BF16)
      .Case("tf32", Type::TF32)
      .Default(std::nullopt);
}

Expected<std::array<uint8_t, 128>> SimulatorDevice::encodeTensorMap(const TensorMapRequest &request) {
  std::optional<sim::TensorMapType> type = mapType(request.type);
  if (!type)
    return createStringError("elements of type `" + request.type + "` are not known");
  sim::TensorMap map;
  map.type = *type;
  map.address = request.address;
  map.sizes = request.dims;
  map.strides = request.strides;
  map.box = request.box;
  map.swizzle = request.swizzle;
  map.promotion = request.promotion;
  if (std::string fault = map.check(); !fault.empty())
    return createStringError(fault);
  return sim::encodeTensorMap(map);
}

Expected<std::vector<uint8_t>> SimulatorDevice::parameterBytes(const ReadyLaunch &launch) const {
  const sim::PtxKernel *kernel = module->ptx().find(launch.entry);
  if (!kernel)
    return createStringError("the PTX has no kernel `" + launch.entry + "`");
  if (kernel->parameters.size() != launch.params.size())
    return createStringError("kernel `" + launch.entry + "` takes " + Twine(kernel->parameters.size()) +
                             " parameters, the launch has " + Twine(launch.params.size()));
  std::vector<uint8_t> bytes(kernel->parameterBytes);
  for (auto [parameter, value] : zip(kernel->parameters, launch.params)) {
    if (parameter.size != value.size())
      return createStringError("parameter `" + parameter.name + "` of kernel `" + launch.entry + "` has " +
                               Twine(parameter.size) + " bytes, the launch gives " + Twine(value.size()));
    std::copy(value.begin(), value.end(), bytes.begin() + static_cast<ptrdiff_t>(parameter.offset));
  }
  return bytes;
}

Error SimulatorDevice::launch(const ReadyLaunch &ready) {
  Expected<std::vector<uint8_t>> parameters = parameterBytes(ready);
  if (!parameters)
    return parameters.takeError();
  sim::Launch launch;
  launch.kernel = ready.entry;
  for (unsigned i = 0; i < 3; ++i) {
    launch.grid[i] = static_cast<uint32_t>(ready.grid[i]);
    launch.cluster[i] = static_cast<uint32_t>(ready.cluster[i]);
  }
  launch.block[0] = static_cast<uint32_t>(ready.block);
  launch.dynamicShared = static_cast<uint32_t>(ready.shared);
  launch.parameters = std::move(*parameters);
  Expected<sim::Report> report = module->run(device, launch, options);
  if (!report)
    return report.takeError();
  reports.push_back(std::move(*report));
  return Error::success();
}
