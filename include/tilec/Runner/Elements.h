// Element types of tensors on the host: names, sizes, values.
//
// An element is kept in its storage: bf16 as 16 bits, f8 as 8 bits, bool as a byte. Packed integers (u2, u4, i4) are
// not supported.
#ifndef TILEC_RUNNER_ELEMENTS_H
#define TILEC_RUNNER_ELEMENTS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>

namespace tilec::runner {

struct ElementType {
  enum Kind : uint8_t { Float, Signed, Unsigned, Bool };
  const char *name;
  /// The type of .npy files without byte order: bf16 is "u2", f8 "u1".
  const char *npy;
  unsigned bytes;
  Kind kind;
  /// Relative distance of neighbouring values of a float type.
  double epsilon;
};

/// "bf16" and so on, as in the language.
llvm::Expected<const ElementType *> findElementType(llvm::StringRef name);

/// The value; exact but for 64-bit integers beyond 2^53.
double decodeElement(const ElementType &type, const uint8_t *bytes);
/// The value of an integer or bool; u64 as its bits.
int64_t decodeInteger(const ElementType &type, const uint8_t *bytes);
/// Rounds to nearest even; f8 saturates, integers wrap.
void encodeElement(const ElementType &type, double value, uint8_t *bytes);

/// Stores an integer without a detour through a double.
void encodeInteger(const ElementType &type, int64_t value, uint8_t *bytes);

} // namespace tilec::runner

#endif // TILEC_RUNNER_ELEMENTS_H
