// Loops that keep sums of exponentials relative to a running maximum: what operations do with weights.
#include "RunningSoftmax.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace tilec;

// The constant that all elements of a value are.
static std::optional<double> constantOf(Value value) {
  while (auto broadcast = value.getDefiningOp<tile::BroadcastOp>())
    value = broadcast.getInput();
  FloatAttr scalar;
  DenseFPElementsAttr elements;
  if (matchPattern(value, m_Constant(&scalar)))
    return scalar.getValueAsDouble();
  if (matchPattern(value, m_Constant(&elements)) && elements.isSplat())
    return elements.getSplatValue<APFloat>().convertToDouble();
  return std::nullopt;
}

static bool isZero(Value value) { return constantOf(value) == 0.0; }

// The scalar of which a value is a broadcast, or the scalar itself; null if it is neither.
static Value scalarOf(Value value) {
  while (auto broadcast = value.getDefiningOp<tile::BroadcastOp>())
    value = broadcast.getInput();
  return isa<RankedTensorType>(value.getType()) ? Value() : value;
}

namespace {

// What a value of the loop is to the state; what is not in the map of roles does not depend on it.
enum class Meaning {
  OldPoint,   // m
  NewPoint,   // m'
  LogWeight,  // s - m'
  LogRescale, // m - m'
  Rescale,    // h(m - m')
  OldSum,     // xi
  Weight,     // linear in h(s - m') and in xi * h(m - m')
};

struct Role {
  Meaning meaning;
  /// Points and their differences: the number by which they are multiplied, null for 1.
  Value scale;
  bool operator==(Meaning other) const { return meaning == other; }
  bool operator!=(Meaning other) const { return meaning != other; }
};

class Body {
public:
  Body(scf::ForOp loop, unsigned pointNumber, arith::MaximumFOp maximum) : loop(loop), pointNumber(pointNumber) {
    softmax.top = loop.getRegionIterArg(pointNumber);
    softmax.maximum = maximum;
    roles[softmax.top] = {Meaning::OldPoint, {}};
    roles[maximum.getResult()] = {Meaning::NewPoint, {}};
  }

  // Whether the loop is a running softmax; then `softmax` and `sums` are set.
  bool match() {
    findSums();
    for (Operation &op : loop.getBody()->without_terminator())
      if (&op != softmax.maximum && !visit(op))
        return false;
    return !sums.empty() && !softmax.rescales.empty() && yields();
  }

  RunningSoftmax softmax;
  SmallVector<unsigned, 2> sums;

private:
  using MaybeRole = std::optional<Role>;

  MaybeRole roleOf(Value value) const {
    auto it = value ? roles.find(value) : roles.end();
    return it == roles.end() ? std::nullopt : MaybeRole(it->second);
  }
  bool has(Value value, Meaning meaning) const { return roleOf(value) == meaning; }
  static MaybeRole weightIf(bool condition) { return condition ? MaybeRole({Meaning::Weight, {}}) : std::nullopt; }
  /// A weight, or zero, which is one of anything.
  bool isWeight(Value value) const { return has(value, Meaning::Weight) || (!roleOf(value) && isZero(value)); }

  // Carried floats that something multiplies are taken for sums; whether they are shows at the products.
  void findSums() {
    for (unsigned i = 0; i < loop.getNumRegionIterArgs(); ++i) {
      Value argument = loop.getRegionIterArg(i);
      if (i == pointNumber ||
          llvm::none_of(argument.getUsers(), [](Operation *user) { return isa<arith::MulFOp>(user); }))
        continue;
      roles[argument] = {Meaning::OldSum, {}};
      sums.push_back(i);
    }
  }

  // False if an operation does something unknown with the state.
  bool visit(Operation &op) {
    bool touched = false;
    op.walk([&](Operation *inner) {
      touched |= llvm::any_of(inner->getOperands(), [&](Value operand) { return roles.contains(operand); });
    });
    if (!touched)
      return true;
    MaybeRole role = op.getNumRegions() == 0 && op.getNumResults() == 1 ? after(op) : std::nullopt;
    if (role)
      roles[op.getResult(0)] = *role;
    return role.has_value();
  }

