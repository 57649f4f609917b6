// Floating-point arithmetic (PTX ISA, "Floating Point Instructions"). NaN results of f32 are the canonical NaN.
#include "Lanes.h"

#include "DirectedRounding.h"
#include "HalfInstructions.h"
#include "tilec/Simulator/FloatFormat.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>

using namespace tilec::simulator;

namespace {
// Results of f32 that are NaN have one pattern; those of f64 keep what the operand has, as on the host (H200).
template <typename T> T canonical(T value) {
  if (value == value || sizeof(T) == 8)
    return value;
  return fromBits<T>(formatInfo(FloatFormat::F32).nan);
}

struct Add {
  template <typename T> static T apply(T a, T b) { return a + b; }
};
struct Subtract {
  template <typename T> static T apply(T a, T b) { return a - b; }
};
struct Multiply {
  template <typename T> static T apply(T a, T b) { return a * b; }
};
struct MultiplyAdd {
  template <typename T> static T apply(T a, T b, T c) { return std::fma(a, b, c); }
};
struct Divide {
  template <typename T> static T apply(T a, T b) { return a / b; }
};
// PTX ISA, "div": div.approx.f32 by more than 2^126 is 0, or NaN if the dividend is infinite.
struct DivideApproximately {
  template <typename T> static T apply(T a, T b) {
    bool beyond = std::isfinite(b) && std::abs(b) > T(0x1p126);
    return beyond ? a * std::copysign(T(0), b) : a / b;
  }
};
struct Reciprocal {
  template <typename T> static T apply(T a) { return T(1) / a; }
};
struct SquareRoot {
  template <typename T> static T apply(T a) { return std::sqrt(a); }
};
// Approximations: PTX allows an error, the simulator gives the nearest value.
struct ReciprocalRoot {
  template <typename T> static T apply(T a) { return static_cast<T>(1 / std::sqrt(static_cast<double>(a))); }
};
struct Exp2 {
  template <typename T> static T apply(T a) { return static_cast<T>(std::exp2(static_cast<double>(a))); }
};
struct Log2 {
  template <typename T> static T apply(T a) { return static_cast<T>(std::log2(static_cast<double>(a))); }
};
struct Sine {
  template <typename T> static T apply(T a) { return static_cast<T>(std::sin(static_cast<double>(a))); }
};
struct Cosine {
  template <typename T> static T apply(T a) { return static_cast<T>(std::cos(static_cast<double>(a))); }
};
struct HyperbolicTangent {
  template <typename T> static T apply(T a) { return static_cast<T>(std::tanh(static_cast<double>(a))); }
};
// -0 is less than +0; a NaN gives way to a number.
template <bool maximum> struct Extremum {
  template <typename T> static T apply(T a, T b) {
    if (a != a && b != b)
      return b + b;
    if (a != a || b != b)
      return a != a ? b : a;
    if (a == b)
      return std::signbit(a) == maximum ? b : a;
    return (a < b) == maximum ? b : a;
  }
};
template <bool maximum> struct ExtremumNaN {
  template <typename T> static T apply(T a, T b) { return a != a || b != b ? T(NAN) : Extremum<maximum>::apply(a, b); }
};

float flushed(float value) { return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0f, value) : value; }

template <typename Operation, typename T, unsigned operands, bool flush, bool saturate>
Flow compute(Warp &warp, const Op &op, LaneMask lanes) {
  uint64_t *d = warp.lanes(op.defs[0]);
  const uint64_t *a = warp.lanes(op.uses[0]);
  const uint64_t *b = warp.lanes(op.uses[operands > 1 ? 1 : 0]);
  const uint64_t *c = warp.lanes(op.uses[operands > 2 ? 2 : 0]);
  auto read = [](uint64_t bits) {
    if constexpr (flush && sizeof(T) == 4)
      return flushed(fromBits<T>(bits));
    else
      return fromBits<T>(bits);
  };
  forLanes(lanes, [=](unsigned lane) {
    T value;
    if constexpr (operands == 1)
      value = Operation::apply(read(a[lane]));
    else if constexpr (operands == 2)
      value = Operation::apply(read(a[lane]), read(b[lane]));
    else
      value = Operation::apply(read(a[lane]), read(b[lane]), read(c[lane]));
    if constexpr (flush && sizeof(T) == 4)
      value = flushed(value);
    if constexpr (saturate)
      value = value > 0 ? std::min(value, T(1)) : T(0);
    d[lane] = toBits(canonical(value));
  });
  return Flow::Next;
}

