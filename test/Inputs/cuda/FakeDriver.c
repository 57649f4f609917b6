/* A CUDA driver that prints what it is asked instead of doing it. Kernels are named by their library's answer to
   cuLibraryGetKernel; every kernel whose name does not start with "missing" exists. */
#include "cuda.h"

#include <stdio.h>
#include <string.h>

static char kernel_names[64][64];
static int num_kernels;

CUresult cuGetErrorString(CUresult error, const char **text) {
  *text = error == CUDA_SUCCESS ? "no error" : "an error of the driver";
  return CUDA_SUCCESS;
}

static CUresult encode(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *address,
                       const cuuint64_t *dims, const cuuint64_t *strides, const cuuint32_t *box,
                       const cuuint32_t *steps, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                       CUtensorMapL2promotion l2, CUtensorMapFloatOOBfill fill) {
  cuuint32_t i;
  if ((uintptr_t)map % 64 != 0 || (uintptr_t)address % 16 != 0)
    return CUDA_ERROR_INVALID_VALUE;
  printf("encode type %d at 0x%llx swizzle %d l2 %d:", (int)type, (unsigned long long)(uintptr_t)address, (int)swizzle,
         (int)l2);
  for (i = 0; i < rank; ++i)
    printf(" %llu/%u", (unsigned long long)dims[i], box[i]);
  printf(" strides");
  for (i = 0; i + 1 < rank; ++i)
    printf(" %llu", (unsigned long long)strides[i]);
  printf("\n");
  (void)steps, (void)interleave, (void)fill;
  return CUDA_SUCCESS;
}

CUresult cuGetProcAddress(const char *symbol, void **function, int version, cuuint64_t flags,
                          CUdriverProcAddressQueryResult *found) {
  CUresult (*address)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *, const cuuint64_t *,
                      const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle,
                      CUtensorMapL2promotion, CUtensorMapFloatOOBfill) = encode;
  printf("entry point %s of %d\n", symbol, version);
  memcpy(function, &address, sizeof address);
  *found = CU_GET_PROC_ADDRESS_SUCCESS;
  (void)flags;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *device) {
  *device = 0;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
  *value = 132;
  (void)attribute, (void)device;
  return CUDA_SUCCESS;
}

CUresult cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *jit_options, void **jit_values,
                           unsigned num_jit, CUlibraryOption *options, void **values, unsigned num) {
  printf("load\n");
  *library = (CUlibrary)kernel_names;
  (void)code, (void)jit_options, (void)jit_values, (void)num_jit, (void)options, (void)values, (void)num;
  return CUDA_SUCCESS;
}

CUresult cuLibraryLoadFromFile(CUlibrary *library, const char *path, CUjit_option *jit_options, void **jit_values,
                               unsigned num_jit, CUlibraryOption *options, void **values, unsigned num) {
  (void)path;
  return cuLibraryLoadData(library, path, jit_options, jit_values, num_jit, options, values, num);
}

CUresult cuLibraryUnload(CUlibrary library) {
  printf("unload\n");
  (void)library;
  return CUDA_SUCCESS;
}

CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name) {
  (void)library;
  if (strncmp(name, "missing", 7) == 0 || num_kernels == 64)
    return CUDA_ERROR_NOT_FOUND;
  strncpy(kernel_names[num_kernels], name, 63);
  *kernel = (CUkernel)kernel_names[num_kernels++];
  return CUDA_SUCCESS;
}

CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel, CUdevice device) {
  printf("attribute %d of %s = %d\n", (int)attribute, (const char *)kernel, value);
  (void)device;
  return CUDA_SUCCESS;
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **params, void **extra) {
  printf("launch %s grid %u %u %u block %u shared %u", (const char *)function, config->gridDimX, config->gridDimY,
         config->gridDimZ, config->blockDimX, config->sharedMemBytes);
  if (config->numAttrs)
    printf(" cluster %u %u %u", config->attrs->value.clusterDim.x, config->attrs->value.clusterDim.y,
           config->attrs->value.clusterDim.z);
  printf("%s\n", params != NULL ? " with parameters" : "");
  (void)extra;
  return CUDA_SUCCESS;
}

CUresult cuMemAllocAsync(CUdeviceptr *address, size_t bytes, CUstream stream) {
  printf("allocate %llu\n", (unsigned long long)bytes);
  *address = 0x700000;
  (void)stream;
  return CUDA_SUCCESS;
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  printf("free 0x%llx\n", address);
  (void)stream;
  return CUDA_SUCCESS;
}

CUresult cuMemsetD8Async(CUdeviceptr address, unsigned char value, size_t count, CUstream stream) {
  printf("clear 0x%llx to %d, %llu bytes\n", address, value, (unsigned long long)count);
  (void)stream;
  return CUDA_SUCCESS;
}
