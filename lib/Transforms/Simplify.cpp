// simplify: accumulators of dots, dots without a matrix product, and facts about presence and bounds.
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "tilec/Transforms/AxisClasses.h"
#include "tilec/Transforms/Facts.h"
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

struct SimplifyPass : tilec::impl::SimplifyBase<SimplifyPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FoldAccumulator<arith::AddFOp>, FoldAccumulator<arith::AddIOp>, ExpandDot>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    markFacts(getOperation());
  }
};

} // namespace
