// The functions of the CUDA driver that are used, loaded at run time. Declarations follow the CUDA Driver API.
#ifndef TILEC_RUNNER_CUDADRIVER_H
#define TILEC_RUNNER_CUDADRIVER_H

#include "llvm/Support/Error.h"
#include <cstdint>
#include <memory>

namespace tilec::runner {

using CudaResult = int;
using CudaAddress = unsigned long long;

struct CudaLaunchAttribute {
  int id = 0;
  char padding[4] = {};
  unsigned value[16] = {};
};

struct CudaLaunchConfig {
  unsigned grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  unsigned shared = 0;
  void *stream = nullptr;
  CudaLaunchAttribute *attributes = nullptr;
  unsigned count = 0;
};

struct CudaDriver {
  CudaResult (*cuInit)(unsigned);
  CudaResult (*cuGetErrorName)(CudaResult, const char **);
  CudaResult (*cuDeviceGet)(int *, int);
  CudaResult (*cuDeviceGetName)(char *, int, int);
  CudaResult (*cuDeviceGetPCIBusId)(char *, int, int);
  CudaResult (*cuDeviceGetAttribute)(int *, int, int);
  CudaResult (*cuDevicePrimaryCtxRetain)(void **, int);
  CudaResult (*cuCtxSetCurrent)(void *);
  CudaResult (*cuCtxSynchronize)();
  CudaResult (*cuMemGetInfo)(size_t *, size_t *);
  CudaResult (*cuMemAlloc)(CudaAddress *, size_t);
  CudaResult (*cuMemFree)(CudaAddress);
  CudaResult (*cuMemsetD8)(CudaAddress, unsigned char, size_t);
  CudaResult (*cuMemsetD8Async)(CudaAddress, unsigned char, size_t, void *);
  CudaResult (*cuMemcpyHtoD)(CudaAddress, const void *, size_t);
  CudaResult (*cuMemcpyDtoH)(void *, CudaAddress, size_t);
  CudaResult (*cuMemcpyDtoDAsync)(CudaAddress, CudaAddress, size_t, void *);
  CudaResult (*cuModuleLoadData)(void **, const void *);
  CudaResult (*cuModuleGetFunction)(void **, void *, const char *);
  CudaResult (*cuFuncSetAttribute)(void *, int, int);
  CudaResult (*cuLaunchKernelEx)(const CudaLaunchConfig *, void *, void **, void **);
  // The address is a pointer in cuda.h.
  CudaResult (*cuTensorMapEncodeTiled)(void *, int, unsigned, uint64_t, const uint64_t *, const uint64_t *,
                                       const uint32_t *, const uint32_t *, int, int, int, int);
  CudaResult (*cuEventCreate)(void **, unsigned);
  CudaResult (*cuEventDestroy)(void *);
  CudaResult (*cuEventRecord)(void *, void *);
  CudaResult (*cuEventSynchronize)(void *);
  CudaResult (*cuEventElapsedTime)(float *, void *, void *);

  /// Fails where there is no driver, or an old one.
  static llvm::Expected<std::unique_ptr<CudaDriver>> load();
  llvm::Error check(CudaResult result, const char *what) const;
};

} // namespace tilec::runner

#endif // TILEC_RUNNER_CUDADRIVER_H
