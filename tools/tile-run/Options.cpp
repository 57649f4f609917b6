// Reads the command line of tile-run. CLI11 reports mistakes by exceptions, which this file alone uses.
#include "Options.h"

#include "tilec/Simulator/Report.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <CLI/CLI.hpp>

using namespace tilec;
using llvm::StringRef;

namespace {
/// Options of the form NAME=VALUE, as written.
struct RawOptions {
  std::vector<std::string> positional, outputs, checks, strides, shapes, offsets;
  std::string checkElements, schedule = "late";
  bool noChecks = false;
};
} // namespace

// CLI11's own message for it prints the largest double.
static CLI::Validator positive() {
  return CLI::Validator(
      [](std::string &text) {
        int64_t value;
        return StringRef(text).getAsInteger(10, value) || value <= 0 ? "`" + text + "` is no positive number" : "";
      },
      "");
}

static void addRunOptions(CLI::App &app, TileRunOptions &options, RawOptions &raw) {
  const char *group = "Kernel and arguments";
  app.add_option("arguments", raw.positional,
                 "FILE.tile, then NAME=VALUE: file.npy, rand, normal, range, zeros, ones or full(x) for a tensor, a "
                 "number for a scalar or dimension. Inputs that are not mentioned are normally distributed")
      ->type_name("FILE.tile NAME=VALUE...");
  app.add_option("--kernel", options.kernel, "The kernel, where the file has several")->type_name("NAME")->group(group);
  app.add_option("-D", options.defines, "A constant of the kernels")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false)
      ->group(group);
  app.add_option("-I", options.importFolders, "A folder where imports are looked for")
      ->type_name("DIR")
      ->allow_extra_args(false)
      ->group(group);
  app.add_option("--arch", options.arch, "The architecture; sm_90a in the simulator, else that of the card")
      ->group(group);
  app.add_option("--variant", options.variant,
                 "The variant to take instead of the one that a launcher would choose, such as general")
      ->type_name("NAME")
      ->group(group);
  app.add_option("--ptx", options.ptx, "Run this PTX instead of compiling; without --json it says in comments how")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--json", options.json, "The reflection file of --ptx")->type_name("FILE")->group(group);
  app.add_option("--steps", raw.strides, "Strides of a tensor in elements")
      ->type_name("NAME=A,B")
      ->allow_extra_args(false)
      ->group(group);
  app.add_option("--offset", raw.offsets, "Elements between an aligned address and the tensor")
      ->type_name("NAME=N")
      ->allow_extra_args(false)
      ->group(group);
  app.add_option("--shape", raw.shapes, "The shape of a tensor, where dimensions do not give it")
      ->type_name("NAME=A,B")
      ->allow_extra_args(false)
      ->group(group);
  app.add_option("--tilec", options.tilec, "The compiler, beside tile-run unless given")
      ->type_name("PROGRAM")
      ->group(group);
}

static void addResultOptions(CLI::App &app, TileRunOptions &options, RawOptions &raw) {
  const char *group = "Results";
  app.add_option("--out", raw.outputs, "Write a result")
      ->type_name("NAME=FILE.npy")
      ->allow_extra_args(false)
      ->group(group);
  app.add_flag("--decode", options.decode, "Write bf16 and f8 as float32 instead of their bits")->group(group);
  app.add_option("--check", raw.checks,
                 "Compare results: with an array ([NAME=]FILE.npy), with an expression in the language "
                 "('C[m, n] = sum[k](A[m, k] * B[n, k])'), or with the statements of a file (@FILE)")
      ->type_name("REFERENCE")
      ->allow_extra_args(false)
      ->group(group);
  app.add_option("--check-elements", raw.checkElements,
                 "Elements that an expression is evaluated for: a number or all; without it as many as take seconds")
      ->type_name("N")
      ->group(group);
  app.add_option("--rtol", options.relative, "Allowed error relative to the reference")->type_name("X")->group(group);
  app.add_option("--atol", options.absolute, "Allowed error relative to the reference's root mean square")
      ->type_name("X")
      ->group(group);
}

