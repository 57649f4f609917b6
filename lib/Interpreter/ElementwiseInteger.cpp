// Arithmetic on integers, comparisons, select and casts. Integers wrap; shift counts beyond the width give what the
// operation's user must not observe (the language takes them modulo the width before).
#include "Elementwise.h"

#include "tilec/Dialect/Tile/TileDialect.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace tilec::interpreter;

namespace {

// Applies a callable on 64-bit numbers, then wraps to the result's width.
template <typename F, typename... Inputs> TilePtr apply(Operation *op, F f, const Inputs &...inputs) {
  auto result = std::make_shared<Tile>(op->getResult(0).getType());
  mapElements<int64_t, int64_t>(*result, f, inputs...);
  unsigned width = integerWidth(result->element);
  if (width < 64)
    for (int64_t &value : result->integers)
      value = wrapInteger(value, width);
  (result->addPoison(inputs), ...);
  return result;
}

// Unsigned wrapping arithmetic, which signed integers share.
template <typename F> TilePtr wrapping(Operation *op, Operands x, F f) {
  return apply(
      op,
      [&](int64_t a, int64_t b) { return static_cast<int64_t>(f(static_cast<uint64_t>(a), static_cast<uint64_t>(b))); },
      *x[0], *x[1]);
}

// An operation on unsigned numbers of the operands' width.
template <typename F> TilePtr onUnsigned(Operation *op, Operands x, F f) {
  unsigned width = integerWidth(x[0]->element);
  return apply(
      op, [&](int64_t a, int64_t b) { return static_cast<int64_t>(f(asUnsigned(a, width), asUnsigned(b, width))); },
      *x[0], *x[1]);
}

bool compare(arith::CmpIPredicate predicate, int64_t a, int64_t b, unsigned width) {
  uint64_t ua = asUnsigned(a, width), ub = asUnsigned(b, width);
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return a == b;
  case arith::CmpIPredicate::ne:
    return a != b;
  case arith::CmpIPredicate::slt:
    return a < b;
  case arith::CmpIPredicate::sle:
    return a <= b;
  case arith::CmpIPredicate::sgt:
    return a > b;
  case arith::CmpIPredicate::sge:
    return a >= b;
  case arith::CmpIPredicate::ult:
    return ua < ub;
  case arith::CmpIPredicate::ule:
    return ua <= ub;
  case arith::CmpIPredicate::ugt:
    return ua > ub;
  case arith::CmpIPredicate::uge:
    return ua >= ub;
  }
  llvm_unreachable("unknown predicate");
}

// Division by zero gives 0, also where arith leaves it undefined.
int64_t truncatedQuotient(int64_t a, int64_t b) {
  if (b == 0)
    return 0;
  return b == -1 ? static_cast<int64_t>(0 - static_cast<uint64_t>(a)) : a / b;
}
int64_t flooredQuotient(int64_t a, int64_t b) {
  int64_t q = truncatedQuotient(a, b);
  return b != 0 && b != -1 && a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}
int64_t remainder(int64_t a, int64_t b, int64_t quotient) {
  return b == 0 ? 0
                : static_cast<int64_t>(static_cast<uint64_t>(a) -
                                       static_cast<uint64_t>(b) * static_cast<uint64_t>(quotient));
}
int64_t ceiledQuotient(int64_t a, int64_t b) {
  int64_t q = flooredQuotient(a, b);
  return remainder(a, b, q) != 0 ? q + 1 : q;
}

template <typename Op> TilePtr divide(Op op, Operands x, bool isRemainder) {
  if (op.getIsUnsigned())
    return onUnsigned(op, x, [&](uint64_t a, uint64_t b) { return b == 0 ? 0 : isRemainder ? a % b : a / b; });
  bool truncating = op.getTruncating();
  return apply(
      op,
      [&](int64_t a, int64_t b) {
        int64_t q = truncating ? truncatedQuotient(a, b) : flooredQuotient(a, b);
        return isRemainder ? remainder(a, b, q) : q;
      },
      *x[0], *x[1]);
}

TilePtr division(Operation *op, Operands x) {
  return llvm::TypeSwitch<Operation *, TilePtr>(op)
      .Case<tilec::tile::DivOp>([&](auto div) { return divide(div, x, false); })
      .Case<tilec::tile::RemOp>([&](auto rem) { return divide(rem, x, true); })
      .Case<arith::DivSIOp>([&](auto) { return apply(op, truncatedQuotient, *x[0], *x[1]); })
      .Case<arith::FloorDivSIOp>([&](auto) { return apply(op, flooredQuotient, *x[0], *x[1]); })
      .Case<arith::CeilDivSIOp>([&](auto) { return apply(op, ceiledQuotient, *x[0], *x[1]); })
      .Case<arith::RemSIOp>([&](auto) {
        return apply(op, [](int64_t a, int64_t b) { return remainder(a, b, truncatedQuotient(a, b)); }, *x[0], *x[1]);
      })
      .Case<arith::DivUIOp>(
          [&](auto) { return onUnsigned(op, x, [](uint64_t a, uint64_t b) { return b == 0 ? 0 : a / b; }); })
      .Case<arith::CeilDivUIOp>([&](auto) {
        return onUnsigned(op, x, [](uint64_t a, uint64_t b) { return b == 0 ? 0 : a / b + (a % b != 0); });
      })
      .Case<arith::RemUIOp>(
          [&](auto) { return onUnsigned(op, x, [](uint64_t a, uint64_t b) { return b == 0 ? 0 : a % b; }); })
      .Default([](auto) { return nullptr; });
}

