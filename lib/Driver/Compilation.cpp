// One run of the compiler: input, pipeline, and what is printed on the way.
#include "Compilation.h"
#include "Frontend.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "tilec/Dialect/Tile/TileDialect.h"
#include "tilec/IRGen/IRGen.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include <chrono>

using namespace llvm;

namespace tilec {

static double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Compilation::Compilation(const CompileOptions &options, SourceManager &sources, DiagnosticEngine &diagnostics,
                         raw_ostream &out, raw_ostream &log)
    : options(options), sources(sources), diagnostics(diagnostics), out(out), log(log), lastTime(now()) {
  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  context = std::make_unique<mlir::MLIRContext>(registry);
  irDiagnostics = std::make_unique<IRDiagnostics>(*context, diagnostics);
}

Compilation::~Compilation() = default;

/// Whether the command line is what is wrong: a value of -D, or its name.
static bool isAboutCommandLine(const Diagnostic &diagnostic, const SourceManager &sources) {
  if (diagnostic.kind == diag::err_define_matches_nothing)
    return true;
  SourceRange range = diagnostic.range;
  return range.isValid() && sources.getName(sources.getFile(range.begin)) == commandLineName;
}

ExitStatus Compilation::run() {
  bool done = parseInput() && (stopped || runPipeline()) && (stopped || generateCode()) && writeOutputs();
  if (options.timePasses)
    printTimes();
  if (!done && status == ExitStatus::Success)
    return diagnostics.allErrors([&](const Diagnostic &error) { return isAboutCommandLine(error, sources); })
               ? ExitStatus::CommandLine
               : ExitStatus::InputErrors;
  // A warning that counts as an error leaves no output either.
  return status;
}

bool Compilation::failInternally(const Twine &reason, StringRef details) {
  std::string text = reason.str();
  std::string fullDetails = details.str() + irDiagnostics->takeInternalErrors();
  if (module)
    fullDetails += "\n" + printModule();
  diagnostics.report({}, diag::err_internal) << text << writeReproducer(options, sources, text, fullDetails);
  status = ExitStatus::Internal;
  return false;
}

bool Compilation::wants(OutputKind kind) const {
  return any_of(options.outputs, [&](const Output &output) { return output.kind == kind; });
}

void Compilation::addOutputs(OutputKind kind, const std::string &text) {
  if (stopped || !options.stopAfter.empty())
    return;
  for (const Output &output : options.outputs)
    if (output.kind == kind)
      files.add(output.path, text);
}

bool Compilation::stopsAfter(StringRef step) {
  if (options.stopAfter != step)
    return false;
  stopWith(printModule());
  return true;
}

void Compilation::stopWith(std::string text) {
  stopped = true;
  files.add(options.outputs.empty() ? "-" : options.outputs.front().path, std::move(text));
}

void Compilation::endTiming(StringRef name) {
  double time = now();
  times.emplace_back(name.str(), time - lastTime);
  lastTime = time;
}

bool Compilation::parseInput() {
  FileID file = loadInput(options, sources, diagnostics);
  if (!file.isValid())
    return false;
  return isIRInput(options) ? parseModule(file) : parseProgram(file);
}

bool Compilation::parseModule(FileID file) {
  irDiagnostics->setStep("parse");
  irDiagnostics->setErrorKind(diag::err_invalid_ir);
  module = parseIR(file, sources, *context);
  irDiagnostics->setErrorKind(std::nullopt);
  endTiming("parse");
  if (!module || diagnostics.hasErrors())
    return false;
  stopsAfter("parse");
  return true;
}

bool Compilation::parseProgram(FileID file) {
  Frontend frontend(options, sources, diagnostics);
  bool parsed = frontend.parse(file);
  endTiming("parse");
  if (!parsed)
    return false;
  if (options.dependencies.only) {
    stopped = true;
    return true;
  }
  if (wants(OutputKind::AST))
    addOutputs(OutputKind::AST, frontend.printAST());
  if (options.stopAfter == "parse") {
    stopWith(frontend.printAST());
    return true;
  }
  std::unique_ptr<sema::TypedProgram> typed = frontend.analyse();
  endTiming("sema");
  if (!typed)
    return false;
  irDiagnostics->setStep("irgen");
  module = generateTile(*typed, *context, diagnostics);
  endTiming("irgen");
  if (diagnostics.hasErrors())
    return false;
  if (!module || mlir::failed(mlir::verify(*module)))
    return failInternally("the tile dialect was generated wrongly");
  limitRegisters();
  dump("after", "irgen", options.dump.after);
  stopsAfter("irgen");
  return true;
}

// `--maxrregcount` is `@maxregs` on every kernel that has none: ptxas ignores its own option beside the launch bounds
// that kernels declare.
void Compilation::limitRegisters() {
  if (options.maxRegisters == 0)
    return;
  module->walk([&](tile::KernelOp kernel) {
    mlir::NamedAttrList annotations(kernel.getAnnotations());
    if (annotations.get("maxregs"))
      return;
    annotations.set("maxregs", mlir::Builder(context.get()).getI64IntegerAttr(options.maxRegisters));
    kernel.setAnnotationsAttr(annotations.getDictionary(context.get()));
  });
}

bool Compilation::runStep(const PipelineStep &step) {
  irDiagnostics->setStep(step.name);
  dump("before", step.name, options.dump.before);
  mlir::PassManager passes(context.get());
  // Passes report the user's mistakes; what the verifier says between them would be ours, so it runs apart.
  passes.enableVerifier(false);
  step.build(passes);
  bool succeeded = mlir::succeeded(passes.run(*module));
  endTiming(step.name);
  if (diagnostics.hasErrors())
    return false;
  if (!succeeded)
    return failInternally("step `" + step.name + "` failed");
  if (mlir::failed(mlir::verify(*module)))
    return failInternally("step `" + step.name + "` left invalid IR");
  dump("after", step.name, options.dump.after);
  return true;
}

bool Compilation::runPipeline() {
  // Passes ask the module for its target.
  (*module)->setAttr("tilec.target", mlir::StringAttr::get(context.get(), options.machine->name));
  const IRLevel level = getIRLevel(*module);
  ArrayRef<PipelineStep> steps = getPipeline();
  for (auto [index, step] : enumerate(steps)) {
    if (step.input < level)
      continue;
    // Each level is printed in the last form that the module has on it.
    if (index + 1 < steps.size() && steps[index + 1].input != step.input)
      addModuleOutputs(step.input == IRLevel::Tile ? OutputKind::Tile : OutputKind::TileGPU);
    if (!runStep(step))
      return false;
    if (stopsAfter(step.name))
      return true;
  }
  addModuleOutputs(OutputKind::NVVM);
  return true;
}

void Compilation::addModuleOutputs(OutputKind kind) {
  if (wants(kind))
    addOutputs(kind, printModule());
}

bool Compilation::writeOutputs() {
  if (diagnostics.hasErrors())
    return false;
  if (!options.remarksPath.empty())
    files.add(options.remarksPath, formatRemarks());
  if (options.explainPlan) {
    printRemarks();
    printChoices();
  }
  if (!options.dependencies.path.empty())
    files.add(options.dependencies.path, formatDependencyFile());
  return files.verify(sources, diagnostics) && files.write(out, diagnostics);
}

std::string Compilation::printModule() const {
  std::string text;
  raw_string_ostream os(text);
  (*module)->print(os);
  os << '\n';
  return text;
}

void Compilation::dump(StringRef when, StringRef step, ArrayRef<std::string> wanted) {
  if (none_of(wanted, [&](StringRef name) { return name == step || name == "all"; }))
    return;
  if (options.dump.folder.empty()) {
    log << "// ----- " << when << " " << step << " -----\n" << printModule();
    return;
  }
  std::string number = utostr(++numDumps);
  SmallString<128> path(options.dump.folder);
  sys::path::append(path, std::string(3 - std::min<size_t>(number.size(), 3), '0') + number + "-" + when + "-" + step +
                              ".mlir");
  std::error_code error = sys::fs::create_directories(options.dump.folder);
  raw_fd_ostream os(path, error);
  if (error)
    diagnostics.report({}, diag::err_cannot_write_file) << path.str() << error.message();
  else
    os << printModule();
}

ExitStatus compile(const CompileOptions &options, SourceManager &sources, DiagnosticEngine &diagnostics,
                   raw_ostream &out, raw_ostream &log) {
  return Compilation(options, sources, diagnostics, out, log).run();
}

} // namespace tilec
