// f16 and bf16 arithmetic through doubles, rounded once.
#include "tilec/Simulator/HalfArithmetic.h"

#include "llvm/Support/ErrorHandling.h"
#include <cmath>
#include <limits>

using namespace tilec::simulator;

static constexpr uint16_t signBit = 0x8000;

static uint16_t extremum(FloatFormat format, uint16_t a, uint16_t b, bool maximum, const HalfModifiers &modifiers) {
  uint16_t sign = 0;
  if (modifiers.xorSign) {
    sign = (a ^ b) & signBit;
    a &= ~signBit;
    b &= ~signBit;
  }
  bool nanA = isNaN(format, a), nanB = isNaN(format, b);
  if ((nanA && nanB) || (modifiers.propagateNaN && (nanA || nanB)))
    return static_cast<uint16_t>(formatInfo(format).nan);
  if (nanA || nanB)
    return (nanA ? b : a) | sign;
  double x = toDouble(format, a), y = toDouble(format, b);
  bool less = x < y || (x == y && (a & signBit) && !(b & signBit)); // -0 is less than +0
  return (less == maximum ? b : a) | sign;
}

static double evaluate(HalfOperation operation, double x, double y, double z) {
  switch (operation) {
  case HalfOperation::Add:
    return addToOdd(x, y);
  case HalfOperation::Subtract:
    return addToOdd(x, -y);
  case HalfOperation::Multiply:
    return x * y;
  case HalfOperation::MultiplyAdd:
    return multiplyAddToOdd(x, y, z);
  case HalfOperation::Exp2:
    return std::exp2(x);
  case HalfOperation::Tanh:
    return std::tanh(x);
  default:
    llvm_unreachable("not an operation that rounds");
  }
}

static uint16_t modified(FloatFormat format, uint16_t bits, const HalfModifiers &modifiers) {
  if (modifiers.flush)
    bits = static_cast<uint16_t>(flushSubnormal(format, bits));
  bool nan = isNaN(format, bits);
  if (modifiers.relu && !nan && (bits & signBit))
    return 0;
  if (!modifiers.saturate)
    return bits;
  if (nan || (bits & signBit))
    return 0;
  return toDouble(format, bits) > 1 ? static_cast<uint16_t>(fromDouble(format, 1)) : bits;
}

uint16_t tilec::simulator::computeHalf(HalfOperation operation, FloatFormat format, uint16_t a, uint16_t b, uint16_t c,
                                       const HalfModifiers &modifiers) {
  auto operand = [&](uint16_t bits) {
    return modifiers.flush ? static_cast<uint16_t>(flushSubnormal(format, bits)) : bits;
  };
  a = operand(a), b = operand(b), c = operand(c);
  switch (operation) {
  case HalfOperation::Negate:
    return isNaN(format, a) ? static_cast<uint16_t>(formatInfo(format).nan) : a ^ signBit;
  case HalfOperation::Absolute:
    return isNaN(format, a) ? static_cast<uint16_t>(formatInfo(format).nan) : a & ~signBit;
  case HalfOperation::Minimum:
  case HalfOperation::Maximum:
    return modified(format, extremum(format, a, b, operation == HalfOperation::Maximum, modifiers), modifiers);
  default:
    break;
  }
  double result = evaluate(operation, toDouble(format, a), toDouble(format, b), toDouble(format, c));
  return modified(format, static_cast<uint16_t>(fromDouble(format, result)), modifiers);
}

uint32_t tilec::simulator::computeHalf2(HalfOperation operation, FloatFormat format, uint32_t a, uint32_t b, uint32_t c,
                                        const HalfModifiers &modifiers) {
  auto half = [&](unsigned shift) {
    return computeHalf(operation, format, static_cast<uint16_t>(a >> shift), static_cast<uint16_t>(b >> shift),
                       static_cast<uint16_t>(c >> shift), modifiers);
  };
  return half(0) | static_cast<uint32_t>(half(16)) << 16;
}
