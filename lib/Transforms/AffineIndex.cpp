// Affine forms and divisibility of index values, by structural recursion over SSA.
#include "tilec/Transforms/AffineIndex.h"

#include "mlir/IR/Matchers.h"
#include "tilec/Dialect/TileGPU/TileGPUDialect.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilec;

static constexpr int64_t maxDivisor = 1 << 20;

static std::optional<int64_t> constantInt(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)) && constant.getSignificantBits() <= 64)
    return constant.getSExtValue();
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Linear sums
//===----------------------------------------------------------------------===//

void LinearSum::add(const LinearSum &other, int64_t factor) {
  constant += other.constant * factor;
  for (auto [value, coefficient] : other.terms) {
    auto *it = llvm::find_if(terms, [&, v = value](auto &term) { return term.first == v; });
    if (it == terms.end()) {
      terms.push_back({value, coefficient * factor});
      continue;
    }
    it->second += coefficient * factor;
    if (it->second == 0)
      terms.erase(it);
  }
}

Value LinearSum::materialize(OpBuilder &builder, Location loc) const {
  Value sum;
  auto accumulate = [&](Value value) { sum = sum ? builder.createOrFold<arith::AddIOp>(loc, sum, value) : value; };
  for (auto [value, coefficient] : terms) {
    if (coefficient == 1) {
      accumulate(value);
      continue;
    }
    Value factor = arith::ConstantIndexOp::create(builder, loc, coefficient);
    accumulate(builder.createOrFold<arith::MulIOp>(loc, value, factor));
  }
  if (constant != 0 || !sum)
    accumulate(arith::ConstantIndexOp::create(builder, loc, constant));
  return sum;
}

LinearSum tilec::linearSum(Value scalar) {
  LinearSum sum;
  if (std::optional<int64_t> constant = constantInt(scalar)) {
    sum.constant = *constant;
    return sum;
  }
  Operation *op = scalar.getDefiningOp();
  auto pair = [&](int64_t factor) {
    sum = linearSum(op->getOperand(0));
    sum.add(linearSum(op->getOperand(1)), factor);
    return sum;
  };
  if (isa_and_nonnull<arith::AddIOp>(op) && scalar.getType().isIndex())
    return pair(1);
  if (isa_and_nonnull<arith::SubIOp>(op) && scalar.getType().isIndex())
    return pair(-1);
  if (isa_and_nonnull<arith::MulIOp>(op) && scalar.getType().isIndex())
    for (int side : {0, 1})
      if (std::optional<int64_t> factor = constantInt(op->getOperand(side))) {
        sum.add(linearSum(op->getOperand(1 - side)), *factor);
        return sum;
      }
  sum.terms.push_back({scalar, 1});
  return sum;
}

//===----------------------------------------------------------------------===//
// Affine subscripts
//===----------------------------------------------------------------------===//

static unsigned rankOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? type.getRank() : 0;
}

static AffineIndex uniform(LinearSum base, unsigned rank) {
  AffineIndex index;
  index.base = std::move(base);
  index.coefficients.assign(rank, 0);
  index.axes.assign(rank, {});
  return index;
}

static void scale(AffineIndex &index, int64_t factor) {
  LinearSum base;
  base.add(index.base, factor);
  index.base = base;
  for (auto [coefficient, axis] : llvm::zip(index.coefficients, index.axes)) {
    coefficient *= factor;
    if (factor != 1)
      axis = {};
  }
}

static AffineIndex sum(const AffineIndex &a, const AffineIndex &b, int64_t factor) {
  AffineIndex result = a;
  result.base.add(b.base, factor);
  for (unsigned d = 0; d < a.coefficients.size(); ++d) {
    if (b.coefficients[d] != 0)
      result.axes[d] = a.coefficients[d] == 0 && factor == 1 ? b.axes[d] : tile::AxisOp();
    result.coefficients[d] += factor * b.coefficients[d];
  }
  return result;
}

static std::optional<AffineIndex> affineOf(Operation *op, unsigned rank);

std::optional<AffineIndex> tilec::affineIndex(Value subscript) {
  unsigned rank = rankOf(subscript);
  if (rank == 0)
    return uniform(linearSum(subscript), 0);
  if (Operation *op = subscript.getDefiningOp())
    return affineOf(op, rank);
  return std::nullopt;
}

