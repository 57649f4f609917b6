// Verifiers, folders and range inference of the tile operations.
#include "tilec/Dialect/Tile/KeptDigits.h"
#include "tilec/Dialect/Tile/TileDialect.h"

#include "mlir/Interfaces/Utils/InferIntRangeCommon.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilec::tile;

// `(type, ...)`, also when there is none.
static ParseResult parseTypes(OpAsmParser &parser, SmallVectorImpl<Type> &types) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren,
                                        [&] { return parser.parseType(types.emplace_back()); });
}

static void printTypes(OpAsmPrinter &printer, Operation *, TypeRange types) { printer << '(' << types << ')'; }

#define GET_OP_CLASSES
#include "tilec/Dialect/Tile/TileOps.cpp.inc"

static ArrayRef<int64_t> shapeOf(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return tensor.getShape();
  return {};
}

// Subscripts of loads and stores: one a view dimension, the dimensions of tensors named by `dims`.
static LogicalResult verifySubscripts(Operation *op, ViewType view, OperandRange subscripts, ArrayAttr dims,
                                      std::optional<ArrayRef<bool>> inbounds, ArrayRef<int64_t> shape) {
  if (inbounds && inbounds->size() != subscripts.size())
    return op->emitOpError("`inbounds` has one entry for each subscript");
  if (static_cast<int64_t>(subscripts.size()) != view.getRank() || dims.size() != subscripts.size())
    return op->emitOpError("needs one subscript and one entry of `dims` for each of the view's ")
           << view.getRank() << " dimensions";
  for (auto [subscript, entry] : llvm::zip(subscripts, dims)) {
    auto list = dyn_cast<ArrayAttr>(entry);
    ArrayRef<int64_t> subscriptShape = shapeOf(subscript.getType());
    if (!list || list.size() != subscriptShape.size())
      return op->emitOpError("`dims` does not match the rank of a subscript");
    for (auto [attr, size] : llvm::zip(list, subscriptShape)) {
      auto dim = dyn_cast<IntegerAttr>(attr);
      if (!dim || dim.getInt() < 0 || dim.getInt() >= static_cast<int64_t>(shape.size()) || shape[dim.getInt()] != size)
        return op->emitOpError("a subscript's extent differs from that of the dimension it names");
    }
  }
  return success();
}

static LogicalResult verifyAxes(Operation *op, TypeRange axes, std::optional<ArrayRef<bool>> full,
                                ArrayRef<int64_t> shape) {
  if (full && full->size() != axes.size())
    return op->emitOpError("`full` has one entry for each axis");
  if (axes.size() != shape.size())
    return op->emitOpError("needs one axis for each dimension of the value");
  for (auto [axis, size] : llvm::zip(axes, shape))
    if (cast<AxisType>(axis).getExtent() != size)
      return op->emitOpError("an axis has another extent than its dimension");
  return success();
}

static LogicalResult verifyKind(Operation *op, CombineKind kind, Type element) {
  bool isFloat = kind == CombineKind::maxf || kind == CombineKind::minf;
  bool isAny = kind == CombineKind::add || kind == CombineKind::mul;
  if (isAny ? isa<IntegerType, IndexType, FloatType>(element) : isFloat == isa<FloatType>(element))
    return success();
  return op->emitOpError("'") << stringifyCombineKind(kind) << "' does not combine " << element;
}

LogicalResult ViewOp::verify() {
  int64_t rank = getType().getRank();
  if (static_cast<int64_t>(getSizes().size()) != rank || static_cast<int64_t>(getStrides().size()) != rank)
    return emitOpError("needs one size and one stride for each dimension");
  return success();
}

LogicalResult MisalignmentOp::verify() {
  if (!llvm::isPowerOf2_64(getBytes()) || !llvm::isPowerOf2_64(getTo()) || getTo() % getBytes() != 0)
    return emitOpError("counts elements of a power of two bytes to a multiple of them");
  return success();
}

LogicalResult ParallelOp::verify() {
  Block &block = getBody().front();
  if (block.getNumArguments() != getLower().size() || getTiles().size() != getLower().size())
    return emitOpError("needs one region argument and one tile size for each range");
  if (!llvm::all_of(block.getArgumentTypes(), [](Type type) { return type.isIndex(); }))
    return emitOpError("has `index` region arguments");
  return success();
}

LogicalResult PosOp::verify() {
  auto type = cast<RankedTensorType>(getType());
  if (type.getRank() != 1 || type.getDimSize(0) != getAxis().getType().getExtent())
    return emitOpError("gives a rank-1 tile of the axis's extent");
  return success();
}

