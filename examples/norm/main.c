/* Runs the four normalisation kernels of norm.tile and compares them with the host. */
#include "../common/host.h"
#include "norm.h"

enum kernel { RMS, RMS_STREAM, LAYER, LAYER_STREAM };
static const float eps = 1e-5f;

static void launch(enum kernel which, CUdeviceptr x, CUdeviceptr g, CUdeviceptr b, CUdeviceptr y, int64_t m,
                   int64_t n) {
  switch (which) {
  case RMS:
    check(rms_norm_launch(NULL, x, g, y, eps, m, n), "rms_norm_launch");
    break;
  case RMS_STREAM:
    check(rms_norm_stream_launch(NULL, x, g, y, eps, m, n), "rms_norm_stream_launch");
    break;
  case LAYER:
    check(layer_norm_launch(NULL, x, g, b, y, eps, m, n), "layer_norm_launch");
    break;
  case LAYER_STREAM:
    check(layer_norm_stream_launch(NULL, x, g, b, y, eps, m, n), "layer_norm_stream_launch");
    break;
  }
}

static int run(const char *name, enum kernel which, int64_t m, int64_t n) {
  size_t count = (size_t)(m * n), row = (size_t)n;
  uint16_t *x = random_bf16(count), *g = random_bf16(row), *b = random_bf16(row);
  uint16_t *result = (uint16_t *)host_array(count * 2);
  CUdeviceptr dx = upload(x, count * 2), dg = upload(g, row * 2), db = upload(b, row * 2), dy = output(count * 2);
  launch(which, dx, dg, db, dy, m, n);
  download(result, dy, count * 2);
  check(cuMemFree(dx), "cuMemFree");
  check(cuMemFree(dg), "cuMemFree");
  check(cuMemFree(db), "cuMemFree");
  int layer = which == LAYER || which == LAYER_STREAM;
  double error = 0;
  for (int64_t i = 0; i < m; ++i) {
    const uint16_t *in = x + i * n;
    double mean = 0, squares = 0;
    for (int64_t j = 0; layer && j < n; ++j)
      mean += from_bf16(in[j]) / (double)n;
    for (int64_t j = 0; j < n; ++j)
      squares += (from_bf16(in[j]) - mean) * (from_bf16(in[j]) - mean);
    for (int64_t j = 0; j < n; ++j) {
      double want = (from_bf16(in[j]) - mean) / sqrt(squares / (double)n + eps) * from_bf16(g[j]);
      error = worst(error, from_bf16(result[i * n + j]), layer ? want + from_bf16(b[j]) : want);
    }
  }
  free(x), free(g), free(b), free(result);
  return report(name, error, 0.016); /* half a unit in the last place of a bf16 below 4 */
}

int main(void) {
  open_device();
  check(norm_load_file("norm.cubin"), "norm_load_file");
  return run("rms_norm", RMS, 301, 1000) | run("rms_norm_stream", RMS_STREAM, 50, 20001) |
         run("layer_norm", LAYER, 301, 1000) | run("layer_norm_stream", LAYER_STREAM, 50, 20001);
}
