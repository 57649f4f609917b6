// f32 and f64 arithmetic with .rz, .rm and .rp.
#ifndef TILEC_LIB_SIMULATOR_DIRECTEDROUNDING_H
#define TILEC_LIB_SIMULATOR_DIRECTEDROUNDING_H

#include "tilec/Simulator/Decoder.h"

namespace tilec::simulator {

/// Decodes add, sub, mul, fma, mad, div, rcp and sqrt with a rounding other than .rn, and .ftz and .sat.
bool decodeDirected(Decoder &decoder, PtxType type, llvm::StringRef rounding);

} // namespace tilec::simulator

#endif // TILEC_LIB_SIMULATOR_DIRECTEDROUNDING_H
