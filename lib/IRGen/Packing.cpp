// Matrices whose rows begin anywhere are first copied to a workspace with aligned rows
// (docs/decisions/packed-operands.md).
#include "Generator.h"

#include "tilec/Dialect/Tile/AttributeNames.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::sema;

// Rows of a copy begin with lines of the second-level cache.
static constexpr int64_t lineBytes = 128;
// No tensor of the source has such a name.
static constexpr StringLiteral workspacePrefix = "tilec_packed_";

static int64_t bytesOf(const Tensor &tensor) { return std::max<int64_t>(getBitWidth(tensor.element) / 8, 1); }

static std::string workspaceOf(const Tensor &tensor) { return (workspacePrefix + tensor.name).str(); }

//===----------------------------------------------------------------------===//
// Which tensors
//===----------------------------------------------------------------------===//

// The view that an operand of a product is loaded from, element by element.
static tile::ViewOp viewOf(Value operand) {
  while (auto permute = operand.getDefiningOp<tile::PermuteOp>())
    operand = permute.getInput();
  auto load = operand.getDefiningOp<tile::LoadOp>();
  return load && !load.getAnnotations().get("no_tma") ? load.getView().getDefiningOp<tile::ViewOp>() : nullptr;
}

static bool canBePacked(const Tensor &tensor) {
  return tensor.access == TensorAccess::In && tensor.shape.size() > 1 && getBitWidth(tensor.element) >= 8 &&
         tensor.stridesKind == TensorStrides::Contiguous &&
         llvm::all_of(tensor.shape, [](const sema::Expr *size) { return toHostExpr(size).has_value(); });
}

