// Reads the log of `ptxas -v`.
#include "tilec/Target/Assembler.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace tilec {
namespace {

/// The number right before `what`, 0 if it does not occur.
unsigned numberBefore(StringRef line, StringRef what) {
  size_t position = line.find(what);
  if (position == StringRef::npos)
    return 0;
  StringRef head = line.take_front(position).rtrim();
  size_t start = head.find_last_not_of("0123456789");
  unsigned value = 0;
  if (head.substr(start + 1).getAsInteger(10, value))
    return 0;
  return value;
}

/// The first text in single quotes after `word`.
StringRef quotedAfter(StringRef line, StringRef word) {
  size_t position = line.find((word + " '").str());
  if (position == StringRef::npos)
    return "";
  return line.substr(position + word.size() + 2).split('\'').first;
}

unsigned noteCode(StringRef line) {
  size_t position = line.find("(C");
  unsigned code = 0;
  if (position == StringRef::npos || line.substr(position + 2).split(')').first.getAsInteger(10, code))
    return 0;
  return code;
}

AssemblerNote::Kind classify(unsigned code) {
  if (code >= 7510 && code <= 7519)
    return AssemblerNote::Kind::SerializedProducts;
  if (code == 7504 || code == 7508)
    return AssemblerNote::Kind::IgnoredRegisterSplit;
  return AssemblerNote::Kind::Other;
}

KernelResources &kernelNamed(AssemblerReport &report, StringRef entry) {
  for (KernelResources &kernel : report.kernels)
    if (kernel.entry == entry)
      return kernel;
  report.kernels.emplace_back().entry = entry.str();
  return report.kernels.back();
}

} // namespace

AssemblerReport parseAssemblerLog(StringRef log) {
  AssemblerReport report;
  SmallVector<StringRef> lines;
  log.split(lines, '\n');
  // Figures follow the line that names their function; those of functions that are no kernels are left out.
  KernelResources *current = nullptr;
  for (StringRef line : lines) {
    unsigned code = noteCode(line);
    if (code || line.starts_with("ptxas warning")) {
      StringRef entry = quotedAfter(line, "function");
      StringRef text = line.split(" : ").second.trim();
      report.notes.push_back({classify(code), code, entry.str(), text.str()});
    } else if (StringRef entry = quotedAfter(line, "Compiling entry function"); !entry.empty()) {
      current = &kernelNamed(report, entry);
    } else if (line.contains("Function properties for")) {
      StringRef name = line.rsplit(' ').second;
      current = nullptr;
      for (KernelResources &kernel : report.kernels)
        if (kernel.entry == name.trim())
          current = &kernel;
    } else if (current && line.contains("bytes stack frame")) {
      current->stack = numberBefore(line, " bytes stack frame");
      current->spillStores = numberBefore(line, " bytes spill stores");
      current->spillLoads = numberBefore(line, " bytes spill loads");
    } else if (current && line.contains("Used ")) {
      current->registers = numberBefore(line, " registers");
      current->barriers = numberBefore(line, " barriers");
      current->staticShared = numberBefore(line, " bytes smem");
      current->constant = numberBefore(line, " bytes cmem[0]");
    }
  }
  return report;
}

} // namespace tilec