LogicalResult LoadOp::verify() {
  if (getElementTypeOrSelf(getType()) != getView().getType().getElementType())
    return emitOpError("gives elements of the view's type");
  if (Value other = getOtherwise())
    if (getElementTypeOrSelf(other) != getElementTypeOrSelf(getType()) ||
        (isa<RankedTensorType>(other.getType()) && other.getType() != getType()))
      return emitOpError("`else` is a scalar of the element type or a tile like the result");
  ArrayRef<int64_t> shape = shapeOf(getType());
  if (failed(verifySubscripts(*this, getView().getType(), getSubscripts(), getDims(), getInbounds(), shape)))
    return failure();
  llvm::SmallDenseSet<int64_t> used;
  for (auto list : getDims().getAsRange<ArrayAttr>())
    for (auto dim : list.getAsRange<IntegerAttr>())
      used.insert(dim.getInt());
  for (size_t d = 0; d < shape.size(); ++d)
    if (!used.contains(d))
      return emitOpError("dimension ") << d << " of the result occurs in no subscript";
  return success();
}

void LoadOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  auto view = getView().getDefiningOp<ViewOp>();
  if (!view || view.getAccess() != Access::in)
    effects.emplace_back(MemoryEffects::Read::get());
}

LogicalResult StoreOp::verify() {
  if (getElementTypeOrSelf(getValue()) != getView().getType().getElementType())
    return emitOpError("stores elements of the view's type");
  ArrayRef<int64_t> shape = shapeOf(getValue().getType());
  if (failed(verifyAxes(*this, getAxes().getTypes(), getFull(), shape)))
    return failure();
  return verifySubscripts(*this, getView().getType(), getSubscripts(), getDims(), getInbounds(), shape);
}

LogicalResult AtomicOp::verify() {
  if (getElementTypeOrSelf(getValue()) != getView().getType().getElementType())
    return emitOpError("combines elements of the view's type");
  if (failed(verifyKind(*this, getKind(), getElementTypeOrSelf(getValue()))))
    return failure();
  ArrayRef<int64_t> shape = shapeOf(getValue().getType());
  if (failed(verifyAxes(*this, getAxes().getTypes(), getFull(), shape)))
    return failure();
  return verifySubscripts(*this, getView().getType(), getSubscripts(), getDims(), getInbounds(), shape);
}

static LogicalResult verifyDotTypes(DotOp op) {
  Type lhs = op.getLhs().getType().getElementType(), rhs = op.getRhs().getType().getElementType();
  Type result = getElementTypeOrSelf(op.getType());
  bool legal = lhs.isF64() || rhs.isF64() ? lhs == rhs && result.isF64()
               : isa<FloatType>(lhs)      ? isa<FloatType>(rhs) && result.isF32()
                                          : isa<IntegerType>(lhs) && isa<IntegerType>(rhs) && isa<IntegerType>(result);
  if (legal)
    return success();
  return op.emitOpError("sums no products of ") << lhs << " and " << rhs << " in " << result;
}

LogicalResult DotOp::verify() {
  ArrayRef<int64_t> lhs = shapeOf(getLhs().getType()), rhs = shapeOf(getRhs().getType());
  if (getLhsContract().size() != getRhsContract().size() || getLhsContract().size() != getAxes().size() ||
      getLhsBatch().size() != getRhsBatch().size())
    return emitOpError("pairs contracted and batch dimensions of both operands");
  auto inRange = [](ArrayRef<int64_t> dims, ArrayRef<int64_t> shape) {
    return llvm::all_of(dims, [&](int64_t d) { return d >= 0 && d < static_cast<int64_t>(shape.size()); });
  };
  if (!inRange(getLhsContract(), lhs) || !inRange(getLhsBatch(), lhs) || !inRange(getRhsContract(), rhs) ||
      !inRange(getRhsBatch(), rhs))
    return emitOpError("names a dimension that an operand does not have");
  SmallVector<int64_t> expected;
  for (auto [l, r] : llvm::zip(getLhsBatch(), getRhsBatch())) {
    if (lhs[l] != rhs[r])
      return emitOpError("has batch dimensions of unequal extent");
    expected.push_back(lhs[l]);
  }
  for (auto [l, r, axis] : llvm::zip(getLhsContract(), getRhsContract(), getAxes()))
    if (lhs[l] != rhs[r] || lhs[l] != cast<AxisType>(axis.getType()).getExtent())
      return emitOpError("contracts dimensions of unequal extent");
  auto free = [&](ArrayRef<int64_t> shape, ArrayRef<int64_t> contract, ArrayRef<int64_t> batch) {
    for (auto [d, size] : llvm::enumerate(shape))
      if (!llvm::is_contained(contract, static_cast<int64_t>(d)) && !llvm::is_contained(batch, static_cast<int64_t>(d)))
        expected.push_back(size);
  };
  free(lhs, getLhsContract(), getLhsBatch());
  free(rhs, getRhsContract(), getRhsBatch());
  if (shapeOf(getType()) != ArrayRef<int64_t>(expected))
    return emitOpError("has result dimensions batch, free of lhs, free of rhs");
  if (getAcc() && getAcc().getType() != getType())
    return emitOpError("has an accumulator of the result's type");
  if (getFull() && getFull()->size() != getAxes().size())
    return emitOpError("`full` has one entry for each axis");
  return verifyDotTypes(*this);
}

