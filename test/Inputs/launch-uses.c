/* Calls every launcher with good and bad arguments. */
#include "launch.h"
#include <stdio.h>

static void show(const char *what, CUresult result) {
  printf("%s: %d %s\n", what, (int)result, launch_error_string(result));
}
#define ONE 0x3f80
int main(void) {
  show("not loaded", gemm_launch(NULL, 0x1000, 0x100000, ONE, 100, 64));
  show("load", launch_load("x", 1));
  show("load again", launch_load("x", 1));
  show("fast", gemm_launch(NULL, 0x1000, 0x100000, ONE, 300, 64));
  show("fast again", gemm_launch(NULL, 0x1000, 0x100000, ONE, 300, 64));
  show("small", gemm_launch(NULL, 0x1000, 0x100000, ONE, 100, 64));
  show("odd base", gemm_launch(NULL, 0x1002, 0x100000, ONE, 300, 64));
  show("empty input", gemm_launch(NULL, 0, 0x100000, ONE, 300, 0));
  show("empty output", gemm_launch(NULL, 0, 0, ONE, 0, 64));
  show("contract", gemm_launch(NULL, 0x1000, 0x100000, ONE, 300, 63));
  show("scalar contract", gemm_launch(NULL, 0x1000, 0x100000, 0, 300, 64));
  show("negative", gemm_launch(NULL, 0x1000, 0x100000, ONE, -1, 64));
  show("null", gemm_launch(NULL, 0, 0x100000, ONE, 300, 64));
  show("misaligned", gemm_launch(NULL, 0x1001, 0x100000, ONE, 300, 64));
  show("overlap", gemm_launch(NULL, 0x1000, 0x1100, ONE, 300, 64));
  show("too large", gemm_launch(NULL, 0x1000, 0x100000, ONE, INT64_MAX / 2, 64));
  show("grid", gemm_launch(NULL, 0x1001000, 0x1000000000000, ONE, (int64_t)1 << 38, 8));
  printf("%lld bytes\n", (long long)total_workspace_size(0x1000, 1, 0x2000, 1000));
  show("stages", total_launch(NULL, 0x1000, 2, 0x200000, 1000));
  show("own workspace", total_launch_in(NULL, 0x800000, 1024, 0x1000, 2, 0x200000, 1000));
  show("small workspace", total_launch_in(NULL, 0x800000, 512, 0x1000, 2, 0x200000, 1000));
  show("no elements", total_launch(NULL, 0, 1, 0x200000, 0));
  show("negative stride", total_launch(NULL, 0x1000, -1, 0x200000, 10));
  show("unload", launch_unload());
  return 0;
}
