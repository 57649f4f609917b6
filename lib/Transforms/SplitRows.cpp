// split-rows: rows in memory become whole vectors of 16 bytes and the elements around them
// (docs/decisions/parted-rows.md).
#include "RowSplitter.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/IR/Matchers.h"
#include "tilec/Dialect/Tile/AttributeNames.h"
#include "tilec/Dialect/TileGPU/TileGPUDialect.h"
#include "tilec/Transforms/AffineIndex.h"
#include "tilec/Transforms/CombineKinds.h"
#include "tilec/Transforms/Facts.h"
#include "tilec/Transforms/Passes.h"
#include "llvm/Support/MathExtras.h"

namespace tilec {
#define GEN_PASS_DEF_SPLITROWS
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

// Shorter tiles are hardly more than their ends; a warp that has a row of pairs for itself moves these as fast.
static constexpr int64_t leastExtent = 256, leastExtentOfPairs = 513;

//===----------------------------------------------------------------------===//
// Where rows are parted
//===----------------------------------------------------------------------===//

Value RowSplitter::misalignment(const Row &row, Value elements) {
  return tile::MisalignmentOp::create(builder, loc, row.base, elements, row.access.bytes, rowVectorBytes);
}

Row RowSplitter::makeRow(const RowAccess &access) {
  tile::ViewOp view = access.view;
  Row row;
  row.access = access;
  Value offset = axis.getStart();
  if (!access.shift.terms.empty() || access.shift.constant != 0)
    offset = add(offset, access.shift.materialize(builder, loc));
  for (auto [subscript, size, stride] : llvm::zip(access.subscripts, view.getSizes(), view.getStrides())) {
    offset = add(offset, builder.createOrFold<arith::MulIOp>(loc, subscript, stride));
    if (isInbounds(subscript, size, /*all=*/true))
      continue;
    Value isInside = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, subscript, size);
    row.exists = row.exists ? arith::AndIOp::create(builder, loc, row.exists, isInside).getResult() : isInside;
  }
  row.base = tile::AdvanceOp::create(builder, loc, view.getBase(), offset, access.bytes);
  row.align = std::min<int64_t>(view.getAlign().value_or(access.bytes), divisorOf(offset) * access.bytes);
  return row;
}

Row *RowSplitter::findRow(const RowAccess &access) {
  auto *row = llvm::find_if(rows, [&](const Row &known) { return known.access.isSameRow(access); });
  return row == rows.end() ? nullptr : row;
}

// Rows that begin elsewhere than the anchor's leave a vector more on each side, so that the vectors around their
// elements lie in the row. All numbers of positions have 32 bits.
void RowSplitter::measure() {
  auto number = [&](int64_t value) { return arith::ConstantIntOp::create(builder, loc, value, 32); };
  auto narrow = [&](Value index) { return arith::IndexCastOp::create(builder, loc, builder.getI32Type(), index); };
  Value zero = number(0), vector = number(granule), perVector = number(rowVectorBytes / accesses[anchor].bytes);
  rows.push_back(makeRow(accesses[anchor]));
  Value distance = narrow(misalignment(rows.front(), constant(0)));
  Value first = arith::RemUIOp::create(builder, loc, sub(perVector, distance), perVector);
  Value margin;
  for (const RowAccess &access : accesses) {
    if (findRow(access))
      continue;
    if (!isReady(access)) {
      margin = vector;
      break;
    }
    rows.push_back(makeRow(access));
    Value differs = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                          misalignment(rows.back(), index(first)), constant(0));
    margin = arith::SelectOp::create(builder, loc, differs, vector, margin ? margin : zero);
  }
  Value size = sub(axis.getEnd(), axis.getStart());
  if (!isNonNegative(size))
    size = arith::MaxSIOp::create(builder, loc, size, constant(0));
  all = narrow(size);
  // Perhaps more than all; no vector is whole then.
  before = margin ? add(first, margin) : first;
  Value rest = sub(margin ? sub(all, margin) : all, before);
  rest = arith::MaxSIOp::create(builder, loc, rest, zero);
  inside = arith::MulIOp::create(builder, loc, arith::DivUIOp::create(builder, loc, rest, vector), vector);
  outside = sub(all, inside);
}

void RowSplitter::makeHalves() {
  auto make = [&](Half &half, int64_t positions, Value end) {
    auto type = tile::AxisType::get(builder.getContext(), positions);
    half.axis = tile::AxisOp::create(builder, loc, type, axis.getName(), constant(0), index(end));
    auto numbers = RankedTensorType::get({positions}, builder.getIndexType());
    half.numbers = tile::PosOp::create(builder, loc, numbers, half.axis);
  };
  make(vectors, extent / granule * granule, inside);
  // Less than two granules on each side.
  make(ends, llvm::PowerOf2Ceil(4 * granule), outside);
  ends.number = 1;
}

Value RowSplitter::spread(Value scalar, int64_t positions) {
  auto type = RankedTensorType::get({positions}, scalar.getType());
  return tile::BroadcastOp::create(builder, loc, type, scalar, ArrayRef<int64_t>{});
}

