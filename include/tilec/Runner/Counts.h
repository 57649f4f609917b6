// The simulator's counts as a table by source line.
#ifndef TILEC_RUNNER_COUNTS_H
#define TILEC_RUNNER_COUNTS_H

#include "tilec/Simulator/Report.h"
#include "llvm/Support/raw_ostream.h"

namespace tilec::runner {

/// Lines of the .tile file where the PTX names them, of the PTX otherwise; those that access memory, most expensive
/// first.
void printCounts(llvm::ArrayRef<simulator::Report> reports, const simulator::PtxModule &module, llvm::raw_ostream &os);

} // namespace tilec::runner

#endif // TILEC_RUNNER_COUNTS_H
