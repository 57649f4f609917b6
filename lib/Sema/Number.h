// Exact values of literals and constants: integers of any size, rationals, infinities and NaN (rule 11: literals and
// constants are exact until they meet a type).
#ifndef TILEC_SEMA_NUMBER_H
#define TILEC_SEMA_NUMBER_H

#include "tilec/Sema/TypedExpr.h"
#include "llvm/ADT/DynamicAPInt.h"

namespace tilec::sema {

class Number {
public:
  enum class Kind : uint8_t { Integer, Real, Infinity, NaN };

  static Number integer(const llvm::DynamicAPInt &value);
  static Number integer(int64_t value) { return integer(llvm::DynamicAPInt(value)); }
  static Number integer(uint64_t value);
  static Number integer(const llvm::APInt &value, bool isSigned);
  static Number infinity(bool negative);
  static Number nan();
  /// `numerator / denominator`; the denominator is not 0.
  static Number real(llvm::DynamicAPInt numerator, llvm::DynamicAPInt denominator);
  /// The literal `1.5`, `2e10`; nothing where its exponent is absurd (beyond 10^±5000).
  static std::optional<Number> parseReal(llvm::StringRef text);

  Kind kind() const { return theKind; }
  bool isInteger() const { return theKind == Kind::Integer; }
  const llvm::DynamicAPInt &asInteger() const { return numerator; }
  /// The integer if it fits 64 signed bits.
  std::optional<int64_t> asInt64() const;

  /// Whether the value is one of an integer type's.
  bool fits(ScalarKind integerType) const;
  /// The low bits in two's complement (rule 13).
  llvm::APInt toInteger(ScalarKind type) const;
  /// Rounded once to nearest even; integers too. f8 saturates.
  llvm::APFloat toFloat(ScalarKind type) const;
  /// Truncated to an integer, as a cast from float does; infinities and NaN are kept apart by the caller.
  Number truncated() const;

  Number negated() const;
  /// Nothing where the operation has no exact result here (remainder of reals, shifts by absurd counts).
  static std::optional<Number> fold(BinaryOp op, const Number &lhs, const Number &rhs);
  static bool compare(BinaryOp op, const Number &lhs, const Number &rhs);

  /// Integers in decimal; reals approximately.
  std::string str() const;

private:
  static std::optional<Number> foldExactly(BinaryOp op, const Number &lhs, const Number &rhs);

  Kind theKind = Kind::Integer;
  bool negative = false;
  llvm::DynamicAPInt numerator;
  llvm::DynamicAPInt denominator{1};
};

/// The constant node of a number in a type: an integer type that holds it or whose low bits are meant, or a float type.
Constant *makeConstant(class TypedContext &context, SourceRange range, ScalarKind type, const Number &number);
/// The exact value of an integer constant node.
Number getNumber(const Constant *constant);

} // namespace tilec::sema

#endif // TILEC_SEMA_NUMBER_H
