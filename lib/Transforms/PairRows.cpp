// pair-rows: an iteration of a stage takes two rows, so that what rows share is loaded and widened once for both
// (docs/decisions/pairs-of-rows.md).
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "tilec/Dialect/Tile/AttributeNames.h"
#include "tilec/Dialect/Tile/TileDialect.h"
#include "tilec/Dialect/TileGPU/TileGPUDialect.h"
#include "tilec/Transforms/AffineIndex.h"
#include "tilec/Transforms/Passes.h"
#include "llvm/ADT/SetVector.h"

#include <array>

namespace tilec {
#define GEN_PASS_DEF_PAIRROWS
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

namespace {

constexpr int64_t vectorBytes = 16;
// A thread's vectors of a row, threads of a row at most, and of the blocks on a multiprocessor
// (docs/decisions/threads-of-streaming-kernels.md).
constexpr int64_t heldVectors = 4, leastThreads = 32, mostThreads = 256, threadsHeld = 3 * 256;

int64_t bytesOf(Value tile) {
  auto type = dyn_cast<RankedTensorType>(tile.getType());
  return type ? type.getNumElements() * tilegpu::elementBytes(type.getElementType()) : 0;
}

// The view of a load or store.
tile::ViewOp viewOf(Operation &op) {
  if (auto load = dyn_cast<tile::LoadOp>(op))
    return load.getView().getDefiningOp<tile::ViewOp>();
  auto store = dyn_cast<tile::StoreOp>(op);
  return store ? store.getView().getDefiningOp<tile::ViewOp>() : tile::ViewOp();
}

// The rows of a stage that differ in the number of its last range.
class RowPairs {
public:
  explicit RowPairs(tile::ParallelOp stage)
      : stage(stage), block(stage.getBody().front()), number(block.getArguments().back()), builder(stage),
        loc(stage.getLoc()) {}

  bool match();
  void rewrite();

private:
  bool isOwn(Value value) const { return value == number || own.contains(value.getDefiningOp()); }
  bool isLinear(Value value) const;
  bool isPeriodic(tile::MisalignmentOp op) const;
  bool isKnownView(tile::ViewOp view, bool isOfRow) const;
  bool isKnown(Operation &op);
  bool isWorthIt() const;
  int64_t fewestRows() const;
  void countRows();
  void emit(ArrayRef<Operation *> segment);
  void viewFor(size_t row, tile::ViewOp view);
  void emitViews();
  template <typename AccessOp> void cloneAccess(size_t row, AccessOp access);
  void cloneFor(size_t row, Operation *op);

