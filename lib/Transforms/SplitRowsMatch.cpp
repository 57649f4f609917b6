// split-rows: which axes are split.
#include "RowSplitter.h"

#include "mlir/IR/Matchers.h"
#include "tilec/Dialect/TileGPU/TileGPUDialect.h"
#include "tilec/Transforms/CombineKinds.h"
#include "tilec/Transforms/Facts.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilec;

bool RowSplitter::isKnown(Operation &op) {
  auto fits = [&](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return !type || (type.getRank() == 1 && type.getDimSize(0) == extent);
  };
  bool hasTiles = llvm::any_of(op.getOperands(), isTile) || llvm::any_of(op.getResults(), isTile);
  if (op.getNumRegions() > 0 || !llvm::all_of(op.getOperands(), fits) || !llvm::all_of(op.getResults(), fits))
    return false;
  if (!hasTiles)
    return !isa<tile::AxisOp>(op) || &op == axis;
  auto fromOutside = [&](Value value) {
    SplatElementsAttr splat;
    return isTile(value) && value.getParentBlock() != block && !matchPattern(value, m_Constant(&splat));
  };
  if (llvm::any_of(op.getOperands(), fromOutside))
    return false;
  // Tiles of nothing but the axis; constants may stand anywhere.
  if (op.isBeforeInBlock(axis) && !isa<arith::ConstantOp>(op))
    return false;
  if (auto reduce = dyn_cast<tile::ReduceOp>(op))
    return scalarKindOf(reduce.getKind(), isa<FloatType>(reduce.getType())).has_value();
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return isa<SplatElementsAttr>(constant.getValue());
  if (isa<tile::LoadOp, tile::StoreOp, tile::PosOp, tile::BroadcastOp>(op))
    return true;
  return OpTrait::hasElementwiseMappableTraits(&op) && op.getNumResults() == 1;
}

std::optional<RowAccess> RowSplitter::matchRow(Operation *op) {
  auto match = [&](auto access) -> std::optional<RowAccess> {
    auto view = access.getView().template getDefiningOp<tile::ViewOp>();
    if (!view || access.getSubscripts().empty())
      return std::nullopt;
    Type element = view.getType().getElementType();
    int64_t bits = element.isTF32() ? 32 : element.getIntOrFloatBitWidth();
    if (element.isInteger(1))
      bits = 8;
    Value last = access.getSubscripts().back();
    std::optional<AffineIndex> index = isTile(last) ? affineIndex(last) : std::nullopt;
    bool isRow = index && index->axes.front() == axis && index->coefficients.front() == 1 &&
                 matchPattern(view.getStrides().back(), m_One()) && bits >= 8 && bits <= 64 &&
                 llvm::none_of(access.getSubscripts().drop_back(), isTile);
    if (!isRow)
      return std::nullopt;
    LinearSum shift = index->base;
    shift.add(linearSum(axis.getStart()), -1);
    if (!isInside(last, shift, view.getSizes().back()))
      return std::nullopt;
    return RowAccess{op, view, llvm::to_vector(access.getSubscripts().drop_back()), shift, bits / 8};
  };
  if (auto load = dyn_cast<tile::LoadOp>(op))
    return load.getOtherwise() ? std::nullopt : match(load);
  if (auto store = dyn_cast<tile::StoreOp>(op))
    return match(store);
  return std::nullopt;
}

// Whether the subscript, `shift` beside the positions, is inside where these are present.
bool RowSplitter::isInside(Value subscript, const LinearSum &shift, Value size) {
  if (isInbounds(subscript, size, /*all=*/false))
    return true;
  LinearSum left = linearSum(size);
  left.add(shift, -1);
  left.add(linearSum(axis.getEnd()), -1);
  auto isPositive = [](const auto &term) { return term.second >= 0 && isNonNegative(term.first); };
  return left.terms.empty() && left.constant >= 0 && shift.constant >= 0 && llvm::all_of(shift.terms, isPositive) &&
         isNonNegative(axis.getStart());
}

// Whether the row is known where the axis begins.
bool RowSplitter::isReady(const RowAccess &access) {
  auto isKnown = [&](Value value) {
    Operation *op = value.getDefiningOp();
    return !op || op->getBlock() != block || op->isBeforeInBlock(axis);
  };
  return llvm::all_of(access.subscripts, isKnown) &&
         llvm::all_of(access.shift.terms, [&](const auto &term) { return isKnown(term.first); });
}

bool RowSplitter::match() {
  if (extent < least || !llvm::all_of(*block, [&](Operation &op) { return isKnown(op); }))
    return false;
  std::optional<size_t> found;
  for (Operation &op : *block)
    if (std::optional<RowAccess> access = matchRow(&op)) {
      accesses.push_back(*access);
      bool isBetter = !found || (isa<tile::StoreOp>(op) && !isa<tile::StoreOp>(accesses[*found].op));
      if (isReady(*access) && isBetter)
        found = accesses.size() - 1;
      granule = std::max(granule, rowVectorBytes / access->bytes);
    }
  anchor = found.value_or(0);
  return found.has_value();
}