// The positions of the axis in both halves. Elements of the ends are numbered like those of the row.
void RowSplitter::makePositions() {
  int64_t atEnds = ends.axis.getType().getExtent();
  auto narrowType = RankedTensorType::get({atEnds}, builder.getI32Type());
  Value number = arith::IndexCastOp::create(builder, loc, narrowType, ends.numbers);
  Value isBefore = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, number, spread(before, atEnds));
  Value behind = add(number, spread(inside, atEnds));
  number = arith::SelectOp::create(builder, loc, isBefore, number, behind);
  ends.numbers = arith::IndexCastUIOp::create(builder, loc, ends.numbers.getType(), number);
  Value start = axis.getStart();
  Value ofEnds = add(ends.numbers, spread(start, atEnds));
  Value ofVectors = add(vectors.numbers, spread(add(start, index(before)), vectors.axis.getType().getExtent()));
  for (Operation *user : axis->getUsers())
    if (auto pos = dyn_cast<tile::PosOp>(user)) {
      vectors.map.map(pos.getResult(), ofVectors);
      ends.map.map(pos.getResult(), ofEnds);
    }
}

//===----------------------------------------------------------------------===//
// The operations on both halves
//===----------------------------------------------------------------------===//

RankedTensorType RowSplitter::typeFor(Half &half, Type type) {
  return RankedTensorType::get({half.axis.getType().getExtent()}, getElementTypeOrSelf(type));
}

static DenseElementsAttr splatLike(arith::ConstantOp constant, RankedTensorType type) {
  return cast<SplatElementsAttr>(constant.getValue()).resizeSplat(type);
}

// The operand of one half; constants from outside of the block are made on the way.
Value RowSplitter::operandFor(Half &half, Value operand, SmallVectorImpl<Operation *> &made) {
  if (!isTile(operand) || half.map.contains(operand))
    return half.map.lookupOrDefault(operand);
  auto outside = operand.getDefiningOp<arith::ConstantOp>();
  RankedTensorType type = typeFor(half, operand.getType());
  OpBuilder detached(builder.getContext());
  auto copy = arith::ConstantOp::create(detached, loc, type, splatLike(outside, type));
  made.push_back(copy);
  half.map.map(operand, copy.getResult());
  return copy;
}

Operation *RowSplitter::copyFor(Half &half, Operation *op, SmallVectorImpl<Operation *> &made) {
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(operand == axis.getResult() ? half.axis.getResult() : operandFor(half, operand, made));
  Operation *copy = op->clone();
  copy->setOperands(operands);
  for (auto [old, result] : llvm::zip(op->getResults(), copy->getResults()))
    if (isTile(old)) {
      result.setType(typeFor(half, old.getType()));
      half.map.map(old, result);
    }
  if (auto constant = dyn_cast<arith::ConstantOp>(copy))
    constant.setValueAttr(splatLike(constant, cast<RankedTensorType>(constant.getType())));
  if (auto reduce = dyn_cast<tile::ReduceOp>(copy))
    reduce.setFull(false);
  if (auto store = dyn_cast<tile::StoreOp>(copy))
    store.removeFullAttr();
  // What was proved of all positions of the whole axis.
  if (auto load = dyn_cast<tile::LoadOp>(copy))
    load.removeInboundsAttr();
  made.push_back(copy);
  return copy;
}

tile::ViewOp RowSplitter::viewOf(Half &half, Row &row) {
  tile::ViewOp &view = row.views[half.number];
  if (view)
    return view;
  bool isVectors = &half == &vectors, isAnchor = row.access.isSameRow(accesses[anchor]);
  tile::ViewOp whole = row.access.view;
  Value base = isVectors ? tile::AdvanceOp::create(builder, loc, row.base, index(before), row.access.bytes).getResult()
                         : row.base;
  Value size = index(isVectors ? inside : all);
  if (row.exists)
    size = arith::SelectOp::create(builder, loc, row.exists, size, constant(0));
  auto type = tile::ViewType::get(builder.getContext(), 1, whole.getType().getElementType());
  // As many positions are before the vectors as make up for the anchor's alignment.
  const Row &first = rows.front();
  int64_t align = row.align;
  if (isVectors)
    align = isAnchor ? rowVectorBytes : std::min(align, first.align / first.access.bytes * row.access.bytes);
  view = tile::ViewOp::create(builder, loc, type, whole.getName(), whole.getAccess(), base, size, constant(1),
                              builder.getI64IntegerAttr(std::min(align, rowVectorBytes)));
  // Others may write what is around elements of a tensor that is written.
  if (isVectors && !isAnchor && whole.getAccess() == tile::Access::in)
    view->setAttr(tile::windowedName, builder.getBoolAttr(row.access.subscripts == accesses[anchor].subscripts));
  return view;
}