  tile::ParallelOp stage;
  Block &block;
  Value number;
  OpBuilder builder;
  Location loc;
  /// Rows of one pair are so far from each other: a multiple of 16 bytes, whatever the length of a row.
  int64_t distance = 1;
  /// Operations that differ from row to row.
  SetVector<Operation *> own;
  /// Bytes of the vectors that are loaded of each row, and for all rows.
  int64_t ownBytes = 0, sharedBytes = 0;
  std::array<IRMapping, 2> rows;
  /// Whether there is such a row.
  std::array<Value, 2> exists;
};

// Whether a number grows by some whole multiple of the distance between two rows.
bool RowPairs::isLinear(Value value) const {
  if (value == number || !isOwn(value))
    return true;
  Operation *op = value.getDefiningOp();
  if (isa<arith::AddIOp, arith::SubIOp>(op))
    return llvm::all_of(op->getOperands(), [&](Value operand) { return isLinear(operand); });
  return isa<arith::MulIOp>(op) && ((isLinear(op->getOperand(0)) && !isOwn(op->getOperand(1))) ||
                                    (isLinear(op->getOperand(1)) && !isOwn(op->getOperand(0))));
}

// Whether both rows of a pair have this misalignment.
bool RowPairs::isPeriodic(tile::MisalignmentOp op) const {
  auto isMultiple = [&](uint64_t bytes, uint64_t to) { return distance * bytes % to == 0; };
  Value base = op.getBase();
  while (auto advance = isOwn(base) ? base.getDefiningOp<tile::AdvanceOp>() : tile::AdvanceOp()) {
    if (!isLinear(advance.getOffset()) || !isMultiple(advance.getBytes(), op.getTo()))
      return false;
    base = advance.getBase();
  }
  return !isOwn(base) && !isOwn(op.getOffset());
}

// Views that rows get for themselves are made before all that a row computes.
bool RowPairs::isKnownView(tile::ViewOp view, bool isOfRow) const {
  return view && (!isOfRow || own.contains(view) || (view->getBlock() != &block && view.getType().getRank() > 0));
}

// Straight code whose accesses do not depend on each other; another row's address is that of another vector alone.
bool RowPairs::isKnown(Operation &op) {
  auto misalignment = dyn_cast<tile::MisalignmentOp>(op);
  bool differs = llvm::any_of(op.getOperands(), [&](Value operand) { return isOwn(operand); });
  if (differs && !(misalignment && isPeriodic(misalignment)))
    own.insert(&op);
  auto view = dyn_cast<tile::ViewOp>(op);
  if (view && own.contains(view))
    return view.getType().getRank() == 1;
  if (auto load = dyn_cast<tile::LoadOp>(op)) {
    auto part = load->getAttrOfType<DenseI64ArrayAttr>(tile::rowPartName);
    if (!part || part[1] == 0)
      (own.contains(load) ? ownBytes : sharedBytes) += bytesOf(load.getResult());
    tile::ViewOp source = viewOf(op);
    return isKnownView(source, own.contains(load)) && source.getAccess() == tile::Access::in && !load.getOtherwise();
  }
  if (isa<tile::StoreOp>(op))
    return isKnownView(viewOf(op), /*isOfRow=*/true);
  return !isa<tile::DotOp>(op) && op.getNumRegions() == 0 && isMemoryEffectFree(&op);
}

bool RowPairs::match() {
  APInt lower;
  if (!matchPattern(stage.getLower().back(), m_ConstantInt(&lower)) || !lower.isZero() ||
      !isNonNegative(stage.getUpper().back()))
    return false;
  for (Operation &op : block)
    if (tile::ViewOp view = viewOf(op))
      distance = std::max(distance, vectorBytes / tilegpu::elementBytes(view.getType().getElementType()));
  return llvm::all_of(block, [&](Operation &op) { return isKnown(op); }) && isWorthIt();
}

// Rows without masks in whole vectors take few instructions, and so do such rows that a warp has for itself.
bool RowPairs::isWorthIt() const {
  bool isParted = false, isMasked = false;
  for (Operation &op : block) {
    auto part = op.getAttrOfType<DenseI64ArrayAttr>(tile::rowPartName);
    isParted |= part != nullptr;
    if (auto reduce = dyn_cast<tile::ReduceOp>(op))
      isMasked |= own.contains(reduce) && !reduce.getFull();
  }
  return isMasked && ownBytes > 0 && ownBytes <= sharedBytes && ownBytes <= mostThreads * heldVectors * vectorBytes &&
         (isParted || ownBytes > leastThreads * heldVectors * vectorBytes);
}

// Fewer rows are all on the machine at once, one for each iteration.
int64_t RowPairs::fewestRows() const {
  int64_t threads = std::clamp<int64_t>(ownBytes / vectorBytes / heldVectors, leastThreads, mostThreads);
  return targetMachine(stage).multiprocessors * threadsHeld / threads;
}

// Iteration i takes the rows i + i / d * d and d further, so that neighbours of an iteration have neighbouring rows.
// Where there are few rows, it takes row i, and the other one is not there.
void RowPairs::countRows() {
  auto constant = [&](int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); };
  auto isLess = [&](Value a, Value b) {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, a, b).getResult();
  };
  auto times = [&](Value a, Value b) { return arith::MulIOp::create(builder, loc, a, b).getResult(); };
  auto plus = [&](Value a, Value b) { return arith::AddIOp::create(builder, loc, a, b).getResult(); };
  unsigned range = block.getNumArguments() - 1;
  Value count = stage.getUpper()[range], far = constant(distance), two = constant(2 * distance);
  Value isPaired = isLess(constant(fewestRows() - 1), count);
  Value pairs = arith::DivUIOp::create(builder, loc, plus(count, constant(2 * distance - 1)), two);
  Value iterations = arith::SelectOp::create(builder, loc, isPaired, times(pairs, far), count);
  stage.getUpperMutable()[range].assign(iterations);
  builder.setInsertionPointToStart(&block);
  Value before = times(arith::DivUIOp::create(builder, loc, number, far), far);
  Value first = arith::SelectOp::create(builder, loc, isPaired, plus(number, before), number);
  Value second = plus(first, far);
  rows[0].map(number, first);
  rows[1].map(number, second);
  exists[0] = isLess(first, count);
  exists[1] = arith::AndIOp::create(builder, loc, isLess(second, count), isPaired);
}

