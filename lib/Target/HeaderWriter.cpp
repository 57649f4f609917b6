// Assembles the generated header.
#include "tilec/Target/HeaderWriter.h"
#include "HeaderText.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace tilec {

static std::vector<std::string> listEntries(ArrayRef<KernelInfo> kernels) {
  std::vector<std::string> entries;
  for (const KernelInfo &kernel : kernels)
    for (const Variant &variant : kernel.variants)
      for (const Launch &launch : variant.launches)
        entries.push_back(launch.entry);
  return entries;
}

std::string writeHeader(ArrayRef<KernelInfo> kernels, const ModuleFacts &facts) {
  std::string prefix = toIdentifier(sys::path::stem(facts.source));
  std::string guard = "TILEC_" + StringRef(prefix).upper() + "_H";
  std::string text;
  raw_string_ostream os(text);
  os << "/* Launchers for the kernels of " << prefix << ", compiled for " << facts.arch << " by tilec " << facts.version
     << ".\n   C99 or C++11, GCC or Clang; links to the CUDA driver (-lcuda) of version 12.0 or newer.\n"
     << "   Load the cubin once with " << prefix << "_load or " << prefix
     << "_load_file, then launch from any thread, context and stream. */\n"
     << "#ifndef " << guard << "\n#define " << guard << "\n\n#include <cuda.h>\n#include <stdint.h>\n\n"
     << "#if !defined(CUDA_VERSION) || CUDA_VERSION < 12000\n#error \"CUDA 12.0 or newer is needed\"\n#endif\n\n"
     << "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
  os << writeHeaderRuntime(prefix, facts.arch, listEntries(kernels));
  unsigned firstEntry = 0;
  for (const KernelInfo &kernel : kernels) {
    os << writeLauncher(kernel, prefix, firstEntry);
    firstEntry += listEntries(kernel).size();
  }
  os << "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
  return text;
}

} // namespace tilec