LogicalResult ReduceOp::verify() {
  auto type = cast<RankedTensorType>(getInput().getType());
  int64_t dim = getDim();
  if (dim < 0 || dim >= type.getRank() || type.getDimSize(dim) != getAxis().getType().getExtent())
    return emitOpError("reduces a dimension of the axis's extent");
  SmallVector<int64_t> expected(type.getShape());
  if ((*this)->hasAttr(keptName)) {
    std::optional<KeptDigits> kept = KeptDigits::of(*this);
    if (!kept || !kept->fits(type.getDimSize(dim)))
      return emitOpError("keeps digits of its dimension, each a stride and a radix, from the innermost outwards");
    expected[dim] = kept->extent();
  } else {
    expected.erase(expected.begin() + dim);
  }
  if (shapeOf(getType()) != ArrayRef<int64_t>(expected) || getElementTypeOrSelf(getType()) != type.getElementType())
    return emitOpError("gives the input without its reduced dimension, or with the digits kept of it");
  if (getPredicate() && shapeOf(getPredicate().getType()) != type.getShape())
    return emitOpError("has a predicate of the input's shape");
  return verifyKind(*this, getKind(), type.getElementType());
}

LogicalResult BroadcastOp::verify() {
  ArrayRef<int64_t> in = shapeOf(getInput().getType()), out = shapeOf(getType());
  if (getDims().size() != in.size() || getElementTypeOrSelf(getInput()) != getElementTypeOrSelf(getType()))
    return emitOpError("names a result dimension for each input dimension");
  int64_t last = -1;
  for (auto [dim, size] : llvm::zip(getDims(), in)) {
    if (dim <= last || dim >= static_cast<int64_t>(out.size()) || out[dim] != size)
      return emitOpError("keeps the order and extents of the input's dimensions");
    last = dim;
  }
  return success();
}

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  if (getInput().getType() == getType())
    return getInput();
  if (auto splat = dyn_cast_or_null<SplatElementsAttr>(adaptor.getInput()))
    return splat.resizeSplat(getType());
  if (auto scalar = adaptor.getInput(); isa_and_nonnull<IntegerAttr, FloatAttr>(scalar))
    return DenseElementsAttr::get(getType(), scalar);
  return {};
}

LogicalResult PermuteOp::verify() {
  ArrayRef<int64_t> in = shapeOf(getInput().getType()), out = shapeOf(getType());
  SmallVector<bool> seen(in.size(), false);
  if (getOrder().size() != in.size() || out.size() != in.size() ||
      getElementTypeOrSelf(getInput()) != getElementTypeOrSelf(getType()))
    return emitOpError("permutes all dimensions of its input");
  for (auto [i, d] : llvm::enumerate(getOrder())) {
    if (d < 0 || d >= static_cast<int64_t>(in.size()) || seen[d] || out[i] != in[d])
      return emitOpError("permutes all dimensions of its input");
    seen[d] = true;
  }
  return success();
}

OpFoldResult PermuteOp::fold(FoldAdaptor adaptor) {
  if (llvm::equal(getOrder(), llvm::seq<int64_t>(0, getOrder().size())))
    return getInput();
  if (auto splat = dyn_cast_or_null<SplatElementsAttr>(adaptor.getInput()))
    return splat.resizeSplat(getType());
  return {};
}

//===----------------------------------------------------------------------===//
// Division
//===----------------------------------------------------------------------===//

// The quotient of the language's rules, in the width of the operands.
static APInt divide(const APInt &a, const APInt &b, bool isUnsigned, bool truncating) {
  if (b.isZero())
    return APInt::getZero(a.getBitWidth());
  if (isUnsigned)
    return a.udiv(b);
  bool overflow = false;
  APInt quotient = a.sdiv_ov(b, overflow);
  if (truncating || overflow || (a - quotient * b).isZero() || a.isNegative() == b.isNegative())
    return quotient;
  return quotient - 1;
}

