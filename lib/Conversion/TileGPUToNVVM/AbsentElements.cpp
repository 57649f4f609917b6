// A select and, often, a comparison for each element of a ragged row go away where the load has filled the row's end
// with what the reduction takes for nothing.
#include "AbsentElements.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "tilec/Transforms/AffineIndex.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilec;

// Whether the absent positions of `axis`, which dimension `dim` of a loaded tile follows, are those outside the view.
static bool fillsAbsent(tile::LoadOp load, tile::AxisOp axis, int64_t dim) {
  if (load.getOtherwise())
    return false;
  auto view = load.getView().getDefiningOp<tile::ViewOp>();
  for (auto [s, subscript] : llvm::enumerate(load.getSubscripts())) {
    auto dims = cast<ArrayAttr>(load.getDims()[s]);
    if (dims.size() != 1 || cast<IntegerAttr>(dims[0]).getInt() != dim)
      continue;
    auto pos = subscript.getDefiningOp<tile::PosOp>();
    auto own = pos ? pos.getAxis().getDefiningOp<tile::AxisOp>() : tile::AxisOp();
    bool isSame = own && own.getStart() == axis.getStart() && own.getEnd() == axis.getEnd();
    bool isProved = load.getInbounds() && (*load.getInbounds())[s];
    if (!view || !isSame || isProved || !isNonNegative(axis.getStart()))
      return false;
    Value size = view.getSizes()[s];
    return axis.getEnd() == size ||
           llvm::any_of(tileEnds(axis.getEnd(), linearSum(axis.getStart())), [&](const TileEnd &end) {
             return end.limit == size && end.width == axis.getType().getExtent();
           });
  }
  return false;
}

namespace {

class AbsentElements {
public:
  /// `zeros`: loads whose zeros a reduction counts on.
  AbsentElements(tile::ReduceOp reduce, SmallPtrSetImpl<Operation *> &zeros)
      : reduce(reduce), axis(reduce.getAxis().getDefiningOp<tile::AxisOp>()), zeros(zeros) {}

  void run() {
    bool isMasked = axis && !reduce.getPredicate() && !reduce.getFull();
    if (isMasked && (reduce.getKind() == tile::CombineKind::add ? sumsZeros() : fillsExtremum()))
      reduce->setAttr(absentIsNeutral, UnitAttr::get(reduce.getContext()));
  }

private:
  // Whether the registers of a value hold zeros, of either sign, at absent positions, if all `loads` do.
  bool isZero(Value value, SmallVectorImpl<Operation *> &loads) {
    Operation *op = value.getDefiningOp();
    if (auto load = dyn_cast_or_null<tile::LoadOp>(op)) {
      loads.push_back(load);
      return fillsAbsent(load, axis, reduce.getDim());
    }
    return isa_and_nonnull<arith::ExtFOp, arith::NegFOp, math::AbsFOp, arith::MulFOp, arith::AddFOp, arith::SubFOp>(
               op) &&
           llvm::all_of(op->getOperands(), [&](Value operand) { return isZero(operand, loads); });
  }

  bool sumsZeros() {
    SmallVector<Operation *> loads;
    if (!isZero(reduce.getInput(), loads))
      return false;
    zeros.insert(loads.begin(), loads.end());
    return true;
  }

  // Of a loaded tile, perhaps widened: conversions to wider types keep infinities.
  bool fillsExtremum() {
    bool isMax = reduce.getKind() == tile::CombineKind::maxf;
    Value input = reduce.getInput();
    if (auto widening = input.getDefiningOp<arith::ExtFOp>())
      input = widening.getIn();
    auto load = input.getDefiningOp<tile::LoadOp>();
    auto type = dyn_cast<FloatType>(getElementTypeOrSelf(input.getType()));
    if ((!isMax && reduce.getKind() != tile::CombineKind::minf) || !load || !type || type.getWidth() < 16 ||
        zeros.contains(load) || !fillsAbsent(load, axis, reduce.getDim()))
      return false;
    Attribute infinity = FloatAttr::get(type, APFloat::getInf(type.getFloatSemantics(), /*Negative=*/isMax));
    Attribute chosen = load->getAttr(absentElement);
    if (chosen && chosen != infinity)
      return false;
    load->setAttr(absentElement, infinity);
    return true;
  }

  tile::ReduceOp reduce;
  tile::AxisOp axis;
  SmallPtrSetImpl<Operation *> &zeros;
};

} // namespace

void tilec::chooseAbsentElements(tilegpu::KernelOp kernel) {
  // Products count on zeros.
  if (kernel.walk([](tilegpu::MmaOp) { return WalkResult::interrupt(); }).wasInterrupted())
    return;
  SmallPtrSet<Operation *, 8> zeros;
  // Sums first: they take what loads hold anyway.
  for (bool sums : {true, false})
    kernel.walk([&](tile::ReduceOp reduce) {
      if ((reduce.getKind() == tile::CombineKind::add) == sums)
        AbsentElements(reduce, zeros).run();
    });
}
