// Launches `product` of test/IRGen/sizes.tile for shapes up to large ones; the driver prints which variant it is asked
// for. Addresses are never touched. "M N K" lines of standard input, then the offset of A in bytes.
#include "sizes.h"

#include <stdio.h>

int main(void) {
  long long m, n, k, offset;
  if (sizes_load("image", 5) != CUDA_SUCCESS)
    return 1;
  while (scanf("%lld %lld %lld %lld", &m, &n, &k, &offset) == 4) {
    CUresult result = product_launch(0, (CUdeviceptr)1 << 40 | (CUdeviceptr)offset, (CUdeviceptr)1 << 44,
                                     (CUdeviceptr)1 << 46, m, k, n);
    if (result != CUDA_SUCCESS) {
      fprintf(stderr, "%s\n", sizes_error_string(result));
      return 1;
    }
  }
  return 0;
}
