// The image and the reflection of the kernels to run.
#ifndef TILEC_TOOLS_TILE_RUN_COMPILE_H
#define TILEC_TOOLS_TILE_RUN_COMPILE_H

#include "Options.h"

namespace tilec {

struct CompiledKernels {
  /// PTX or a cubin.
  std::string image;
  llvm::json::Value reflection = nullptr;
};

/// Runs tilec, whose messages go to standard error. On failure `status` is the exit status of tilec and nothing is left
/// to say if the error is empty.
llvm::Expected<CompiledKernels> compileKernels(const TileRunOptions &options, const std::string &arch, bool cubin,
                                               const char *program, int &status);

/// The files of --ptx and --json.
llvm::Expected<CompiledKernels> readKernels(const TileRunOptions &options);

} // namespace tilec

#endif // TILEC_TOOLS_TILE_RUN_COMPILE_H
