/* Runs saxpy and the element-wise chain of saxpy.tile and compares them with the host. */
#include "../common/host.h"
#include "saxpy.h"

static int run_saxpy(int64_t n) {
  float *x = (float *)host_array((size_t)n * 4), *y = (float *)host_array((size_t)n * 4);
  float *result = (float *)host_array((size_t)n * 4);
  for (int64_t i = 0; i < n; ++i) {
    x[i] = next_random();
    y[i] = next_random();
  }
  CUdeviceptr dx = upload(x, (size_t)n * 4), dy = upload(y, (size_t)n * 4);
  check(saxpy_launch(NULL, 2.5f, dx, dy, n), "saxpy_launch");
  download(result, dy, (size_t)n * 4);
  check(cuMemFree(dx), "cuMemFree");
  double error = 0;
  for (int64_t i = 0; i < n; ++i)
    error = worst(error, result[i], 2.5 * x[i] + y[i]);
  free(x), free(y), free(result);
  return report("saxpy", error, 1e-6);
}

static int run_chain(int64_t m, int64_t n) {
  size_t count = (size_t)(m * n);
  uint16_t *x = random_bf16(count), *r = random_bf16(count), *result = (uint16_t *)host_array(count * 2);
  float *scale = (float *)host_array((size_t)n * 4), *shift = (float *)host_array((size_t)n * 4);
  for (int64_t i = 0; i < n; ++i) {
    scale[i] = next_random();
    shift[i] = next_random();
  }
  CUdeviceptr dx = upload(x, count * 2), ds = upload(scale, (size_t)n * 4), dt = upload(shift, (size_t)n * 4);
  CUdeviceptr dr = upload(r, count * 2), dy = output(count * 2);
  check(chain_launch(NULL, dx, ds, dt, dr, dy, m, n), "chain_launch");
  download(result, dy, count * 2);
  check(cuMemFree(dx), "cuMemFree");
  check(cuMemFree(ds), "cuMemFree");
  check(cuMemFree(dt), "cuMemFree");
  check(cuMemFree(dr), "cuMemFree");
  double error = 0;
  for (size_t i = 0; i < count; ++i) {
    double h = (double)from_bf16(x[i]) * scale[i % (size_t)n] + shift[i % (size_t)n];
    error = worst(error, from_bf16(result[i]), h / (1 + exp(-h)) + from_bf16(r[i]));
  }
  free(x), free(r), free(result), free(scale), free(shift);
  return report("chain", error, 0.016); /* half a unit in the last place of a bf16 below 4 */
}

int main(void) {
  open_device();
  check(saxpy_load_file("saxpy.cubin"), "saxpy_load_file");
  return run_saxpy(1000003) | run_chain(1000, 1001);
}