  MaybeRole after(Operation &op) {
    return llvm::TypeSwitch<Operation *, MaybeRole>(&op)
        .Case([&](arith::AddFOp sum) { return weightIf(isWeight(sum.getLhs()) && isWeight(sum.getRhs())); })
        .Case([&](arith::SubFOp difference) { return afterDifference(difference); })
        .Case([&](arith::MulFOp product) { return afterProduct(product); })
        .Case([&](arith::SelectOp select) {
          return weightIf(!roleOf(select.getCondition()) && isWeight(select.getTrueValue()) &&
                          isWeight(select.getFalseValue()));
        })
        .Case([&](tilegpu::MmaOp mma) { return afterDot(mma.getA(), mma.getB(), mma.getAcc()); })
        .Case([&](tile::DotOp dot) { return afterDot(dot.getLhs(), dot.getRhs(), dot.getAcc()); })
        .Case([&](tile::ReduceOp reduce) {
          return weightIf(reduce.getKind() == tile::CombineKind::add && !roleOf(reduce.getPredicate()) &&
                          has(reduce.getInput(), Meaning::Weight));
        })
        .Case<math::ExpOp, math::Exp2Op>([&](Operation *exponential) { return afterExponential(exponential); })
        // A weight may be rounded: it is at most 2^8 times what it was. Nothing else may.
        .Case<arith::TruncFOp, arith::ExtFOp, tile::CastOp>(
            [&](Operation *cast) { return weightIf(has(cast->getOperand(0), Meaning::Weight)); })
        .Case<tile::BroadcastOp, tile::PermuteOp>([&](Operation *same) { return roleOf(same->getOperand(0)); })
        .Default([](Operation *) { return std::nullopt; });
  }

  MaybeRole afterDifference(arith::SubFOp op) {
    MaybeRole lhs = roleOf(op.getLhs()), rhs = roleOf(op.getRhs());
    if (!has(op.getRhs(), Meaning::NewPoint))
      return weightIf(isWeight(op.getLhs()) && isWeight(op.getRhs()));
    if (!lhs)
      return Role{Meaning::LogWeight, rhs->scale};
    return *lhs == Meaning::OldPoint && lhs->scale == rhs->scale ? MaybeRole({Meaning::LogRescale, rhs->scale})
                                                                 : std::nullopt;
  }

  MaybeRole afterProduct(arith::MulFOp op) {
    MaybeRole lhs = roleOf(op.getLhs()), rhs = roleOf(op.getRhs());
    if (lhs && rhs) {
      bool isRescale = (*lhs == Meaning::OldSum && *rhs == Meaning::Rescale) ||
                       (*lhs == Meaning::Rescale && *rhs == Meaning::OldSum);
      if (isRescale)
        softmax.rescales.push_back(op);
      return weightIf(isRescale);
    }
    Role role = lhs ? *lhs : *rhs;
    if (role == Meaning::Weight)
      return role;
    // Another base: the scale of the scores may stand behind their differences.
    Value number = scalarOf(lhs ? op.getRhs() : op.getLhs());
    bool scales = role.meaning <= Meaning::LogRescale && !role.scale && number && loop.isDefinedOutsideOfLoop(number);
    return scales ? MaybeRole({role.meaning, number}) : std::nullopt;
  }

  MaybeRole afterExponential(Operation *op) {
    MaybeRole role = roleOf(op->getOperand(0));
    bool base2 = isa<math::Exp2Op>(op), isFirst = !seenExponential;
    if (!role || (*role != Meaning::LogRescale && *role != Meaning::LogWeight) ||
        (!isFirst && (base2 != softmax.base2 || role->scale != softmax.scale)))
      return std::nullopt;
    seenExponential = true;
    softmax.base2 = base2;
    softmax.scale = role->scale;
    if (*role == Meaning::LogRescale)
      return Role{Meaning::Rescale, {}};
    if (auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType()))
      softmax.weightsPerIteration = std::max(softmax.weightsPerIteration, type.getNumElements());
    return Role{Meaning::Weight, {}};
  }

