// The tables and lists that a compilation prints for people and tools: resources, times, remarks, dependencies.
#include "Compilation.h"
#include "tilec/Target/LineInfo.h"
#include "llvm/Support/Format.h"
#include <map>

using namespace llvm;

namespace tilec {

void Compilation::printResources(const AssemblerReport &report) {
  std::map<std::string, int64_t> dynamicShared;
  for (const KernelInfo &kernel : kernels)
    for (const Variant &variant : kernel.variants)
      for (const Launch &launch : variant.launches)
        dynamicShared[launch.entry] = launch.shared;
  log << "kernel                          registers  spilled  stack  shared  barriers\n";
  for (const KernelResources &kernel : report.kernels)
    log << format("%-32s%9u%9u%7u%8lld%10u\n", kernel.entry.c_str(), kernel.registers, kernel.spillStores, kernel.stack,
                  static_cast<long long>(kernel.staticShared + dynamicShared[kernel.entry]), kernel.barriers);
}

void Compilation::printTimes() {
  double total = 0;
  for (const auto &[name, seconds] : times)
    total += seconds;
  log << "milliseconds  step\n";
  for (const auto &[name, seconds] : times)
    log << format("%12.1f  %s\n", seconds * 1e3, name.c_str());
  log << format("%12.1f  total\n", total * 1e3);
}

void Compilation::printRemarks() {
  for (const Remark &remark : irDiagnostics->getRemarks()) {
    if (remark.range.isValid()) {
      LineColumn position = sources.getLineColumn(remark.range.begin);
      log << sources.getName(sources.getFile(remark.range.begin)) << ':' << position.line << ':' << position.column
          << ": ";
    }
    log << remark.step << ": " << remark.text << '\n';
  }
}

/// A YAML scalar in single quotes.
static std::string quoteYAML(StringRef text) {
  std::string result = "'";
  for (char c : text)
    result += c == '\'' ? std::string("''") : std::string(1, c == '\n' ? ' ' : c);
  return result + "'";
}

std::string Compilation::formatRemarks() const {
  std::string text;
  raw_string_ostream os(text);
  for (const Remark &remark : irDiagnostics->getRemarks()) {
    os << "--- !Remark\nPass: " << quoteYAML(remark.step) << "\n";
    if (remark.range.isValid()) {
      LineColumn position = sources.getLineColumn(remark.range.begin);
      os << "Location: { File: "
         << quoteYAML(mapPrefix(sources.getName(sources.getFile(remark.range.begin)), options.prefixMap))
         << ", Line: " << position.line << ", Column: " << position.column << " }\n";
    }
    os << "Message: " << quoteYAML(remark.text) << "\n...\n";
  }
  return text;
}

std::string Compilation::formatDependencyFile() const {
  std::vector<std::string> prerequisites;
  prerequisites.reserve(sources.getNumFiles());
  for (uint32_t index = 0; index < sources.getNumFiles(); ++index)
    // Values of -D and standard input are no files.
    if (StringRef name = sources.getName(FileID{index}); !name.starts_with("<"))
      prerequisites.push_back(name.str());
  std::vector<std::string> targets = options.dependencies.targets;
  if (targets.empty())
    targets.push_back(options.outputs.empty() ? options.input : options.outputs.front().path);
  return formatDependencies(targets, prerequisites, options.dependencies.phonyRules);
}

} // namespace tilec
