// Fills by tensor memory access: the tensor maps among the kernel's parameters, and the copies.
#include "Channels.h"
#include "GuardedAccess.h"
#include "StagedStores.h"

#include "mlir/IR/Matchers.h"
#include "tilec/Dialect/TileGPU/TensorMapLimits.h"
#include "tilec/Transforms/HostExpression.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilec;

tilegpu::SmemType tilec::filledBuffer(tilegpu::FillOp op) {
  return cast<tilegpu::SmemType>(op.getChan().getType().getPayload()[op.getPayload()]);
}

// Columns of one box: a span, or the whole row without swizzle.
static int64_t boxColumns(tilegpu::SmemType buffer) {
  int64_t span = buffer.getShared().getSpan();
  return span ? span / tilegpu::elementBytes(buffer.getElementType()) : buffer.getAllocShape().back();
}

static int64_t rowsOf(tilegpu::SmemType buffer) {
  int64_t rows = 1;
  for (int64_t extent : buffer.getAllocShape().drop_back())
    rows *= extent;
  return rows;
}

static int64_t boxes(tilegpu::SmemType buffer) {
  return llvm::divideCeil(buffer.getAllocShape().back(), boxColumns(buffer));
}

static int64_t boxBytes(tilegpu::SmemType buffer) {
  return rowsOf(buffer) * boxColumns(buffer) * tilegpu::elementBytes(buffer.getElementType());
}

int64_t tilec::tensorFillPanels(tilegpu::FillOp op) { return boxes(filledBuffer(op)); }

int64_t tilec::tensorFillBytes(tilegpu::FillOp op) { return boxes(filledBuffer(op)) * boxBytes(filledBuffer(op)); }

//===----------------------------------------------------------------------===//
// Tensor maps
//===----------------------------------------------------------------------===//

// The reflection's name of an element type; integers travel as bits.
static StringRef hostTypeName(Type type) {
  return llvm::TypeSwitch<Type, StringRef>(type)
      .Case<Float16Type>([](auto) { return "f16"; })
      .Case<BFloat16Type>([](auto) { return "bf16"; })
      .Case<Float32Type>([](auto) { return "f32"; })
      .Case<Float64Type>([](auto) { return "f64"; })
      .Case<FloatTF32Type>([](auto) { return "tf32"; })
      .Case<Float8E4M3FNType>([](auto) { return "f8e4m3"; })
      .Case<Float8E5M2Type>([](auto) { return "f8e5m2"; })
      .Case<IntegerType>([](IntegerType integer) -> StringRef {
        switch (integer.getWidth()) {
        case 8:
          return "u8";
        case 16:
          return "u16";
        case 32:
          return "i32";
        case 64:
          return "i64";
        default:
          return "";
        }
      })
      .Default([](Type) { return ""; });
}

namespace {
// Describes the map of one fill or flush.
class TensorMapBuilder {
public:
  /// `part`: how blocks divide the fill, or null.
  TensorMapBuilder(tilegpu::FillOp fill, const SharedFill *part)
      : TensorMapBuilder(fill, filledBuffer(fill), fill.getView(), fill.getBox(), fill.getKept()) {
    if (part && part->sliced >= 0)
      box[part->sliced] /= part->blocks;
    // wgmma reads the upper bits of f32 words as tf32; a map of that type rounds instead of cutting off.
    Channel channel(fill.getChan().getDefiningOp<tilegpu::ChanOp>());
    isTF32 = buffer.getElementType().isF32() && channel.onlyWgmmaReads(fill.getPayload());
  }
  explicit TensorMapBuilder(tilegpu::FlushOp flush)
      : TensorMapBuilder(flush, flushedBuffer(flush), flush.getView(), flush.getBox(), flush.getKept()) {}

  FailureOr<DictionaryAttr> build();

private:
  TensorMapBuilder(Operation *op, tilegpu::SmemType buffer, Value view, ArrayRef<int64_t> box, ArrayRef<int64_t> kept)
      : op(op), builder(op->getContext()), buffer(buffer), view(view.getDefiningOp<tile::ViewOp>()), box(box),
        kept(kept) {}
  LogicalResult verify();
  LogicalResult describeDimensions(NamedAttrList &map);

  Operation *op;
  Builder builder;
  tilegpu::SmemType buffer;
  tile::ViewOp view;
  /// Of one transfer.
  SmallVector<int64_t> box;
  ArrayRef<int64_t> kept;
  bool isTF32 = false;
};
} // namespace

LogicalResult TensorMapBuilder::verify() {
  if (!view)
    return op->emitOpError("transfers a view that is not a parameter");
  int64_t rank = box.size(), bytes = tilegpu::elementBytes(buffer.getElementType());
  if (rank < 1 || rank > tilegpu::maxTensorRank)
    return op->emitOpError("has more dimensions than a tensor map");
  if (!matchPattern(view.getStrides().back(), m_One()) || kept.empty() || kept.back() != rank - 1)
    return op->emitOpError("needs a last dimension that is contiguous and part of the tile");
  if (llvm::any_of(ArrayRef(box).drop_back(), [](int64_t extent) { return extent > tilegpu::maxBoxExtent; }) ||
      boxColumns(buffer) > tilegpu::maxBoxExtent)
    return op->emitOpError("has a box of more than ") << tilegpu::maxBoxExtent << " positions in a dimension";
  if (buffer.getShared().getPad() != 0 || boxColumns(buffer) * bytes % tilegpu::tensorAlignment != 0)
    return op->emitOpError("has rows that TMA cannot transfer");
  if (!llvm::is_sorted(kept) || buffer.getShape() != buffer.getAllocShape())
    return op->emitOpError("transfers a buffer in another order than the view's");
  if (hostTypeName(buffer.getElementType()).empty())
    return op->emitOpError("has an element type that TMA does not move: ") << buffer.getElementType();
  return success();
}

