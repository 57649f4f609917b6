// Runs ptxas, NVIDIA's assembler, and reads what it reports.
#ifndef TILEC_TARGET_ASSEMBLER_H
#define TILEC_TARGET_ASSEMBLER_H

#include "tilec/Machine/Machine.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <vector>

namespace tilec {

/// What one kernel uses of a multiprocessor. Sizes in bytes; spills and stack are of one thread.
struct KernelResources {
  std::string entry;
  unsigned registers = 0;
  unsigned barriers = 0;
  unsigned staticShared = 0;
  unsigned constant = 0;
  unsigned stack = 0;
  unsigned spillStores = 0;
  unsigned spillLoads = 0;

  bool spills() const { return spillStores != 0 || spillLoads != 0; }
};

/// A remark of ptxas that matters for speed.
struct AssemblerNote {
  enum class Kind {
    /// C7510 to C7519: asynchronous matrix products run one after the other, or wait early.
    SerializedProducts,
    /// C7504, C7508: setmaxnreg was ignored.
    IgnoredRegisterSplit,
    /// Any other warning.
    Other
  };
  Kind kind = Kind::Other;
  /// The number after C, 0 without one.
  unsigned code = 0;
  /// The kernel, empty if the text names none.
  std::string entry;
  std::string text;
};

struct AssemblerReport {
  std::vector<KernelResources> kernels;
  std::vector<AssemblerNote> notes;
};

/// Reads the text that `ptxas -v` prints.
AssemblerReport parseAssemblerLog(llvm::StringRef log);

struct AssemblerResult {
  /// NotRun: it was found, but could not be started or was ended; `log` has the reason in words.
  /// TooFewRegisters: some instruction needs more than the limit that the PTX sets.
  enum class Status { Success, Missing, NotRun, TooFewRegisters, Failed };
  Status status = Status::Failed;
  std::string cubin;
  AssemblerReport report;
  /// All that ptxas printed, for a reproducer; never shown to the user as an error.
  std::string log;
};

struct AssemblerOptions {
  /// The target; must be set.
  const Machine *machine = nullptr;
  unsigned optLevel = 3;
  /// Keep the line table.
  bool lineInfo = false;
};

class Assembler {
public:
  /// `programFolder` is where tilec itself lies; ptxas from a Python wheel may be installed beside it.
  explicit Assembler(llvm::StringRef programFolder);

  /// The path of ptxas; empty if there is none. Looked for in TILEC_PTXAS, CUDA_HOME, CUDA_PATH, PATH, the default
  /// place of the toolkit, and the folders of the Python wheels `nvidia-cuda-nvcc` and `nvidia-cuda-nvcc-cu12`.
  llvm::StringRef getPath() const { return path; }
  /// The version such as `13.0.88`; nothing if ptxas does not run.
  std::optional<std::string> getVersion() const;

  /// Assembles a PTX module. The same text gives the same cubin on every machine.
  AssemblerResult assemble(llvm::StringRef ptx, const AssemblerOptions &options) const;

  /// A fat binary of a cubin and its PTX, from which the driver of another GPU compiles: written by `fatbinary`, which
  /// lies beside ptxas in a CUDA toolkit. The result's `cubin` is the fat binary.
  AssemblerResult bundle(llvm::StringRef cubin, llvm::StringRef ptx, const Machine &machine) const;

private:
  std::string path;
};

} // namespace tilec

#endif // TILEC_TARGET_ASSEMBLER_H
