// accumulate: loops that add reductions of tiles to what they carry carry the tiles themselves and reduce them once.
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/IR/Matchers.h"
#include "tilec/Transforms/AxisClasses.h"
#include "tilec/Transforms/CombineKinds.h"
#include "tilec/Transforms/Passes.h"

namespace tilec {
#define GEN_PASS_DEF_ACCUMULATE
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

namespace {

// Registers of a thread that the tiles carried by one loop may take.
constexpr int64_t registerBudget = 48;

// The kind of reduction that a combination of two values continues. Products are left as they are.
std::optional<tile::CombineKind> combineKind(Operation *op) {
  std::optional<tile::CombineKind> kind = combineKindOf(op);
  return kind == tile::CombineKind::mul ? std::nullopt : kind;
}

// `carried = combine(carried, reduce(... reduce(tile)))` in the body of a loop.
struct CarriedSum {
  scf::ForOp loop;
  unsigned index;
  Operation *combine = nullptr;
  // From the tile outwards.
  SmallVector<tile::ReduceOp, 2> reductions;

  bool match() {
    Value carried = loop.getRegionIterArg(index);
    Value next = loop.getYieldedValues()[index];
    combine = next.getDefiningOp();
    if (!carried.hasOneUse() || !combine || *carried.user_begin() != combine || !next.hasOneUse() ||
        combine->getBlock() != loop.getBody() || combine->getNumOperands() != 2)
      return false;
    std::optional<tile::CombineKind> kind = combineKind(combine);
    Value addend = combine->getOperand(combine->getOperand(0) == carried ? 1 : 0);
    while (auto reduce = kind ? addend.getDefiningOp<tile::ReduceOp>() : tile::ReduceOp()) {
      // A predicate belongs to the tile as it is before anything was reduced.
      bool inner = !reductions.empty() && reductions.front().getPredicate();
      if (reduce.getKind() != *kind || !addend.hasOneUse() || reduce->getBlock() != loop.getBody() || inner)
        break;
      reductions.insert(reductions.begin(), reduce);
      addend = reduce.getInput();
    }
    // Sums of narrow floats would be rounded at every step.
    return !reductions.empty() &&
           (*kind != tile::CombineKind::add || !isa<FloatType>(element()) || element().getIntOrFloatBitWidth() >= 32);
  }

  Type element() { return type().getElementType(); }

  RankedTensorType type() { return cast<RankedTensorType>(reductions.front().getInput().getType()); }

  int64_t registers(int64_t threads) {
    int64_t bits = element().isIndex() ? 64 : std::max(element().getIntOrFloatBitWidth(), 32u);
    return static_cast<int64_t>(llvm::divideCeil(type().getNumElements(), threads)) * bits / 32;
  }

  // Where elements of the tile are present on all axes and satisfy the predicate; null: everywhere.
  Value presence(OpBuilder &builder) {
    Location loc = combine->getLoc();
    auto mask = cast<RankedTensorType>(type().clone(builder.getI1Type()));
    Value present = reductions.front().getPredicate();
    SmallVector<int64_t> dims = llvm::to_vector(llvm::seq<int64_t>(0, type().getRank()));
    for (tile::ReduceOp reduce : reductions) {
      int64_t dim = dims[reduce.getDim()];
      dims.erase(dims.begin() + reduce.getDim());
      if (reduce.getFull())
        continue;
      auto axis = reduce.getAxis().getDefiningOp<tile::AxisOp>();
      auto positions = RankedTensorType::get({type().getDimSize(dim)}, builder.getIndexType());
      Value pos = tile::PosOp::create(builder, loc, positions, axis);
      Value end = tile::BroadcastOp::create(builder, loc, positions, axis.getEnd(), ArrayRef<int64_t>{});
      Value before = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, pos, end);
      Value spread = tile::BroadcastOp::create(builder, loc, mask, before, dim);
      present = present ? arith::AndIOp::create(builder, loc, present, spread).getResult() : spread;
    }
    return present;
  }

  Value combined(OpBuilder &builder, Value a, Value b) {
    IRMapping map;
    map.map(combine->getOperand(0), a);
    map.map(combine->getOperand(1), b);
    Operation *copy = builder.clone(*combine, map);
    copy->getResult(0).setType(a.getType());
    return copy->getResult(0);
  }

  void rewrite() {
    Value addend = reductions.front().getInput(), init = loop.getInitArgs()[index];
    Value carried = loop.getRegionIterArg(index), result = loop.getResult(index);
    Location loc = combine->getLoc();
    OpBuilder inside(combine), before(loop), after(loop->getContext());
    after.setInsertionPointAfter(loop);

    arith::AtomicRMWKind kind = *scalarKindOf(reductions.front().getKind(), isa<FloatType>(element()));
    TypedAttr neutral = arith::getIdentityValueAttr(kind, element(), before, loc);
    auto splat = DenseElementsAttr::get(type(), static_cast<Attribute>(neutral));
    loop.getInitArgsMutable()[index].set(arith::ConstantOp::create(before, loc, type(), splat));
    carried.setType(type());
    Value sum = combined(inside, carried, addend);
    if (Value present = presence(inside))
      sum = arith::SelectOp::create(inside, loc, present, sum, carried);
    loop.getBody()->getTerminator()->setOperand(index, sum);

    Type oldType = result.getType();
    result.setType(type());
    Value total = reduceOnce(after, result);
    assert(total.getType() == oldType && "the same dimensions are left");
    (void)oldType;
    Value final = combined(after, init, total);
    result.replaceUsesWithIf(final, [&](OpOperand &use) { return !made.contains(use.getOwner()); });
    combine->erase();
    for (tile::ReduceOp reduce : llvm::reverse(reductions))
      reduce.erase();
  }

  // Every element of the carried tile counts, wherever the tiles' axes were.
  Value reduceOnce(OpBuilder &builder, Value tile) {
    for (tile::ReduceOp reduce : reductions) {
      Location loc = reduce.getLoc();
      auto axis = reduce.getAxis().getDefiningOp<tile::AxisOp>();
      Value start = arith::ConstantIndexOp::create(builder, loc, 0);
      Value end = arith::ConstantIndexOp::create(builder, loc, axis.getType().getExtent());
      Value full = tile::AxisOp::create(builder, loc, axis.getType(), axis.getName(), start, end);
      auto once = tile::ReduceOp::create(builder, loc, reduce.getType(), reduce.getKind(), tile, Value(), full,
                                         reduce.getDim(), /*full=*/true);
      made.insert(once);
      tile = once.getResult();
    }
    return tile;
  }

  llvm::SmallPtrSet<Operation *, 2> made;
};

struct AccumulatePass : tilec::impl::AccumulateBase<AccumulatePass> {
  void runOnOperation() override {
    tilegpu::KernelOp kernel = getOperation();
    int64_t threads = 32 * kernel.getWarps();
    SmallVector<scf::ForOp> loops;
    kernel.walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops) {
      int64_t left = registerBudget;
      for (unsigned index = 0; index < loop.getNumResults(); ++index) {
        CarriedSum sum{loop, index, nullptr, {}, {}};
        if (!sum.match() || sum.registers(threads) > left)
          continue;
        left -= sum.registers(threads);
        sum.rewrite();
      }
    }
  }
};

} // namespace