// A row that is not there is in a tensor without elements: its first size is 0.
void RowPairs::viewFor(size_t row, tile::ViewOp view) {
  Value nothing = arith::ConstantIndexOp::create(builder, loc, 0);
  Value size =
      arith::SelectOp::create(builder, loc, exists[row], rows[row].lookupOrDefault(view.getSizes()[0]), nothing);
  auto copy = cast<tile::ViewOp>(builder.clone(*view, rows[row]));
  copy.getSizesMutable()[0].assign(size);
  rows[row].map(view.getResult(), copy.getResult());
}

void RowPairs::emitViews() {
  for (Operation *op : own)
    for (Value operand : op->getOperands())
      if (auto view = operand.getDefiningOp<tile::ViewOp>(); view && !isOwn(view))
        for (size_t row : {0, 1})
          if (!rows[row].contains(operand))
            viewFor(row, view);
}

template <typename AccessOp> void RowPairs::cloneAccess(size_t row, AccessOp access) {
  auto copy = cast<AccessOp>(builder.clone(*access, rows[row]));
  SmallVector<bool> inbounds(copy.getSubscripts().size(), false);
  if (copy.getInbounds())
    llvm::copy(*copy.getInbounds(), inbounds.begin());
  for (auto [isInside, subscript] : llvm::zip(inbounds, access.getSubscripts()))
    isInside &= !isOwn(subscript);
  inbounds.front() = false;
  copy.setInbounds(inbounds);
  copy->setAttr(tile::iterationName, builder.getI64IntegerAttr(static_cast<int64_t>(row)));
  if (auto part = copy->template getAttrOfType<DenseI64ArrayAttr>(tile::rowPartName))
    copy->setAttr(tile::rowPartName, builder.getDenseI64ArrayAttr({part[0], part[1], 0}));
}

void RowPairs::cloneFor(size_t row, Operation *op) {
  if (auto load = dyn_cast<tile::LoadOp>(op))
    cloneAccess(row, load);
  else if (auto store = dyn_cast<tile::StoreOp>(op))
    cloneAccess(row, store);
  else if (auto view = dyn_cast<tile::ViewOp>(op))
    viewFor(row, view);
  else
    builder.clone(*op, rows[row]);
}

// What a reduction needs comes row by row, so that few elements are alive; stores and loads of both side by side.
void RowPairs::emit(ArrayRef<Operation *> segment) {
  bool rowByRow = !segment.empty() && isa<tile::ReduceOp>(segment.back());
  for (Operation *op : segment) {
    if (!own.contains(op)) {
      op->moveBefore(builder.getInsertionBlock(), builder.getInsertionPoint());
      // That of either row.
      if (auto misalignment = dyn_cast<tile::MisalignmentOp>(op))
        misalignment.getBaseMutable().assign(rows[0].lookupOrDefault(misalignment.getBase()));
      continue;
    }
    cloneFor(0, op);
    if (!rowByRow)
      cloneFor(1, op);
  }
  for (Operation *op : rowByRow ? segment : ArrayRef<Operation *>())
    if (own.contains(op))
      cloneFor(1, op);
}

void RowPairs::rewrite() {
  SmallVector<Operation *> all = llvm::map_to_vector(block, [](Operation &op) { return &op; }), segment;
  countRows();
  emitViews();
  builder.setInsertionPointToEnd(&block);
  for (Operation *op : all) {
    segment.push_back(op);
    if (!isa<tile::LoadOp, tile::StoreOp, tile::ReduceOp>(op))
      continue;
    emit(segment);
    segment.clear();
  }
  emit(segment);
  for (Operation *op : llvm::reverse(own))
    op->erase();
}

struct PairRowsPass : tilec::impl::PairRowsBase<PairRowsPass> {
  void runOnOperation() override {
    tile::KernelOp kernel = getOperation();
    SmallVector<tile::ParallelOp> stages(kernel.getOps<tile::ParallelOp>());
    // Iterations are rows if numbers alone count them.
    if (stages.size() != 1 || stages.front().getLower().empty() ||
        llvm::any_of(stages.front().getTiles(), [](int64_t tile) { return tile != 0; }))
      return;
    RowPairs pairs(stages.front());
    if (!pairs.match())
      return;
    pairs.rewrite();
    kernel.emitRemark() << kernel.getSymName() << ": an iteration takes two rows, which share what it loads for all";
  }
};

} // namespace
