// f16 and bf16 forms of add, sub, mul, fma, min, max, neg, abs, ex2, tanh.
#ifndef TILEC_LIB_SIMULATOR_HALFINSTRUCTIONS_H
#define TILEC_LIB_SIMULATOR_HALFINSTRUCTIONS_H

#include "tilec/Simulator/Decoder.h"

namespace tilec::simulator {

/// Whether the last modifier is f16, bf16, f16x2 or bf16x2.
bool isHalfInstruction(const Instruction &instruction);
/// Decodes such an instruction.
bool decodeHalf(Decoder &decoder);

} // namespace tilec::simulator

#endif // TILEC_LIB_SIMULATOR_HALFINSTRUCTIONS_H