static void addDeviceOptions(CLI::App &app, TileRunOptions &options, RawOptions &raw) {
  const char *group = "Device";
  app.add_flag("--simulate", options.simulate, "Use the simulator even if there is a GPU")->group(group);
  app.add_flag("--gpu", options.gpu, "Fail if there is no GPU")->group(group);
  app.add_option("--seed", options.seed, "Seed of random contents and of the order of warps")
      ->type_name("N")
      ->group(group);
  app.add_option("--seeds", options.seeds, "Run with this many seeds")->type_name("N")->check(positive())->group(group);
  app.add_option("--schedule", raw.schedule, "When asynchronous work completes")
      ->check(CLI::IsMember({"late", "early", "random"}))
      ->group(group);
  app.add_option("--sms", options.sms, "Multiprocessors of the simulated device")
      ->type_name("N")
      ->check(positive())
      ->group(group);
  app.add_flag("--report", options.report, "Print the simulator's counts by source line")->group(group);
  app.add_option("--report-json", options.reportFile, "Write the counts by source line and by PTX line as JSON")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--report-fail", options.reportFail, "Fail if a count is not 0, such as bank-conflicts")
      ->type_name("COUNT")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group(group);
  app.add_flag("--no-checks", raw.noChecks, "Do not look for races, missing fences and uninitialised memory")
      ->group(group);
  app.add_flag("-q,--quiet", options.quiet, "Print nothing but faults and errors")->group(group);
  app.add_flag("--bench", options.bench, "Measure the time on a GPU")->group(group);
  app.add_option("--repetitions", options.repetitions, "Launches measured by --bench")
      ->type_name("N")
      ->check(positive())
      ->group(group);
}

static void require(bool condition, const std::string &message) {
  if (!condition)
    throw CLI::ValidationError(message);
}

static std::vector<int64_t> parseList(StringRef text) {
  std::vector<int64_t> list;
  llvm::SmallVector<StringRef, 4> parts;
  text.split(parts, ',');
  for (StringRef part : parts)
    require(!part.trim().getAsInteger(0, list.emplace_back()), "`" + text.str() + "` is no list of numbers");
  return list;
}

static std::pair<StringRef, StringRef> splitPair(StringRef text) {
  auto [name, value] = text.split('=');
  require(!name.empty() && !value.empty(), "`" + text.str() + "` is not of the form NAME=VALUE");
  return {name, value};
}

// `x.npy` or `C=x.npy`
static std::pair<std::string, std::string> splitFile(StringRef text) {
  auto [name, value] = text.split('=');
  require(!name.empty() && !text.ends_with("="), "`" + text.str() + "` is not of the form NAME=FILE.npy");
  return value.empty() ? std::pair(std::string(), text.str()) : std::pair(name.str(), value.str());
}

// A file, or an expression, which has subscripts.
static CheckOption parseCheck(StringRef text) {
  text = text.trim();
  if (text.consume_front("@"))
    return {CheckOption::ExpressionFile, "", text.str()};
  if (!text.ends_with(".npy") && text.contains('['))
    return {CheckOption::Expression, "", text.str()};
  require(text.ends_with(".npy") || text.contains('/') || !text.contains(' '),
          "`" + text.str() + "` is neither a file nor an expression such as 'C[m, n] = A[m, n] + B[m, n]'");
  auto [name, path] = splitFile(text);
  return {CheckOption::Array, name, path};
}

static std::optional<int64_t> parseCheckElements(StringRef text) {
  int64_t count = 0;
  if (text.empty())
    return std::nullopt;
  require(text == "all" || (!text.getAsInteger(10, count) && count > 0),
          "--check-elements: `" + text.str() + "` is neither a number nor `all`");
  return count;
}

static void checkCounts(const std::vector<std::string> &names) {
  std::vector<std::string> keys;
  for (const simulator::CountField &count : simulator::countFields)
    keys.push_back(count.key);
  for (StringRef name : names) {
    StringRef key = name;
    key.consume_front("loop-");
    require(llvm::is_contained(keys, key.str()), "--report-fail: there is no count `" + name.str() +
                                                     "`; the counts are " + llvm::join(keys, ", ") +
                                                     ", each also with `loop-` before it for loops alone");
  }
}

