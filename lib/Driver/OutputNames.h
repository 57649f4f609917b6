// Which outputs a command line asks for, and their names.
#ifndef TILEC_LIB_DRIVER_OUTPUTNAMES_H
#define TILEC_LIB_DRIVER_OUTPUTNAMES_H

#include "tilec/Driver/CompileOptions.h"
#include "llvm/ADT/StringRef.h"

namespace tilec {

/// The options that speak of outputs, as written.
struct OutputRequest {
  std::string input;
  std::string path;
  std::vector<std::string> emit;
  std::string header;
  std::string json;
  bool assembly = false;
  bool noHeader = false;
  bool stops = false;
};

/// Fills `outputs`. False with a message for the user if the request makes no sense.
///
/// The form comes from --emit, -S, or the extension of -o; without any it is a cubin. A single form goes to -o as it
/// is, several to -o with their own extensions; without -o they are named after the input, except that forms for people
/// go to standard output. A header is written beside a cubin unless --no-header is given.
bool resolveOutputs(const OutputRequest &request, std::vector<Output> &outputs, std::string &message);

/// `path` with another extension, given without its dot.
std::string replaceExtension(llvm::StringRef path, llvm::StringRef extension);

} // namespace tilec

#endif // TILEC_LIB_DRIVER_OUTPUTNAMES_H
