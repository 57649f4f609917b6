#include "scale.h"
#include <stdio.h>

int main(void) {
  puts(scale_error_string(CUDA_SUCCESS));
  return 0;
}
