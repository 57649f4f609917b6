// The end of a compilation: LLVM IR, PTX, cubin, reflection file and header.
#include "Compilation.h"
#include "RegisterLadder.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "tilec/Target/HeaderWriter.h"
#include "tilec/Target/LineInfo.h"
#include "tilec/Target/Reflection.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace tilec {

bool Compilation::emitLLVM() {
  CodegenOptions codegen;
  codegen.machine = options.machine;
  codegen.optLevel = options.optLevel;
  Expected<std::string> text = emitLLVMIR(*module, codegen, /*optimise=*/true);
  if (!text)
    return failInternally("LLVM refused the module", toString(text.takeError()));
  addOutputs(OutputKind::LLVM, *text);
  return true;
}

bool Compilation::assemble() {
  bool needsCubin = wants(OutputKind::Cubin) || wants(OutputKind::Fatbin) || options.resourceUsage;
  if (!needsCubin && !wants(OutputKind::PTX))
    return true;
  CodegenOptions codegen;
  codegen.machine = options.machine;
  codegen.optLevel = options.optLevel;
  Expected<std::string> ptx = emitPTX(*module, codegen);
  endTiming("llvm");
  if (!ptx)
    return failInternally("LLVM refused the module", toString(ptx.takeError()));
  if (!needsCubin) {
    addOutputs(OutputKind::PTX, *ptx);
    return true;
  }

  AssemblerOptions assembler;
  assembler.machine = options.machine;
  assembler.optLevel = options.optLevel;
  assembler.lineInfo = options.lineInfo;
  irDiagnostics->setStep("ptxas");
  AssemblerResult result;
  do
    result = Assembler(options.programFolder).assemble(*ptx, assembler);
  while (result.status == AssemblerResult::Status::Success &&
         raiseRegisterLimits(*module, *options.machine, result.report, *ptx));
  addOutputs(OutputKind::PTX, *ptx);
  endTiming("ptxas");
  if (result.status == AssemblerResult::Status::TooFewRegisters) {
    status = ExitStatus::InputErrors;
    diagnostics.report({}, diag::err_annotation_not_honoured)
        << "the limit of registers, `@maxregs` or `--maxrregcount`, cannot be honoured: an instruction needs more";
    return false;
  }
  if (result.status != AssemblerResult::Status::Success) {
    status = ExitStatus::ToolFailed;
    if (result.status == AssemblerResult::Status::Missing)
      diagnostics.report({}, diag::err_ptxas_missing);
    else if (result.status == AssemblerResult::Status::NotRun)
      diagnostics.report({}, diag::err_ptxas_not_run) << result.log;
    else
      diagnostics.report({}, diag::err_ptxas_failed)
          << writeReproducer(options, sources, "ptxas failed", result.log + "\n" + *ptx);
    return false;
  }
  sortLikeModule(result.report);
  reportAssembly(result.report);
  if (options.resourceUsage)
    printResources(result.report);
  addOutputs(OutputKind::Cubin, result.cubin);
  return !wants(OutputKind::Fatbin) || bundle(result.cubin, *ptx);
}

bool Compilation::bundle(const std::string &cubin, const std::string &ptx) {
  AssemblerResult result = Assembler(options.programFolder).bundle(cubin, ptx, *options.machine);
  endTiming("fatbinary");
  if (result.status == AssemblerResult::Status::Success) {
    addOutputs(OutputKind::Fatbin, result.cubin);
    return true;
  }
  status = ExitStatus::ToolFailed;
  if (result.status == AssemblerResult::Status::Missing)
    diagnostics.report({}, diag::err_fatbinary_missing);
  else
    diagnostics.report({}, diag::err_fatbinary_failed) << StringRef(result.log).trim();
  return false;
}

bool Compilation::generateCode() {
  if (none_of((*module).getOps<mlir::LLVM::LLVMFuncOp>(), [](auto f) { return f->hasAttr("nvvm.kernel"); })) {
    diagnostics.report({}, diag::err_no_kernels) << options.input;
    return false;
  }
  bool hasInterface = (*module)->hasAttr("tilec.kernels");
  for (const Output &output : options.outputs) {
    bool isHeader = output.kind == OutputKind::Header;
    if ((isHeader || output.kind == OutputKind::JSON) && !output.implied && !hasInterface) {
      diagnostics.report({}, diag::err_no_launch_interface)
          << options.input << (isHeader ? "the header" : "the reflection file");
      return false;
    }
  }
  if (hasInterface) {
    Expected<std::vector<KernelInfo>> read = readLaunchInfo(*module);
    if (!read)
      return failInternally(toString(read.takeError()));
    kernels = std::move(*read);
    if (Error error = verifyKernels(*module, kernels, *options.machine))
      return failInternally(toString(std::move(error)));
    std::string source = options.input == "-" ? "stdin" : sys::path::filename(options.input).str();
    ModuleFacts facts{source, getVersion().str(), options.machine->name.str()};
    if (wants(OutputKind::JSON)) {
      std::string text;
      raw_string_ostream os(text);
      writeReflection(kernels, facts, os);
      addOutputs(OutputKind::JSON, text);
    }
    if (wants(OutputKind::Header))
      addOutputs(OutputKind::Header, writeHeader(kernels, facts));
  }
  if (options.lineInfo && mlir::failed(addLineInfo(*module, options.prefixMap)))
    return failInternally("no line table could be made");
  if (wants(OutputKind::LLVM) && !emitLLVM())
    return false;
  return assemble();
}

void Compilation::sortLikeModule(AssemblerReport &report) const {
  // ptxas works on several kernels at a time and reports them as they are done.
  auto position = [&](StringRef entry) {
    auto functions = (*module).getOps<mlir::LLVM::LLVMFuncOp>();
    return std::distance(functions.begin(), find_if(functions, [&](auto f) { return f.getName() == entry; }));
  };
  llvm::sort(report.kernels,
             [&](const KernelResources &a, const KernelResources &b) { return position(a.entry) < position(b.entry); });
}

void Compilation::reportAssembly(const AssemblerReport &report) {
  for (const KernelResources &kernel : report.kernels)
    if (kernel.spills() || kernel.stack != 0)
      diagnostics.report({}, diag::warn_spills) << kernel.entry << std::max(kernel.stack, kernel.spillStores);
  for (const AssemblerNote &note : report.notes) {
    if (note.kind == AssemblerNote::Kind::SerializedProducts)
      diagnostics.report({}, diag::warn_serialized_products) << note.entry << note.code;
    else if (note.kind == AssemblerNote::Kind::IgnoredRegisterSplit)
      diagnostics.report({}, diag::warn_ignored_register_split) << note.entry << note.code;
  }
}

} // namespace tilec