static Attribute foldDivision(Attribute lhs, Attribute rhs, Type type, function_ref<APInt(APInt, APInt)> compute) {
  auto scalar = [](Attribute attr) -> std::optional<APInt> {
    if (auto value = dyn_cast_or_null<IntegerAttr>(attr))
      return value.getValue();
    if (auto splat = dyn_cast_or_null<SplatElementsAttr>(attr); splat && splat.getElementType().isIntOrIndex())
      return splat.getSplatValue<APInt>();
    return std::nullopt;
  };
  std::optional<APInt> a = scalar(lhs), b = scalar(rhs);
  if (!a || !b)
    return {};
  APInt result = compute(*a, *b);
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return DenseElementsAttr::get(tensor, result);
  return IntegerAttr::get(type, result);
}

static LogicalResult verifyDivision(Operation *op) {
  if (getElementTypeOrSelf(op->getResult(0)).isIntOrIndex())
    return success();
  return op->emitOpError("divides integers");
}

LogicalResult DivOp::verify() { return verifyDivision(*this); }
LogicalResult RemOp::verify() { return verifyDivision(*this); }

OpFoldResult DivOp::fold(FoldAdaptor adaptor) {
  if (matchPattern(getRhs(), m_One()))
    return getLhs();
  return foldDivision(adaptor.getLhs(), adaptor.getRhs(), getType(),
                      [&](APInt a, APInt b) { return divide(a, b, getIsUnsigned(), getTruncating()); });
}

OpFoldResult RemOp::fold(FoldAdaptor adaptor) {
  return foldDivision(adaptor.getLhs(), adaptor.getRhs(), getType(), [&](APInt a, APInt b) {
    return b.isZero() ? APInt::getZero(a.getBitWidth()) : a - divide(a, b, getIsUnsigned(), getTruncating()) * b;
  });
}

void ArgOp::inferResultRanges(ArrayRef<ConstantIntRanges>, SetIntRangeFn setRange) {
  if (!getType().isIntOrIndex())
    return;
  // A result without a range would count as never computed.
  unsigned width = ConstantIntRanges::getStorageBitwidth(getType());
  ConstantIntRanges range = ConstantIntRanges::maxRange(width);
  APInt min(64, getMin().value_or(INT64_MIN)), max(64, getMax().value_or(INT64_MAX));
  if (getType().isIndex() && min.sle(max))
    range = ConstantIntRanges::fromSigned(min, max);
  setRange(getResult(), range);
}

void DivOp::inferResultRangesFromOptional(ArrayRef<IntegerValueRange> ranges, SetIntLatticeFn setRange) {
  IntegerValueRange unknown = IntegerValueRange::getMaxRange(getResult());
  if (ranges[0].isUninitialized() || ranges[1].isUninitialized())
    return setRange(getResult(), IntegerValueRange());
  const ConstantIntRanges &lhs = ranges[0].getValue(), &rhs = ranges[1].getValue();
  if (!getIsUnsigned() && rhs.smin().isStrictlyPositive())
    return setRange(getResult(),
                    getTruncating() ? intrange::inferDivS({lhs, rhs}) : intrange::inferFloorDivS({lhs, rhs}));
  if (!getIsUnsigned() && lhs.smin().isNonNegative() && rhs.smin().isNonNegative())
    return setRange(getResult(), ConstantIntRanges::fromSigned(APInt::getZero(lhs.smin().getBitWidth()), lhs.smax()));
  setRange(getResult(), unknown);
}

void RemOp::inferResultRangesFromOptional(ArrayRef<IntegerValueRange> ranges, SetIntLatticeFn setRange) {
  IntegerValueRange unknown = IntegerValueRange::getMaxRange(getResult());
  if (ranges[0].isUninitialized() || ranges[1].isUninitialized())
    return setRange(getResult(), IntegerValueRange());
  const ConstantIntRanges &lhs = ranges[0].getValue(), &rhs = ranges[1].getValue();
  bool floored = !getTruncating() || lhs.smin().isNonNegative();
  if (!getIsUnsigned() && floored && rhs.smin().isStrictlyPositive())
    return setRange(getResult(),
                    ConstantIntRanges::fromSigned(APInt::getZero(lhs.smin().getBitWidth()), rhs.smax() - 1));
  setRange(getResult(), unknown);
}
