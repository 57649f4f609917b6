/* Runs both softmax kernels of softmax.tile and compares them with the host. */
#include "../common/host.h"
#include "softmax.h"

/* Runs one of the kernels on an m x n matrix. */
static int run(const char *name, int stream_rows, int64_t m, int64_t n) {
  size_t count = (size_t)(m * n);
  uint16_t *x = random_bf16(count), *result = (uint16_t *)host_array(count * 2);
  CUdeviceptr dx = upload(x, count * 2), dy = output(count * 2);
  if (stream_rows)
    check(row_softmax_stream_launch(NULL, dx, dy, m, n), "row_softmax_stream_launch");
  else
    check(row_softmax_launch(NULL, dx, dy, m, n), "row_softmax_launch");
  download(result, dy, count * 2);
  check(cuMemFree(dx), "cuMemFree");
  double error = 0;
  for (int64_t i = 0; i < m; ++i) {
    double total = 0; /* the inputs lie in [-1, 1): no rescale is needed here */
    for (int64_t j = 0; j < n; ++j)
      total += exp(from_bf16(x[i * n + j]));
    for (int64_t j = 0; j < n; ++j) {
      double want = exp(from_bf16(x[i * n + j])) / total;
      error = worst(error, from_bf16(result[i * n + j]) / want, 1.0);
    }
  }
  free(x), free(result);
  return report(name, error, 1.0 / 128);
}

int main(void) {
  open_device();
  check(softmax_load_file("softmax.cubin"), "softmax_load_file");
  return run("row_softmax", 0, 301, 1000) | run("row_softmax_stream", 1, 50, 20001);
}
