// What handlers share: loops over lanes, values as types, one function for each type of an instruction.
#ifndef TILEC_SIMULATOR_LANES_H
#define TILEC_SIMULATOR_LANES_H

#include "tilec/Simulator/Block.h"
#include "tilec/Simulator/Decoder.h"
#include "llvm/ADT/bit.h"
#include <cstring>
#include <type_traits>

namespace tilec::simulator {

/// Calls `use(lane)` for the lanes of a mask; a loop without branches if it is full.
template <typename F> inline void forLanes(LaneMask lanes, F use) {
  if (lanes == ~0u) {
    for (unsigned lane = 0; lane < laneCount; ++lane)
      use(lane);
    return;
  }
  for (LaneMask rest = lanes; rest; rest &= rest - 1)
    use(static_cast<unsigned>(llvm::countr_zero(rest)));
}

template <typename T> inline T fromBits(uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}

template <typename T> inline uint64_t toBits(T value) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<std::make_unsigned_t<T>>(value);
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}

/// `Operation<T>::apply` on 1 to 3 operands of type T.
template <typename Operation, typename T, unsigned operands> Flow mapLanes(Warp &warp, const Op &op, LaneMask lanes) {
  uint64_t *d = warp.lanes(op.defs[0]);
  const uint64_t *a = warp.lanes(op.uses[0]);
  const uint64_t *b = warp.lanes(op.uses[operands > 1 ? 1 : 0]);
  const uint64_t *c = warp.lanes(op.uses[operands > 2 ? 2 : 0]);
  forLanes(lanes, [=](unsigned lane) {
    if constexpr (operands == 1)
      d[lane] = toBits(Operation::apply(fromBits<T>(a[lane])));
    else if constexpr (operands == 2)
      d[lane] = toBits(Operation::apply(fromBits<T>(a[lane]), fromBits<T>(b[lane])));
    else
      d[lane] = toBits(Operation::apply(fromBits<T>(a[lane]), fromBits<T>(b[lane]), fromBits<T>(c[lane])));
  });
  return Flow::Next;
}

/// The instance for an integer type; null for others.
template <template <typename> class Operation, unsigned operands> Execute forInteger(PtxType type) {
  bool isSigned = type.kind == PtxType::Signed;
  switch (type.bits) {
  case 16:
    return isSigned ? mapLanes<Operation<int16_t>, int16_t, operands>
                    : mapLanes<Operation<uint16_t>, uint16_t, operands>;
  case 32:
    return isSigned ? mapLanes<Operation<int32_t>, int32_t, operands>
                    : mapLanes<Operation<uint32_t>, uint32_t, operands>;
  case 64:
    return isSigned ? mapLanes<Operation<int64_t>, int64_t, operands>
                    : mapLanes<Operation<uint64_t>, uint64_t, operands>;
  default:
    return nullptr;
  }
}

/// Asks for one result and `count` operands of `type`.
inline bool decodeMap(Decoder &decoder, PtxType type, unsigned count) {
  decoder.define(decoder.operand(0));
  for (unsigned i = 1; i <= count; ++i)
    decoder.use(decoder.operand(i), type);
  return !decoder.failed();
}

/// The type that the last modifier names, or failure.
inline std::optional<PtxType> lastType(Decoder &decoder) {
  std::optional<PtxType> type = parseType(decoder.instruction->lastModifier());
  if (!type)
    decoder.fail("there is no type at the end");
  return type;
}

inline bool isFloat(PtxType type) { return type.kind == PtxType::Float || type.kind == PtxType::BFloat; }

// Instructions whose names integers and floats share.
bool decodeFloatArithmetic(Decoder &decoder);

} // namespace tilec::simulator

#endif // TILEC_SIMULATOR_LANES_H
