// simplify: accumulators of dots, dots without a matrix product, and facts about presence and bounds.
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "tilec/Transforms/AffineIndex.h"
#include "tilec/Transforms/AxisClasses.h"
#include "tilec/Transforms/Passes.h"

namespace tilec {
#define GEN_PASS_DEF_SIMPLIFY
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

namespace {

// acc + dot(a, b) accumulates into acc.
template <typename AddOp> struct FoldAccumulator : OpRewritePattern<AddOp> {
  using OpRewritePattern<AddOp>::OpRewritePattern;

  LogicalResult matchAndRewrite(AddOp add, PatternRewriter &rewriter) const override {
    for (unsigned side : {1u, 0u}) {
      auto dot = add->getOperand(side).template getDefiningOp<tile::DotOp>();
      if (!dot || dot.getAcc() || !dot->hasOneUse() || dot->getBlock() != add->getBlock())
        continue;
      Value acc = add->getOperand(1 - side);
      rewriter.setInsertionPoint(add);
      auto fused = cast<tile::DotOp>(rewriter.clone(*dot));
      rewriter.modifyOpInPlace(fused, [&] { fused.getAccMutable().assign(acc); });
      rewriter.replaceOp(add, fused.getResult());
      rewriter.eraseOp(dot);
      return success();
    }
    return failure();
  }
};

// A dot that is no matrix product becomes products and reductions.
struct ExpandDot : OpRewritePattern<tile::DotOp> {
  using OpRewritePattern::OpRewritePattern;

  static bool isMatrixProduct(tile::DotOp dot) {
    return dot.getLhsBatch().empty() && dot.getAxes().size() == 1 && rankOf(dot.getLhs()) == 2 &&
           rankOf(dot.getRhs()) == 2;
  }

  static Value extend(PatternRewriter &rewriter, Location loc, Value value, Type element, bool isUnsigned) {
    auto type = cast<RankedTensorType>(value.getType());
    if (type.getElementType() == element)
      return value;
    auto result = type.clone(element);
    if (isa<IntegerType>(element) && isUnsigned)
      return arith::ExtUIOp::create(rewriter, loc, result, value);
    if (isa<IntegerType>(element))
      return arith::ExtSIOp::create(rewriter, loc, result, value);
    if (type.getElementType().isTF32())
      return tile::CastOp::create(rewriter, loc, result, value, false, false);
    return arith::ExtFOp::create(rewriter, loc, result, value);
  }

  // Result dimensions of the product tile: batch, free of lhs, free of rhs, contracted.
  static SmallVector<int64_t> productDims(Value operand, ArrayRef<int64_t> batch, ArrayRef<int64_t> contract,
                                          int64_t firstFree, int64_t firstContracted) {
    SmallVector<int64_t> dims(rankOf(operand));
    for (auto [i, d] : llvm::enumerate(batch))
      dims[d] = i;
    for (auto [i, d] : llvm::enumerate(contract))
      dims[d] = firstContracted + i;
    for (int64_t d = 0; d < rankOf(operand); ++d)
      if (!llvm::is_contained(batch, d) && !llvm::is_contained(contract, d))
        dims[d] = firstFree++;
    return dims;
  }

  // Broadcasts an operand to the product's shape, dimension d going to `dims[d]`.
  static Value align(PatternRewriter &rewriter, Location loc, Value value, ArrayRef<int64_t> dims,
                     ArrayRef<int64_t> shape) {
    SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, dims.size()));
    llvm::sort(order, [&](int64_t a, int64_t b) { return dims[a] < dims[b]; });
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> permuted, sorted;
    for (int64_t d : order) {
      permuted.push_back(type.getDimSize(d));
      sorted.push_back(dims[d]);
    }
    auto permutedType = RankedTensorType::get(permuted, type.getElementType());
    Value ordered = rewriter.createOrFold<tile::PermuteOp>(loc, permutedType, value, order);
    auto full = RankedTensorType::get(shape, type.getElementType());
    return rewriter.createOrFold<tile::BroadcastOp>(loc, full, ordered, sorted);
  }