template <typename Operation, unsigned operands> Execute functionFor(const Decoder &d, PtxType type) {
  bool flush = d.instruction->has("ftz"), saturate = d.instruction->has("sat");
  if (type.bits == 64)
    return compute<Operation, double, operands, false, false>;
  if (saturate)
    return flush ? compute<Operation, float, operands, true, true> : compute<Operation, float, operands, false, true>;
  return flush ? compute<Operation, float, operands, true, false> : compute<Operation, float, operands, false, false>;
}

template <typename Operation, unsigned operands> bool decodeOperation(Decoder &d, PtxType type) {
  d.op->execute = functionFor<Operation, operands>(d, type);
  return decodeMap(d, type, operands);
}

bool decodeDivide(Decoder &d, PtxType type) {
  bool approximate = d.instruction->has("approx") && type.bits == 32;
  return approximate ? decodeOperation<DivideApproximately, 2>(d, type) : decodeOperation<Divide, 2>(d, type);
}

// rcp.approx.ftz.f64: subnormal operands and results are zeros, the lower half of the result too (PTX ISA, "rcp"); the
// lower half of the operand is not read, so that some NaNs are infinity (H200).
Flow reciprocalUpperHalf(Warp &warp, const Op &op, LaneMask lanes) {
  uint64_t *d = warp.lanes(op.defs[0]);
  const uint64_t *a = warp.lanes(op.uses[0]);
  constexpr uint64_t upper = ~uint64_t(0xffffffff);
  forLanes(lanes, [&](unsigned lane) {
    double value = 1 / fromBits<double>(flushSubnormal(FloatFormat::F64, a[lane] & upper));
    uint64_t bits = value != value ? formatInfo(FloatFormat::F64).nan : toBits(value);
    d[lane] = flushSubnormal(FloatFormat::F64, bits) & upper;
  });
  return Flow::Next;
}

bool decodeReciprocal(Decoder &d, PtxType type) {
  if (!d.instruction->has("approx") || type.bits != 64)
    return decodeOperation<Reciprocal, 1>(d, type);
  d.op->execute = reciprocalUpperHalf;
  return decodeMap(d, type, 1);
}

//===----------------------------------------------------------------------===//
// Signs and decoding
//===----------------------------------------------------------------------===//

// abs and neg touch the sign alone; data[0]: the bits kept, data[1]: the bits turned. NaN is canonical in f32; in f64
// it is made quiet, and neg leaves its sign (H200).
template <bool flush> Flow changeSign(Warp &warp, const Op &op, LaneMask lanes) {
  uint64_t *d = warp.lanes(op.defs[0]);
  const uint64_t *a = warp.lanes(op.uses[0]);
  forLanes(lanes, [&](unsigned lane) {
    uint64_t bits = flush ? toBits(flushed(fromBits<float>(a[lane]))) : a[lane];
    d[lane] = isNaN(FloatFormat::F32, bits) ? formatInfo(FloatFormat::F32).nan : (bits & op.data[0]) ^ op.data[1];
  });
  return Flow::Next;
}

Flow changeSign64(Warp &warp, const Op &op, LaneMask lanes) {
  uint64_t *d = warp.lanes(op.defs[0]);
  const uint64_t *a = warp.lanes(op.uses[0]);
  constexpr uint64_t quiet = uint64_t(1) << 51;
  forLanes(lanes, [&](unsigned lane) {
    uint64_t kept = a[lane] & op.data[0];
    d[lane] = isNaN(FloatFormat::F64, a[lane]) ? kept | quiet : kept ^ op.data[1];
  });
  return Flow::Next;
}

// copysign d, a, b: the sign of a and the magnitude of b, NaN too. data[0]: the sign.
Flow copySign(Warp &warp, const Op &op, LaneMask lanes) {
  uint64_t *d = warp.lanes(op.defs[0]);
  const uint64_t *a = warp.lanes(op.uses[0]), *b = warp.lanes(op.uses[1]);
  forLanes(lanes, [&](unsigned lane) { d[lane] = (a[lane] & op.data[0]) | (b[lane] & ~op.data[0]); });
  return Flow::Next;
}

