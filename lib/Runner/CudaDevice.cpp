// Memory and launches on a GPU through the CUDA driver.
#include "tilec/Runner/CudaDevice.h"

#include "CudaDriver.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace llvm;
using namespace tilec::runner;

// Numbers of cuda.h.
static constexpr int multiprocessorCount = 16, secondLevelCacheBytes = 38, capabilityMajor = 75,
                     capabilityMinor = 76;                          // CUdevice_attribute
static constexpr int maxDynamicShared = 8, nonPortableCluster = 14; // CUfunction_attribute
static constexpr int clusterDimension = 4;                          // CUlaunchAttributeID
static constexpr int64_t portableClusterBlocks = 8;

CudaDevice::CudaDevice(std::unique_ptr<CudaDriver> driver) : driver(std::move(driver)) {}
CudaDevice::~CudaDevice() = default;

Expected<std::unique_ptr<CudaDevice>> CudaDevice::open() {
  Expected<std::unique_ptr<CudaDriver>> driver = CudaDriver::load();
  if (!driver)
    return driver.takeError();
  std::unique_ptr<CudaDevice> result(new CudaDevice(std::move(*driver)));
  const CudaDriver &api = *result->driver;
  void *context = nullptr;
  if (Error error = api.check(api.cuInit(0), "cuInit"))
    return error;
  if (Error error = api.check(api.cuDeviceGet(&result->device, 0), "cuDeviceGet"))
    return error;
  if (Error error = api.check(api.cuDevicePrimaryCtxRetain(&context, result->device), "cuDevicePrimaryCtxRetain"))
    return error;
  if (Error error = api.check(api.cuCtxSetCurrent(context), "cuCtxSetCurrent"))
    return error;
  return result;
}

int CudaDevice::attribute(int which) const {
  int value = 0;
  return driver->cuDeviceGetAttribute(&value, which, device) == 0 ? value : 0;
}

size_t CudaDevice::cacheBytes() const { return static_cast<size_t>(attribute(secondLevelCacheBytes)); }

int64_t CudaDevice::smCount() const { return attribute(multiprocessorCount); }

std::string CudaDevice::architecture() const {
  int major = attribute(capabilityMajor), minor = attribute(capabilityMinor);
  return "sm_" + std::to_string(major) + std::to_string(minor) + (major == 9 ? "a" : "");
}

std::string CudaDevice::name() const {
  char text[256] = {};
  driver->cuDeviceGetName(text, sizeof(text) - 1, device);
  return text;
}

std::string CudaDevice::busAddress() const {
  char text[64] = {};
  driver->cuDeviceGetPCIBusId(text, sizeof(text) - 1, device);
  return text;
}

Error CudaDevice::load(ArrayRef<uint8_t> image) {
  // PTX is read as a C string.
  std::vector<uint8_t> terminated(image.begin(), image.end());
  terminated.push_back(0);
  modules.emplace_back();
  return driver->check(driver->cuModuleLoadData(&modules.back(), terminated.data()), "cuModuleLoadData");
}

Expected<uint64_t> CudaDevice::allocate(size_t bytes, StringRef name) {
  size_t free = 0, all = 0;
  if (driver->cuMemGetInfo(&free, &all) == 0 && bytes > free)
    return createStringError("`" + name + "` needs " + Twine(bytes >> 20) + " MiB, and the card has " +
                             Twine(free >> 20) + " MiB left");
  CudaAddress address = 0;
  if (Error error = driver->check(driver->cuMemAlloc(&address, std::max<size_t>(bytes, 1)), "cuMemAlloc"))
    return error;
  return address;
}

void CudaDevice::free(uint64_t address) { driver->cuMemFree(address); }

Error CudaDevice::poison(uint64_t address, size_t bytes) {
  return bytes ? driver->check(driver->cuMemsetD8(address, 0xff, bytes), "cuMemsetD8") : Error::success();
}

Error CudaDevice::upload(uint64_t address, ArrayRef<uint8_t> bytes) {
  if (bytes.empty())
    return Error::success();
  return driver->check(driver->cuMemcpyHtoD(address, bytes.data(), bytes.size()), "cuMemcpyHtoD");
}

