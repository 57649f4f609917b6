// sink-factors: products with positive numbers move behind maxima and minima (docs/decisions/factors-of-maxima.md).
#include "FloatRanges.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "tilec/Transforms/Passes.h"

namespace tilec {
#define GEN_PASS_DEF_SINKFACTORS
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

namespace {

// x * c or x / c of tiles, for a number c.
struct ScaledTile {
  Operation *op = nullptr;
  Value tile, factor;
  bool isNegative = false;

  bool isQuotient() const { return isa<arith::DivFOp>(op); }
};

bool isExtremum(Operation *op) {
  auto reduce = dyn_cast<tile::ReduceOp>(op);
  return reduce && (reduce.getKind() == tile::CombineKind::maxf || reduce.getKind() == tile::CombineKind::minf);
}

// The constant beside `value` in a select, if products with the factor keep it: the factor's sign turns infinities.
std::optional<APFloat> maskOf(arith::SelectOp select, Value value, bool isNegative) {
  Value other = select.getTrueValue() == value ? select.getFalseValue() : select.getTrueValue();
  APFloat constant(0.0);
  if (other == value || !matchPattern(other, m_ConstantFloat(&constant)))
    return std::nullopt;
  bool isKept = constant.isInfinity() || (constant.isZero() && !isNegative);
  if (!isKept)
    return std::nullopt;
  return isNegative ? neg(constant) : constant;
}

struct Uses {
  bool haveExtremum = false, canMove = true;
};

// Whether what uses a product gets along without it: extrema do, sums contract with it.
void collectUses(const ScaledTile &scaled, Value value, Uses &uses) {
  for (Operation *user : value.getUsers()) {
    auto select = dyn_cast<arith::SelectOp>(user);
    if (isExtremum(user))
      uses.haveExtremum = true;
    else if (select && maskOf(select, value, scaled.isNegative))
      collectUses(scaled, select, uses);
    else if (scaled.isQuotient() || !isa<arith::AddFOp, arith::SubFOp>(user))
      uses.canMove = false;
  }
}

// Whether a loop around it computes matrix products.
bool isBesideProducts(Operation *op) {
  for (Operation *parent = op->getParentOp(); parent && !isa<tile::KernelOp>(parent); parent = parent->getParentOp())
    if (isa<scf::ForOp, scf::WhileOp>(parent) &&
        parent->walk([](tile::DotOp) { return WalkResult::interrupt(); }).wasInterrupted())
      return true;
  return false;
}

class FactorSinker {
public:
  explicit FactorSinker(tile::KernelOp kernel) : kernel(kernel), ranges(kernel) {
    StringRef specialization = specializationOf(kernel);
    mayAsk = !specialization.empty() && specialization != "general";
  }

  void run() {
    kernel.walk([&](Operation *op) {
      if (isa<arith::MulFOp, arith::DivFOp>(op))
        candidates.push_back(op);
    });
    while (!candidates.empty()) {
      Operation *op = candidates.pop_back_val();
      if (std::optional<ScaledTile> scaled = match(op)) {
        sink(*scaled, op->getResult(0), scaled->tile);
        if (op->use_empty())
          op->erase();
      }
    }
  }

private:
  std::optional<ScaledTile> match(Operation *op) {
    if (!isa<RankedTensorType>(op->getResult(0).getType()))
      return std::nullopt;
    for (unsigned side : {1u, 0u}) {
      Value factor = uniformNumber(op->getOperand(side));
      if (!factor || (side == 0 && isa<arith::DivFOp>(op)))
        continue;
      ScaledTile scaled{op, op->getOperand(1 - side), op->getOperand(side)};
      std::optional<FloatRange> range = ranges.of(factor);
      scaled.isNegative = range && range->isNegative();
      Uses uses;
      collectUses(scaled, op->getResult(0), uses);
      if (!uses.haveExtremum || !uses.canMove)
        continue;
      if (range && (range->isPositive() || range->isNegative()))
        return scaled;
      if (isBesideProducts(op) && ask(op, factor))
        return scaled;
    }
    return std::nullopt;
  }

