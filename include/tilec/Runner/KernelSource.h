// A .tile file as the front end reads it, for what tile-run wants to know of a kernel beyond its launch.
#ifndef TILEC_RUNNER_KERNELSOURCE_H
#define TILEC_RUNNER_KERNELSOURCE_H

#include <string>
#include <vector>

namespace tilec::runner {

/// Where a kernel is written.
struct KernelSource {
  /// The .tile file, the kernel in it by the name that it is launched by, and `-D NAME=VALUE`.
  std::string file, kernel;
  std::vector<std::string> defines, importFolders;
};

} // namespace tilec::runner

#endif // TILEC_RUNNER_KERNELSOURCE_H