static void finish(TileRunOptions &options, const RawOptions &raw) {
  for (StringRef text : raw.positional) {
    if (!text.contains('=')) {
      require(options.input.empty(), "`" + text.str() + "` is not of the form NAME=VALUE");
      options.input = text.str();
      continue;
    }
    auto [name, value] = splitPair(text);
    options.arguments.values.push_back({name.str(), value.str()});
  }
  require(!options.input.empty() || !options.ptx.empty(), "a FILE.tile or --ptx is required");
  require(options.input.empty() || options.ptx.empty(), "both a FILE.tile and --ptx");
  require(options.json.empty() || !options.ptx.empty(), "--json needs --ptx");
  require(!options.simulate || (!options.bench && !options.gpu), "--bench and --gpu need a GPU, --simulate uses none");
  for (StringRef text : raw.strides)
    options.arguments.strides[splitPair(text).first.str()] = parseList(splitPair(text).second);
  for (StringRef text : raw.shapes)
    options.arguments.shapes[splitPair(text).first.str()] = parseList(splitPair(text).second);
  for (StringRef text : raw.offsets)
    options.arguments.offsets[splitPair(text).first.str()] = parseList(splitPair(text).second).front();
  for (StringRef text : raw.outputs)
    options.outputs.push_back(splitFile(text));
  for (StringRef text : raw.checks)
    options.checks.push_back(parseCheck(text));
  checkCounts(options.reportFail);
  for (const std::optional<double> &tolerance : {options.relative, options.absolute})
    require(!tolerance || *tolerance >= 0, "--rtol and --atol are not negative");
  options.checkElements = parseCheckElements(raw.checkElements);
  options.arguments.seed = options.seed;
  options.looksForFaults = !raw.noChecks;
  options.schedule = raw.schedule == "early"    ? simulator::Schedule::Early
                     : raw.schedule == "random" ? simulator::Schedule::Random
                                                : simulator::Schedule::Late;
}

// The option that an unknown one may have meant.
static std::string suggestion(const CLI::App &app, int argc, char **argv) {
  for (StringRef argument : llvm::ArrayRef(argv, static_cast<size_t>(argc)).drop_front()) {
    StringRef name = argument.split('=').first;
    if (!name.consume_front("--"))
      continue;
    std::string best;
    unsigned nearest = 3;
    bool known = false;
    for (const CLI::Option *option : app.get_options())
      for (const std::string &candidate : option->get_lnames()) {
        known |= name == candidate;
        unsigned distance = name.edit_distance(candidate, /*AllowReplacements=*/true, nearest);
        if (distance < nearest) {
          nearest = distance;
          best = candidate;
        }
      }
    if (!known && !best.empty())
      return "; did you mean --" + best + "?";
  }
  return "";
}

std::optional<int> tilec::parseCommandLine(int argc, char **argv, TileRunOptions &options) {
  CLI::App app(
      "Runs a kernel of a .tile file: on a GPU if there is one, otherwise in the simulator, which also looks for "
      "races, missing waits and accesses outside of tensors.",
      "tile-run");
  RawOptions raw;
  addRunOptions(app, options, raw);
  addResultOptions(app, options, raw);
  addDeviceOptions(app, options, raw);
  app.footer("Example: tile-run gemm.tile --kernel=gemm M=256 N=256 K=128 --out C=c.npy --report\n"
             "bf16 and f8 lie in .npy files as their bits (uint16, uint8).\n"
             "Exit status: 0; 1 a fault, a wrong result or an input that cannot be run; 2 the command line is wrong; "
             "3 a tool is missing or failed.");
  try {
    app.parse(argc, argv);
    options.scheduleGiven = app.count("--schedule") > 0;
    finish(options, raw);
  } catch (const CLI::ParseError &error) {
    if (error.get_exit_code() == 0)
      return app.exit(error);
    llvm::errs() << "tile-run: error: " << error.what() << suggestion(app, argc, argv) << "\n";
    return 2;
  }
  return std::nullopt;
}
