/* Runs the kernels of cross_entropy.tile on rows of a whole vocabulary and compares them with the host. */
#include "../common/host.h"
#include "cross_entropy.h"

int main(void) {
  const int64_t m = 20, v = 30001;
  const float scale = 1.0f / 20;
  size_t count = (size_t)(m * v), rows = (size_t)m;
  open_device();
  check(cross_entropy_load_file("cross_entropy.cubin"), "cross_entropy_load_file");
  uint16_t *x = random_bf16(count), *gradient = (uint16_t *)host_array(count * 2);
  int32_t *target = (int32_t *)host_array(rows * 4);
  float *loss = (float *)host_array(rows * 4);
  for (int64_t i = 0; i < m; ++i)
    target[i] = (int32_t)((i * 7919) % v);
  CUdeviceptr dx = upload(x, count * 2), dt = upload(target, rows * 4);
  CUdeviceptr dl = output(rows * 4), dlse = output(rows * 4), dg = output(count * 2);
  check(cross_entropy_launch(NULL, dx, dt, dl, dlse, m, v), "cross_entropy_launch");
  check(cross_entropy_backward_launch(NULL, dx, dt, dlse, scale, dg, m, v), "cross_entropy_backward_launch");
  download(loss, dl, rows * 4);
  download(gradient, dg, count * 2);
  check(cuMemFree(dx), "cuMemFree");
  check(cuMemFree(dt), "cuMemFree");
  check(cuMemFree(dlse), "cuMemFree");
  double loss_error = 0, gradient_error = 0;
  for (int64_t i = 0; i < m; ++i) {
    double total = 0;
    for (int64_t j = 0; j < v; ++j)
      total += exp(from_bf16(x[i * v + j]));
    loss_error = worst(loss_error, loss[i], log(total) - from_bf16(x[i * v + target[i]]));
    for (int64_t j = 0; j < v; ++j) {
      double want = scale * (exp(from_bf16(x[i * v + j])) / total - (j == target[i]));
      gradient_error = worst(gradient_error, from_bf16(gradient[i * v + j]), want);
    }
  }
  free(x), free(gradient), free(target), free(loss);
  return report("cross_entropy", loss_error, 1e-4) | report("... its gradient", gradient_error, 2e-4);
}
