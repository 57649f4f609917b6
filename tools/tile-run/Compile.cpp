// Compiles the kernels with tilec, or reads what it has written before.
#include "Compile.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Signals.h"
#include <tuple>

using namespace tilec;
using namespace llvm;

static Expected<std::string> readFile(StringRef path) {
  auto file = MemoryBuffer::getFile(path);
  if (!file)
    return createStringError("cannot read `" + path + "`: " + file.getError().message());
  return (*file)->getBuffer().str();
}

static Expected<json::Value> readReflection(StringRef path) {
  Expected<std::string> text = readFile(path);
  if (!text)
    return text.takeError();
  Expected<json::Value> value = json::parse(*text);
  if (!value) {
    consumeError(value.takeError());
    return createStringError("`" + path + "` is no reflection file of tilec");
  }
  return value;
}

// tilec beside this program, or in the search path.
static std::string findTilec(const TileRunOptions &options, const char *program) {
  if (!options.tilec.empty())
    return options.tilec;
  static int anchor;
  SmallString<128> path = sys::path::parent_path(sys::fs::getMainExecutable(program, &anchor));
  sys::path::append(path, "tilec");
  if (sys::fs::can_execute(path))
    return path.str().str();
  auto found = sys::findProgramByName("tilec");
  return found ? *found : "";
}

namespace {
// Goes with its owner, and when the user interrupts the program.
struct TemporaryFile {
  SmallString<128> path;
  std::error_code code;

  explicit TemporaryFile(StringRef extension) {
    code = sys::fs::createTemporaryFile("tile-run", extension, path);
    if (!code)
      sys::RemoveFileOnSignal(path);
  }
  ~TemporaryFile() {
    if (code)
      return;
    std::ignore = sys::fs::remove(path);
    sys::DontRemoveFileOnSignal(path);
  }
};
} // namespace

Expected<CompiledKernels> tilec::compileKernels(const TileRunOptions &options, const std::string &arch, bool cubin,
                                                const char *program, int &status) {
  status = 3;
  std::string tilec = findTilec(options, program);
  if (tilec.empty())
    return createStringError("tilec is neither beside tile-run nor in the search path; name it with --tilec");
  TemporaryFile imageFile(cubin ? "cubin" : "ptx"), reflectionFile("json");
  for (const TemporaryFile *file : {&imageFile, &reflectionFile})
    if (file->code)
      return createStringError("cannot make a temporary file: " + file->code.message());
  std::string image = imageFile.path.str().str(), reflection = reflectionFile.path.str().str();
  std::vector<std::string> command = {tilec, options.input, "--arch=" + arch,       "-o",
                                      image, "--no-header", "--json=" + reflection, "--lineinfo"};
  for (const std::string &define : options.defines) {
    command.push_back("-D");
    command.push_back(define);
  }
  for (const std::string &importFolder : options.importFolders) {
    command.push_back("-I");
    command.push_back(importFolder);
  }
  SmallVector<StringRef, 16> arguments(command.begin(), command.end());
  std::string message;
  int result = sys::ExecuteAndWait(tilec, arguments, std::nullopt, {}, 0, 0, &message);
  Expected<CompiledKernels> kernels = createStringError(message);
  if (result == 0) {
    consumeError(kernels.takeError());
    TileRunOptions read = options;
    read.ptx = image;
    read.json = reflection;
    kernels = readKernels(read);
  } else if (result > 0) {
    status = result;
  }
  return kernels;
}

Expected<CompiledKernels> tilec::readKernels(const TileRunOptions &options) {
  Expected<std::string> image = readFile(options.ptx);
  if (!image)
    return image.takeError();
  CompiledKernels kernels;
  kernels.image = std::move(*image);
  if (options.json.empty())
    return std::move(kernels);
  Expected<json::Value> reflection = readReflection(options.json);
  if (!reflection)
    return reflection.takeError();
  kernels.reflection = std::move(*reflection);
  return std::move(kernels);
}