static std::optional<AffineIndex> affineOf(Operation *op, unsigned rank) {
  SplatElementsAttr splat;
  if (matchPattern(op, m_Constant(&splat)) && splat.getElementType().isIndex()) {
    LinearSum base;
    base.constant = splat.getSplatValue<APInt>().getSExtValue();
    return uniform(base, rank);
  }
  if (auto pos = dyn_cast<tile::PosOp>(op)) {
    auto axis = pos.getAxis().getDefiningOp<tile::AxisOp>();
    if (!axis)
      return std::nullopt;
    AffineIndex index = uniform(linearSum(axis.getStart()), 1);
    index.coefficients[0] = 1;
    index.axes[0] = axis;
    return index;
  }
  if (auto broadcast = dyn_cast<tile::BroadcastOp>(op)) {
    std::optional<AffineIndex> inner = affineIndex(broadcast.getInput());
    if (!inner)
      return std::nullopt;
    AffineIndex index = uniform(inner->base, rank);
    for (auto [i, dim] : llvm::enumerate(broadcast.getDims())) {
      index.coefficients[dim] = inner->coefficients[i];
      index.axes[dim] = inner->axes[i];
    }
    return index;
  }
  if (auto permute = dyn_cast<tile::PermuteOp>(op)) {
    std::optional<AffineIndex> inner = affineIndex(permute.getInput());
    if (!inner)
      return std::nullopt;
    AffineIndex index = *inner;
    for (auto [i, dim] : llvm::enumerate(permute.getOrder())) {
      index.coefficients[i] = inner->coefficients[dim];
      index.axes[i] = inner->axes[dim];
    }
    return index;
  }
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op))
    return std::nullopt;
  std::optional<AffineIndex> a = affineIndex(op->getOperand(0)), b = affineIndex(op->getOperand(1));
  if (!a || !b)
    return std::nullopt;
  if (!isa<arith::MulIOp>(op))
    return sum(*a, *b, isa<arith::AddIOp>(op) ? 1 : -1);
  auto constant = [](const AffineIndex &x) -> std::optional<int64_t> {
    if (x.base.terms.empty() && llvm::all_of(x.coefficients, [](int64_t c) { return c == 0; }))
      return x.base.constant;
    return std::nullopt;
  };
  if (std::optional<int64_t> factor = constant(*b)) {
    scale(*a, *factor);
    return a;
  }
  if (std::optional<int64_t> factor = constant(*a)) {
    scale(*b, *factor);
    return b;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Divisibility
//===----------------------------------------------------------------------===//

static int64_t lowBit(int64_t value) { return value == 0 ? maxDivisor : std::min<int64_t>(value & -value, maxDivisor); }

static int64_t divisor(Value value, unsigned depth) {
  if (std::optional<int64_t> constant = constantInt(value))
    return lowBit(*constant);
  if (depth == 0)
    return 1;
  auto of = [&](Value operand) { return divisor(operand, depth - 1); };
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    // An induction variable: lower bound plus a multiple of the step.
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (loop && argument == loop.getInductionVar())
      return std::min(of(loop.getLowerBound()), of(loop.getStep()));
    return 1;
  }
  Operation *op = value.getDefiningOp();
  return llvm::TypeSwitch<Operation *, int64_t>(op)
      .Case<tile::ArgOp>([](tile::ArgOp arg) { return lowBit(arg.getDivisible().value_or(1)); })
      .Case<arith::AddIOp, arith::SubIOp, arith::MinSIOp, arith::MaxSIOp, arith::MinUIOp, arith::MaxUIOp>(
          [&](Operation *binary) { return std::min(of(binary->getOperand(0)), of(binary->getOperand(1))); })
      .Case<arith::MulIOp>([&](arith::MulIOp mul) { return std::min(of(mul.getLhs()) * of(mul.getRhs()), maxDivisor); })
      .Case<arith::SelectOp>(
          [&](arith::SelectOp select) { return std::min(of(select.getTrueValue()), of(select.getFalseValue())); })
      .Case<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp, arith::ExtUIOp>(
          [&](Operation *cast) { return of(cast->getOperand(0)); })
      .Case<tile::DivOp, arith::FloorDivSIOp, arith::DivSIOp, arith::DivUIOp>([&](Operation *div) -> int64_t {
        std::optional<int64_t> by = constantInt(div->getOperand(1));
        if (!by || *by <= 0 || !llvm::isPowerOf2_64(*by))
          return 1;
        return std::max<int64_t>(of(div->getOperand(0)) / *by, 1);
      })
      .Case<tile::RemOp, arith::RemSIOp, arith::RemUIOp>(
          [&](Operation *rem) { return std::min(of(rem->getOperand(0)), of(rem->getOperand(1))); })
      .Default([](Operation *) { return 1; });
}

int64_t tilec::divisorOf(Value scalar) { return divisor(scalar, 16); }

int64_t tilec::divisorOf(const LinearSum &sum) {
  int64_t result = lowBit(sum.constant);
  for (auto [value, coefficient] : sum.terms)
    result = std::min(result, std::min(divisorOf(value) * lowBit(coefficient), maxDivisor));
  return result;
}

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

