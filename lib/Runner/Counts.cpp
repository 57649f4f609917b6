// Prints counts by source line.
#include "tilec/Runner/Counts.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"

using namespace llvm;
using namespace tilec::runner;
using namespace tilec::simulator;

static std::string lineOf(const Instruction &instruction, const PtxModule &module) {
  if (instruction.sourceLine == 0 || instruction.sourceFile >= module.files.size())
    return "ptx:" + std::to_string(instruction.line);
  StringRef file = module.files[instruction.sourceFile];
  return (file.substr(file.rfind('/') + 1) + ":" + Twine(instruction.sourceLine)).str();
}

static void add(LineCounts &sum, const LineCounts &counts) {
  sum.executed += counts.executed;
  sum.sharedAccesses += counts.sharedAccesses;
  sum.bankConflicts += counts.bankConflicts;
  sum.globalSectors += counts.globalSectors;
  sum.wastedBytes += counts.wastedBytes;
}

static void printRow(raw_ostream &os, StringRef name, const LineCounts &counts) {
  os << "  " << left_justify(name, 28)
     << format("%12llu %12llu %12llu %12llu %14llu\n", static_cast<unsigned long long>(counts.executed),
               static_cast<unsigned long long>(counts.sharedAccesses),
               static_cast<unsigned long long>(counts.bankConflicts),
               static_cast<unsigned long long>(counts.globalSectors),
               static_cast<unsigned long long>(counts.wastedBytes));
}

void tilec::runner::printCounts(ArrayRef<Report> reports, const PtxModule &module, raw_ostream &os) {
  std::map<std::string, LineCounts> lines;
  LineCounts total;
  for (const Report &report : reports)
    for (const auto &[instruction, counts] : report.counts) {
      add(total, counts);
      add(lines[lineOf(*instruction, module)], counts);
    }
  std::vector<std::pair<std::string, LineCounts>> rows(lines.begin(), lines.end());
  erase_if(rows, [](const auto &row) { return row.second.sharedAccesses + row.second.globalSectors == 0; });
  auto cost = [](const LineCounts &counts) {
    return counts.sharedAccesses + counts.bankConflicts + counts.globalSectors;
  };
  stable_sort(rows, [&](const auto &a, const auto &b) { return cost(a.second) > cost(b.second); });
  os << "  " << left_justify("line", 28) << "instructions       shared    conflicts      sectors   wasted bytes\n";
  for (const auto &[name, counts] : rows)
    printRow(os, name, counts);
  printRow(os, "all", total);
}
