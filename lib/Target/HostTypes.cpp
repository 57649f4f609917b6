// The table of element types as the host sees them.
#include "tilec/Target/LaunchInfo.h"

namespace tilec {

// The tensor map types are those of CUtensorMapDataType in cuda.h. A tensor map has no 8-bit float, no signed 8- or
// 16-bit integer and no packed type: the copy moves bits, so that the unsigned type of the same width serves.
static constexpr HostType hostTypes[] = {
    {"bool", 8, "uint8_t", "UINT8"},
    {"i8", 8, "int8_t", "UINT8"},
    {"i16", 16, "int16_t", "UINT16"},
    {"i32", 32, "int32_t", "INT32"},
    {"i64", 64, "int64_t", "INT64"},
    {"u8", 8, "uint8_t", "UINT8"},
    {"u16", 16, "uint16_t", "UINT16"},
    {"u32", 32, "uint32_t", "UINT32"},
    {"u64", 64, "uint64_t", "UINT64"},
    {"index", 64, "int64_t", "INT64"},
    {"u2", 2, "", "UINT8"},
    {"i4", 4, "", "UINT8"},
    {"u4", 4, "", "UINT8"},
    {"f16", 16, "uint16_t", "FLOAT16"},
    {"bf16", 16, "uint16_t", "BFLOAT16"},
    {"f32", 32, "float", "FLOAT32"},
    {"f64", 64, "double", "FLOAT64"},
    {"f8e4m3", 8, "uint8_t", "UINT8"},
    {"f8e5m2", 8, "uint8_t", "UINT8"},
    {"tf32", 32, "", "TFLOAT32"},
};

const HostType *findHostType(llvm::StringRef name) {
  for (const HostType &type : hostTypes)
    if (type.name == name)
      return &type;
  return nullptr;
}

} // namespace tilec
