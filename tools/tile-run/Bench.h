// --bench: times of a kernel on a GPU beside what the card can do.
#ifndef TILEC_TOOLS_TILE_RUN_BENCH_H
#define TILEC_TOOLS_TILE_RUN_BENCH_H

#include "Console.h"
#include "Options.h"
#include "tilec/Runner/CudaDevice.h"
#include "tilec/Runner/Session.h"

namespace tilec {

/// Measures a session that has run, and prints. The exit status.
int benchmark(runner::CudaDevice &device, const runner::Session &session, const runner::Arguments &arguments,
              const std::string &kernel, const TileRunOptions &options, const Console &console);

} // namespace tilec

#endif // TILEC_TOOLS_TILE_RUN_BENCH_H