  MaybeRole afterDot(Value lhs, Value rhs, Value acc) {
    bool linear = (has(lhs, Meaning::Weight) && !roleOf(rhs)) || (!roleOf(lhs) && has(rhs, Meaning::Weight));
    return weightIf(linear && (!acc || isWeight(acc)));
  }

  bool yields() {
    return llvm::all_of(llvm::enumerate(loop.getYieldedValues()), [&](auto yielded) {
      auto [number, value] = yielded;
      if (number == pointNumber)
        return has(value, Meaning::NewPoint) && !roleOf(value)->scale;
      return llvm::is_contained(sums, number) ? has(value, Meaning::Weight) : !roleOf(value);
    });
  }

  scf::ForOp loop;
  unsigned pointNumber;
  llvm::DenseMap<Value, Role> roles;
  bool seenExponential = false;
};

// How a value behind the loop changes when every m becomes m - d: as h(c * d)^factor, and by c * d * offset and d *
// raw, with the scale c of the points.
struct Degree {
  double factor = 0, offset = 0, raw = 0;
  bool isFree() const { return isNone(factor) && isNone(offset) && isNone(raw); }
  bool isFactor() const { return isNone(offset) && isNone(raw); }
  static bool isNone(double part) { return std::abs(part) < 1e-6; }
};

// Follows the loop's results; `ok` is false where something that depends on the reference point is used.
class Results {
public:
  Results(scf::ForOp loop, unsigned pointNumber, ArrayRef<unsigned> sums, const RunningSoftmax &softmax)
      : softmax(softmax) {
    degrees[loop.getResult(pointNumber)] = softmax.scale ? Degree{0, 0, -1} : Degree{0, -1, 0};
    for (unsigned number : sums)
      degrees[loop.getResult(number)] = {1, 0, 0};
    // Program order: an operation comes behind those of its operands.
    loop->getParentOfType<tilegpu::KernelOp>().walk<WalkOrder::PreOrder>([&](Operation *op) {
      ok = ok && visit(op);
      return ok ? WalkResult::advance() : WalkResult::interrupt();
    });
  }
  bool ok = true;

private:
  using MaybeDegree = std::optional<Degree>;

  bool visit(Operation *op) {
    if (llvm::none_of(op->getOperands(), [&](Value operand) { return degrees.contains(operand); }))
      return true;
    MaybeDegree degree = op->getNumResults() == 1 && op->getNumRegions() == 0 ? after(op) : std::nullopt;
    if (degree && !degree->isFree())
      degrees[op->getResult(0)] = *degree;
    return degree.has_value();
  }

  MaybeDegree after(Operation *op) {
    Degree first = degrees.lookup(op->getOperand(0));
    return llvm::TypeSwitch<Operation *, MaybeDegree>(op)
        .Case<tile::BroadcastOp, tile::PermuteOp, arith::ExtFOp, arith::TruncFOp>([&](Operation *) { return first; })
        .Case([&](arith::NegFOp) { return Degree{first.factor, -first.offset, -first.raw}; })
        .Case([&](arith::AddFOp sum) { return afterSum(sum.getLhs(), sum.getRhs(), 1); })
        .Case([&](arith::SubFOp sum) { return afterSum(sum.getLhs(), sum.getRhs(), -1); })
        .Case<arith::MaximumFOp, arith::MinimumFOp>(
            [&](Operation *extreme) { return alike(extreme->getOperand(0), extreme->getOperand(1)); })
        .Case([&](arith::MulFOp product) { return afterProduct(product.getLhs(), product.getRhs()); })
        .Case([&](arith::DivFOp quotient) { return afterQuotient(quotient.getLhs(), quotient.getRhs()); })
        // Which of two sums is larger, or the sign of one, does not change.
        .Case([&](arith::CmpFOp compare) {
          return alike(compare.getLhs(), compare.getRhs()) ? MaybeDegree(Degree()) : std::nullopt;
        })
        .Case([&](arith::SelectOp select) {
          return degrees.contains(select.getCondition()) ? std::nullopt
                                                         : alike(select.getTrueValue(), select.getFalseValue());
        })
        .Case<math::LogOp, math::Log2Op>([&](Operation *) { return afterLogarithm(op); })
        .Default([](Operation *) { return std::nullopt; });
  }

