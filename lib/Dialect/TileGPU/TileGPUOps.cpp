// Verifiers of the tilegpu operations.
#include "tilec/Dialect/TileGPU/TileGPUDialect.h"

using namespace mlir;
using namespace tilec::tilegpu;

// The type of a product's accumulator: that of the tile, or with `chained` that of the result, which is pending.
static ParseResult parseAccumulator(OpAsmParser &parser, Type &accumulator, Type result) {
  bool chained = succeeded(parser.parseOptionalKeyword("chained"));
  if (!isa<RankedTensorType, PendingType>(result))
    return parser.emitError(parser.getCurrentLocation(), "the result is no tile");
  accumulator = chained ? result : productType(result);
  return success();
}

static void printAccumulator(OpAsmPrinter &printer, Operation *, Type accumulator, Type) {
  if (isa<PendingType>(accumulator))
    printer << " chained";
}

#define GET_OP_CLASSES
#include "tilec/Dialect/TileGPU/TileGPUOps.cpp.inc"

void BlockIdOp::inferResultRanges(ArrayRef<ConstantIntRanges>, SetIntRangeFn setRange) {
  setRange(getResult(), ConstantIntRanges::fromSigned(APInt(64, 0), APInt(64, maxGridBlocks - 1)));
}

void ClusterRankOp::inferResultRanges(ArrayRef<ConstantIntRanges>, SetIntRangeFn setRange) {
  setRange(getResult(), ConstantIntRanges::fromSigned(APInt(64, 0), APInt(64, getSize() - 1)));
}

void GridSizeOp::inferResultRanges(ArrayRef<ConstantIntRanges>, SetIntRangeFn setRange) {
  setRange(getResult(), ConstantIntRanges::fromSigned(APInt(64, 1), APInt(64, maxGridBlocks)));
}

int64_t KernelOp::getConsumers() {
  auto alternate = getPlan().getAs<IntegerAttr>("alternate");
  return std::max<int64_t>(getGroups(), alternate ? alternate.getInt() : 1);
}

ArrayRef<int64_t> KernelOp::getTileCluster() {
  auto extents = getPlan().getAs<DenseI64ArrayAttr>(tileClusterName);
  return extents ? extents.asArrayRef() : ArrayRef<int64_t>();
}

int64_t KernelOp::getBlocksOfTileCluster() { return llvm::product_of(getTileCluster()); }

LogicalResult FillOp::verify() {
  int64_t rank = getView().getType().getRank();
  if (static_cast<int64_t>(getStarts().size()) != rank || static_cast<int64_t>(getBox().size()) != rank)
    return emitOpError("needs one start and one box size for each dimension of the view");
  ArrayRef<Type> payload = getChan().getType().getPayload();
  if (getPayload() >= payload.size())
    return emitOpError("fills a buffer that the channel does not have");
  ArrayRef<int64_t> shape = cast<SmemType>(payload[getPayload()]).getShape();
  if (shape.size() != getKept().size())
    return emitOpError("keeps as many dimensions as the buffer has");
  for (auto [dim, size] : llvm::zip(getKept(), shape))
    if (dim < 0 || dim >= rank || getBox()[dim] != size)
      return emitOpError("has a box that differs from the buffer's shape");
  return success();
}

LogicalResult MmaOp::verify() {
  ArrayRef<int64_t> a = tileShape(getA().getType()), b = tileShape(getB().getType());
  ArrayRef<int64_t> result = getTileType().getShape();
  if (isStart() && getMma().getKind() != "wgmma")
    return emitOpError("is complete when it returns: only wgmma starts products");
  if (productType(getAcc().getType()) != getTileType())
    return emitOpError("has an accumulator of another type than its result");
  if (isa<PendingType>(getAcc().getType()) && !isStart())
    return emitOpError("adds to a product under way, but is not one itself");
  if (a.size() != 2 || b.size() != 2 || result.size() != 2)
    return emitOpError("works on two-dimensional tiles");
  int64_t m = a[getTransA() ? 1 : 0], ka = a[getTransA() ? 0 : 1];
  int64_t n = b[getTransB() ? 1 : 0], kb = b[getTransB() ? 0 : 1];
  if (ka != kb || result[0] != m || result[1] != n)
    return emitOpError("has operands whose shapes do not match its result");
  return success();
}

RankedTensorType MmaOp::getTileType() { return productType(getResult().getType()); }

// PTX ISA, wgmma.wait_group: N is at most 7.
static constexpr uint64_t mostPending = 7;

LogicalResult MmaSettleOp::verify() {
  if (getAfter() > mostPending)
    return emitOpError("leaves more products under way than wait_group can name");
  return success();
}

LogicalResult MmaWaitOp::verify() {
  if (getResult().getType() != getPending().getType().getTile())
    return emitOpError("has a result that is not the tile it waits for");
  if (getAfter() > mostPending)
    return emitOpError("leaves more products under way than wait_group can name");
  if (getThrough().getTypes() != getPassed().getTypes())
    return emitOpError("passes other types on than it takes");
  return success();
}

LogicalResult WriteOp::verify() {
  ArrayRef<Type> payload = getRing().getType().getPayload();
  auto tile = cast<RankedTensorType>(getValue().getType());
  if (payload.size() != 1)
    return emitOpError("needs a ring of one buffer a slot");
  auto buffer = cast<SmemType>(payload.front());
  int64_t rank = tile.getRank();
  if (buffer.getElementType() != tile.getElementType() || static_cast<int64_t>(buffer.getShape().size()) != rank ||
      static_cast<int64_t>(getOffsets().size()) != rank || static_cast<int64_t>(getOrder().size()) != rank)
    return emitOpError("has a tile whose type or rank differs from the buffer's");
  SmallVector<bool> seen(rank, false);
  for (auto [size, dim] : llvm::zip(buffer.getShape(), getOrder())) {
    if (dim < 0 || dim >= rank || seen[dim])
      return emitOpError("has an order that is no permutation");
    seen[dim] = true;
    if (getOffsets()[dim] < 0 || getOffsets()[dim] + size > tile.getDimSize(dim))
      return emitOpError("leaves its tile");
  }
  return success();
}

LogicalResult FlushOp::verify() {
  int64_t rank = getView().getType().getRank();
  if (static_cast<int64_t>(getStarts().size()) != rank || static_cast<int64_t>(getBox().size()) != rank)
    return emitOpError("needs one start and one box size for each dimension of the view");
  ArrayRef<Type> payload = getRing().getType().getPayload();
  if (payload.size() != 1)
    return emitOpError("needs a ring of one buffer a slot");
  ArrayRef<int64_t> shape = cast<SmemType>(payload.front()).getShape();
  if (shape.size() != getKept().size() || getEnds().size() != getKept().size())
    return emitOpError("keeps as many dimensions as the buffer has, each with its end");
  for (auto [dim, size] : llvm::zip(getKept(), shape))
    if (dim < 0 || dim >= rank || getBox()[dim] != size)
      return emitOpError("has a box that differs from the buffer's shape");
  return success();
}
