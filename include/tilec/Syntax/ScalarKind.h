// The scalar type names of the language, which are keywords.
#ifndef TILEC_SYNTAX_SCALARKIND_H
#define TILEC_SYNTAX_SCALARKIND_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>

namespace tilec {

// TILEC_SCALAR(Kind, spelling), in the order of rule 11.
#define TILEC_SCALARS(TILEC_SCALAR)                                                                                    \
  TILEC_SCALAR(Bool, "bool")                                                                                           \
  TILEC_SCALAR(I8, "i8")                                                                                               \
  TILEC_SCALAR(I16, "i16")                                                                                             \
  TILEC_SCALAR(I32, "i32")                                                                                             \
  TILEC_SCALAR(I64, "i64")                                                                                             \
  TILEC_SCALAR(U8, "u8")                                                                                               \
  TILEC_SCALAR(U16, "u16")                                                                                             \
  TILEC_SCALAR(U32, "u32")                                                                                             \
  TILEC_SCALAR(U64, "u64")                                                                                             \
  TILEC_SCALAR(U2, "u2")                                                                                               \
  TILEC_SCALAR(I4, "i4")                                                                                               \
  TILEC_SCALAR(U4, "u4")                                                                                               \
  TILEC_SCALAR(F16, "f16")                                                                                             \
  TILEC_SCALAR(BF16, "bf16")                                                                                           \
  TILEC_SCALAR(F32, "f32")                                                                                             \
  TILEC_SCALAR(F64, "f64")                                                                                             \
  TILEC_SCALAR(F8E4M3, "f8e4m3")                                                                                       \
  TILEC_SCALAR(F8E5M2, "f8e5m2")                                                                                       \
  TILEC_SCALAR(TF32, "tf32")                                                                                           \
  TILEC_SCALAR(Index, "index")

enum class ScalarKind : uint8_t {
#define TILEC_SCALAR_ENUM(kind, spelling) kind,
  TILEC_SCALARS(TILEC_SCALAR_ENUM)
#undef TILEC_SCALAR_ENUM
};

/// "bf16" for ScalarKind::BF16.
llvm::StringRef getSpelling(ScalarKind kind);
std::optional<ScalarKind> parseScalarKind(llvm::StringRef spelling);

} // namespace tilec

#endif // TILEC_SYNTAX_SCALARKIND_H
