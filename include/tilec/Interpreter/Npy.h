// Arrays of numpy files (format 1 to 3): little-endian and row-major here, whatever the file has.
#ifndef TILEC_INTERPRETER_NPY_H
#define TILEC_INTERPRETER_NPY_H

#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>
#include <vector>

namespace tilec::interpreter {

struct NpyArray {
  /// The numpy type without byte order: "f4", "u2", "i8", "b1".
  std::string type;
  std::vector<int64_t> shape;
  std::vector<uint8_t> bytes;

  int64_t itemSize() const;
  int64_t size() const;
};

llvm::Expected<NpyArray> readNpy(llvm::StringRef path);
llvm::Error writeNpy(llvm::StringRef path, const NpyArray &array);

} // namespace tilec::interpreter

#endif // TILEC_INTERPRETER_NPY_H