Error CudaDevice::download(uint64_t address, MutableArrayRef<uint8_t> bytes) {
  if (bytes.empty())
    return Error::success();
  return driver->check(driver->cuMemcpyDtoH(bytes.data(), address, bytes.size()), "cuMemcpyDtoH");
}

// CUtensorMapDataType
static int mapType(StringRef type) {
  return StringSwitch<int>(type)
      .Cases("u8", "i8", "bool", "f8e4m3", "f8e5m2", 0)
      .Cases("u16", "i16", 1)
      .Case("u32", 2)
      .Case("i32", 3)
      .Case("u64", 4)
      .Cases("i64", "index", 5)
      .Case("f16", 6)
      .Case("f32", 7)
      .Case("f64", 8)
      .Case("bf16", 9)
      .Case("tf32", 11)
      .Default(-1);
}

Expected<std::array<uint8_t, 128>> CudaDevice::encodeTensorMap(const TensorMapRequest &request) {
  int type = mapType(request.type);
  if (type < 0)
    return createStringError("elements of type `" + request.type + "` are not known");
  alignas(64) std::array<uint8_t, 128> map = {};
  std::vector<uint32_t> steps(request.dims.size(), 1);
  // CUtensorMapSwizzle: 0, 32, 64, 128 bytes; CUtensorMapL2promotion: 0, 64, 128, 256 bytes.
  int swizzle = request.swizzle ? static_cast<int>(Log2_32(request.swizzle / 16)) : 0;
  int promotion = request.promotion ? static_cast<int>(Log2_32(request.promotion / 32)) : 0;
  uint64_t none = 0;
  CudaResult result = driver->cuTensorMapEncodeTiled(
      map.data(), type, static_cast<unsigned>(request.dims.size()), request.address, request.dims.data(),
      request.strides.empty() ? &none : request.strides.data(), request.box.data(), steps.data(),
      /*interleave=*/0, swizzle, promotion, /*fill=*/0);
  if (Error error = driver->check(result, "cuTensorMapEncodeTiled"))
    return error;
  return map;
}

Expected<void *> CudaDevice::function(const std::string &entry) {
  void *&known = functions[entry];
  if (!known)
    if (Error error = driver->check(driver->cuModuleGetFunction(&known, modules.back(), entry.c_str()), entry.c_str()))
      return error;
  return known;
}

Error CudaDevice::start(const ReadyLaunch &launch) {
  Expected<void *> kernel = function(launch.entry);
  if (!kernel)
    return kernel.takeError();
  if (launch.shared > 0)
    if (Error error = driver->check(
            driver->cuFuncSetAttribute(*kernel, maxDynamicShared, static_cast<int>(launch.shared)), "shared memory"))
      return error;
  CudaLaunchConfig config;
  CudaLaunchAttribute cluster;
  cluster.id = clusterDimension;
  for (unsigned i = 0; i < 3; ++i) {
    config.grid[i] = static_cast<unsigned>(launch.grid[i]);
    cluster.value[i] = static_cast<unsigned>(launch.cluster[i]);
  }
  config.block[0] = static_cast<unsigned>(launch.block);
  config.shared = static_cast<unsigned>(launch.shared);
  int64_t blocks = launch.cluster[0] * launch.cluster[1] * launch.cluster[2];
  if (blocks > 1) {
    config.attributes = &cluster;
    config.count = 1;
  }
  if (blocks > portableClusterBlocks)
    driver->cuFuncSetAttribute(*kernel, nonPortableCluster, 1);
  // Tensor maps are aligned to 64 bytes.
  struct alignas(64) Parameter {
    uint8_t bytes[128];
  };
  std::vector<Parameter> parameters(launch.params.size());
  std::vector<void *> pointers;
  for (auto [parameter, value] : zip(parameters, launch.params)) {
    std::copy(value.begin(), value.end(), parameter.bytes);
    pointers.push_back(parameter.bytes);
  }
  return driver->check(driver->cuLaunchKernelEx(&config, *kernel, pointers.data(), nullptr), "cuLaunchKernelEx");
}

Error CudaDevice::launch(const ReadyLaunch &launch) {
  if (Error error = start(launch))
    return error;
  return driver->check(driver->cuCtxSynchronize(), launch.entry.c_str());
}
