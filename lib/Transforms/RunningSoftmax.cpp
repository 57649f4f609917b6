// Loops that keep sums of exponentials relative to a running maximum: what operations do with weights.
#include "RunningSoftmax.h"
#include "FloatRanges.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace tilec;

// The constant that all elements of a value are.
static std::optional<double> constantOf(Value value) {
  APFloat constant(0.0);
  return matchPattern(behindBroadcasts(value), m_ConstantFloat(&constant)) ? std::optional(constant.convertToDouble())
                                                                           : std::nullopt;
}

static bool isZero(Value value) { return constantOf(value) == 0.0; }

// The scalar of which a value is a broadcast, or the scalar itself; null if it is neither.
static Value scalarOf(Value value) {
  value = behindBroadcasts(value);
  return isa<RankedTensorType>(value.getType()) ? Value() : value;
}

namespace {

// Whether a cast of an f32 weight leaves its range: a weight of 2^8 and more must not saturate, nor a small sum vanish.
static bool keepsRange(Operation *cast) {
  Type from = getElementTypeOrSelf(cast->getOperand(0)), to = getElementTypeOrSelf(cast->getResult(0));
  auto isWide = [](Type type) { return type.isF32() || type.isBF16() || type.isTF32(); };
  return isWide(from) && isWide(to);
}

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

using Dims = SmallVector<int64_t, 2>;

struct Role {
  Meaning meaning;
  /// Points and their differences: the number by which they are multiplied, null for 1.
  Value scale;
  /// The value's dimensions that are those of the point: what differs along another one has the same point.
  Dims dims;
  bool operator==(Meaning other) const { return meaning == other; }
  bool operator!=(Meaning other) const { return meaning != other; }
};

// The dimensions `dims` behind a broadcast or permutation.
Dims dimsBehind(Operation *op, ArrayRef<int64_t> dims) {
  Dims result;
  if (auto broadcast = dyn_cast<tile::BroadcastOp>(op))
    for (int64_t dim : dims)
      result.push_back(broadcast.getDims()[dim]);
  if (auto permute = dyn_cast<tile::PermuteOp>(op))
    for (int64_t dim : dims)
      result.push_back(llvm::find(permute.getOrder(), dim) - permute.getOrder().begin());
  return result;
}

Dims dimsOfPoint(Value point) {
  auto type = dyn_cast<RankedTensorType>(point.getType());
  return type ? llvm::to_vector<2>(llvm::seq<int64_t>(0, type.getRank())) : Dims();
}

class Body {
public:
  Body(scf::ForOp loop, unsigned pointNumber, arith::MaximumFOp maximum) : loop(loop), pointNumber(pointNumber) {
    softmax.top = loop.getRegionIterArg(pointNumber);
    softmax.maximum = maximum;
    roles[softmax.top] = {Meaning::OldPoint, {}, dimsOfPoint(softmax.top)};
    roles[maximum.getResult()] = {Meaning::NewPoint, {}, dimsOfPoint(softmax.top)};
  }

  // Whether the loop is a running softmax; then `softmax` and `sums` are set.
  bool match() {
    findSums();
    for (Operation &op : loop.getBody()->without_terminator())
      if (&op != softmax.maximum && !visit(op))
        return false;
    bool isOfScores =
        llvm::count_if(softmax.maximum->getOperands(), [&](Value operand) { return roles.contains(operand); }) == 1;
    return isOfScores && !sums.empty() && !softmax.rescales.empty() && yields();
  }

  RunningSoftmax softmax;
  SmallVector<unsigned, 2> sums;
  /// Of each carried sum.
  llvm::DenseMap<Value, Dims> dimsOfSums;

private:
  using MaybeRole = std::optional<Role>;

  MaybeRole roleOf(Value value) const {
    auto it = value ? roles.find(value) : roles.end();
    return it == roles.end() ? std::nullopt : MaybeRole(it->second);
  }
  bool has(Value value, Meaning meaning) const { return roleOf(value) == meaning; }
  static MaybeRole weight(ArrayRef<int64_t> dims) { return Role{Meaning::Weight, {}, Dims(dims)}; }
  /// A weight, or zero, which is one of anything.
  bool isWeight(Value value) const { return has(value, Meaning::Weight) || (!roleOf(value) && isZero(value)); }
  /// Weights of the same points; none if they are not.
  MaybeRole common(Value a, Value b) const {
    if (!isWeight(a) || !isWeight(b))
      return std::nullopt;
    MaybeRole first = roleOf(a), second = roleOf(b);
    if (first && second)
      return first->dims == second->dims ? first : std::nullopt;
    return first ? first : second;
  }

