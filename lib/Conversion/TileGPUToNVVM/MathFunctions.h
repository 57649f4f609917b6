// MathFunctions: elementary functions of f32 and f64 as arithmetic, because the hardware has only exp2, log2, sin and
// cos of limited accuracy in f32 and none in f64. docs/functions.md states the errors, which
// test/unit/Conversion/MathFunctionsTest.cpp measures; functions propagate NaN and take infinities, zeros and subnormal
// numbers as IEEE 754-2019, 9.2 recommends.
#ifndef TILEC_CONVERSION_TILEGPUTONVVM_MATHFUNCTIONS_H
#define TILEC_CONVERSION_TILEGPUTONVVM_MATHFUNCTIONS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/DenseMap.h"

namespace tilec {

/// Constants of one function, each once, at its start: expansions use the same ones again and again.
class ConstantPool {
public:
  mlir::Value get(mlir::OpBuilder &builder, mlir::TypedAttr value);

private:
  mlir::Operation *function = nullptr;
  llvm::DenseMap<mlir::Attribute, mlir::Value> values;
};

/// Emits functions of one type, f32 or f64, at the insertion point of a builder. Operations carry no licence to
/// contract: the expansions rely on every rounding.
class MathFunctions {
public:
  using Value = mlir::Value;

  MathFunctions(mlir::OpBuilder &builder, mlir::Location loc, mlir::FloatType type, ConstantPool &constants);

  /// The function that a `math` operation names, or null where the operation needs no expansion.
  Value emit(mlir::Operation *op, llvm::ArrayRef<Value> inputs);

  Value exp(Value x);
  Value exp2(Value x);
  Value log(Value x) { return logarithm(x, /*binary=*/false); }
  Value log2(Value x) { return logarithm(x, /*binary=*/true); }
  Value tanh(Value x);
  /// 1 / (1 + exp(-x)).
  Value sigmoid(Value x);
  Value erf(Value x);
  /// A function of `factor` * x, for a factor above 0, times a power of two.
  struct Scaled {
    Value x;
    double factor = 1, times = 1;
  };
  /// f32 for results of at most 16 bits, with a relative error below 2^-16: the sigmoid, 1 + tanh and 1 + erf, the last
  /// one within 2^-24 where that is more. What is below 2^-126 becomes 0.
  Value narrowSigmoid(Scaled scaled);
  Value narrowOnePlusTanh(Scaled scaled);
  Value narrowOnePlusErf(Scaled scaled);
  Value pow(Value x, Value y);
  Value sin(Value x) { return sinOrCos(x, /*cosine=*/false); }
  Value cos(Value x) { return sinOrCos(x, /*cosine=*/true); }
  Value rsqrt(Value x);
  /// x - y * trunc(x / y), exactly.
  Value remainder(Value x, Value y);

private:
  /// An unevaluated sum of two numbers.
  struct Pair {
    Value high, low;
  };
  /// x = (1 + fraction) * 2^exponent, both of the float type, with 1 + fraction between sqrt(1/2) and sqrt(2), for
  /// positive finite x.
  struct Decomposed {
    Value fraction, exponent;
  };
  /// An angle within pi / 4 of 0, and the number of quarter turns (i32) taken off.
  struct Reduced {
    Value angle, quarters;
  };

  bool isDouble() const { return type.isF64(); }
  Value c(double value);
  Value i(int64_t value);
  Value i32(int64_t value);
  Value infinity(bool negative = false);
  Value nan();
  Value add(Value a, Value b);
  Value sub(Value a, Value b);
  Value mul(Value a, Value b);
  Value fma(Value a, Value b, Value c);
  Value neg(Value a);
  Value abs(Value a);
  Value divide(Value a, Value b);
  /// 1 / a within 1 ulp, for 2^-126 <= a <= 2^126 in f32.
  Value reciprocal(Value a);
  Value less(Value a, Value b);
  Value equal(Value a, Value b);
  Value isNaN(Value a);
  Value select(Value condition, Value a, Value b);
  /// A hardware approximation of f32.
  Value intrinsic(llvm::StringRef name, Value x);
  Value both(Value a, Value b);
  Value either(Value a, Value b);
  Value complement(Value a);
  Value withSign(Value magnitude, Value sign);
  /// Between bounds; NaN stays.
  Value clamp(Value x, double low, double high);
  Value bits(Value x);
  Value fromBits(Value x);
  /// The polynomial with these coefficients, lowest first.
  Value polynomial(Value x, llvm::ArrayRef<double> coefficients);
  /// The integer nearest to x * factor, as a number and as i32 (any value for NaN), for products below 2^22.
  std::pair<Value, Value> nearest(Value x, double factor);
  /// 2^n for an i32 n within the exponents of normal numbers.
  Value powerOfTwo(Value n);
  /// x * 2^n for an i32 n within twice the range of exponents.
  Value scale(Value x, Value n);
  /// exp(r) * 2^n for |r| <= ln(2) / 2.
  Value expReduced(Value r, Value n);
  Value expOfSingle(Value x);

  Decomposed decompose(Value x);
  /// floor(log2(x)) of a positive finite number, as i32.
  Value exponentOf(Value x);
  Value logarithm(Value x, bool binary);
  Pair log2Pair(Value x);
  Value exp2Pair(Pair x);
  Value powSpecialCases(Value x, Value y, Value magnitude);

  Value sinOrCos(Value x, bool cosine);
  Value sinOrCosReduced(Value x, Reduced reduced, bool cosine);
  Reduced reduceByParts(Value x);
  Reduced reduceExactly(Value x);
  Value angleOfFraction(Value high, Value rest, Value sign);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::FloatType type;
  mlir::IntegerType integers;
  ConstantPool &constants;
};

} // namespace tilec

#endif // TILEC_CONVERSION_TILEGPUTONVVM_MATHFUNCTIONS_H
