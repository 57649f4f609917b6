// Everything that one compilation is asked to do.
#ifndef TILEC_DRIVER_COMPILEOPTIONS_H
#define TILEC_DRIVER_COMPILEOPTIONS_H

#include "tilec/Machine/Machine.h"
#include <string>
#include <utility>
#include <vector>

namespace tilec {

/// The forms in which a compilation can be written, in the order in which they arise.
enum class OutputKind { AST, Tile, TileGPU, NVVM, LLVM, PTX, Cubin, Fatbin, Header, JSON };

struct Output {
  OutputKind kind;
  /// `-` is standard output.
  std::string path;
  /// Not asked for by name: left out where the input does not say how its kernels are launched.
  bool implied = false;
};

/// The file of make rules that says what the outputs were made from.
struct DependencyOptions {
  /// Empty for none, `-` for standard output.
  std::string path;
  /// What the rule makes; escaped as given. Empty for the first output.
  std::vector<std::string> targets;
  /// An empty rule for every import, so that deleting one does not break the next build.
  bool phonyRules = false;
  /// The rule is all that is wanted: nothing is compiled.
  bool only = false;
};

/// What to print of the module between steps. Names are those of the steps, or `all`.
struct DumpOptions {
  std::vector<std::string> before;
  std::vector<std::string> after;
  /// Dumps go to numbered files in this folder, or to standard error where it is empty.
  std::string folder;
};

struct CompileOptions {
  /// `-` is standard input.
  std::string input;
  std::vector<Output> outputs;
  const Machine *machine = nullptr;
  /// Where imports are looked for after the folder of the importing file.
  std::vector<std::string> importFolders;
  /// Values of constants of the main file's kernels, from -D.
  std::vector<std::pair<std::string, std::string>> defines;
  /// 0 to 3.
  unsigned optLevel = 3;
  /// 0 for the limit that follows from the block size.
  unsigned maxRegisters = 0;
  /// Line tables: PTX and cubin tell the line of the source that each instruction comes from.
  bool lineInfo = false;
  /// Beginnings of paths to replace in outputs, as (old, new).
  std::vector<std::pair<std::string, std::string>> prefixMap;
  /// The step after which to stop; the module is then the only output. Empty for none.
  std::string stopAfter;
  DumpOptions dump;
  DependencyOptions dependencies;
  bool timePasses = false;
  bool explainPlan = false;
  /// Sizes for which the choice of variants is explained, as (name, value); typical ones if there is none.
  std::vector<std::pair<std::string, int64_t>> shape;
  bool resourceUsage = false;
  /// Remarks as YAML go to this file.
  std::string remarksPath;
  /// The folder of the running program; ptxas may be installed beside it.
  std::string programFolder;
  /// The command line, for reproducers only.
  std::string commandLine;
};

} // namespace tilec

#endif // TILEC_DRIVER_COMPILEOPTIONS_H