  // Carried floats that something multiplies are taken for sums; whether they are shows at the products.
  void findSums() {
    for (unsigned i = 0; i < loop.getNumRegionIterArgs(); ++i) {
      Value argument = loop.getRegionIterArg(i);
      if (i == pointNumber ||
          llvm::none_of(argument.getUsers(), [](Operation *user) { return isa<arith::MulFOp>(user); }))
        continue;
      roles[argument] = {Meaning::OldSum, {}, {}};
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
        .Case([&](arith::AddFOp sum) { return common(sum.getLhs(), sum.getRhs()); })
        .Case([&](arith::SubFOp difference) { return afterDifference(difference); })
        .Case([&](arith::MulFOp product) { return afterProduct(product); })
        .Case([&](arith::SelectOp select) {
          return roleOf(select.getCondition()) ? std::nullopt : common(select.getTrueValue(), select.getFalseValue());
        })
        .Case([&](tilegpu::MmaOp mma) { return afterProduct(mma); })
        .Case([&](tile::ReduceOp reduce) { return afterReduction(reduce); })
        .Case<math::ExpOp, math::Exp2Op>([&](Operation *exponential) { return afterExponential(exponential); })
        .Case<arith::TruncFOp, arith::ExtFOp, tile::CastOp>([&](Operation *cast) {
          bool kept = has(cast->getOperand(0), Meaning::Weight) && keepsRange(cast);
          return kept ? roleOf(cast->getOperand(0)) : std::nullopt;
        })
        .Case<tile::BroadcastOp, tile::PermuteOp>([&](Operation *same) -> MaybeRole {
          MaybeRole role = roleOf(same->getOperand(0));
          if (role && *role != Meaning::OldSum)
            return Role{role->meaning, role->scale, dimsBehind(same, role->dims)};
          return std::nullopt;
        })
        .Default([](Operation *) { return std::nullopt; });
  }

  MaybeRole afterDifference(arith::SubFOp op) {
    MaybeRole lhs = roleOf(op.getLhs()), rhs = roleOf(op.getRhs());
    if (!has(op.getRhs(), Meaning::NewPoint))
      return common(op.getLhs(), op.getRhs());
    if (!lhs)
      return Role{Meaning::LogWeight, rhs->scale, rhs->dims};
    bool isRescale = *lhs == Meaning::OldPoint && lhs->scale == rhs->scale && lhs->dims == rhs->dims;
    return isRescale ? MaybeRole({Meaning::LogRescale, rhs->scale, rhs->dims}) : std::nullopt;
  }

  MaybeRole afterProduct(arith::MulFOp op) {
    MaybeRole lhs = roleOf(op.getLhs()), rhs = roleOf(op.getRhs());
    if (lhs && rhs) {
      bool sumFirst = *lhs == Meaning::OldSum;
      if (!(sumFirst && *rhs == Meaning::Rescale) && !(*lhs == Meaning::Rescale && *rhs == Meaning::OldSum))
        return std::nullopt;
      const Dims &dims = sumFirst ? rhs->dims : lhs->dims;
      auto known = dimsOfSums.try_emplace(sumFirst ? op.getLhs() : op.getRhs(), dims).first;
      if (known->second != dims)
        return std::nullopt;
      softmax.rescales.push_back(op);
      return weight(dims);
    }
    Role role = lhs ? *lhs : *rhs;
    if (role == Meaning::Weight)
      return role;
    // Another base: the scale of the scores may stand behind their differences.
    Value number = scalarOf(lhs ? op.getRhs() : op.getLhs());
    bool isPoint = role == Meaning::OldPoint || role == Meaning::NewPoint || role == Meaning::LogWeight ||
                   role == Meaning::LogRescale;
    bool scales = isPoint && !role.scale && number && loop.isDefinedOutsideOfLoop(number);
    return scales ? MaybeRole({role.meaning, number, role.dims}) : std::nullopt;
  }

  // Sums over positions with one point.
  MaybeRole afterReduction(tile::ReduceOp op) {
    auto reduced = static_cast<int64_t>(op.getDim());
    MaybeRole role = roleOf(op.getInput());
    if (op.getKind() != tile::CombineKind::add || roleOf(op.getPredicate()) || !role || *role != Meaning::Weight ||
        llvm::is_contained(role->dims, reduced))
      return std::nullopt;
    Dims dims;
    for (int64_t dim : role->dims)
      dims.push_back(dim > reduced ? dim - 1 : dim);
    return weight(dims);
  }

  // acc + a * b with a [m, k], b [n, k]: the points are those of the free dimension of the operand that is a weight.
  MaybeRole afterProduct(tilegpu::MmaOp op) {
    MaybeRole a = roleOf(op.getA()), b = roleOf(op.getB());
    if ((a && b) || (a && *a != Meaning::Weight) || (b && *b != Meaning::Weight))
      return std::nullopt;
    Dims result;
    if (a || b) {
      Dims free = {(a ? op.getTransA() : op.getTransB()) ? 1 : 0};
      const Dims &dims = a ? a->dims : b->dims;
      if (!dims.empty() && dims != free)
        return std::nullopt;
      if (!dims.empty())
        result = {a ? 0 : 1};
    }
    MaybeRole acc = roleOf(op.getAcc());
    if (!isWeight(op.getAcc()) || (acc && (a || b) && acc->dims != result) || !(a || b))
      return std::nullopt;
    return weight(result);
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
      return Role{Meaning::Rescale, {}, role->dims};
    if (auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType()))
      softmax.weightsPerIteration = std::max(softmax.weightsPerIteration, type.getNumElements());
    return weight(role->dims);
  }

