// Choice of the elements that loads put at absent positions, and of the reductions that need no masks then: a select
// and, often, a comparison for each element of a ragged row go away (docs/decisions/ends-of-rows.md).
#include "AbsentElements.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "tilec/Dialect/Tile/AttributeNames.h"
#include "tilec/Transforms/AffineIndex.h"
#include "tilec/Transforms/Facts.h"

using namespace mlir;
using namespace tilec;

namespace {

class AbsentElements {
public:
  /// `zeros`: loads of whose zeros a reduction makes use.
  AbsentElements(tile::ReduceOp reduce, llvm::SmallDenseSet<Operation *> &zeros)
      : reduce(reduce), axis(reduce.getAxis().getDefiningOp<tile::AxisOp>()), zeros(zeros) {}

  void run() {
    bool isMasked = axis && !reduce.getPredicate() && !reduce.getFull();
    if (isMasked && (reduce.getKind() == tile::CombineKind::add ? sumsZeros() : fillsExtremum()))
      reduce->setAttr(absentIsNeutral, UnitAttr::get(reduce.getContext()));
  }

private:
  bool isOutsideWhereAbsent(tile::LoadOp load, size_t s);
  std::optional<size_t> subscriptOfAxis(tile::LoadOp load);
  bool isInsideWherePresent(tile::LoadOp load);
  bool isZero(Value value);
  bool sumsZeros();
  bool fillsExtremum();

  tile::ReduceOp reduce;
  tile::AxisOp axis;
  llvm::SmallDenseSet<Operation *> &zeros;
  /// What isZero() has found, and the loads on the way.
  llvm::SmallDenseMap<Value, bool> known;
  SmallVector<Operation *> loads;
};

} // namespace

// Whether the absent positions of the axis, along which subscript `s` of a load runs, are those outside the view.
bool AbsentElements::isOutsideWhereAbsent(tile::LoadOp load, size_t s) {
  if (auto part = load->getAttrOfType<DenseI64ArrayAttr>(tile::rowPartName); part && part[1] == 1)
    return true;
  auto view = load.getView().getDefiningOp<tile::ViewOp>();
  auto pos = load.getSubscripts()[s].getDefiningOp<tile::PosOp>();
  auto loadAxis = pos ? pos.getAxis().getDefiningOp<tile::AxisOp>() : tile::AxisOp();
  bool inbounds = load.getInbounds() && (*load.getInbounds())[s];
  return view && loadAxis && loadAxis.getStart() == axis.getStart() && loadAxis.getEnd() == axis.getEnd() &&
         !inbounds && isNonNegative(axis.getStart()) && absentIsBeyond(axis, view.getSizes()[s]);
}

// The subscript that runs along the reduced dimension, if it is the only one and absent positions are outside the view.
std::optional<size_t> AbsentElements::subscriptOfAxis(tile::LoadOp load) {
  std::optional<size_t> found;
  for (auto [s, dims] : llvm::enumerate(load.getDims().getAsRange<ArrayAttr>())) {
    bool follows = llvm::any_of(dims.getAsRange<IntegerAttr>(),
                                [&](IntegerAttr dim) { return dim.getInt() == static_cast<int64_t>(reduce.getDim()); });
    if (!follows)
      continue;
    if (found || dims.size() != 1)
      return std::nullopt;
    found = s;
  }
  return !load.getOtherwise() && found && isOutsideWhereAbsent(load, *found) ? found : std::nullopt;
}

// Whether no present position of another dimension is outside the view: the element there is 0, and takes part.
bool AbsentElements::isInsideWherePresent(tile::LoadOp load) {
  std::optional<size_t> along = subscriptOfAxis(load);
  auto view = load.getView().getDefiningOp<tile::ViewOp>();
  if (auto part = load->getAttrOfType<DenseI64ArrayAttr>(tile::rowPartName); part && part[2] == 0)
    return false;
  return along && llvm::all_of(llvm::seq<size_t>(0, load.getSubscripts().size()), [&](size_t s) {
           return s == *along || (load.getInbounds() && (*load.getInbounds())[s]) ||
                  isInbounds(load.getSubscripts()[s], view.getSizes()[s], /*all=*/false);
         });
}

// Whether the registers of a value hold +0 at absent positions, if the loads that it comes from do.
bool AbsentElements::isZero(Value value) {
  auto [it, isNew] = known.try_emplace(value, false);
  if (!isNew)
    return it->second;
  Operation *op = value.getDefiningOp();
  bool result = false;
  if (auto load = dyn_cast_or_null<tile::LoadOp>(op)) {
    loads.push_back(load);
    result = subscriptOfAxis(load).has_value();
  } else if (isa_and_nonnull<arith::ExtFOp, math::AbsFOp, arith::MulFOp, arith::AddFOp, arith::SubFOp>(op)) {
    result = llvm::all_of(op->getOperands(), [&](Value operand) { return isZero(operand); });
  }
  return known[value] = result;
}

bool AbsentElements::sumsZeros() {
  if (!isZero(reduce.getInput()))
    return false;
  zeros.insert(loads.begin(), loads.end());
  return true;
}

// Of a loaded tile, perhaps widened: conversions to wider types keep infinities.
bool AbsentElements::fillsExtremum() {
  bool isMax = reduce.getKind() == tile::CombineKind::maxf;
  Value input = reduce.getInput();
  if (auto widening = input.getDefiningOp<arith::ExtFOp>())
    input = widening.getIn();
  auto load = input.getDefiningOp<tile::LoadOp>();
  auto type = dyn_cast<FloatType>(getElementTypeOrSelf(input.getType()));
  // Registers hold 8-bit floats as integers, and one of the two formats has no infinity.
  if ((!isMax && reduce.getKind() != tile::CombineKind::minf) || !load || !type || type.getWidth() < 16 ||
      zeros.contains(load) || !isInsideWherePresent(load))
    return false;
  Attribute infinity = FloatAttr::get(type, APFloat::getInf(type.getFloatSemantics(), /*Negative=*/isMax));
  Attribute chosen = load->getAttr(absentElement);
  if (chosen && chosen != infinity)
    return false;
  load->setAttr(absentElement, infinity);
  return true;
}

void tilec::chooseAbsentElements(tilegpu::KernelOp kernel) {
  // Products count on zeros.
  if (kernel.walk([](tilegpu::MmaOp) { return WalkResult::interrupt(); }).wasInterrupted())
    return;
  llvm::SmallDenseSet<Operation *> zeros;
  // Sums first: loads hold zeros anyway.
  for (bool sums : {true, false})
    kernel.walk([&](tile::ReduceOp reduce) {
      if ((reduce.getKind() == tile::CombineKind::add) == sums)
        AbsentElements(reduce, zeros).run();
    });
}
