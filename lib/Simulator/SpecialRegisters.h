// Special registers: %tid, %ctaid and so on (PTX ISA, "Special Registers").
#ifndef TILEC_SIMULATOR_SPECIALREGISTERS_H
#define TILEC_SIMULATOR_SPECIALREGISTERS_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace tilec::simulator {

class Warp;

/// `name` without the percent sign: "tid.x".
bool isSpecialRegister(llvm::StringRef name);
uint64_t specialValue(llvm::StringRef name, const Warp &warp, unsigned lane);

} // namespace tilec::simulator

#endif // TILEC_SIMULATOR_SPECIALREGISTERS_H