  bool yields() {
    return llvm::all_of(llvm::enumerate(loop.getYieldedValues()), [&](auto yielded) {
      auto [number, value] = yielded;
      if (number == pointNumber)
        return has(value, Meaning::NewPoint) && !roleOf(value)->scale;
      if (!llvm::is_contained(sums, number))
        return !roleOf(value);
      auto dims = dimsOfSums.find(loop.getRegionIterArg(number));
      return has(value, Meaning::Weight) && dims != dimsOfSums.end() && roleOf(value)->dims == dims->second;
    });
  }

  scf::ForOp loop;
  unsigned pointNumber;
  llvm::DenseMap<Value, Role> roles;
  bool seenExponential = false;
};

// How a value behind the loop changes when every m becomes m - d: as h(c * d)^factor, and by c * d * offset and d *
// raw, with the scale c of the points. `dims` are the value's dimensions that are those of the points.
struct Degree {
  double factor = 0, offset = 0, raw = 0;
  Dims dims;
  bool isFree() const { return factor == 0 && offset == 0 && raw == 0; }
  bool isFactor() const { return offset == 0 && raw == 0; }
};

// a + b, and none where they cancel but for the rounding of constants such as log2(e) to f32.
double cancelled(double a, double b) {
  double sum = a + b;
  return std::abs(sum) <= 1e-6 * std::max(std::abs(a), std::abs(b)) ? 0 : sum;
}

// Follows the loop's results.
class Results {
public:
  Results(scf::ForOp loop, unsigned pointNumber, Body &body) : softmax(body.softmax) {
    Dims point = dimsOfPoint(softmax.top);
    degrees[loop.getResult(pointNumber)] = softmax.scale ? Degree{0, 0, -1, point} : Degree{0, -1, 0, point};
    for (unsigned number : body.sums)
      degrees[loop.getResult(number)] = {1, 0, 0, body.dimsOfSums.lookup(loop.getRegionIterArg(number))};
    // Program order: an operation comes behind those of its operands.
    loop->getParentOfType<tilegpu::KernelOp>().walk<WalkOrder::PreOrder>([&](Operation *op) {
      free = free && visit(op);
      return free ? WalkResult::advance() : WalkResult::interrupt();
    });
  }

