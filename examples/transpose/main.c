/* Transposes a matrix with transpose.tile and compares it with the host. */
#include "../common/host.h"
#include "transpose.h"

int main(void) {
  const int64_t m = 1021, n = 2003;
  const size_t bytes = (size_t)(m * n) * 2;
  open_device();
  check(transpose_load_file("transpose.cubin"), "transpose_load_file");
  uint16_t *x = random_bf16((size_t)(m * n)), *result = (uint16_t *)host_array(bytes);
  CUdeviceptr dx = upload(x, bytes), dy = output(bytes);
  check(transpose_launch(NULL, dx, dy, m, n), "transpose_launch");
  download(result, dy, bytes);
  check(cuMemFree(dx), "cuMemFree");
  double error = 0;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j)
      error = worst(error, from_bf16(result[j * m + i]), from_bf16(x[i * n + j]));
  free(x), free(result);
  return report("transpose", error, 0);
}
