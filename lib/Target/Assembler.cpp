// Finds and runs ptxas.
#include "tilec/Target/Assembler.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>

using namespace llvm;

namespace tilec {
namespace {

constexpr StringLiteral wheelFolders[] = {"nvidia/cu13/bin", "nvidia/cuda_nvcc/bin"};

std::string inFolder(StringRef folder, const Twine &tail) {
  SmallString<128> result(folder);
  sys::path::append(result, tail);
  return std::string(result);
}

void addWheels(std::vector<std::string> &candidates, StringRef packages) {
  for (StringRef folder : wheelFolders)
    candidates.push_back(inFolder(packages, folder + "/ptxas"));
}

/// The package folders of every Python below `prefix`/lib, newest version of Python first.
void addPythonPrefix(std::vector<std::string> &candidates, StringRef prefix) {
  std::vector<std::string> pythons;
  std::error_code error;
  for (sys::fs::directory_iterator it(inFolder(prefix, "lib"), error), end; !error && it != end; it.increment(error))
    if (sys::path::filename(it->path()).starts_with("python3"))
      pythons.push_back(it->path());
  std::sort(pythons.rbegin(), pythons.rend());
  for (const std::string &python : pythons)
    for (StringRef packages : {"site-packages", "dist-packages"})
      addWheels(candidates, inFolder(python, packages));
}

std::vector<std::string> listCandidates(StringRef programFolder) {
  std::vector<std::string> candidates;
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"})
    if (auto home = sys::Process::GetEnv(variable))
      candidates.push_back(inFolder(*home, "bin/ptxas"));
  if (auto program = sys::findProgramByName("ptxas"))
    candidates.push_back(*program);
  candidates.push_back("/usr/local/cuda/bin/ptxas");
  // utils/quickstart installs the wheels into the build folder, beside bin.
  addWheels(candidates, inFolder(programFolder, "../cuda"));
  if (auto environment = sys::Process::GetEnv("VIRTUAL_ENV"))
    addPythonPrefix(candidates, *environment);
  if (auto python = sys::findProgramByName("python3"))
    addPythonPrefix(candidates, sys::path::parent_path(sys::path::parent_path(*python)));
  addPythonPrefix(candidates, "/usr");
  addPythonPrefix(candidates, "/usr/local");
  return candidates;
}

/// A temporary file that is deleted at the end of its scope.
struct TemporaryFile {
  TemporaryFile(StringRef suffix) {
    SmallString<128> name;
    valid = !sys::fs::createTemporaryFile("tilec", suffix, name);
    if (valid) {
      remover.setFile(name);
      sys::RemoveFileOnSignal(name);
    }
    path = std::string(name);
  }
  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;
  ~TemporaryFile() {
    if (valid)
      sys::DontRemoveFileOnSignal(path);
  }
  std::string read() const {
    auto buffer = MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
    return buffer ? (*buffer)->getBuffer().str() : "";
  }
  bool write(StringRef text) const {
    std::error_code error;
    raw_fd_ostream os(path, error);
    os << text;
    os.close();
    bool written = !error && !os.has_error();
    os.clear_error();
    return written;
  }

