// The simulator's counts by line of the source and of the PTX, and by loop.
#ifndef TILEC_RUNNER_COUNTS_H
#define TILEC_RUNNER_COUNTS_H

#include "tilec/Simulator/Report.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace tilec::runner {

class CountReport {
public:
  /// The sums over the reports, whose instructions are the module's.
  CountReport(llvm::ArrayRef<simulator::Report> reports, const simulator::PtxModule &module);

  /// Lines of the .tile file where the PTX names them, of the PTX otherwise, most expensive first, their sum, and the
  /// loops. Columns without counts are left out.
  void print(llvm::raw_ostream &os) const;
  /// {"totals": {...}, "lines": [...], "ptx": [...], "loops": [...]}, see docs/tile-run.md.
  llvm::json::Value toJson() const;
  /// Fails, with the lines, where a count is not 0. `name` is a key of countFields, or "loop-" and one for innermost
  /// loops and loops with products of Tensor Cores alone.
  llvm::Error requireZero(llvm::StringRef name) const;

private:
  struct PtxLine {
    const simulator::Instruction *instruction;
    simulator::LineCounts counts;
    /// Index of the innermost loop around it, or -1.
    int loop = -1;
  };
  struct Loop {
    const simulator::Instruction *entry;
    int parent;
    unsigned depth;
    bool innermost;
    /// Without those of loops inside.
    simulator::LineCounts counts;
  };
  bool isInMainLoop(const PtxLine &line) const;
  void findLoops(const simulator::PtxKernel &kernel);
  std::string placeOf(const simulator::Instruction &instruction) const;
  llvm::json::Object placeJson(const simulator::Instruction &instruction) const;
  std::vector<std::pair<std::string, simulator::LineCounts>> sourceLines() const;

  const simulator::PtxModule &module;
  /// Of kernels that ran, in order of the PTX.
  std::vector<PtxLine> lines;
  std::vector<Loop> loops;
  simulator::LineCounts total;
};

} // namespace tilec::runner

#endif // TILEC_RUNNER_COUNTS_H
