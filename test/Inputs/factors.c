// Launches `peak` of factors.tile with factors inside and outside the ranges that its fast variant asks for; the driver
// prints which variant it is asked for. "a b c" lines of standard input, the last two as bits.
#include "factors.h"

#include <stdio.h>
#include <stdlib.h>

int main(void) {
  char number[32];
  unsigned b, c;
  if (factors_load("image", 5) != CUDA_SUCCESS)
    return 1;
  while (scanf("%31s %x %x", number, &b, &c) == 3) {
    CUresult result = peak_launch(0, (CUdeviceptr)1 << 40, (CUdeviceptr)1 << 44, (CUdeviceptr)1 << 46,
                                  strtof(number, NULL), (uint16_t)b, (uint16_t)c, 128, 256);
    if (result != CUDA_SUCCESS) {
      fprintf(stderr, "%s\n", factors_error_string(result));
      return 1;
    }
  }
  return 0;
}