  // Values that change by the same factor, or are zero.
  MaybeDegree alike(Value lhs, Value rhs) {
    Degree a = degrees.lookup(lhs), b = degrees.lookup(rhs);
    if (!a.isFactor() || !b.isFactor())
      return std::nullopt;
    if (isZero(lhs) || isZero(rhs))
      return isZero(lhs) ? b : a;
    return a.factor == b.factor ? MaybeDegree(a) : std::nullopt;
  }

  MaybeDegree afterSum(Value lhs, Value rhs, double sign) {
    Degree a = degrees.lookup(lhs), b = degrees.lookup(rhs);
    if (Degree::isNone(a.factor) && Degree::isNone(b.factor))
      return Degree{0, a.offset + sign * b.offset, a.raw + sign * b.raw};
    return alike(lhs, rhs);
  }

  MaybeDegree afterProduct(Value lhs, Value rhs) {
    Degree a = degrees.lookup(lhs), b = degrees.lookup(rhs);
    if (a.isFactor() && b.isFactor())
      return Degree{a.factor + b.factor, 0, 0};
    if (!a.isFree() && !b.isFree())
      return std::nullopt;
    return times(a.isFree() ? b : a, a.isFree() ? lhs : rhs);
  }

  // A point or a logarithm times a number: another base.
  MaybeDegree times(Degree degree, Value number) {
    if (!Degree::isNone(degree.factor))
      return std::nullopt;
    if (std::optional<double> constant = constantOf(number))
      return Degree{0, degree.offset * *constant, degree.raw * *constant};
    bool isScale = softmax.scale && scalarOf(number) == softmax.scale && Degree::isNone(degree.offset);
    return isScale ? MaybeDegree({0, degree.raw, 0}) : std::nullopt;
  }

  MaybeDegree afterQuotient(Value lhs, Value rhs) {
    Degree a = degrees.lookup(lhs), b = degrees.lookup(rhs);
    if (a.isFactor() && b.isFactor())
      return Degree{a.factor - b.factor, 0, 0};
    std::optional<double> constant = constantOf(rhs);
    return constant && Degree::isNone(a.factor) ? MaybeDegree({0, a.offset / *constant, a.raw / *constant})
                                                : std::nullopt;
  }

  // log h(d)^factor = factor * d in the base of h.
  MaybeDegree afterLogarithm(Operation *op) {
    Degree degree = degrees.lookup(op->getOperand(0));
    if (!degree.isFactor())
      return std::nullopt;
    double perPoint = 1;
    if (softmax.base2 && isa<math::LogOp>(op))
      perPoint = M_LN2;
    if (!softmax.base2 && isa<math::Log2Op>(op))
      perPoint = M_LOG2E;
    return Degree{0, degree.factor * perPoint, 0};
  }

  const RunningSoftmax &softmax;
  llvm::DenseMap<Value, Degree> degrees;
};

} // namespace

std::optional<RunningSoftmax> RunningSoftmax::match(scf::ForOp loop) {
  for (auto [number, value] : llvm::enumerate(loop.getYieldedValues())) {
    auto maximum = value.getDefiningOp<arith::MaximumFOp>();
    Value top = loop.getRegionIterArg(number);
    if (!maximum || maximum->getBlock() != loop.getBody() || !getElementTypeOrSelf(value.getType()).isF32() ||
        (maximum.getLhs() != top && maximum.getRhs() != top))
      continue;
    Body body(loop, number, maximum);
    if (body.match() && Results(loop, number, body.sums, body.softmax).ok)
      return body.softmax;
  }
  return std::nullopt;
}