TilePtr bitwise(Operation *op, Operands x) {
  return llvm::TypeSwitch<Operation *, TilePtr>(op)
      .Case<arith::AndIOp>([&](auto) { return wrapping(op, x, [](uint64_t a, uint64_t b) { return a & b; }); })
      .Case<arith::OrIOp>([&](auto) { return wrapping(op, x, [](uint64_t a, uint64_t b) { return a | b; }); })
      .Case<arith::XOrIOp>([&](auto) { return wrapping(op, x, [](uint64_t a, uint64_t b) { return a ^ b; }); })
      .Case<arith::ShLIOp>(
          [&](auto) { return wrapping(op, x, [](uint64_t a, uint64_t b) { return b > 63 ? 0 : a << b; }); })
      .Case<arith::ShRUIOp>(
          [&](auto) { return onUnsigned(op, x, [](uint64_t a, uint64_t b) { return b > 63 ? 0 : a >> b; }); })
      .Case<arith::ShRSIOp>([&](auto) {
        return apply(op, [](int64_t a, int64_t b) { return a >> std::min<uint64_t>(b, 63); }, *x[0], *x[1]);
      })
      .Case<math::CtPopOp>([&](auto) {
        unsigned width = integerWidth(x[0]->element);
        return apply(op, [&](int64_t a) { return llvm::popcount(asUnsigned(a, width)); }, *x[0]);
      })
      .Case<math::CountLeadingZerosOp>([&](auto) {
        unsigned width = integerWidth(x[0]->element);
        return apply(op, [&](int64_t a) { return llvm::countl_zero(asUnsigned(a, width)) - 64 + width; }, *x[0]);
      })
      .Default([](auto) { return nullptr; });
}

