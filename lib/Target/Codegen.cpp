// LLVM IR and PTX from the LLVM and NVVM dialects.
#include "tilec/Target/Codegen.h"
#include "KernelModules.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "tilec/Target/LineInfo.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Target/TargetMachine.h"

using namespace llvm;

namespace tilec {
namespace {

/// The PTX level: 8.6 has everything that sm_90a needs, and one level for all keeps the texts comparable.
constexpr StringLiteral ptxFeatures = "+ptx86";

Error makeError(const Twine &message) { return createStringError(inconvertibleErrorCode(), message); }

Expected<std::unique_ptr<TargetMachine>> createTargetMachine(const CodegenOptions &options) {
  static const bool initialised = [] {
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    return true;
  }();
  (void)initialised;
  Triple triple("nvptx64-nvidia-cuda");
  std::string message;
  const Target *target = TargetRegistry::lookupTarget(triple, message);
  if (!target)
    return makeError(message);
  auto level = static_cast<CodeGenOptLevel>(std::min(options.optLevel, 3u));
  std::unique_ptr<TargetMachine> machine(target->createTargetMachine(
      triple, options.machine->name, ptxFeatures, TargetOptions(), std::nullopt, std::nullopt, level));
  if (!machine)
    return makeError("LLVM has no machine for " + options.machine->name);
  return machine;
}

/// Keeps what LLVM's passes complain of. The default handler prints it and ends the program.
class ErrorKeeper : public DiagnosticHandler {
public:
  explicit ErrorKeeper(std::string &errors) : errors(errors) {}
  bool handleDiagnostics(const DiagnosticInfo &info) override {
    if (info.getSeverity() != DS_Error)
      return true;
    raw_string_ostream os(errors);
    DiagnosticPrinterRawOStream printer(os);
    info.print(printer);
    os << '\n';
    return true;
  }

private:
  std::string &errors;
};

/// Every inline assembly may synchronise threads, so that none may be copied into the arms of a branch. The MLIR
/// operation cannot say so; without this, jump threading doubles barriers and the kernel hangs.
void markAssemblyConvergent(Module &module) {
  for (Function &function : module)
    for (Instruction &instruction : instructions(function))
      if (auto *call = dyn_cast<CallBase>(&instruction); call && call->isInlineAsm())
        call->setConvergent();
}

Expected<std::unique_ptr<Module>> translate(mlir::ModuleOp module, LLVMContext &context, TargetMachine &machine) {
  std::string messages;
  // Messages of other threads belong to other handlers.
  uint64_t thread = get_threadid();
  mlir::ScopedDiagnosticHandler handler(module.getContext(), [&](mlir::Diagnostic &diagnostic) {
    if (thread != get_threadid())
      return mlir::failure();
    messages += diagnostic.str() + "\n";
    return mlir::success();
  });
  std::unique_ptr<Module> result = mlir::translateModuleToLLVMIR(module, context, "tilec");
  if (!result)
    return makeError("translation to LLVM IR failed: " + messages);
  result->setTargetTriple(machine.getTargetTriple());
  result->setDataLayout(machine.createDataLayout());
  markAssemblyConvergent(*result);
  raw_string_ostream os(messages);
  if (verifyModule(*result, &os))
    return makeError("invalid LLVM IR: " + messages);
  return result;
}

void optimise(Module &module, TargetMachine &machine, unsigned optLevel) {
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager components;
  ModuleAnalysisManager modules;
  PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  static constexpr const OptimizationLevel *levels[] = {&OptimizationLevel::O0, &OptimizationLevel::O1,
                                                        &OptimizationLevel::O2, &OptimizationLevel::O3};
  const OptimizationLevel &level = *levels[std::min(optLevel, 3u)];
  ModulePassManager passes =
      optLevel == 0 ? builder.buildO0DefaultPipeline(level) : builder.buildPerModuleDefaultPipeline(level);
  passes.run(module, modules);
}

Expected<std::string> printPTX(Module &module, TargetMachine &machine) {
  SmallString<0> text;
  raw_svector_ostream os(text);
  legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, os, nullptr, CodeGenFileType::AssemblyFile))
    return makeError("LLVM cannot print PTX");
  passes.run(module);
  return text.str().str();
}

Expected<std::string> emitKernelPTX(mlir::ModuleOp module, const CodegenOptions &options) {
  LLVMContext context;
  std::string errors;
  context.setDiagnosticHandler(std::make_unique<ErrorKeeper>(errors));
  auto machine = createTargetMachine(options);
  if (!machine)
    return machine.takeError();
  auto result = translate(module, context, **machine);
  if (!result)
    return result.takeError();
  optimise(**result, **machine, options.optLevel);
  Expected<std::string> text = printPTX(**result, **machine);
  if (errors.empty())
    return text;
  consumeError(text.takeError());
  return makeError(errors);
}

/// The same, where a fatal error of LLVM on this thread is an error of the result if crash recovery is on.
Expected<std::string> emitKernelPTXSafely(const KernelModule &kernel, const CodegenOptions &options) {
  std::optional<Expected<std::string>> result;
  CrashRecoveryContext recovery;
  recovery.RunSafely([&] { result.emplace(emitKernelPTX(*kernel.module, options)); });
  if (!result)
    return makeError("LLVM stopped at kernel `" + kernel.entry + "`");
  return std::move(*result);
}

} // namespace

void registerTargetTranslations(mlir::DialectRegistry &registry) {
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
  mlir::registerNVVMDialectTranslation(registry);
}

Expected<std::string> emitLLVMIR(mlir::ModuleOp module, const CodegenOptions &options, bool optimiseModule) {
  LLVMContext context;
  auto machine = createTargetMachine(options);
  if (!machine)
    return machine.takeError();
  mlir::OwningOpRef<mlir::ModuleOp> copy(module.clone());
  auto result = translate(*copy, context, **machine);
  if (!result)
    return result.takeError();
  if (optimiseModule)
    optimise(**result, **machine, options.optLevel);
  std::string text;
  raw_string_ostream os(text);
  (*result)->print(os, nullptr);
  return text;
}

Expected<std::string> emitPTX(mlir::ModuleOp module, const CodegenOptions &options) {
  std::vector<KernelModule> kernels = splitKernels(module);
  if (kernels.empty())
    return makeError("the module has no kernel");
  std::vector<std::optional<Expected<std::string>>> parts(kernels.size());
  // The types and attributes of a context may be used from several threads only if the context locks them.
  unsigned threads = module.getContext()->isMultithreadingEnabled() ? options.threads : 1;
  if (kernels.size() == 1)
    threads = 1;
  DefaultThreadPool pool(hardware_concurrency(threads));
  for (size_t i = 0; i < kernels.size(); ++i)
    pool.async([&, i] { parts[i] = emitKernelPTXSafely(kernels[i], options); });
  pool.wait();

  std::vector<std::string> texts;
  Error errors = Error::success();
  for (std::optional<Expected<std::string>> &part : parts) {
    if (!*part) {
      errors = joinErrors(std::move(errors), part->takeError());
      continue;
    }
    texts.push_back(std::move(**part));
  }
  if (errors)
    return errors;
  return joinPTX(texts);
}

} // namespace tilec
