/* Runs the gradient kernels of norm_backward.tile and compares them with the host. */
#include "../common/host.h"
#include "norm_backward.h"

/* A row's statistics and sums, with `mean` 0 for RMSNorm. */
struct row {
  double mean, scale, gradients, products;
};

static struct row statistics(const uint16_t *dy, const uint16_t *x, const uint16_t *g, int64_t n, int layer) {
  struct row row = {0, 0, 0, 0};
  double squares = 0;
  for (int64_t j = 0; layer && j < n; ++j)
    row.mean += from_bf16(x[j]) / (double)n;
  for (int64_t j = 0; j < n; ++j)
    squares += (from_bf16(x[j]) - row.mean) * (from_bf16(x[j]) - row.mean);
  row.scale = 1 / sqrt(squares / (double)n + 1e-5);
  for (int64_t j = 0; j < n; ++j) {
    double gradient = (double)from_bf16(dy[j]) * from_bf16(g[j]);
    row.gradients += layer ? gradient / (double)n : 0;
    row.products += gradient * (from_bf16(x[j]) - row.mean) * row.scale / (double)n;
  }
  return row;
}

static int run(int layer, int64_t m, int64_t n) {
  size_t count = (size_t)(m * n), columns = (size_t)n;
  uint16_t *x = random_bf16(count), *dy = random_bf16(count), *g = random_bf16(columns);
  uint16_t *dx = (uint16_t *)host_array(count * 2);
  float *mean = (float *)host_array((size_t)m * 4), *scale = (float *)host_array((size_t)m * 4);
  float *gain = (float *)host_array(columns * 4), *bias = (float *)host_array(columns * 4);
  double *want = (double *)calloc(2 * columns, sizeof *want);
  struct row *rows = (struct row *)host_array((size_t)m * sizeof *rows);
  if (!want)
    return 1;
  for (int64_t i = 0; i < m; ++i) {
    rows[i] = statistics(dy + i * n, x + i * n, g, n, layer);
    mean[i] = (float)rows[i].mean;
    scale[i] = (float)rows[i].scale;
  }
  CUdeviceptr ddy = upload(dy, count * 2), dev_x = upload(x, count * 2), dg = upload(g, columns * 2);
  CUdeviceptr dm = upload(mean, (size_t)m * 4), ds = upload(scale, (size_t)m * 4);
  CUdeviceptr ddx = output(count * 2), dgain = output(columns * 4), dbias = output(columns * 4);
  if (layer) {
    check(layer_norm_backward_launch(NULL, ddy, dev_x, dg, dm, ds, ddx, m, n), "layer_norm_backward_launch");
    check(layer_norm_backward_weights_launch(NULL, ddy, dev_x, dm, ds, dgain, dbias, m, n),
          "layer_norm_backward_weights_launch");
  } else {
    check(rms_norm_backward_launch(NULL, ddy, dev_x, dg, ds, ddx, m, n), "rms_norm_backward_launch");
    check(rms_norm_backward_weights_launch(NULL, ddy, dev_x, ds, dgain, m, n), "rms_norm_backward_weights_launch");
  }
  download(dx, ddx, count * 2);
  download(gain, dgain, columns * 4);
  download(bias, dbias, columns * 4);
  check(cuMemFree(ddy), "cuMemFree");
  check(cuMemFree(dev_x), "cuMemFree");
  check(cuMemFree(dg), "cuMemFree");
  check(cuMemFree(dm), "cuMemFree");
  check(cuMemFree(ds), "cuMemFree");
  double error = 0, weight_error = 0;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      const struct row *row = &rows[i];
      double gradient = from_bf16(dy[i * n + j]), h = (from_bf16(x[i * n + j]) - row->mean) * row->scale;
      error = worst(error, from_bf16(dx[i * n + j]),
                    row->scale * (gradient * from_bf16(g[j]) - row->gradients - h * row->products));
      want[j] += gradient * h;
      want[n + j] += gradient;
    }
  for (int64_t j = 0; j < n; ++j) {
    weight_error = worst(weight_error, gain[j], want[j]);
    weight_error = layer ? worst(weight_error, bias[j], want[n + j]) : weight_error;
  }
  free(x), free(dy), free(g), free(dx), free(mean), free(scale), free(gain), free(bias), free(want), free(rows);
  const char *names[2][2] = {{"rms_norm_backward", "... of the weights"},
                             {"layer_norm_backward", "... of the weights"}};
  return report(names[layer][0], error, 0.016) | report(names[layer][1], weight_error, 1e-4);
}

int main(void) {
  open_device();
  check(norm_backward_load_file("norm_backward.cubin"), "norm_backward_load_file");
  return run(0, 301, 1000) | run(1, 301, 1001);
}
