/* A CUDA driver without a card: memory is the host's, launches are printed, every event lies 10 us after the last. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long long Address;

struct LaunchConfig {
  unsigned grid[3], block[3], shared;
  void *stream;
  void *attributes;
  unsigned count;
};

int cuInit(unsigned flags) { return 0; }
int cuGetErrorName(int error, const char **name) {
  *name = error == 1 ? "CUDA_ERROR_INVALID_VALUE" : "CUDA_ERROR_UNKNOWN";
  return 0;
}
int cuDeviceGet(int *device, int ordinal) { return *device = 0; }
int cuDeviceGetName(char *name, int size, int device) { return snprintf(name, size, "a card of paper") < 0; }
int cuDeviceGetPCIBusId(char *text, int size, int device) { return snprintf(text, size, "0000:01:00.0") < 0; }
int cuMemGetInfo_v2(size_t *free, size_t *all) {
  *free = *all = (size_t)1 << 33;
  return 0;
}
int cuDeviceGetAttribute(int *value, int attribute, int device) {
  *value = attribute == 16 ? 3 : attribute == 38 ? 1 << 20 : attribute == 75 ? 9 : 0;
  return 0;
}
int cuDevicePrimaryCtxRetain(void **context, int device) { return (*context = malloc(1)) == 0; }
int cuCtxSetCurrent(void *context) { return 0; }
int cuCtxSynchronize(void) { return 0; }
int cuMemAlloc_v2(Address *address, size_t size) {
  return (*address = (Address)(size_t)aligned_alloc(256, (size + 255) / 256 * 256)) == 0;
}
int cuMemFree_v2(Address address) {
  free((void *)(size_t)address);
  return 0;
}
int cuMemsetD8_v2(Address address, unsigned char value, size_t size) {
  memset((void *)(size_t)address, value, size);
  return 0;
}
int cuMemsetD8Async(Address address, unsigned char value, size_t size, void *stream) { return 0; }
int cuMemcpyDtoDAsync_v2(Address target, Address source, size_t size, void *stream) { return 0; }
int cuMemcpyHtoD_v2(Address target, const void *source, size_t size) {
  memcpy((void *)(size_t)target, source, size);
  return 0;
}
int cuMemcpyDtoH_v2(void *target, Address source, size_t size) {
  memcpy(target, (const void *)(size_t)source, size);
  return 0;
}
int cuModuleLoadData(void **module, const void *image) {
  *module = (void *)image;
  printf("load %s\n", memcmp(image, "\177ELF", 4) == 0 ? "a cubin" : "PTX");
  return 0;
}
int cuModuleGetFunction(void **function, void *module, const char *name) {
  *function = strdup(name);
  return 0;
}
int cuFuncSetAttribute(void *function, int attribute, int value) {
  printf("attribute %d of %s: %d\n", attribute, (char *)function, value);
  return 0;
}
int cuLaunchKernelEx(const struct LaunchConfig *config, void *function, void **parameters, void **extra) {
  printf("launch %s: grid %u %u %u, block %u, shared %u, attributes %u\n", (char *)function, config->grid[0],
         config->grid[1], config->grid[2], config->block[0], config->shared, config->count);
  return (size_t)parameters[0] % 64 != 0;
}
int cuTensorMapEncodeTiled(void *map, int type, unsigned rank, void *address, const unsigned long long *dims,
                           const unsigned long long *strides, const unsigned *box, const unsigned *steps,
                           int interleave, int swizzle, int promotion, int fill) {
  printf("map of type %d: %llu x %llu, box %u x %u, swizzle %d, promotion %d\n", type, dims[0], dims[1], box[0], box[1],
         swizzle, promotion);
  return (size_t)map % 64 != 0;
}
int cuEventCreate(void **event, unsigned flags) { return (*event = malloc(1)) == 0; }
int cuEventDestroy_v2(void *event) {
  free(event);
  return 0;
}
int cuEventRecord(void *event, void *stream) { return 0; }
int cuEventSynchronize(void *event) { return 0; }
int cuEventElapsedTime(float *milliseconds, void *first, void *second) {
  *milliseconds = 0.01f;
  return 0;
}
