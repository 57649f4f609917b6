// Writes the outputs of a compilation, all or none.
#ifndef TILEC_LIB_DRIVER_OUTPUTFILES_H
#define TILEC_LIB_DRIVER_OUTPUTFILES_H

#include "tilec/Diagnostics/DiagnosticEngine.h"
#include "llvm/Support/raw_ostream.h"
#include <string>
#include <vector>

namespace tilec {

class OutputFiles {
public:
  /// Adds a file; `-` is standard output.
  void add(llvm::StringRef path, std::string content) { files.push_back({path.str(), std::move(content)}); }

  /// Whether no output replaces a source and no two have one name. Otherwise reports it.
  bool verify(const SourceManager &sources, DiagnosticEngine &diagnostics) const;

  /// Writes every file under a temporary name beside its place and then renames all, so that no reader sees half a
  /// file and a failure leaves nothing. False after reporting an error.
  bool write(llvm::raw_ostream &standardOutput, DiagnosticEngine &diagnostics);

private:
  struct File {
    std::string path;
    std::string content;
  };
  std::vector<File> files;
};

/// A rule for make: `targets` depend on `prerequisites`.
std::string formatDependencies(llvm::ArrayRef<std::string> targets, llvm::ArrayRef<std::string> prerequisites,
                               bool phonyRules);

} // namespace tilec

#endif // TILEC_LIB_DRIVER_OUTPUTFILES_H
