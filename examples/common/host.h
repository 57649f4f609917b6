/* What the example programs share: a CUDA context, device arrays, 16-bit floats. Plain C99 over the driver. */
#ifndef EXAMPLES_HOST_H
#define EXAMPLES_HOST_H

#include <cuda.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ends the program with a message where a driver call or a launch fails. */
static inline void check(CUresult result, const char *what) {
  if (result != CUDA_SUCCESS) {
    const char *name = "unknown error";
    (void)cuGetErrorName(result, &name);
    fprintf(stderr, "%s: %s\n", what, name);
    exit(1);
  }
}

/* Makes the primary context of device 0 current. */
static inline void open_device(void) {
  CUdevice device;
  CUcontext context;
  check(cuInit(0), "cuInit");
  check(cuDeviceGet(&device, 0), "cuDeviceGet");
  check(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
  check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
}

/* Host memory of `bytes` bytes. */
static inline void *host_array(size_t bytes) {
  void *memory = malloc(bytes ? bytes : 1);
  if (!memory) {
    fprintf(stderr, "out of memory\n");
    exit(1);
  }
  return memory;
}

/* Device memory that holds a copy of `data`. */
static inline CUdeviceptr upload(const void *data, size_t bytes) {
  CUdeviceptr memory;
  check(cuMemAlloc(&memory, bytes ? bytes : 1), "cuMemAlloc");
  check(cuMemcpyHtoD(memory, data, bytes), "cuMemcpyHtoD");
  return memory;
}

/* Device memory filled with NaN, so that an element that is never written shows. */
static inline CUdeviceptr output(size_t bytes) {
  CUdeviceptr memory;
  check(cuMemAlloc(&memory, bytes ? bytes : 1), "cuMemAlloc");
  check(cuMemsetD8(memory, 0xFF, bytes), "cuMemsetD8");
  return memory;
}

/* Copies a result to the host and releases its device memory. */
static inline void download(void *data, CUdeviceptr memory, size_t bytes) {
  check(cuMemcpyDtoH(data, memory, bytes), "cuMemcpyDtoH");
  check(cuMemFree(memory), "cuMemFree");
}

static inline float from_bf16(uint16_t bits) {
  uint32_t wide = (uint32_t)bits << 16;
  float value;
  memcpy(&value, &wide, sizeof value);
  return value;
}

/* Rounds to nearest even; the value is finite. */
static inline uint16_t to_bf16(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return (uint16_t)((bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16);
}

/* The next number of a fixed sequence, uniform in [-1, 1). */
static inline float next_random(void) {
  static uint32_t state = 1u;
  state = state * 1664525u + 1013904223u;
  return (float)(state >> 8) * (1.0f / 8388608.0f) - 1.0f;
}

/* `count` random bf16 numbers. */
static inline uint16_t *random_bf16(size_t count) {
  uint16_t *data = (uint16_t *)host_array(count * sizeof *data);
  for (size_t i = 0; i < count; ++i)
    data[i] = to_bf16(next_random());
  return data;
}

/* Prints the outcome of a comparison; the exit status of the program. */
static inline int report(const char *name, double largest_error, double limit) {
  int good = largest_error <= limit;
  printf("%-20s largest error %.2e, limit %.2e: %s\n", name, largest_error, limit, good ? "correct" : "WRONG");
  return good ? 0 : 1;
}

/* The larger error; NaN stays. */
static inline double worst(double error, double got, double want) {
  double here = fabs(got - want);
  return here > error || here != here ? here : error;
}

#endif /* EXAMPLES_HOST_H */