bool decodeCopySign(Decoder &d, PtxType type) {
  d.op->data[0] = uint64_t(1) << (type.bits - 1);
  d.op->execute = copySign;
  return decodeMap(d, type, 2);
}

bool decodeSign(Decoder &d, PtxType type, bool negate) {
  uint64_t sign = uint64_t(1) << (type.bits - 1), all = sign | (sign - 1);
  d.op->data[0] = negate ? all : sign - 1;
  d.op->data[1] = negate ? sign : 0;
  d.op->execute = type.bits == 64 ? changeSign64 : d.instruction->has("ftz") ? changeSign<true> : changeSign<false>;
  return decodeMap(d, type, 1);
}

// .xorsign.abs: the extremum of the magnitudes with the product's sign.
template <typename Operation> struct ExclusiveSign {
  template <typename T> static T apply(T a, T b) {
    T value = Operation::apply(std::abs(a), std::abs(b));
    return value != value ? value : std::copysign(value, std::signbit(a) != std::signbit(b) ? T(-1) : T(1));
  }
};

template <bool maximum> bool decodeExtremum(Decoder &d, PtxType type) {
  if (d.instruction->has("xorsign"))
    return d.instruction->has("NaN") ? decodeOperation<ExclusiveSign<ExtremumNaN<maximum>>, 2>(d, type)
                                     : decodeOperation<ExclusiveSign<Extremum<maximum>>, 2>(d, type);
  return d.instruction->has("NaN") ? decodeOperation<ExtremumNaN<maximum>, 2>(d, type)
                                   : decodeOperation<Extremum<maximum>, 2>(d, type);
}

using FloatDecoder = bool (*)(Decoder &, PtxType);
FloatDecoder findDecoder(llvm::StringRef name) {
  return llvm::StringSwitch<FloatDecoder>(name)
      .Case("add", decodeOperation<Add, 2>)
      .Case("sub", decodeOperation<Subtract, 2>)
      .Case("mul", decodeOperation<Multiply, 2>)
      .Cases({"fma", "mad"}, decodeOperation<MultiplyAdd, 3>)
      .Case("div", decodeDivide)
      .Case("rcp", decodeReciprocal)
      .Case("sqrt", decodeOperation<SquareRoot, 1>)
      .Case("rsqrt", decodeOperation<ReciprocalRoot, 1>)
      .Case("ex2", decodeOperation<Exp2, 1>)
      .Case("lg2", decodeOperation<Log2, 1>)
      .Case("sin", decodeOperation<Sine, 1>)
      .Case("cos", decodeOperation<Cosine, 1>)
      .Case("tanh", decodeOperation<HyperbolicTangent, 1>)
      .Case("copysign", decodeCopySign)
      .Case("min", decodeExtremum<false>)
      .Case("max", decodeExtremum<true>)
      .Case("abs", [](Decoder &d, PtxType type) { return decodeSign(d, type, false); })
      .Case("neg", [](Decoder &d, PtxType type) { return decodeSign(d, type, true); })
      .Default(nullptr);
}
} // namespace

bool tilec::simulator::decodeFloatArithmetic(Decoder &d) {
  std::optional<PtxType> type = lastType(d);
  if (!type)
    return false;
  if (!isFloat(*type))
    return d.fail("expected a floating-point type");
  if (type->bits == 16)
    return decodeHalf(d);
  llvm::StringRef rounding = d.oneOf({"rz", "rm", "rp"});
  if (!rounding.empty())
    return decodeDirected(d, *type, rounding);
  FloatDecoder decode = findDecoder(d.instruction->name);
  return decode ? decode(d, *type) : d.fail("there is no floating-point form in the simulator");
}

void tilec::simulator::addFloatInstructions(InstructionTable &table) {
  for (llvm::StringRef name : {"fma", "rcp", "sqrt", "rsqrt", "ex2", "lg2", "sin", "cos", "tanh", "copysign"})
    table[name] = decodeFloatArithmetic;
}
