/* Runs the reductions of reductions.tile on small integers, whose sums are exact in any order. */
#include "../common/host.h"
#include "reductions.h"

/* Device memory with `count` copies of `value`. */
static CUdeviceptr filled(size_t count, float value) {
  unsigned bits;
  CUdeviceptr memory = output(count * 4);
  memcpy(&bits, &value, 4);
  check(cuMemsetD32(memory, bits, count), "cuMemsetD32");
  return memory;
}

int main(void) {
  const int64_t m = 3001, n = 257, count = m * n;
  open_device();
  check(reductions_load_file("reductions.cubin"), "reductions_load_file");
  float *x = (float *)host_array((size_t)count * 4);
  float *columns = (float *)host_array((size_t)n * 4), *split = (float *)host_array((size_t)n * 4), both[2];
  double *want = (double *)calloc((size_t)n, sizeof *want), total = 0, top = -INFINITY;
  if (!want)
    return 1;
  for (int64_t i = 0; i < count; ++i) {
    x[i] = floorf(next_random() * 10);
    want[i % n] += x[i];
    total += x[i];
    top = x[i] > top ? x[i] : top;
  }
  CUdeviceptr dx = upload(x, (size_t)count * 4), dc = output((size_t)n * 4), ds = filled((size_t)n, 0);
  const float neutral[2] = {0, -INFINITY}; /* the last two kernels add to what they find */
  CUdeviceptr db = upload(neutral, sizeof neutral);
  check(column_sum_launch(NULL, dx, dc, m, n), "column_sum_launch");
  check(column_sum_split_launch(NULL, dx, ds, m, n), "column_sum_split_launch");
  check(sum_and_max_launch(NULL, dx, db, count), "sum_and_max_launch");
  download(columns, dc, (size_t)n * 4);
  download(split, ds, (size_t)n * 4);
  download(both, db, 8);
  check(cuMemFree(dx), "cuMemFree");
  double column_error = 0, split_error = 0;
  for (int64_t j = 0; j < n; ++j) {
    column_error = worst(column_error, columns[j], want[j]);
    split_error = worst(split_error, split[j], want[j]);
  }
  free(x), free(columns), free(split), free(want);
  return report("column_sum", column_error, 0) | report("column_sum_split", split_error, 0) |
         report("sum_and_max", worst(worst(0, both[0], total), both[1], top), 0);
}
