// Loads the image and launches from another file, in C++.
#include "launch.h"
extern "C" CUresult other(void);
int main() {
  launch_load("x", 1);
  return other();
}
