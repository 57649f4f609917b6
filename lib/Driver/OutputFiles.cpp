// Writes the outputs of a compilation.
#include "OutputFiles.h"
#include "llvm/Support/FileSystem.h"
#include <optional>

using namespace llvm;

namespace tilec {
namespace {

/// Devices and pipes are written in place: renaming over them would replace them.
bool isSpecialFile(StringRef path) {
  sys::fs::file_status status;
  return !sys::fs::status(path, status) && sys::fs::exists(status) && !sys::fs::is_regular_file(status);
}

std::string writeInPlace(StringRef path, StringRef content) {
  std::error_code error;
  raw_fd_ostream os(path, error);
  if (error)
    return error.message();
  os << content;
  os.close();
  std::string message = os.has_error() ? os.error().message() : "";
  os.clear_error();
  return message;
}

/// A file written under a temporary name; it vanishes unless it is kept.
class PendingFile {
public:
  /// Empty, or the reason of the failure.
  std::string create(StringRef path, StringRef content) {
    Expected<sys::fs::TempFile> created = sys::fs::TempFile::create(path + ".%%%%%%%%.tmp");
    if (!created)
      return toString(created.takeError());
    temporary = std::move(*created);
    target = path.str();
    raw_fd_ostream os(temporary->FD, /*shouldClose=*/false);
    os << content;
    os.flush();
    std::string message = os.has_error() ? os.error().message() : "";
    os.clear_error();
    return message;
  }
  std::string keep() {
    Error error = temporary->keep(target);
    temporary.reset();
    return error ? toString(std::move(error)) : "";
  }
  PendingFile() = default;
  PendingFile(const PendingFile &) = delete;
  PendingFile &operator=(const PendingFile &) = delete;
  ~PendingFile() {
    if (temporary)
      consumeError(temporary->discard());
  }

private:
  std::optional<sys::fs::TempFile> temporary;
  std::string target;
};

std::string escapeForMake(StringRef name) {
  std::string result;
  for (char c : name) {
    if (c == ' ' || c == '#')
      result += '\\';
    if (c == '$')
      result += '$';
    result += c;
  }
  return result;
}

} // namespace

bool OutputFiles::verify(const SourceManager &sources, DiagnosticEngine &diagnostics) const {
  for (auto [index, file] : enumerate(files)) {
    if (file.path == "-" || isSpecialFile(file.path))
      continue;
    StringRef reason;
    for (uint32_t source = 0; source < sources.getNumFiles(); ++source)
      if (StringRef name = sources.getName(FileID{source});
          !name.starts_with("<") && sys::fs::equivalent(name, file.path))
        reason = "it is a source of this compilation";
    for (const File &other : ArrayRef(files).take_front(index))
      if (other.path == file.path)
        reason = "two outputs have this name";
    if (reason.empty())
      continue;
    diagnostics.report({}, diag::err_cannot_write_file) << file.path << reason;
    return false;
  }
  return true;
}

/// Empty, or why the text did not reach its destination. Otherwise LLVM would end the program when it closes the
/// stream.
static std::string writeTo(raw_ostream &stream, StringRef content) {
  stream << content;
  stream.flush();
  if (&stream != &outs())
    return "";
  std::string message = outs().has_error() ? outs().error().message() : "";
  outs().clear_error();
  return message;
}

bool OutputFiles::write(raw_ostream &standardOutput, DiagnosticEngine &diagnostics) {
  auto report = [&](const File &file, const std::string &message) {
    if (!message.empty())
      diagnostics.report({}, diag::err_cannot_write_file) << file.path << message;
    return message.empty();
  };
  std::vector<PendingFile> pending(files.size());
  for (auto [file, temporary] : zip(files, pending))
    if (file.path != "-" && !isSpecialFile(file.path) && !report(file, temporary.create(file.path, file.content)))
      return false;
  for (const File &file : files)
    if (file.path == "-" && !report({"standard output", ""}, writeTo(standardOutput, file.content)))
      return false;
  for (auto [index, file] : enumerate(files)) {
    if (file.path != "-" &&
        !report(file, isSpecialFile(file.path) ? writeInPlace(file.path, file.content) : pending[index].keep())) {
      for (const File &written : ArrayRef(files).take_front(index))
        if (written.path != "-" && !isSpecialFile(written.path))
          if (std::error_code error = sys::fs::remove(written.path))
            report(written, error.message());
      return false;
    }
  }
  return true;
}

std::string formatDependencies(ArrayRef<std::string> targets, ArrayRef<std::string> prerequisites, bool phonyRules) {
  std::string text;
  for (const std::string &target : targets)
    text += (text.empty() ? "" : " ") + target;
  text += ":";
  for (const std::string &name : prerequisites)
    text += " \\\n  " + escapeForMake(name);
  text += "\n";
  if (phonyRules)
    for (const std::string &name : prerequisites.drop_front(prerequisites.empty() ? 0 : 1))
      text += "\n" + escapeForMake(name) + ":\n";
  return text;
}

} // namespace tilec
