// Loads the CUDA driver.
#include "CudaDriver.h"

#include "llvm/Support/DynamicLibrary.h"
#include <type_traits>

using namespace llvm;
using namespace tilec::runner;

Error CudaDriver::check(CudaResult result, const char *what) const {
  if (result == 0)
    return Error::success();
  const char *name = nullptr;
  bool known = cuGetErrorName(result, &name) == 0 && name;
  return createStringError(Twine("the CUDA driver: ") + what + ": " + (known ? name : "error") + " (" + Twine(result) +
                           ")");
}

Expected<std::unique_ptr<CudaDriver>> CudaDriver::load() {
  std::string reason;
  sys::DynamicLibrary library = sys::DynamicLibrary::getPermanentLibrary("libcuda.so.1", &reason);
  if (!library.isValid())
    return createStringError("there is no CUDA driver (libcuda.so.1)");
  auto driver = std::make_unique<CudaDriver>();
  const char *missing = nullptr;
  auto find = [&](auto &function, const char *name) {
    void *address = library.getAddressOfSymbol(name);
    if (!address)
      missing = name;
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(address);
  };
  find(driver->cuInit, "cuInit");
  find(driver->cuGetErrorName, "cuGetErrorName");
  find(driver->cuDeviceGet, "cuDeviceGet");
  find(driver->cuDeviceGetName, "cuDeviceGetName");
  find(driver->cuDeviceGetPCIBusId, "cuDeviceGetPCIBusId");
  find(driver->cuDeviceGetAttribute, "cuDeviceGetAttribute");
  find(driver->cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain");
  find(driver->cuCtxSetCurrent, "cuCtxSetCurrent");
  find(driver->cuCtxSynchronize, "cuCtxSynchronize");
  find(driver->cuMemGetInfo, "cuMemGetInfo_v2");
  find(driver->cuMemAlloc, "cuMemAlloc_v2");
  find(driver->cuMemFree, "cuMemFree_v2");
  find(driver->cuMemsetD8, "cuMemsetD8_v2");
  find(driver->cuMemsetD8Async, "cuMemsetD8Async");
  find(driver->cuMemcpyHtoD, "cuMemcpyHtoD_v2");
  find(driver->cuMemcpyDtoH, "cuMemcpyDtoH_v2");
  find(driver->cuMemcpyDtoDAsync, "cuMemcpyDtoDAsync_v2");
  find(driver->cuModuleLoadData, "cuModuleLoadData");
  find(driver->cuModuleGetFunction, "cuModuleGetFunction");
  find(driver->cuFuncSetAttribute, "cuFuncSetAttribute");
  find(driver->cuLaunchKernelEx, "cuLaunchKernelEx");
  find(driver->cuTensorMapEncodeTiled, "cuTensorMapEncodeTiled");
  find(driver->cuEventCreate, "cuEventCreate");
  find(driver->cuEventDestroy, "cuEventDestroy_v2");
  find(driver->cuEventRecord, "cuEventRecord");
  find(driver->cuEventSynchronize, "cuEventSynchronize");
  find(driver->cuEventElapsedTime, "cuEventElapsedTime");
  if (missing)
    return createStringError(Twine("the CUDA driver is older than 12.0: it lacks ") + missing);
  return driver;
}
