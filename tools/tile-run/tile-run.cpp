// tile-run: runs kernels of .tile files on a GPU, or without one in the simulator.
#include "RunKernel.h"
#include "llvm/Support/InitLLVM.h"

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  tilec::TileRunOptions options;
  if (std::optional<int> status = tilec::parseCommandLine(argc, argv, options))
    return *status;
  return tilec::runKernel(options, argv[0]);
}