TilePtr select(arith::SelectOp op, Operands x) {
  auto result = std::make_shared<Tile>(op.getType());
  bool scalarCondition = x[0]->shape.empty();
  for (int64_t i = 0, n = result->size(); i < n; ++i) {
    int64_t c = scalarCondition ? 0 : i;
    result->copyElement(i, x[0]->integers[c] ? *x[1] : *x[2], i);
    if (x[0]->isPoison(c))
      result->setPoison(i);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Casts
//===----------------------------------------------------------------------===//

// Truncates, saturates to the target, NaN to 0.
int64_t floatToInteger(double value, unsigned width, bool isUnsigned) {
  if (std::isnan(value))
    return 0;
  value = std::trunc(value);
  if (isUnsigned) {
    if (value <= 0)
      return 0;
    return value >= std::ldexp(1.0, width) ? wrapInteger(-1, width)
                                           : wrapInteger(static_cast<int64_t>(static_cast<uint64_t>(value)), width);
  }
  double limit = std::ldexp(1.0, width - 1);
  if (value >= limit)
    return static_cast<int64_t>((uint64_t(1) << (width - 1)) - 1);
  return value < -limit ? static_cast<int64_t>(~uint64_t(0) << (width - 1)) : static_cast<int64_t>(value);
}

// Rounds once, from the exact integer: a double would round 64-bit integers before.
double integerToFloat(int64_t value, unsigned width, bool isUnsigned, Type element) {
  if (!isUnsigned && std::abs(static_cast<double>(value)) <= 0x1p53)
    return roundToFormat(static_cast<double>(value), element);
  llvm::APFloat exact(cast<FloatType>(element).getFloatSemantics());
  exact.convertFromAPInt(llvm::APInt(64, isUnsigned ? asUnsigned(value, width) : static_cast<uint64_t>(value)),
                         !isUnsigned, llvm::APFloat::rmNearestTiesToEven);
  return exact.convertToDouble();
}

// A signed conversion of i1 takes 1 as -1, as arith defines.
TilePtr convert(Operation *op, const Tile &x, bool fromUnsigned, bool toUnsigned) {
  auto result = std::make_shared<Tile>(op->getResult(0).getType());
  bool fromInteger = x.storage == Storage::Integer, toInteger = result->storage == Storage::Integer;
  unsigned from = fromInteger ? integerWidth(x.element) : 0, to = toInteger ? integerWidth(result->element) : 0;
  for (int64_t i = 0, n = x.size(); i < n; ++i) {
    int64_t source = !fromInteger ? 0 : from == 1 && !fromUnsigned ? -x.integers[i] : x.integers[i];
    if (fromInteger && toInteger) {
      int64_t value = fromUnsigned ? static_cast<int64_t>(asUnsigned(source, from)) : source;
      result->integers[i] = wrapInteger(value, to);
    } else if (toInteger) {
      result->integers[i] = floatToInteger(x.number(i), to, toUnsigned);
    } else {
      double value = fromInteger ? integerToFloat(source, from, fromUnsigned, result->element)
                                 : roundToFormat(x.number(i), result->element);
      if (result->storage == Storage::Single)
        result->singles[i] = static_cast<float>(value);
      else
        result->doubles[i] = value;
    }
  }
  result->addPoison(x);
  return result;
}

TilePtr bitcast(Operation *op, const Tile &x) {
  auto result = std::make_shared<Tile>(op->getResult(0).getType());
  for (int64_t i = 0, n = x.size(); i < n; ++i) {
    uint64_t bits =
        x.storage == Storage::Integer ? static_cast<uint64_t>(x.integers[i]) : encodeFloat(x.number(i), x.element);
    if (result->storage == Storage::Integer)
      result->integers[i] = wrapInteger(static_cast<int64_t>(bits), integerWidth(result->element));
    else if (result->storage == Storage::Single)
      result->singles[i] = static_cast<float>(decodeFloat(bits, result->element));
    else
      result->doubles[i] = decodeFloat(bits, result->element);
  }
  result->addPoison(x);
  return result;
}

TilePtr castTo(Operation *op, Operands x) {
  return llvm::TypeSwitch<Operation *, TilePtr>(op)
      .Case<tilec::tile::CastOp>([&](auto c) { return convert(op, *x[0], c.getFromUnsigned(), c.getToUnsigned()); })
      .Case<arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::FPToSIOp, arith::ExtSIOp, arith::TruncIOp,
            arith::IndexCastOp>([&](auto) { return convert(op, *x[0], false, false); })
      .Case<arith::UIToFPOp, arith::ExtUIOp, arith::IndexCastUIOp>(
          [&](auto) { return convert(op, *x[0], true, false); })
      .Case<arith::FPToUIOp>([&](auto) { return convert(op, *x[0], false, true); })
      .Case<arith::BitcastOp>([&](auto) { return bitcast(op, *x[0]); })
      .Default([](auto) { return nullptr; });
}

} // namespace

TilePtr tilec::interpreter::evaluateInteger(Operation *op, Operands x) {
  if (TilePtr result = division(op, x))
    return result;
  if (TilePtr result = bitwise(op, x))
    return result;
  return llvm::TypeSwitch<Operation *, TilePtr>(op)
      .Case<arith::AddIOp>([&](auto) { return wrapping(op, x, [](uint64_t a, uint64_t b) { return a + b; }); })
      .Case<arith::SubIOp>([&](auto) { return wrapping(op, x, [](uint64_t a, uint64_t b) { return a - b; }); })
      .Case<arith::MulIOp>([&](auto) { return wrapping(op, x, [](uint64_t a, uint64_t b) { return a * b; }); })
      .Case<arith::MaxSIOp>(
          [&](auto) { return apply(op, [](int64_t a, int64_t b) { return std::max(a, b); }, *x[0], *x[1]); })
      .Case<arith::MinSIOp>(
          [&](auto) { return apply(op, [](int64_t a, int64_t b) { return std::min(a, b); }, *x[0], *x[1]); })
      .Case<arith::MaxUIOp>(
          [&](auto) { return onUnsigned(op, x, [](uint64_t a, uint64_t b) { return std::max(a, b); }); })
      .Case<arith::MinUIOp>(
          [&](auto) { return onUnsigned(op, x, [](uint64_t a, uint64_t b) { return std::min(a, b); }); })
      .Case<math::AbsIOp>([&](auto) {
        return apply(
            op, [](int64_t a) { return a < 0 ? static_cast<int64_t>(0 - static_cast<uint64_t>(a)) : a; }, *x[0]);
      })
      .Case<arith::CmpIOp>([&](arith::CmpIOp cmp) {
        unsigned width = integerWidth(x[0]->element);
        return apply(op, [&](int64_t a, int64_t b) { return compare(cmp.getPredicate(), a, b, width); }, *x[0], *x[1]);
      })
      .Default([](auto) { return nullptr; });
}

TilePtr tilec::interpreter::evaluateElementwise(Operation *op, Operands operands) {
  if (operands.empty())
    return nullptr;
  if (auto choice = dyn_cast<arith::SelectOp>(op))
    return select(choice, operands);
  if (TilePtr result = castTo(op, operands))
    return result;
  if (operands[0]->storage == Storage::Integer)
    return evaluateInteger(op, operands);
  return evaluateFloat(op, operands);
}
