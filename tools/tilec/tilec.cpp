// The compiler's command line tool.
#include "tilec/Driver/CommandLine.h"

int main(int argc, char **argv) {
  return static_cast<int>(tilec::runTilec(llvm::ArrayRef<const char *>(argv, static_cast<size_t>(argc))));
}
