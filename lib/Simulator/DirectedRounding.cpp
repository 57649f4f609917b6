// Directed rounding: the host computes with its own rounding mode changed.
#include "DirectedRounding.h"

#include "Lanes.h"
#include "tilec/Simulator/FloatFormat.h"
#include "llvm/ADT/StringSwitch.h"
#include <cfenv>
#include <cmath>

#pragma STDC FENV_ACCESS ON

using namespace tilec::simulator;

namespace {
enum class Operation : uint64_t { Add, Subtract, Multiply, MultiplyAdd, Divide, Reciprocal, SquareRoot };

/// Sets the rounding mode of the host while it lives.
class RoundingScope {
public:
  explicit RoundingScope(uint64_t mode) : before(std::fegetround()) { std::fesetround(static_cast<int>(mode)); }
  ~RoundingScope() { std::fesetround(before); }
  RoundingScope(const RoundingScope &) = delete;
  RoundingScope &operator=(const RoundingScope &) = delete;

private:
  int before;
};

template <typename T> T evaluate(Operation operation, T a, T b, T c) {
  switch (operation) {
  case Operation::Add:
    return a + b;
  case Operation::Subtract:
    return a - b;
  case Operation::Multiply:
    return a * b;
  case Operation::MultiplyAdd:
    return std::fma(a, b, c);
  case Operation::Divide:
    return a / b;
  case Operation::Reciprocal:
    return 1 / a;
  case Operation::SquareRoot:
    return std::sqrt(a);
  }
  return a;
}

// Op::data[0]: the rounding mode of <cfenv>; data[1]: Operation, and from bit 8 on .ftz and .sat.
template <typename T> Flow compute(Warp &warp, const Op &op, LaneMask lanes) {
  auto operation = static_cast<Operation>(op.data[1] & 0xff);
  bool flush = op.data[1] >> 8 & 1, saturate = op.data[1] >> 9 & 1;
  uint64_t *d = warp.lanes(op.defs[0]);
  const uint64_t *operands[3];
  for (unsigned i = 0; i < 3; ++i)
    operands[i] = warp.lanes(op.uses[std::min<size_t>(i, op.uses.size() - 1)]);
  RoundingScope scope(op.data[0]);
  forLanes(lanes, [&](unsigned lane) {
    auto read = [&](unsigned i) {
      return fromBits<T>(flush ? flushSubnormal(FloatFormat::F32, operands[i][lane]) : operands[i][lane]);
    };
    T value = evaluate(operation, read(0), read(1), read(2));
    // Quotients are flushed if they are subnormal before rounding (H200).
    if (flush && operation == Operation::Divide) {
      RoundingScope down(FE_TOWARDZERO);
      T exact = evaluate(operation, read(0), read(1), read(2));
      value = std::fpclassify(exact) == FP_SUBNORMAL ? std::copysign(T(0), exact) : value;
    }
    if (saturate)
      value = value > 0 ? std::min(value, T(1)) : T(0);
    // NaN of f64 keeps what the operand has, as on the host (H200).
    uint64_t bits = value != value && sizeof(T) == 4 ? formatInfo(FloatFormat::F32).nan : toBits(value);
    d[lane] = flush ? flushSubnormal(FloatFormat::F32, bits) : bits;
  });
  return Flow::Next;
}
} // namespace

bool tilec::simulator::decodeDirected(Decoder &d, PtxType type, llvm::StringRef rounding) {
  auto operation = llvm::StringSwitch<std::optional<Operation>>(d.instruction->name)
                       .Case("add", Operation::Add)
                       .Case("sub", Operation::Subtract)
                       .Case("mul", Operation::Multiply)
                       .Cases({"fma", "mad"}, Operation::MultiplyAdd)
                       .Case("div", Operation::Divide)
                       .Case("rcp", Operation::Reciprocal)
                       .Case("sqrt", Operation::SquareRoot)
                       .Default(std::nullopt);
  if (!operation)
    return d.fail("the simulator does not know this rounding here");
  bool single = *operation == Operation::Reciprocal || *operation == Operation::SquareRoot;
  d.op->execute = type.bits == 32 ? compute<float> : compute<double>;
  d.op->data[0] = rounding == "rz" ? FE_TOWARDZERO : rounding == "rp" ? FE_UPWARD : FE_DOWNWARD;
  d.op->data[1] = static_cast<uint64_t>(*operation) | uint64_t(d.instruction->has("ftz")) << 8 |
                  uint64_t(d.instruction->has("sat")) << 9;
  return decodeMap(d, type, single ? 1 : *operation == Operation::MultiplyAdd ? 3 : 2);
}