bool tilec::isAtMost(Value value, Value bound) {
  if (value == bound)
    return true;
  std::optional<int64_t> a = constantInt(value), b = constantInt(bound);
  if (a && b)
    return *a <= *b;
  if (auto argument = bound.getDefiningOp<tile::ArgOp>(); a && argument && argument.getMin())
    return *a <= static_cast<int64_t>(*argument.getMin());
  if (auto min = value.getDefiningOp<arith::MinSIOp>())
    return isAtMost(min.getLhs(), bound) || isAtMost(min.getRhs(), bound);
  return false;
}

bool tilec::axisEndsWithin(Value axis, Value bound) {
  auto op = axis.getDefiningOp<tile::AxisOp>();
  return op && isAtMost(op.getEnd(), bound);
}

bool tilec::absentIsBeyond(tile::AxisOp axis, Value size) {
  if (constantInt(size) == 0 && isNonNegative(axis.getStart()))
    return true;
  if (auto select = size.getDefiningOp<arith::SelectOp>())
    return absentIsBeyond(axis, select.getTrueValue()) && absentIsBeyond(axis, select.getFalseValue());
  auto endsAt = [&](Value end) {
    std::optional<int64_t> a = constantInt(end), b = constantInt(size);
    return end == size || (a && b && *a == *b);
  };
  return endsAt(axis.getEnd()) ||
         llvm::any_of(tileEnds(axis.getEnd(), linearSum(axis.getStart())), [&](const TileEnd &reading) {
           return endsAt(reading.limit) && reading.width >= axis.getType().getExtent();
         });
}

SmallVector<TileEnd, 2> tilec::tileEnds(Value end, const LinearSum &start) {
  SmallVector<TileEnd, 2> readings;
  auto min = end.getDefiningOp<arith::MinSIOp>();
  if (!min)
    return readings;
  for (auto [tileEnd, limit] : {std::pair(min.getLhs(), min.getRhs()), std::pair(min.getRhs(), min.getLhs())}) {
    LinearSum width = linearSum(tileEnd);
    width.add(start, -1);
    if (width.terms.empty())
      readings.push_back({tileEnd, limit, width.constant});
  }
  return readings;
}

bool tilec::isFullAxis(Value axis) {
  auto op = axis.getDefiningOp<tile::AxisOp>();
  if (!op)
    return false;
  if (op.getFull())
    return true;
  int64_t extent = op.getType().getExtent();
  LinearSum size = linearSum(op.getEnd());
  size.add(linearSum(op.getStart()), -1);
  if (size.terms.empty())
    return size.constant == extent;
  // A whole number of tiles in the range.
  return llvm::isPowerOf2_64(extent) && divisorOf(op.getStart()) % extent == 0 &&
         llvm::any_of(tileEnds(op.getEnd(), linearSum(op.getStart())), [&](const TileEnd &reading) {
           return reading.width == extent && divisorOf(reading.limit) % extent == 0;
         });
}

static bool nonNegative(Value value, unsigned depth) {
  if (std::optional<int64_t> constant = constantInt(value))
    return *constant >= 0;
  if (depth == 0)
    return false;
  auto of = [&](Value operand) { return nonNegative(operand, depth - 1); };
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    if (auto loop = dyn_cast<scf::ForOp>(parent))
      return argument == loop.getInductionVar() && of(loop.getLowerBound());
    if (auto parallel = dyn_cast<tile::ParallelOp>(parent))
      return of(parallel.getLower()[argument.getArgNumber()]);
    return false;
  }
  Operation *op = value.getDefiningOp();
  auto both = [&] { return of(op->getOperand(0)) && of(op->getOperand(1)); };
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<tile::ArgOp>([](tile::ArgOp arg) { return arg.getMin() && static_cast<int64_t>(*arg.getMin()) >= 0; })
      .Case<arith::AddIOp, arith::MulIOp>([&](Operation *) { return value.getType().isIndex() && both(); })
      .Case<arith::MinSIOp, tile::DivOp, arith::FloorDivSIOp, arith::DivSIOp, arith::CeilDivSIOp>(
          [&](Operation *) { return both(); })
      .Case<arith::MaxSIOp>([&](Operation *) { return of(op->getOperand(0)) || of(op->getOperand(1)); })
      .Case<tile::RemOp, arith::RemSIOp>([&](Operation *) { return both(); })
      .Case<arith::RemUIOp, arith::DivUIOp>([&](Operation *) { return both(); })
      .Case<arith::IndexCastOp, arith::ExtSIOp>([&](Operation *cast) { return of(cast->getOperand(0)); })
      .Case<tilegpu::BlockIdOp, tilegpu::ClusterRankOp, tilegpu::GroupOp, tilegpu::GridSizeOp, arith::IndexCastUIOp>(
          [](Operation *) { return true; })
      .Default([](Operation *) { return false; });
}

bool tilec::isNonNegative(Value scalar) { return nonNegative(scalar, 16); }