  // Whether nothing that depends on the points is used.
  bool areFreeOfPoints() const { return free; }

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
    const Degree first = degrees.lookup(op->getOperand(0));
    return llvm::TypeSwitch<Operation *, MaybeDegree>(op)
        .Case<tile::BroadcastOp, tile::PermuteOp>([&](Operation *) -> MaybeDegree {
          return Degree{first.factor, first.offset, first.raw, dimsBehind(op, first.dims)};
        })
        .Case<arith::ExtFOp, arith::TruncFOp>(
            [&](Operation *) { return keepsRange(op) ? MaybeDegree(first) : std::nullopt; })
        .Case([&](arith::NegFOp) { return Degree{first.factor, -first.offset, -first.raw, first.dims}; })
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

  // The dimensions of two values together; none if both depend on points, of different dimensions.
  static std::optional<Dims> together(const Degree &a, const Degree &b) {
    if (a.isFree() || b.isFree())
      return a.isFree() ? b.dims : a.dims;
    return a.dims == b.dims ? std::optional(a.dims) : std::nullopt;
  }

  // Values that change by the same factor, or are zero.
  MaybeDegree alike(Value lhs, Value rhs) {
    const Degree a = degrees.lookup(lhs), b = degrees.lookup(rhs);
    if (!a.isFactor() || !b.isFactor() || !together(a, b))
      return std::nullopt;
    if (isZero(lhs) || isZero(rhs))
      return isZero(lhs) ? b : a;
    return a.factor == b.factor ? MaybeDegree(a) : std::nullopt;
  }

  MaybeDegree afterSum(Value lhs, Value rhs, double sign) {
    const Degree a = degrees.lookup(lhs), b = degrees.lookup(rhs);
    std::optional<Dims> dims = together(a, b);
    if (dims && a.factor == 0 && b.factor == 0)
      return Degree{0, cancelled(a.offset, sign * b.offset), cancelled(a.raw, sign * b.raw), *dims};
    return alike(lhs, rhs);
  }

  MaybeDegree afterProduct(Value lhs, Value rhs) {
    const Degree a = degrees.lookup(lhs), b = degrees.lookup(rhs);
    std::optional<Dims> dims = together(a, b);
    if (dims && a.isFactor() && b.isFactor())
      return Degree{a.factor + b.factor, 0, 0, *dims};
    if (!a.isFree() && !b.isFree())
      return std::nullopt;
    return times(a.isFree() ? b : a, a.isFree() ? lhs : rhs);
  }

  // A point or a logarithm times a number: another base.
  MaybeDegree times(const Degree &degree, Value number) {
    if (degree.factor != 0)
      return std::nullopt;
    if (std::optional<double> constant = constantOf(number))
      return Degree{0, degree.offset * *constant, degree.raw * *constant, degree.dims};
    bool isScale = softmax.scale && scalarOf(number) == softmax.scale && degree.offset == 0;
    return isScale ? MaybeDegree({0, degree.raw, 0, degree.dims}) : std::nullopt;
  }

  MaybeDegree afterQuotient(Value lhs, Value rhs) {
    const Degree a = degrees.lookup(lhs), b = degrees.lookup(rhs);
    std::optional<Dims> dims = together(a, b);
    if (dims && a.isFactor() && b.isFactor())
      return Degree{a.factor - b.factor, 0, 0, *dims};
    std::optional<double> constant = constantOf(rhs);
    return constant && a.factor == 0 ? MaybeDegree({0, a.offset / *constant, a.raw / *constant, a.dims}) : std::nullopt;
  }

  // log h(d)^factor = factor * d in the base of h.
  MaybeDegree afterLogarithm(Operation *op) {
    const Degree degree = degrees.lookup(op->getOperand(0));
    if (!degree.isFactor())
      return std::nullopt;
    double perPoint = 1;
    if (softmax.base2 && isa<math::LogOp>(op))
      perPoint = M_LN2;
    if (!softmax.base2 && isa<math::Log2Op>(op))
      perPoint = M_LOG2E;
    return Degree{0, degree.factor * perPoint, 0, degree.dims};
  }

  const RunningSoftmax &softmax;
  llvm::DenseMap<Value, Degree> degrees;
  bool free = true;
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
    if (body.match() && Results(loop, number, body).areFreeOfPoints())
      return body.softmax;
  }
  return std::nullopt;
}
