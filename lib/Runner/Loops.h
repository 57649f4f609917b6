// The loops of a kernel in PTX: strongly connected parts of its control flow, one inside the other.
#ifndef TILEC_RUNNER_LOOPS_H
#define TILEC_RUNNER_LOOPS_H

#include "tilec/Simulator/Ptx.h"

namespace tilec::runner {

struct PtxLoop {
  /// Indices of instructions, the first of them the entry.
  std::vector<size_t> body;
  /// The loop around it, or -1.
  int parent = -1;
  /// 1 for outermost ones.
  unsigned depth = 1;
  bool innermost = true;
};

/// Loops before those inside them. Loops that only wait for an mbarrier are none: they are part of what is around them.
std::vector<PtxLoop> findLoops(const simulator::PtxKernel &kernel);

} // namespace tilec::runner

#endif // TILEC_RUNNER_LOOPS_H