  // Makes a factor positive by conditions of the launcher. The general variant stays one without.
  bool ask(Operation *op, Value factor) {
    std::optional<FloatRange> usual = ranges.usual(factor);
    bool helps = usual && usual->isPositive();
    if (!helps || !mayAsk) {
      op->emitRemark() << kernel.getSymName() << ": every element is multiplied before its maximum, as "
                       << (helps ? "this variant serves factors of any sign" : "the sign of the factor is not known");
      return false;
    }
    SmallVector<Attribute> when(kernel.getWhen().getValue());
    for (Attribute condition : ranges.conditionsOf(factor)) {
      when.push_back(condition);
      ranges.assume(condition);
    }
    kernel.setWhenAttr(ArrayAttr::get(kernel.getContext(), when));
    for (tile::ArgOp argument : parametersOf(factor)) {
      int exponent = usualExponent(argument.getType());
      op->emitRemark() << kernel.getSymName() << ": maxima are taken before the product, for `" << argument.getName()
                       << "` from 2^-" << exponent << " to 2^" << exponent;
    }
    return true;
  }

  // `value` is `tile` scaled; what uses it is made of `tile` instead.
  void sink(const ScaledTile &scaled, Value value, Value tile) {
    for (Operation *user : llvm::to_vector(value.getUsers())) {
      if (isExtremum(user))
        sinkBehind(scaled, cast<tile::ReduceOp>(user), tile);
      else if (auto select = dyn_cast<arith::SelectOp>(user))
        sinkBehind(scaled, select, value, tile);
    }
  }

  void sinkBehind(const ScaledTile &scaled, tile::ReduceOp reduce, Value tile) {
    OpBuilder builder(reduce);
    auto extremum = cast<tile::ReduceOp>(builder.clone(*reduce));
    extremum.getInputMutable().assign(tile);
    if (scaled.isNegative)
      extremum.setKind(reduce.getKind() == tile::CombineKind::maxf ? tile::CombineKind::minf : tile::CombineKind::maxf);
    Operation *product = scale(scaled, extremum);
    reduce.replaceAllUsesWith(product->getResult(0));
    reduce.erase();
    candidates.push_back(product);
  }

  void sinkBehind(const ScaledTile &scaled, arith::SelectOp select, Value value, Value tile) {
    OpBuilder builder(select);
    auto type = cast<RankedTensorType>(select.getType());
    APFloat constant = *maskOf(select, value, scaled.isNegative);
    Value mask = arith::ConstantOp::create(builder, select.getLoc(), type, DenseElementsAttr::get(type, constant));
    bool first = select.getTrueValue() == value;
    Value masked = arith::SelectOp::create(builder, select.getLoc(), select.getCondition(), first ? tile : mask,
                                           first ? mask : tile);
    sink(scaled, select, masked);
    if (!select.use_empty())
      select.replaceAllUsesWith(scale(scaled, masked)->getResult(0));
    select.erase();
  }

  // The product or quotient of another value and the factor, behind that value.
  Operation *scale(const ScaledTile &scaled, Value value) {
    Location loc = scaled.op->getLoc();
    Value number = uniformNumber(scaled.factor), factor = number;
    OpBuilder before(kernel.getContext()), builder(kernel.getContext());
    before.setInsertionPointAfterValue(scaled.factor);
    builder.setInsertionPointAfterValue(value);
    if (auto type = dyn_cast<RankedTensorType>(value.getType()); type && !isa<RankedTensorType>(number.getType())) {
      factor = tile::BroadcastOp::create(before, loc, type, number, ArrayRef<int64_t>{});
    } else if (isa<RankedTensorType>(number.getType())) {
      APFloat constant(0.0);
      matchPattern(number, m_ConstantFloat(&constant));
      TypedAttr attribute = before.getFloatAttr(getElementTypeOrSelf(value.getType()), constant);
      if (type)
        attribute = DenseElementsAttr::get(type, constant);
      factor = arith::ConstantOp::create(before, loc, attribute);
    }
    if (scaled.isQuotient())
      return arith::DivFOp::create(builder, loc, value, factor);
    return arith::MulFOp::create(builder, loc, value, factor);
  }

  tile::KernelOp kernel;
  FloatRanges ranges;
  bool mayAsk;
  SmallVector<Operation *> candidates;
};

struct SinkFactorsPass : tilec::impl::SinkFactorsBase<SinkFactorsPass> {
  void runOnOperation() override { FactorSinker(getOperation()).run(); }
};

} // namespace