// An access of a row becomes one of its vectors or of its ends.
Operation *RowSplitter::copyOfRow(Half &half, Operation *op, SmallVectorImpl<Operation *> &made) {
  std::optional<RowAccess> access = matchRow(op);
  Operation *copy = copyFor(half, op, made);
  if (!access)
    return copy;
  if (!findRow(*access))
    rows.push_back(makeRow(*access));
  Row *row = findRow(*access);
  ArrayAttr dims = builder.getArrayAttr({builder.getI64ArrayAttr({0})});
  auto rewrite = [&](auto accessOp) {
    accessOp.getViewMutable().assign(viewOf(half, *row));
    accessOp.getSubscriptsMutable().assign(half.numbers);
    accessOp.setDimsAttr(dims);
    accessOp.setInbounds({isa<tile::StoreOp>(op) && !row->exists});
  };
  if (auto load = dyn_cast<tile::LoadOp>(copy))
    rewrite(load);
  else
    rewrite(cast<tile::StoreOp>(copy));
  copy->setAttr(tile::rowPartName,
                builder.getDenseI64ArrayAttr({row - rows.begin(), half.number, row->exists ? 0 : 1}));
  return copy;
}

void RowSplitter::combine(tile::ReduceOp reduce, tile::ReduceOp atEnds, tile::ReduceOp ofVectors) {
  std::optional<arith::AtomicRMWKind> kind = scalarKindOf(reduce.getKind(), isa<FloatType>(reduce.getType()));
  Value both = arith::getReductionOp(*kind, builder, loc, atEnds.getResult(), ofVectors.getResult());
  reduce.replaceAllUsesWith(both);
}

// First loads come first. The ends are reduced before the vectors, which take their sum with them; stored behind them.
void RowSplitter::emitSegment(ArrayRef<Operation *> ops, Operation *last) {
  builder.setInsertionPoint(last);
  loc = last->getLoc();
  SmallVector<Operation *> loadsOfEnds, restOfEnds, ofVectors, firstLoads;
  bool areFirst = true;
  auto divide = [&](Operation *op) {
    SmallVector<Operation *> made;
    copyOfRow(ends, op, made);
    bool waits = !isa<tile::LoadOp>(op) || !areFirst || llvm::any_of(made.back()->getOperands(), [&](Value operand) {
      return operand.getDefiningOp() && llvm::is_contained(restOfEnds, operand.getDefiningOp());
    });
    llvm::append_range(waits ? restOfEnds : loadsOfEnds, made);
    areFirst &= isa<tile::LoadOp>(op);
    copyOfRow(vectors, op, areFirst ? firstLoads : ofVectors);
  };
  llvm::for_each(ops, divide);
  auto insert = [&](ArrayRef<Operation *> made) {
    for (Operation *op : made)
      builder.insert(op);
  };
  bool stores = isa<tile::StoreOp>(last);
  Operation *atEnds = nullptr, *inVectors = nullptr;
  if (stores || llvm::any_of(last->getOperands(), isTile) || llvm::any_of(last->getResults(), isTile)) {
    inVectors = copyOfRow(vectors, last, ofVectors);
    atEnds = copyOfRow(ends, last, restOfEnds);
  }
  insert(loadsOfEnds);
  insert(firstLoads);
  insert(stores ? ofVectors : restOfEnds);
  insert(stores ? restOfEnds : ofVectors);
  if (auto reduce = dyn_cast<tile::ReduceOp>(last))
    combine(reduce, cast<tile::ReduceOp>(atEnds), cast<tile::ReduceOp>(inVectors));
}

void RowSplitter::rewrite() {
  SmallVector<Operation *> all;
  for (Operation &op : llvm::make_range(std::next(axis->getIterator()), block->end()))
    all.push_back(&op);
  measure();
  makeHalves();
  makePositions();
  SmallVector<Operation *> segment, old;
  for (Operation *op : all) {
    bool hasTiles = llvm::any_of(op->getOperands(), isTile) || llvm::any_of(op->getResults(), isTile);
    if (isa<tile::PosOp>(op)) {
      old.push_back(op);
    } else if (isa<tile::ReduceOp>(op) || !isMemoryEffectFree(op)) {
      emitSegment(segment, op);
      segment.clear();
      if (hasTiles)
        old.push_back(op);
    } else if (hasTiles) {
      segment.push_back(op);
      old.push_back(op);
    }
  }
  for (Operation *op : llvm::reverse(old)) {
    op->dropAllUses();
    op->erase();
  }
  axis.erase();
}

namespace {

struct SplitRowsPass : tilec::impl::SplitRowsBase<SplitRowsPass> {
  void runOnOperation() override {
    tile::KernelOp kernel = getOperation();
    StringRef specialization = specializationOf(kernel);
    if (specialization != "general" && specialization != "pairs")
      return;
    SmallVector<tile::AxisOp> axes;
    for (auto stage : kernel.getOps<tile::ParallelOp>())
      llvm::append_range(axes, stage.getBody().getOps<tile::AxisOp>());
    for (tile::AxisOp axis : axes) {
      RowSplitter splitter(axis, specialization == "pairs" ? leastExtentOfPairs : leastExtent);
      if (!splitter.match())
        continue;
      splitter.rewrite();
      kernel.emitRemark() << kernel.getSymName() << ": rows are parted at multiples of 16 bytes";
    }
    markFacts(kernel);
  }
};

} // namespace