  LogicalResult matchAndRewrite(tile::DotOp dot, PatternRewriter &rewriter) const override {
    if (isMatrixProduct(dot))
      return failure();
    Location loc = dot.getLoc();
    Type element = getElementTypeOrSelf(dot.getType());
    Value lhs = extend(rewriter, loc, dot.getLhs(), element, dot.getLhsUnsigned());
    Value rhs = extend(rewriter, loc, dot.getRhs(), element, dot.getRhsUnsigned());
    SmallVector<int64_t> shape;
    if (auto type = dyn_cast<RankedTensorType>(dot.getType()))
      shape.assign(type.getShape().begin(), type.getShape().end());
    int64_t rank = shape.size(), batch = dot.getLhsBatch().size();
    int64_t lhsFree = rankOf(lhs) - batch - dot.getAxes().size();
    for (Value axis : dot.getAxes())
      shape.push_back(cast<tile::AxisType>(axis.getType()).getExtent());
    SmallVector<int64_t> lhsDims = productDims(lhs, dot.getLhsBatch(), dot.getLhsContract(), batch, rank);
    SmallVector<int64_t> rhsDims = productDims(rhs, dot.getRhsBatch(), dot.getRhsContract(), batch + lhsFree, rank);
    Value a = align(rewriter, loc, lhs, lhsDims, shape), b = align(rewriter, loc, rhs, rhsDims, shape);
    bool isFloat = isa<FloatType>(element);
    Value value =
        isFloat ? Value(arith::MulFOp::create(rewriter, loc, a, b)) : arith::MulIOp::create(rewriter, loc, a, b);
    for (Value axis : llvm::reverse(dot.getAxes())) {
      shape.pop_back();
      Type type = shape.empty() ? element : RankedTensorType::get(shape, element);
      value = tile::ReduceOp::create(rewriter, loc, type, tile::CombineKind::add, value, Value(), axis,
                                     static_cast<int64_t>(shape.size()), false);
    }
    if (dot.getAcc())
      value = isFloat ? Value(arith::AddFOp::create(rewriter, loc, dot.getAcc(), value))
                      : arith::AddIOp::create(rewriter, loc, dot.getAcc(), value);
    rewriter.replaceOp(dot, value);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Facts
//===----------------------------------------------------------------------===//

// A scalar subscript that counts a range inside the tensor: 0 <= x < bound.
bool isInside(Value scalar, Value size) {
  APInt x, bound;
  if (matchPattern(scalar, m_ConstantInt(&x)) && matchPattern(size, m_ConstantInt(&bound)))
    return x.sge(0) && x.slt(bound);
  auto argument = dyn_cast<BlockArgument>(scalar);
  if (!argument || !isNonNegative(scalar))
    return false;
  if (auto parallel = dyn_cast<tile::ParallelOp>(argument.getOwner()->getParentOp()))
    return isAtMost(parallel.getUpper()[argument.getArgNumber()], size);
  if (auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()))
    return isAtMost(loop.getUpperBound(), size);
  return false;
}

// Whether the elements at present positions (or at all positions, if `all`) are inside a dimension of a view.
bool isInbounds(Value subscript, Value size, bool all) {
  if (rankOf(subscript) == 0)
    return isInside(subscript, size);
  std::optional<AffineIndex> index = affineIndex(subscript);
  if (!index)
    return false;
  tile::AxisOp axis;
  for (auto [coefficient, candidate] : llvm::zip(index->coefficients, index->axes)) {
    if (coefficient == 0)
      continue;
    if (coefficient != 1 || !candidate || axis)
      return false;
    axis = candidate;
  }
  if (!axis)
    return false;
  LinearSum shift = index->base;
  shift.add(linearSum(axis.getStart()), -1);
  if (!shift.terms.empty() || shift.constant != 0 || !isNonNegative(axis.getStart()))
    return false;
  APInt start, bound;
  if (matchPattern(axis.getStart(), m_ConstantInt(&start)) && matchPattern(size, m_ConstantInt(&bound)) &&
      start.getSExtValue() + axis.getType().getExtent() <= bound.getSExtValue())
    return true;
  return axisEndsWithin(axis, size) && (!all || isFullAxis(axis));
}

template <typename AccessOp> void markBounds(AccessOp op, bool all) {
  auto view = op.getView().template getDefiningOp<tile::ViewOp>();
  if (!view)
    return;
  SmallVector<bool> inbounds;
  for (auto [subscript, size] : llvm::zip(op.getSubscripts(), view.getSizes()))
    inbounds.push_back(isInbounds(subscript, size, all));
  op.setInbounds(inbounds);
}

template <typename AxesOp> void markFull(AxesOp op) {
  SmallVector<bool> full;
  for (Value axis : op.getAxes())
    full.push_back(isFullAxis(axis));
  op.setFull(full);
}

struct SimplifyPass : tilec::impl::SimplifyBase<SimplifyPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FoldAccumulator<arith::AddFOp>, FoldAccumulator<arith::AddIOp>, ExpandDot>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    getOperation().walk([&](Operation *op) {
      if (auto load = dyn_cast<tile::LoadOp>(op))
        markBounds(load, /*all=*/true);
      else if (auto store = dyn_cast<tile::StoreOp>(op))
        markBounds(store, /*all=*/false), markFull(store);
      else if (auto atomic = dyn_cast<tile::AtomicOp>(op))
        markBounds(atomic, /*all=*/false), markFull(atomic);
      else if (auto dot = dyn_cast<tile::DotOp>(op))
        markFull(dot);
      else if (auto reduce = dyn_cast<tile::ReduceOp>(op))
        reduce.setFull(isFullAxis(reduce.getAxis()));
    });
  }
};

} // namespace