  std::string path;
  bool valid = false;

private:
  FileRemover remover;
};

} // namespace

Assembler::Assembler(StringRef programFolder) {
  // An explicit choice stands even if it does not work: a silent replacement would surprise.
  if (auto chosen = sys::Process::GetEnv("TILEC_PTXAS")) {
    if (sys::fs::can_execute(*chosen))
      path = *chosen;
    return;
  }
  for (const std::string &candidate : listCandidates(programFolder)) {
    if (!sys::fs::can_execute(candidate))
      continue;
    path = candidate;
    return;
  }
}

std::optional<std::string> Assembler::getVersion() const {
  TemporaryFile output("txt");
  if (path.empty() || !output.valid)
    return std::nullopt;
  std::optional<StringRef> redirects[] = {StringRef(), StringRef(output.path), StringRef()};
  if (sys::ExecuteAndWait(path, {path, "--version"}, std::nullopt, redirects) != 0)
    return std::nullopt;
  std::string text = output.read();
  StringRef version = StringRef(text).split(", V").second.split('\n').first;
  if (version.empty())
    return std::nullopt;
  return version.trim().str();
}

static void reportNoTemporaryFiles(AssemblerResult &result) {
  SmallString<128> folder;
  sys::path::system_temp_directory(/*ErasedOnReboot=*/true, folder);
  result.status = AssemblerResult::Status::NotRun;
  result.log = ("no temporary file can be written in `" + folder + "`").str();
}

/// Runs a program, whose path is the first argument, and puts its log and what it wrote to `output` into the result.
static void runTool(ArrayRef<StringRef> arguments, const TemporaryFile &output, const TemporaryFile &log,
                    AssemblerResult &result) {
  std::optional<StringRef> redirects[] = {StringRef(), StringRef(log.path), StringRef(log.path)};
  std::string message;
  int status = sys::ExecuteAndWait(arguments.front(), arguments, std::nullopt, redirects, 0, 0, &message);
  result.log = log.read() + message;
  // Negative: it could not be started, or a signal ended it.
  if (status < 0) {
    result.status = AssemblerResult::Status::NotRun;
    result.log = message.empty() ? "it crashed" : message;
  }
  if (status != 0)
    return;
  result.cubin = output.read();
  if (!result.cubin.empty())
    result.status = AssemblerResult::Status::Success;
}

AssemblerResult Assembler::assemble(StringRef ptx, const AssemblerOptions &options) const {
  AssemblerResult result;
  if (path.empty()) {
    result.status = AssemblerResult::Status::Missing;
    return result;
  }
  TemporaryFile input("ptx"), output("cubin"), log("log");
  if (!input.valid || !output.valid || !log.valid || !input.write(ptx)) {
    reportNoTemporaryFiles(result);
    return result;
  }
  std::string level = "-O" + utostr(options.optLevel);
  std::string arch = ("-arch=" + options.machine->name).str();
  // 0 asks for one thread a core. The cubin records the option's text, so it must not depend on the machine.
  SmallVector<StringRef> arguments = {path, arch, level, "-v", "-split-compile=0", input.path, "-o", output.path};
  if (options.lineInfo)
    arguments.push_back("-lineinfo");
  runTool(arguments, output, log, result);
  // C7602, which is fatal: with threads of its own, ptxas aborts.
  if (result.status != AssemblerResult::Status::Success && StringRef(log.read()).contains("Insufficient registers"))
    result.status = AssemblerResult::Status::TooFewRegisters;
  result.report = parseAssemblerLog(result.log);
  return result;
}

AssemblerResult Assembler::bundle(StringRef cubin, StringRef ptx, const Machine &machine) const {
  AssemblerResult result;
  SmallString<128> program(sys::path::parent_path(path));
  sys::path::append(program, "fatbinary");
  if (path.empty() || !sys::fs::can_execute(program)) {
    result.status = AssemblerResult::Status::Missing;
    return result;
  }
  TemporaryFile elf("cubin"), text("ptx"), output("fatbin"), log("log");
  if (!elf.valid || !text.valid || !output.valid || !log.valid || !elf.write(cubin) || !text.write(ptx)) {
    reportNoTemporaryFiles(result);
    return result;
  }
  StringRef arch = StringRef(machine.name).drop_front(3); // Without `sm_`.
  std::string create = "--create=" + output.path;
  std::string image = ("--image3=kind=elf,sm=" + arch + ",file=" + elf.path).str();
  std::string fallback = ("--image3=kind=ptx,sm=" + arch + ",file=" + text.path).str();
  runTool({program, create, "-64", image, fallback}, output, log, result);
  return result;
}

} // namespace tilec
