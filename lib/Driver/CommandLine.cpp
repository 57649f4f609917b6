// Reads the command line of tilec. This file alone in the compiler is built with exceptions, which CLI11 throws.
#include "tilec/Driver/CommandLine.h"
#include "OutputNames.h"
#include "tilec/Driver/Pipeline.h"
#include "tilec/Target/Assembler.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Process.h"
#include <CLI/CLI.hpp>

using namespace llvm;

namespace tilec {
namespace {

/// Options as written; what follows from several of them is worked out afterwards.
struct RawOptions {
  OutputRequest outputs;
  std::string arch = "sm_90a";
  std::vector<std::string> defines, shape;
  std::string dependencyFile;
  bool dependencies = false;
  std::vector<std::string> prefixMap;
  bool debug = false, fastMath = false, strictFloats = false;
  std::string colour = "auto";
  std::string diagnosticsFormat = "text";
  std::string explain;
  bool version = false;
  bool listTargets = false;
  bool listPasses = false;
};

/// CLI11 has no options of several letters after one dash.
void rewriteLongOptions(std::vector<std::string> &arguments) {
  for (std::string &argument : arguments)
    if (argument == "-MD" || argument == "-MF" || argument == "-MT" || argument == "-MP" ||
        StringRef(argument).starts_with("-ffile-prefix-map="))
      argument.insert(0, "-");
}

void addOutputOptions(CLI::App &app, RawOptions &raw, CompileOptions &compile) {
  const char *group = "Outputs";
  app.add_option("-o", raw.outputs.path,
                 "The output; its extension picks the form: .cubin .fatbin .ptx .ll .mlir .h .json")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--emit", raw.outputs.emit, "Forms to write: ast,tile,tilegpu,nvvm,llvm,ptx,cubin,fatbin,header,json")
      ->type_name("FORM,...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group(group);
  app.add_flag("-S", raw.outputs.assembly, "Write PTX")->group(group);
  app.add_option("--header", raw.outputs.header, "The C header with the launchers")->type_name("FILE")->group(group);
  app.add_flag("--no-header", raw.outputs.noHeader, "No header beside the cubin")->group(group);
  app.add_option("--json", raw.outputs.json, "The reflection file")->type_name("FILE")->group(group);
  app.add_option("--remarks", compile.remarksPath, "Every decision of the compiler, as YAML")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--stop-after", compile.stopAfter, "Stop after a step and print the module")
      ->type_name("STEP")
      ->group(group);
}

void addInspectionOptions(CLI::App &app, RawOptions &raw, CompileOptions &compile) {
  const char *group = "Inspection";
  app.add_option("--dump-after", compile.dump.after, "Print the module after these steps, or `all`")
      ->type_name("STEP,...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group(group);
  app.add_option("--dump-before", compile.dump.before, "Print the module before these steps, or `all`")
      ->type_name("STEP,...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group(group);
  app.add_option("--dump-dir", compile.dump.folder, "Dump into numbered files of a folder")
      ->type_name("DIR")
      ->group(group);
  app.add_flag("--list-passes", raw.listPasses, "List the steps of the compiler")->group(group);
  app.add_flag("--time-passes", compile.timePasses, "Print how long each step takes")->group(group);
  app.add_flag("--explain-plan", compile.explainPlan, "Print every decision and its reason")->group(group);
  app.add_option("--shape", raw.shape, "Print which variant these sizes get, as --explain-plan does")
      ->type_name("NAME=SIZE,...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group(group);
  app.add_flag("--resource-usage", compile.resourceUsage, "Print registers, spills and shared memory")->group(group);
}

void addBuildOptions(CLI::App &app, RawOptions &raw, CompileOptions &compile) {
  const char *group = "Source and build system";
  app.add_option("-I", compile.importFolders, "A folder where imports are looked for")
      ->type_name("DIR")
      ->allow_extra_args(false)
      ->group(group);
  app.add_option("-D", raw.defines, "Set a constant of the kernels")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false)
      ->group(group);
  app.add_flag("--MD", raw.dependencies, "Write a dependency file for make beside the output (-MD)")->group(group);
  app.add_option("--MF", raw.dependencyFile, "Write the dependencies to this file (-MF)")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--MT", compile.dependencies.targets, "The target of the dependency rule (-MT)")
      ->type_name("TARGET")
      ->allow_extra_args(false)
      ->group(group);
  app.add_flag("-M", compile.dependencies.only, "Write the dependencies to standard output and compile nothing")
      ->group(group);
  app.add_option("--ffile-prefix-map", raw.prefixMap, "Replace the beginning of paths in outputs (-ffile-prefix-map=)")
      ->type_name("OLD=NEW")
      ->allow_extra_args(false)
      ->group(group);
  app.add_flag("--MP", compile.dependencies.phonyRules, "A phony rule for every import (-MP)")->group(group);
}

void addCodeOptions(CLI::App &app, RawOptions &raw, CompileOptions &compile) {
  const char *group = "Target and code";
  app.add_option("--arch", raw.arch, "The architecture or card, sm_90a unless given")->type_name("ARCH")->group(group);
  app.add_flag("--list-targets", raw.listTargets, "List the architectures and their cards")->group(group);
  app.add_option("-O", compile.optLevel, "The optimisation level")
      ->type_name("0..3")
      ->check(CLI::Range(0u, 3u))
      ->group(group);
  app.add_flag("-g,--lineinfo", compile.lineInfo, "Line tables: the source line of every instruction")->group(group);
  // Names that users of other compilers try: refused with the reason, and not listed.
  app.add_flag("--debug", raw.debug)->group("");
  app.add_flag("--fast-math", raw.fastMath)->group("");
  app.add_flag("--strict-fp", raw.strictFloats)->group("");
  app.add_option("--maxrregcount", compile.maxRegisters, "Registers a thread, at most")
      ->type_name("N")
      ->check(CLI::Range(16u, 255u))
      ->group(group);
}

void addDiagnosticOptions(CLI::App &app, RawOptions &raw, CommandLine &result) {
  const char *group = "Diagnostics";
  app.add_option("-W", result.warnings, "all, perf, error, NAME, error=NAME, or any of them after no-")
      ->type_name("WARNING")
      ->allow_extra_args(false)
      ->group(group);
  app.add_flag("-w", result.noWarnings, "No warnings")->group(group);
  app.add_option("--error-limit", result.errorLimit, "Errors printed at most; 0 for all")->type_name("N")->group(group);
  app.add_option("--diagnostics-format", raw.diagnosticsFormat, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->group(group);
  app.add_option("--color", raw.colour, "auto, always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->group(group);
  app.add_option("--explain", raw.explain, "Explain a diagnostic, by its code or the name of its warning")
      ->type_name("CODE")
      ->group(group);
}

void printVersion(raw_ostream &out, StringRef programFolder) {
  std::optional<std::string> ptxas = Assembler(programFolder).getVersion();
  out << "tilec " << getVersion() << "\nLLVM " << LLVM_VERSION_STRING << "\nptxas " << (ptxas ? *ptxas : "not found")
      << "\n";
}

void listTargets(raw_ostream &out) {
  for (const Machine &machine : machines())
    out << left_justify(machine.name, 8) << llvm::join(cardsOf(machine), " ") << "\n";
}

void listPasses(raw_ostream &out) {
  out << left_justify("parse", 20) << "read the program\n"
      << left_justify("irgen", 20) << "check it and write it in the tile dialect\n";
  for (const PipelineStep &step : getPipeline())
    out << left_justify(step.name, 20) << step.summary << "\n";
}

ExitStatus complain(raw_ostream &err, const Twine &message) {
  err << "tilec: error: " << message << "\n";
  return ExitStatus::CommandLine;
}

/// Answers --version, --list-... and --explain; nothing if none was asked.
std::optional<ExitStatus> answerQuestions(const RawOptions &raw, StringRef programFolder, raw_ostream &out,
                                          raw_ostream &err) {
  if (raw.version)
    printVersion(out, programFolder);
  else if (raw.listTargets)
    listTargets(out);
  else if (raw.listPasses)
    listPasses(out);
  else if (raw.explain.empty())
    return std::nullopt;
  else if (auto page = explain(raw.explain))
    out << *page;
  else
    return complain(err, "no diagnostic has the code or name `" + raw.explain + "`");
  return ExitStatus::Success;
}

bool isStep(StringRef name) {
  return name == "parse" || name == "irgen" ||
         any_of(getPipeline(), [&](const PipelineStep &step) { return step.name == name; });
}

/// The first name that is no step, or null.
const std::string *findUnknownStep(const CompileOptions &compile) {
  for (const std::vector<std::string> *names : {&compile.dump.before, &compile.dump.after})
    for (const std::string &name : *names)
      if (name != "all" && !isStep(name))
        return &name;
  if (!compile.stopAfter.empty() && !isStep(compile.stopAfter))
    return &compile.stopAfter;
  return nullptr;
}

/// Works out what follows from the options together.
std::optional<ExitStatus> finishOptions(RawOptions &raw, CommandLine &result, raw_ostream &err) {
  CompileOptions &compile = result.compile;
  if (compile.input.empty())
    return complain(err, "no input file; `tilec --help` shows the usage");
  for (auto [given, name] : {std::pair(raw.debug, "--debug"), std::pair(raw.fastMath, "--fast-math"),
                             std::pair(raw.strictFloats, "--strict-fp")})
    if (given)
      return complain(err, Twine("`") + name + "` is not built yet");
  if (StringRef(raw.arch).contains(','))
    return complain(err,
                    "several architectures in one output are not built yet; run tilec for each of `" + raw.arch + "`");
  if (raw.arch == "native")
    return complain(err, "`--arch=native` is not built yet; `tilec --list-targets` lists the architectures");
  for (StringRef mapping : raw.prefixMap) {
    auto [from, to] = mapping.split('=');
    if (from.empty() || !mapping.contains('='))
      return complain(err, "`-ffile-prefix-map=" + mapping + "` is not of the form OLD=NEW");
    compile.prefixMap.emplace_back(from.str(), to.str());
  }
  compile.machine = findMachine(raw.arch);
  if (!compile.machine) {
    const Machine *similar = findSimilarMachine(raw.arch);
    return complain(
        err, "unknown architecture `" + raw.arch + "`; " +
                 (similar ? ("did you mean `" + similar->name + "`?").str() : "`tilec --list-targets` lists them"));
  }
  if (const std::string *name = findUnknownStep(compile))
    return complain(err, "unknown step `" + *name + "`; `tilec --list-passes` lists them");
  for (StringRef define : raw.defines) {
    auto [name, value] = define.split('=');
    if (name.empty() || value.empty())
      return complain(err, "`-D " + define + "` is not of the form NAME=VALUE");
    compile.defines.emplace_back(name.str(), value.str());
  }
  for (StringRef size : raw.shape) {
    auto [name, text] = size.split('=');
    int64_t value = 0;
    if (name.empty() || text.getAsInteger(10, value) || value < 0)
      return complain(err, "`--shape=" + size + "` is not of the form NAME=SIZE");
    compile.shape.emplace_back(name.str(), value);
    compile.explainPlan = true;
  }
  raw.outputs.input = compile.input;
  raw.outputs.stops = !compile.stopAfter.empty();
  std::string message;
  if (!resolveOutputs(raw.outputs, compile.outputs, message))
    return complain(err, message);
  if (compile.dependencies.only)
    compile.dependencies.path = raw.dependencyFile.empty() ? "-" : raw.dependencyFile;
  else if (raw.dependencies || !raw.dependencyFile.empty())
    compile.dependencies.path =
        raw.dependencyFile.empty() ? replaceExtension(compile.outputs.front().path, "d") : raw.dependencyFile;
  result.jsonDiagnostics = raw.diagnosticsFormat == "json";
  result.colour = raw.colour == "always"  ? ColourMode::Always
                  : raw.colour == "never" ? ColourMode::Never
                                          : ColourMode::Auto;
  return std::nullopt;
}

/// The words of TILEC_FLAGS, split at spaces.
std::vector<std::string> getEnvironmentFlags() {
  std::vector<std::string> result;
  if (auto flags = sys::Process::GetEnv("TILEC_FLAGS")) {
    SmallVector<StringRef> words;
    StringRef(*flags).split(words, ' ', -1, /*KeepEmpty=*/false);
    for (StringRef word : words)
      result.push_back(word.str());
  }
  return result;
}

/// About the first argument that nothing takes: a second input, or an option that there is not.
std::string describeExtra(const CLI::App &app, StringRef input) {
  std::string word = app.remaining().front();
  if (word.front() != '-')
    return ("one input at a time: found `" + word + "` after `" + input + "`").str();
  std::string name = StringRef(word).split('=').first.str(), best;
  unsigned nearest = 4;
  for (const CLI::Option *option : app.get_options()) {
    for (const std::string &known : option->get_lnames()) {
      unsigned distance = StringRef(name).ltrim('-').edit_distance(known, /*AllowReplacements=*/true, nearest);
      if (distance < nearest && !option->get_group().empty()) {
        nearest = distance;
        best = "--" + known;
      }
    }
  }
  return "unknown option `" + word + "`; " +
         (best.empty() ? "`tilec --help` lists the options" : "did you mean `" + best + "`?");
}

/// Replaces `@FILE` by the words of the file, quoted as for a shell; files may name others, relative to themselves.
/// Returns what is wrong, or nothing.
std::string expandResponseFiles(std::vector<std::string> &words) {
  BumpPtrAllocator allocator;
  SmallVector<const char *> expanded;
  for (const std::string &word : words)
    expanded.push_back(word.c_str());
  cl::ExpansionContext context(allocator, cl::TokenizeGNUCommandLine);
  context.setRelativeNames(true);
  if (Error error = context.expandResponseFiles(expanded))
    return toString(std::move(error));
  words = std::vector<std::string>(expanded.begin(), expanded.end());
  // A file that does not exist stays as it is.
  for (StringRef word : words)
    if (word.size() > 1 && word.front() == '@')
      return ("cannot read the response file `" + word.drop_front() + "`").str();
  return "";
}

} // namespace

std::optional<ExitStatus> parseCommandLine(StringRef program, std::vector<std::string> arguments, CommandLine &result,
                                           raw_ostream &out, raw_ostream &err) {
  RawOptions raw;
  CompileOptions &compile = result.compile;
  compile.commandLine = llvm::join(arguments, " ");
  CLI::App app("Compiles GPU kernels in the .tile language ahead of time.", "tilec");
  app.add_option("input", compile.input,
                 "A .tile file, a .mlir file, or - for standard input; @FILE reads more arguments")
      ->type_name("FILE");
  addOutputOptions(app, raw, compile);
  addBuildOptions(app, raw, compile);
  addCodeOptions(app, raw, compile);
  addDiagnosticOptions(app, raw, result);
  addInspectionOptions(app, raw, compile);
  app.add_flag("--version", raw.version, "Print the versions of tilec, LLVM and ptxas");

  std::vector<std::string> words = getEnvironmentFlags();
  words.insert(words.end(), arguments.begin(), arguments.end());
  if (std::string message = expandResponseFiles(words); !message.empty())
    return complain(err, message);
  rewriteLongOptions(words);
  std::reverse(words.begin(), words.end());
  try {
    app.parse(words);
  } catch (const CLI::CallForHelp &) {
    out << app.help();
    return ExitStatus::Success;
  } catch (const CLI::ExtrasError &) {
    return complain(err, describeExtra(app, compile.input));
  } catch (const CLI::ParseError &error) {
    return complain(err, error.what());
  }
  compile.programFolder = program.str();
  if (auto status = answerQuestions(raw, compile.programFolder, out, err))
    return status;
  return finishOptions(raw, result, err);
}

} // namespace tilec
