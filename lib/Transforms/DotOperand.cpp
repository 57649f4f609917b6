// Recognition of box-shaped loads and of the engines that can carry them.
#include "tilec/Transforms/DotOperand.h"

#include "mlir/IR/Matchers.h"
#include "tilec/Dialect/TileGPU/TensorMapLimits.h"
#include "tilec/Transforms/AxisClasses.h"

using namespace mlir;
using namespace tilec;

std::optional<BoxLoad> tilec::matchBoxLoad(Value value) {
  auto load = value.getDefiningOp<tile::LoadOp>();
  if (!load || load.getOtherwise() || rankOf(value) == 0)
    return std::nullopt;
  auto view = load.getView().getDefiningOp<tile::ViewOp>();
  if (!view)
    return std::nullopt;
  BoxLoad result{load, view, {}, {}, {}, {}};
  result.axes.resize(rankOf(value));
  int64_t next = 0;
  for (auto [d, subscript, list] : llvm::enumerate(load.getSubscripts(), load.getDims())) {
    auto dims = cast<ArrayAttr>(list);
    std::optional<AffineIndex> index = affineIndex(subscript);
    if (!index || dims.size() > 1)
      return std::nullopt;
    result.starts.push_back(index->base);
    result.box.push_back(1);
    if (dims.empty())
      continue;
    // Tile dimensions in the order of the view's, each with step 1.
    if (index->coefficients[0] != 1 || cast<IntegerAttr>(dims[0]).getInt() != next)
      return std::nullopt;
    result.box.back() = cast<RankedTensorType>(value.getType()).getDimSize(next);
    result.kept.push_back(d);
    result.axes[next++] = index->axes[0];
  }
  if (next != rankOf(value))
    return std::nullopt;
  return result;
}

static int64_t elementBits(const BoxLoad &box) {
  Type element = box.viewOp().getType().getElementType();
  return element.getIntOrFloatBitWidth();
}

int64_t tilec::rowAlignment(tile::ViewOp view) {
  int64_t bytes = view.getType().getElementType().getIntOrFloatBitWidth() / 8;
  APInt last;
  if (!matchPattern(view.getStrides().back(), m_ConstantInt(&last)) || last != 1)
    return 0;
  int64_t alignment = view.getAlign().value_or(bytes);
  for (Value stride : view.getStrides().drop_back())
    alignment = std::min(alignment, divisorOf(stride) * bytes);
  return alignment;
}

// The widest span that divides rows.
static int64_t spanOf(int64_t rowBytes) {
  for (int64_t span : {128, 64, 32})
    if (rowBytes % span == 0)
      return span;
  return 0;
}

int64_t tilec::tmaSpan(const BoxLoad &box) {
  tile::LoadOp load = box.load;
  return load.getAnnotations().get("no_tma") ? 0 : swizzleSpan(box);
}

int64_t tilec::swizzleSpan(const BoxLoad &box) {
  int64_t bits = elementBits(box), rank = box.viewOp().getType().getRank();
  if (bits < 8 || rank > tilegpu::maxTensorRank || box.viewOp().getAccess() != tile::Access::in || box.kept.empty())
    return 0;
  if (box.kept.back() != rank - 1 || rowAlignment(box.viewOp()) < tilegpu::tensorAlignment ||
      llvm::any_of(box.box, [](int64_t n) { return n > tilegpu::maxBoxExtent; }))
    return 0;
  return spanOf(box.box.back() * bits / 8);
}

int64_t tilec::threadSpan(const BoxLoad &box) {
  tile::LoadOp load = box.load;
  if (elementBits(box) != 16 || box.kept.size() != 2 || box.viewOp().getAccess() != tile::Access::in ||
      box.kept.back() + 1 != static_cast<int64_t>(box.box.size()) || rowAlignment(box.viewOp()) == 0 ||
      load.getAnnotations().get("no_tma") || load.getAnnotations().get("evict"))
    return 0;
  return spanOf(box.box.back() * 2);
}

int64_t tilec::asyncCopyWidth(const BoxLoad &box) {
  int64_t bits = elementBits(box);
  if (bits < 8 || box.viewOp().getAccess() != tile::Access::in || box.kept.empty() ||
      box.kept.back() != box.viewOp().getType().getRank() - 1)
    return 0;
  int64_t bytes = bits / 8;
  // A vector is inside or outside as a whole: the size and the start are multiples of it as well.
  int64_t width = std::min<int64_t>({16, rowAlignment(box.viewOp()), divisorOf(box.starts.back()) * bytes,
                                     divisorOf(box.viewOp().getSizes().back()) * bytes,
                                     (box.box.back() & -box.box.back()) * bytes});
  return width >= 4 ? width : 0;
}

bool tilec::isZeroWhereAbsent(const BoxLoad &box, int64_t dim) {
  tile::AxisOp axis = box.axes[dim];
  if (!axis)
    return false;
  int64_t viewDim = box.kept[dim];
  LinearSum shift = box.starts[viewDim];
  shift.add(linearSum(axis.getStart()), -1);
  if (!shift.terms.empty() || shift.constant != 0)
    return false;
  return absentIsBeyond(axis, box.viewOp().getSizes()[viewDim]);
}