LogicalResult TensorMapBuilder::describeDimensions(NamedAttrList &map) {
  int64_t bytes = tilegpu::elementBytes(buffer.getElementType());
  SmallVector<Attribute> dims, strides, extents;
  for (int64_t d = box.size() - 1; d >= 0; --d) {
    bool innermost = d + 1 == static_cast<int64_t>(box.size());
    Attribute size = hostExpression(view.getSizes()[d]), stride = hostExpression(view.getStrides()[d]);
    if (!size || !stride)
      return op->emitOpError("needs sizes and strides that the launcher can compute");
    dims.push_back(size);
    extents.push_back(builder.getI64IntegerAttr(innermost ? boxColumns(buffer) : box[d]));
    if (innermost)
      continue;
    Attribute strideBytes = hostOperation(op->getContext(), "mul", {stride, builder.getI64IntegerAttr(bytes)});
    if (auto constant = dyn_cast<IntegerAttr>(strideBytes);
        constant && constant.getInt() % tilegpu::tensorAlignment != 0)
      return op->emitOpError("has a stride that is no multiple of ") << tilegpu::tensorAlignment << " bytes";
    strides.push_back(strideBytes);
  }
  map.set("dims", builder.getArrayAttr(dims));
  map.set("strides", builder.getArrayAttr(strides));
  map.set("box", builder.getArrayAttr(extents));
  return success();
}

FailureOr<DictionaryAttr> TensorMapBuilder::build() {
  if (failed(verify()))
    return failure();
  NamedAttrList map;
  map.set("kind", builder.getStringAttr("tensormap"));
  map.set("tensor", view.getNameAttr());
  map.set("type", builder.getStringAttr(isTF32 ? "tf32" : hostTypeName(buffer.getElementType())));
  map.set("swizzle", builder.getI64IntegerAttr(buffer.getShared().getSpan()));
  map.set("l2", builder.getI64IntegerAttr(128));
  if (failed(describeDimensions(map)))
    return failure();
  return map.getDictionary(op->getContext());
}

LogicalResult Lowering::collectTensorMaps() {
  auto add = [&](Operation *op, FailureOr<DictionaryAttr> map) {
    if (failed(map))
      return WalkResult::interrupt();
    auto *known = llvm::find(tensorMapParams, *map);
    tensorMapOf[op] = known - tensorMapParams.begin();
    if (known == tensorMapParams.end())
      tensorMapParams.push_back(*map);
    return WalkResult::advance();
  };
  WalkResult result = kernel.walk([&](Operation *op) {
    if (auto flush = dyn_cast<tilegpu::FlushOp>(op))
      return isByThreads(flush) ? WalkResult::advance() : add(op, TensorMapBuilder(flush).build());
    auto fill = dyn_cast<tilegpu::FillOp>(op);
    auto chan = fill ? fill.getChan().getDefiningOp<tilegpu::ChanOp>() : nullptr;
    if (!chan || chan.getEngine() != "tma")
      return WalkResult::advance();
    return add(op, TensorMapBuilder(fill, transfers.of(fill)).build());
  });
  return failure(result.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

LogicalResult tilec::emitTensorFill(Lowering &lowering, tilegpu::FillOp op, Value target, Value barrier) {
  tilegpu::SmemType buffer = filledBuffer(op);
  SmallVector<Value, 5> coordinates;
  for (Value start : llvm::reverse(op.getStarts()))
    coordinates.push_back(lowering.toI32(lowering.scalar(start)));
  int64_t panels = boxes(buffer);
  // Of a shared fill, the rows or the panels that this block brings.
  Value mask;
  if (const SharedFill *shared = lowering.transfers.of(op)) {
    mask = lowering.transfers.multicastMask(lowering, *shared);
    Value part = lowering.transfers.partOfBlock(lowering, *shared);
    bool byPanels = shared->sliced < 0;
    if (byPanels)
      panels /= shared->blocks;
    int64_t dim = byPanels ? 0 : op.getBox().size() - 1 - shared->sliced;
    int64_t steps = byPanels ? panels * boxColumns(buffer) : op.getBox()[shared->sliced] / shared->blocks;
    int64_t bytes = byPanels ? panels * boxBytes(buffer) : boxBytes(buffer) / shared->blocks;
    coordinates[dim] = lowering.add(coordinates[dim], lowering.mulConstant(part, steps));
    target = lowering.add(target, lowering.mulConstant(part, bytes));
  }
  Value map = lowering.tensorMapValues[lowering.tensorMapOf.lookup(op)];
  Value column = coordinates[0];
  Ptx ptx(lowering.builder, lowering.loc());
  Value policy = evictionPolicy(lowering, op.getEvictAttr());
  for (int64_t panel = 0; panel < panels; ++panel) {
    coordinates[0] = lowering.addConstant(column, panel * boxColumns(buffer));
    ptx.loadTensor(lowering.addConstant(target, panel * boxBytes(buffer)), map, coordinates, barrier, policy, mask);
  }
  return success();
}
