// Writes what is needed to repeat a failed compilation.
#include "tilec/Driver/Compile.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;

namespace tilec {

StringRef getVersion() { return TILEC_VERSION; }

std::string writeReproducer(const CompileOptions &options, const SourceManager &sources, StringRef reason,
                            StringRef details) {
  SmallString<128> path;
  int descriptor = -1;
  if (sys::fs::createTemporaryFile("tilec-reproducer", "txt", descriptor, path))
    return "";
  raw_fd_ostream os(descriptor, /*shouldClose=*/true);
  os << "tilec " << getVersion() << ", LLVM " << LLVM_VERSION_STRING << ": " << reason << "\n";
  os << "command line: " << options.commandLine << "\n";
  for (uint32_t index = 0; index < sources.getNumFiles(); ++index)
    os << "\n===== " << sources.getName(FileID{index}) << " =====\n" << sources.getText(FileID{index}) << "\n";
  os << "\n===== details =====\n" << details << "\n";
  return std::string(path);
}

} // namespace tilec
