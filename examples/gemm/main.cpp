// Multiplies two matrices with gemm.tile, compares a sample of the result with the host and prints the speed.
#include "../common/host.h"
#include "gemm.h"
#include <algorithm>
#include <vector>

namespace {

// The best of some launches, in milliseconds.
float time_launches(CUdeviceptr a, CUdeviceptr b, CUdeviceptr c, int64_t m, int64_t n, int64_t k) {
  CUevent begin, end;
  check(cuEventCreate(&begin, CU_EVENT_DEFAULT), "cuEventCreate");
  check(cuEventCreate(&end, CU_EVENT_DEFAULT), "cuEventCreate");
  float best = INFINITY;
  for (int i = 0; i < 10; ++i) {
    float milliseconds;
    check(cuEventRecord(begin, nullptr), "cuEventRecord");
    check(gemm_launch(nullptr, a, b, c, m, k, n), "gemm_launch");
    check(cuEventRecord(end, nullptr), "cuEventRecord");
    check(cuEventSynchronize(end), "cuEventSynchronize");
    check(cuEventElapsedTime(&milliseconds, begin, end), "cuEventElapsedTime");
    best = std::min(best, milliseconds);
  }
  check(cuEventDestroy(begin), "cuEventDestroy");
  check(cuEventDestroy(end), "cuEventDestroy");
  return best;
}

// The largest error of sampled elements in units of the last place of their bf16 results.
double sample_error(const uint16_t *a, const uint16_t *b, const std::vector<uint16_t> &c, int64_t m, int64_t n,
                    int64_t k) {
  double error = 0;
  for (int64_t i = 0; i < m; i += 37)
    for (int64_t j = 0; j < n; j += 41) {
      double want = 0, size = 0;
      for (int64_t p = 0; p < k; ++p) {
        double product = double(from_bf16(a[i * k + p])) * from_bf16(b[j * k + p]);
        want += product;
        size += fabs(product);
      }
      // Half a unit of bf16 is 2^-8 of the value at most; f32 accumulation adds far less than 2^-20 of `size`.
      double allowed = fabs(want) / 256 + size / 1048576;
      error = worst(error, from_bf16(c[i * n + j]) / allowed, want / allowed);
    }
  return error;
}

} // namespace

int main(int argc, char **argv) {
  const int64_t m = argc > 1 ? atoll(argv[1]) : 2048, n = argc > 2 ? atoll(argv[2]) : 2048;
  const int64_t k = argc > 3 ? atoll(argv[3]) : 2048;
  open_device();
  check(gemm_load_file("gemm.cubin"), "gemm_load_file");
  uint16_t *a = random_bf16(m * k), *b = random_bf16(n * k);
  std::vector<uint16_t> c(m * n);
  CUdeviceptr da = upload(a, m * k * 2), db = upload(b, n * k * 2), dc = output(m * n * 2);
  float milliseconds = time_launches(da, db, dc, m, n, k);
  download(c.data(), dc, m * n * 2);
  check(cuMemFree(da), "cuMemFree");
  check(cuMemFree(db), "cuMemFree");
  printf("%lld x %lld x %lld: %.1f us, %.1f TFLOP/s\n", (long long)m, (long long)n, (long long)k, milliseconds * 1e3,
         2e-9 * double(m) * double(n) * double(k) / milliseconds);
  int status = report("gemm", sample_error(a, b, c, m, n, k), 1);
  free(a);
  free(b);
  return status;
}
