/* Runs the kernels of transformer.tile and compares them with the host. */
#include "../common/host.h"
#include "transformer.h"

static int run_rotary(int64_t t, int64_t h, int64_t p) {
  size_t count = (size_t)(t * h * 2 * p), angles = (size_t)(t * p);
  uint16_t *x = random_bf16(count), *y = (uint16_t *)host_array(count * 2);
  float *c = (float *)host_array(angles * 4), *s = (float *)host_array(angles * 4);
  for (int64_t i = 0; i < t * p; ++i) {
    double angle = (double)(i / p) * pow(10000, -(double)(i % p) / (double)p);
    c[i] = (float)cos(angle);
    s[i] = (float)sin(angle);
  }
  CUdeviceptr dx = upload(x, count * 2), dc = upload(c, angles * 4), ds = upload(s, angles * 4);
  CUdeviceptr dy = output(count * 2);
  check(rotary_launch(NULL, dx, dc, ds, dy, t, h, 2 * p, p), "rotary_launch");
  download(y, dy, count * 2);
  check(cuMemFree(dx), "cuMemFree");
  check(cuMemFree(dc), "cuMemFree");
  check(cuMemFree(ds), "cuMemFree");
  double error = 0;
  for (int64_t row = 0; row < t * h; ++row)
    for (int64_t j = 0; j < p; ++j) {
      const uint16_t *in = x + row * 2 * p, *out = y + row * 2 * p;
      double a = from_bf16(in[j]), b = from_bf16(in[j + p]), cosine = c[row / h * p + j], sine = s[row / h * p + j];
      error = worst(error, from_bf16(out[j]), a * cosine - b * sine);
      error = worst(error, from_bf16(out[j + p]), a * sine + b * cosine);
    }
  free(x), free(y), free(c), free(s);
  return report("rotary", error, 0.005); /* half a unit in the last place of a bf16 below 2 */
}

static int run_silu_mul(int64_t m, int64_t n) {
  size_t count = (size_t)(m * n);
  uint16_t *x = random_bf16(2 * count), *y = (uint16_t *)host_array(count * 2);
  CUdeviceptr dx = upload(x, 4 * count), dy = output(count * 2);
  check(silu_mul_launch(NULL, dx, dy, m, n), "silu_mul_launch");
  download(y, dy, count * 2);
  check(cuMemFree(dx), "cuMemFree");
  double error = 0;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double gate = from_bf16(x[2 * i * n + j]), up = from_bf16(x[(2 * i + 1) * n + j]);
      error = worst(error, from_bf16(y[i * n + j]), gate / (1 + exp(-gate)) * up);
    }
  free(x), free(y);
  return report("silu_mul", error, 0.002);
}

/* The value of an f8e4m3 code; 0x7f and 0xff are NaN. */
static double from_f8(uint8_t code) {
  int exponent = (code >> 3) & 15, fraction = code & 7;
  double value = exponent ? ldexp(8 + fraction, exponent - 10) : ldexp(fraction, -9);
  return code & 128 ? -value : value;
}

static int run_quantise(int64_t m, int64_t n) {
  size_t count = (size_t)(m * n);
  uint16_t *x = random_bf16(count);
  uint8_t *y = (uint8_t *)host_array(count);
  float *scale = (float *)host_array((size_t)m * 4);
  CUdeviceptr dx = upload(x, count * 2), dy = output(count), ds = output((size_t)m * 4);
  check(quantise_launch(NULL, dx, dy, ds, m, n), "quantise_launch");
  download(y, dy, count);
  download(scale, ds, (size_t)m * 4);
  check(cuMemFree(dx), "cuMemFree");
  double error = 0;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j)
      error = worst(error, from_f8(y[i * n + j]) * scale[i], from_bf16(x[i * n + j]));
  free(x), free(y), free(scale);
  return report("quantise", error, 0.036); /* half a unit in the last place of the largest numbers: 16 of 448 */
}

int main(void) {
  open_device();
  check(transformer_load_file("transformer.cubin"), "transformer_load_file");
  return run_rotary(123, 12, 64) | run_silu_mul(301, 1001) | run_quantise(301, 1000);
}
