// Runs what the command line asks for.
#ifndef TILEC_TOOLS_TILE_RUN_RUNKERNEL_H
#define TILEC_TOOLS_TILE_RUN_RUNKERNEL_H

#include "Options.h"

namespace tilec {

/// The exit status; messages are printed.
int runKernel(const TileRunOptions &options, const char *program);

} // namespace tilec

#endif // TILEC_TOOLS_TILE_RUN_RUNKERNEL_H
