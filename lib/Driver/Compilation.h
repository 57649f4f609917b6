// One run of the compiler, from the input file to the outputs.
#ifndef TILEC_LIB_DRIVER_COMPILATION_H
#define TILEC_LIB_DRIVER_COMPILATION_H

#include "IRDiagnostics.h"
#include "OutputFiles.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "tilec/Driver/Compile.h"
#include "tilec/Driver/Pipeline.h"
#include "tilec/Target/Assembler.h"
#include "tilec/Target/Codegen.h"
#include <memory>

namespace tilec {

class Compilation {
public:
  Compilation(const CompileOptions &options, SourceManager &sources, DiagnosticEngine &diagnostics,
              llvm::raw_ostream &out, llvm::raw_ostream &log);
  ~Compilation();

  ExitStatus run();

private:
  // Each step returns false after it has reported why it failed; `status` then says what the tool exits with.
  bool parseInput();
  bool parseModule(FileID file);
  bool parseProgram(FileID file);
  bool runPipeline();
  void limitRegisters();
  bool runStep(const PipelineStep &step);
  bool generateCode();
  bool emitLLVM();
  bool assemble();
  bool bundle(const std::string &cubin, const std::string &ptx);
  bool writeOutputs();

  bool failInternally(const llvm::Twine &reason, llvm::StringRef details = "");
  /// Whether an output of this kind, or one that needs it, is asked for.
  bool wants(OutputKind kind) const;
  void addOutputs(OutputKind kind, const std::string &text);
  /// The same with the module as it is now.
  void addModuleOutputs(OutputKind kind);
  /// True if the compilation ends after the step; its module is then the output.
  bool stopsAfter(llvm::StringRef step);
  void stopWith(std::string text);
  /// Records the time since the last call under this name.
  void endTiming(llvm::StringRef name);

  void dump(llvm::StringRef when, llvm::StringRef step, llvm::ArrayRef<std::string> wanted);
  std::string printModule() const;
  /// Brings the kernels of the report into the order of the module.
  void sortLikeModule(AssemblerReport &report) const;
  void reportAssembly(const AssemblerReport &report);
  void printResources(const AssemblerReport &report);
  void printRemarks();
  void printChoices();
  void printTimes();
  std::string formatRemarks() const;
  std::string formatDependencyFile() const;

  const CompileOptions &options;
  SourceManager &sources;
  DiagnosticEngine &diagnostics;
  llvm::raw_ostream &out;
  llvm::raw_ostream &log;

  std::unique_ptr<mlir::MLIRContext> context;
  std::unique_ptr<IRDiagnostics> irDiagnostics;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<KernelInfo> kernels;
  OutputFiles files;
  ExitStatus status = ExitStatus::Success;
  bool stopped = false;
  unsigned numDumps = 0;
  double lastTime = 0;
  std::vector<std::pair<std::string, double>> times;
};

} // namespace tilec

#endif // TILEC_LIB_DRIVER_COMPILATION_H