SmallVector<const Tensor *> tilec::operandsToPack(const Kernel &kernel, Operation &generated) {
  SmallVector<tile::DotOp> dots;
  generated.walk([&](tile::DotOp dot) { dots.push_back(dot); });
  bool bulkCopies =
      llvm::none_of(kernel.annotations, [](const auto &annotation) { return annotation.name == "no_tma"; });
  if (dots.size() != 1 || !bulkCopies)
    return {};
  SmallVector<const Tensor *> result;
  for (Value operand : {dots.front().getLhs(), dots.front().getRhs()}) {
    tile::ViewOp view = viewOf(operand);
    for (const Parameter &parameter : kernel.parameters)
      if (view && parameter.tensor && parameter.tensor->name == view.getName() && canBePacked(*parameter.tensor) &&
          !llvm::is_contained(result, parameter.tensor))
        result.push_back(parameter.tensor);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// The workspace
//===----------------------------------------------------------------------===//

// Elements from row to row of the copy.
static int64_t elementsOfLine(const Tensor &tensor) { return lineBytes / bytesOf(tensor); }

Attribute tilec::packedBytes(const Tensor &tensor, Builder &builder) {
  auto number = [&](int64_t value) { return builder.getI64IntegerAttr(value); };
  auto sizeOf = [&](const sema::Expr *size) { return toAttribute(*toHostExpr(size), builder); };
  int64_t line = elementsOfLine(tensor);
  Attribute lines = hostCondition(builder, "ceil_div", sizeOf(tensor.shape.back()), number(line));
  Attribute bytes = hostCondition(builder, "mul", lines, number(lineBytes));
  for (const sema::Expr *size : llvm::drop_end(tensor.shape))
    bytes = hostCondition(builder, "mul", bytes, sizeOf(size));
  return bytes;
}

Value Generator::packedView(const Tensor &tensor, tile::Access access) {
  std::string name = workspaceOf(tensor);
  IntegerAttr align = builder.getI64IntegerAttr(lineBytes);
  Value base = tile::ArgOp::create(builder, loc, tile::PtrType::get(builder.getContext()), builder.getStringAttr(name),
                                   IntegerAttr(), align, IntegerAttr(), IntegerAttr());
  SmallVector<Value> sizes, strides(tensor.shape.size());
  for (const sema::Expr *size : tensor.shape)
    sizes.push_back(emit(size));
  Value line = index(elementsOfLine(tensor));
  Value stride =
      builder.createOrFold<arith::MulIOp>(loc, builder.createOrFold<arith::CeilDivSIOp>(loc, sizes.back(), line), line);
  strides.back() = index(1);
  for (size_t d = strides.size() - 1; d-- > 0;) {
    strides[d] = stride;
    if (d > 0)
      stride = builder.createOrFold<arith::MulIOp>(loc, sizes[d], stride);
  }
  auto type = tile::ViewType::get(builder.getContext(), sizes.size(), elementType(tensor.element));
  return tile::ViewOp::create(builder, loc, type, name, access, base, sizes, strides, align);
}

//===----------------------------------------------------------------------===//
// The copy
//===----------------------------------------------------------------------===//

bool Generator::generateCopy(const Tensor &tensor, int64_t stage) {
  constexpr int64_t tileBytes = 4096;
  OpBuilder::InsertionGuard guard(builder);
  loc = location(tensor.range);
  tile::KernelOp op = createKernel("__" + tensor.name, stage);
  // Whatever the variant knows of other tensors, this one begins anywhere.
  op->setAttr(tile::specializationName, builder.getStringAttr("general"));
  builder.createBlock(&op.getBody());
  declareVariables();
  declareTensor(tensor);
  loc = location(tensor.range);
  Value source = tensors.lookup(&tensor), target = packedView(tensor, tile::Access::out);
  auto sizes = source.getDefiningOp<tile::ViewOp>().getSizes();
  int64_t rank = sizes.size(), extent = tileBytes / bytesOf(tensor);
  SmallVector<Value> first(rank, index(0)), limit(sizes);
  SmallVector<int64_t> tiles(rank, 0);
  limit.back() = builder.createOrFold<arith::CeilDivSIOp>(loc, sizes.back(), index(extent));
  tiles.back() = extent;
  auto parallel = tile::ParallelOp::create(builder, loc, first, limit, tiles, builder.getDictionaryAttr({}));
  mlir::Block *body = builder.createBlock(
      &parallel.getBody(), {}, SmallVector<mlir::Type>(rank, builder.getIndexType()), SmallVector<Location>(rank, loc));
  Value start = arith::MulIOp::create(builder, loc, body->getArguments().back(), index(extent));
  Value end =
      arith::MinSIOp::create(builder, loc, arith::AddIOp::create(builder, loc, start, index(extent)), sizes.back());
  Value axis =
      tile::AxisOp::create(builder, loc, tile::AxisType::get(builder.getContext(), extent), "column", start, end);
  SmallVector<Value> subscripts(body->getArguments().begin(), body->getArguments().end());
  subscripts.back() = tile::PosOp::create(builder, loc, RankedTensorType::get({extent}, builder.getIndexType()), axis);
  SmallVector<Attribute> dims(rank, builder.getArrayAttr({}));
  dims.back() = builder.getI64ArrayAttr({0});
  ArrayAttr ofDims = builder.getArrayAttr(dims);
  auto type = RankedTensorType::get({extent}, elementType(tensor.element));
  Value value = tile::LoadOp::create(builder, loc, type, source, subscripts, /*otherwise=*/Value(), ofDims,
                                     /*inbounds=*/DenseBoolArrayAttr(), builder.getDictionaryAttr({}));
  tile::StoreOp::create(builder, loc, value, target, subscripts, axis, ofDims, /*inbounds=*/DenseBoolArrayAttr(),
                        /*full=*/DenseBoolArrayAttr(), /*unique=*/false);
  return !failed;
}

//===----------------------------------------------------------------------===//
// The variant
//===----------------------------------------------------------------------===//

std::optional<Specialization> tilec::makePacked(const Kernel &kernel, ArrayRef<const Tensor *> packed,
                                                bool othersAligned, Builder &builder) {
  // Below, a launch more takes as long as loads element by element.
  constexpr int64_t leastBytes = 1 << 17;
  auto isPacked = [&](const Tensor &tensor) { return llvm::is_contained(packed, &tensor); };
  auto isOther = [&](const Tensor &tensor) {
    return othersAligned && tensor.access == TensorAccess::In && !isPacked(tensor);
  };
  Specialization result = makeAligned(kernel, builder, "packed", isOther);
  Specialization aligned = makeAligned(kernel, builder, "packed", isPacked);
  Attribute bytes;
  SmallVector<Attribute> conditions = {builder.getStringAttr("and")};
  for (Attribute condition : aligned.when)
    if (!llvm::is_contained(result.when, condition))
      conditions.push_back(condition);
  if (conditions.size() == 1)
    return std::nullopt;
  for (const Tensor *tensor : packed) {
    result.suffix += "_" + tensor->name;
    Attribute own = packedBytes(*tensor, builder), zero = builder.getI64IntegerAttr(0);
    // Without elements there is no memory that a tensor map could name.
    result.when.push_back(hostCondition(builder, "gt", own, zero));
    bytes = bytes ? hostCondition(builder, "add", bytes, own) : own;
  }
  result.when.push_back(builder.getArrayAttr({builder.getStringAttr("not"), builder.getArrayAttr(conditions)}));
  result.when.push_back(hostCondition(builder, "ge", bytes, builder.getI64IntegerAttr(leastBytes)));
  result.packed.assign(packed.begin(), packed.end());
  return result;
}

void tilec::addWorkspaces(const Specialization &specialization, llvm::StringMap<Attribute> &bytes, Builder &builder) {
  SmallVector<Attribute> isTaken = {builder.getStringAttr("and")};
  llvm::append_range(isTaken, specialization.when);
  for (const Tensor *tensor : specialization.packed) {
    Attribute needed = hostCondition(builder, "mul", builder.getArrayAttr(isTaken), packedBytes(*tensor, builder));
    Attribute &known = bytes[workspaceOf(*tensor)];
    known = known ? hostCondition(builder, "max", known, needed) : needed;
  }
}

ArrayAttr tilec::workspaceEntries(const llvm::StringMap<Attribute> &bytes, Builder &builder) {
  std::vector<StringRef> names;
  for (const auto &entry : bytes)
    names.push_back(entry.getKey());
  llvm::sort(names);
  SmallVector<Attribute> entries;
  for (StringRef name : names)
    entries.push_back(builder.getDictionaryAttr({builder.getNamedAttr("bytes", bytes.lookup(name)),
                                                 builder.getNamedAttr("clear", builder.getBoolAttr(false)),
                                                 builder.getNamedAttr("name", builder.getStringAttr(name))}));
  return builder.getArrayAttr(entries);
}
