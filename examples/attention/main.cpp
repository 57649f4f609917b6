// Runs causal attention with grouped key heads and compares it with the host.
#include "../common/host.h"
#include "attention.h"
#include <algorithm>
#include <vector>

namespace {

const int64_t B = 2, H = 4, HK = 2, S = 300, T = 300, D = 128;
const float scale = 0.0883883476f; // 1 / sqrt(D)

// One output row of the reference: query `row` = (b, h, q) flattened.
void attend(const uint16_t *q, const uint16_t *k, const uint16_t *v, int64_t row, double *out) {
  int64_t b = row / (H * S), h = row / S % H, position = row % S;
  int64_t keys = ((b * HK) + h / (H / HK)) * T * D;
  std::vector<double> weight(std::min(T, position + 1));
  double total = 0;
  for (size_t t = 0; t < weight.size(); ++t) {
    double s = 0;
    for (int64_t d = 0; d < D; ++d)
      s += double(from_bf16(q[row * D + d])) * from_bf16(k[keys + int64_t(t) * D + d]);
    total += weight[t] = exp(s * scale);
  }
  std::fill(out, out + D, 0.0);
  for (size_t t = 0; t < weight.size(); ++t)
    for (int64_t d = 0; d < D; ++d)
      out[d] += weight[t] / total * from_bf16(v[keys + int64_t(t) * D + d]);
}

} // namespace

int main() {
  open_device();
  check(attention_load_file("attention.cubin"), "attention_load_file");
  uint16_t *q = random_bf16(B * H * S * D), *k = random_bf16(B * HK * T * D), *v = random_bf16(B * HK * T * D);
  std::vector<uint16_t> result(B * H * S * D);
  CUdeviceptr dq = upload(q, B * H * S * D * 2), dk = upload(k, B * HK * T * D * 2);
  CUdeviceptr dv = upload(v, B * HK * T * D * 2), dout = output(B * H * S * D * 2);
  check(attention_launch(nullptr, dq, dk, dv, dout, scale, B, H, S, HK, T), "attention_launch");
  download(result.data(), dout, B * H * S * D * 2);
  check(cuMemFree(dq), "cuMemFree");
  check(cuMemFree(dk), "cuMemFree");
  check(cuMemFree(dv), "cuMemFree");
  double error = 0, want[D];
  for (int64_t row = 0; row < B * H * S; ++row) {
    attend(q, k, v, row, want);
    for (int64_t d = 0; d < D; ++d)
      error = worst(error, from_bf16(result[row * D + d]), want[d]);
  }
  free(q);
  free(k);
  free(v);
  return report("attention", error, 1.0 / 128); // values lie in [-1, 1)
}
