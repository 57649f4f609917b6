// Recognition of stores of boxes, and their division into units that go through a staging ring.
#include "tilec/Transforms/StagedStore.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "tilec/Dialect/TileGPU/Scratch.h"
#include "tilec/Dialect/TileGPU/TensorMapLimits.h"
#include "tilec/Transforms/AxisClasses.h"
#include "tilec/Transforms/DotOperand.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilec;

//===----------------------------------------------------------------------===//
// Recognition
//===----------------------------------------------------------------------===//

Operation *tilec::enclosingLoop(Operation *op) {
  auto loop = op->getParentOfType<LoopLikeOpInterface>();
  while (loop && (loop->hasAttr(persistentLoop) || isa<tile::ParallelOp>(loop)))
    loop = loop->getParentOfType<LoopLikeOpInterface>();
  return loop;
}

// Whether a position at or beyond `end` can only be beyond the tile or the tensor. An end is a minimum of bounds, each
// of which must say so; the number of a group is at most `groups` - 1.
static bool absentIsOutside(Value end, const LinearSum &tileEnd, Value size, int64_t groups) {
  if (auto min = end.getDefiningOp<arith::MinSIOp>())
    return absentIsOutside(min.getLhs(), tileEnd, size, groups) && absentIsOutside(min.getRhs(), tileEnd, size, groups);
  APInt a, b;
  if (end == size || (matchPattern(end, m_ConstantInt(&a)) && matchPattern(size, m_ConstantInt(&b)) && a.sge(b)))
    return true;
  LinearSum beyond = linearSum(end);
  beyond.add(tileEnd, -1);
  int64_t least = beyond.constant;
  for (auto [value, coefficient] : beyond.terms) {
    if (!value.getDefiningOp<tilegpu::GroupOp>())
      return false;
    least += std::min<int64_t>(coefficient, 0) * (groups - 1);
  }
  return least >= 0;
}

static RankedTensorType typeOf(tile::StoreOp store) { return cast<RankedTensorType>(store.getValue().getType()); }

// Whether another operation of the kernel accesses the tensor.
static bool hasOtherAccess(tile::StoreOp store, tile::ViewOp view) {
  Operation *kernel = store->getParentOp();
  while (!isa<tile::KernelOp, tilegpu::KernelOp>(kernel))
    kernel = kernel->getParentOp();
  WalkResult result = kernel->walk([&](Operation *op) {
    if (op == store || isa<tile::ViewOp>(op))
      return WalkResult::advance();
    for (Value operand : op->getOperands())
      if (auto other = operand.getDefiningOp<tile::ViewOp>(); other && other.getName() == view.getName())
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return result.wasInterrupted();
}

// The largest of some powers of two that divides a size; 0 if none does.
static int64_t largestDivisor(int64_t size, ArrayRef<int64_t> candidates) {
  for (int64_t candidate : candidates)
    if (size % candidate == 0)
      return candidate;
  return 0;
}

// Whether a box begins at a coordinate that is not negative and that 32 bits hold, as the sizes of tensors that TMA
// serves do: at the start of the axis, or some elements further.
static bool startsInside(const AffineIndex &index, Value axisValue) {
  auto axis = axisValue.getDefiningOp<tile::AxisOp>();
  if (!axis || !isNonNegative(axis.getStart()))
    return false;
  LinearSum shift = index.base;
  shift.add(linearSum(axis.getStart()), -1);
  return shift.terms.empty() && shift.constant >= 0 && shift.constant < (int64_t(1) << 20);
}

// Where a subscript runs along one dimension of the tile with step 1: the first coordinate and the end of what is
// present.
static bool matchDimension(BoxStore &box, int64_t viewDim, const AffineIndex &index, int64_t tileDim, int64_t groups) {
  if (index.coefficients[0] != 1 || llvm::is_contained(box.order, tileDim))
    return false;
  box.kept.push_back(viewDim);
  box.order.push_back(tileDim);
  box.byThreads |= !startsInside(index, box.store.getAxes()[tileDim]);
  int64_t extent = typeOf(box.store).getDimSize(tileDim);
  LinearSum tileEnd = index.base;
  tileEnd.constant += extent;
  Value axisValue = box.store.getAxes()[tileDim];
  if ((box.store.getFull() && (*box.store.getFull())[tileDim]) || isFullAxis(axisValue)) {
    box.ends.push_back(tileEnd);
    return true;
  }
  auto axis = axisValue.getDefiningOp<tile::AxisOp>();
  if (!axis)
    return false;
  LinearSum shift = index.base;
  shift.add(linearSum(axis.getStart()), -1);
  if (!shift.terms.empty() || shift.constant != 0 ||
      !absentIsOutside(axis.getEnd(), tileEnd, box.view.getSizes()[viewDim], groups))
    return false;
  LinearSum end;
  end.terms.push_back({axis.getEnd(), 1});
  box.ends.push_back(end);
  return true;
}

static bool matchSubscripts(BoxStore &box, int64_t groups) {
  for (auto [d, subscript, list] : llvm::enumerate(box.store.getSubscripts(), box.store.getDims())) {
    auto dims = cast<ArrayAttr>(list);
    std::optional<AffineIndex> index = affineIndex(subscript);
    if (!index || dims.size() > 1)
      return false;
    box.starts.push_back(index->base);
    // A number: of a batch, say.
    if (dims.empty())
      box.byThreads |= !box.store.getInbounds() || !(*box.store.getInbounds())[d];
    if (!dims.empty() && !matchDimension(box, d, *index, cast<IntegerAttr>(dims[0]).getInt(), groups))
      return false;
  }
  return box.kept.size() == 2;
}

// Rows of a unit are whole pairs of the 8x8 matrices of stmatrix, its columns a span of the swizzle.
static bool chooseUnit(BoxStore &box) {
  auto type = typeOf(box.store);
  int64_t bytes = tilegpu::elementBytes(type.getElementType());
  box.unitRows = largestDivisor(type.getDimSize(box.order[0]), {64, 32, 16});
  box.span = largestDivisor(type.getDimSize(box.order[1]) * bytes, {128, 64, 32});
  box.unitColumns = box.span / bytes;
  return box.unitRows > 0 && box.span > 0;
}

std::optional<BoxStore> tilec::matchBoxStore(tile::StoreOp store, int64_t groups) {
  auto type = dyn_cast<RankedTensorType>(store.getValue().getType());
  auto view = store.getView().getDefiningOp<tile::ViewOp>();
  if (!type || type.getRank() != 2 || !view || view.getType().getRank() > tilegpu::maxTensorRank ||
      enclosingLoop(store))
    return std::nullopt;
  Type element = type.getElementType();
  if (element != view.getType().getElementType() || !element.isIntOrFloat() ||
      !llvm::is_contained({8u, 16u, 32u}, element.getIntOrFloatBitWidth()))
    return std::nullopt;
  BoxStore box{store, view, {}, {}, {}, {}};
  if (rowAlignment(view) == 0 || !matchSubscripts(box, groups) || box.kept.back() + 1 != view.getType().getRank() ||
      !chooseUnit(box) || hasOtherAccess(store, view))
    return std::nullopt;
  int64_t startBytes = divisorOf(box.starts.back()) * tilegpu::elementBytes(element);
  box.byThreads |= std::min(rowAlignment(view), startBytes) < tilegpu::tensorAlignment;
  return box;
}

//===----------------------------------------------------------------------===//
// Staging
//===----------------------------------------------------------------------===//

namespace {

// Makes the units of the stores of one kernel.
class StoreStager {
public:
  StoreStager(tilegpu::KernelOp kernel, int64_t room) : kernel(kernel), room(room) {}

  /// Leaves the store as it is where its ring does not fit.
  void stage(const BoxStore &box);
  void drain();

private:
  tilegpu::StagingOp ringFor(const BoxStore &box);
  void stageUnit(const BoxStore &box, tilegpu::StagingOp ring, int64_t row, int64_t column);

  tilegpu::KernelOp kernel;
  int64_t room;
  SmallVector<tilegpu::StagingOp, 1> rings;
};

} // namespace

// Stores of equal units share a ring. Null if a new one does not fit.
tilegpu::StagingOp StoreStager::ringFor(const BoxStore &box) {
  MLIRContext *context = kernel.getContext();
  Type element = typeOf(box.store).getElementType();
  SmallVector<int64_t, 2> shape = {box.unitRows, box.unitColumns};
  auto buffer = tilegpu::SmemType::get(context, shape, element, tilegpu::SharedAttr::get(context, box.span, 0), shape);
  for (tilegpu::StagingOp ring : rings)
    if (ring.getType().getPayload().front() == buffer && ring.getByThreads() == box.byThreads)
      return ring;
  int64_t bytes = llvm::alignTo(buffer.allocBytes(), tilegpu::bufferAlignment) * kernel.getConsumers();
  if (bytes > room)
    return nullptr;
  room -= bytes;
  OpBuilder builder = OpBuilder::atBlockBegin(&kernel.getBody().front());
  tile::ViewOp view = box.view;
  auto type = tilegpu::ChanType::get(context, {Type(buffer)}, 1);
  rings.push_back(tilegpu::StagingOp::create(builder, box.store->getLoc(), type, view.getName(), box.byThreads,
                                             /*offset=*/IntegerAttr()));
  return rings.back();
}

void StoreStager::stageUnit(const BoxStore &box, tilegpu::StagingOp ring, int64_t row, int64_t column) {
  tile::StoreOp store = box.store;
  tile::ViewOp view = box.view;
  OpBuilder builder(store);
  Location loc = store.getLoc();
  SmallVector<int64_t, 2> offsets(2);
  offsets[box.order[0]] = row;
  offsets[box.order[1]] = column;
  Value slot = tilegpu::WriteOp::create(builder, loc, tilegpu::SlotType::get(builder.getContext()), ring.getResult(),
                                        store.getValue(), offsets, box.order);
  SmallVector<Value, 4> starts, ends;
  SmallVector<int64_t, 4> extents(box.starts.size(), 1);
  for (auto [d, start] : llvm::enumerate(box.starts)) {
    LinearSum first = start;
    if (static_cast<int64_t>(d) == box.kept[0])
      first.constant += row;
    if (static_cast<int64_t>(d) == box.kept[1])
      first.constant += column;
    starts.push_back(first.materialize(builder, loc));
  }
  extents[box.kept[0]] = box.unitRows;
  extents[box.kept[1]] = box.unitColumns;
  for (const LinearSum &end : box.ends)
    ends.push_back(end.materialize(builder, loc));
  tilegpu::FlushOp::create(builder, loc, slot, ring.getResult(), view.getResult(), starts, ends, extents, box.kept);
}

void StoreStager::stage(const BoxStore &box) {
  auto type = typeOf(box.store);
  tilegpu::StagingOp ring = ringFor(box);
  if (!ring)
    return;
  for (int64_t row = 0; row < type.getDimSize(box.order[0]); row += box.unitRows)
    for (int64_t column = 0; column < type.getDimSize(box.order[1]); column += box.unitColumns)
      stageUnit(box, ring, row, column);
  tile::StoreOp store = box.store;
  store.erase();
}

void StoreStager::drain() {
  OpBuilder builder = OpBuilder::atBlockEnd(&kernel.getBody().front());
  for (tilegpu::StagingOp ring : rings)
    tilegpu::DrainOp::create(builder, ring.getLoc(), ring.getResult());
}

void tilec::stageStores(tilegpu::KernelOp kernel, int64_t room) {
  SmallVector<tile::StoreOp> stores;
  kernel.walk([&](tile::StoreOp store) {
    if (store->hasAttr(stagedStore))
      stores.push_back(store);
  });
  StoreStager stager(kernel, room);
  for (tile::StoreOp store : stores) {
    // The schedule has removed evidence that the plan had.
    bool byThreads = store->removeAttr(stagedByThreads) != nullptr;
    store->removeAttr(stagedStore);
    if (std::optional<BoxStore> box = matchBoxStore(store, kernel.getGroups())) {
      box->byThreads = byThreads;
      stager.stage(*box);
    }
  }
  stager.drain();
}

//===----------------------------------------------------------------------===//
// Slots
//===----------------------------------------------------------------------===//

int64_t tilec::stagingBytes(tilegpu::KernelOp kernel) {
  int64_t bytes = 0;
  for (auto staging : kernel.getOps<tilegpu::StagingOp>())
    bytes += staging.getType().slotBytes() * kernel.getConsumers();
  return bytes;
}

bool tilec::wantsSecondSlot(tilegpu::StagingOp staging) {
  return llvm::count_if(staging.getResult().getUsers(), [](Operation *user) { return isa<tilegpu::WriteOp>(user); }) >
         1;
}

void tilec::setSlots(Value ring, int64_t slots) {
  auto type = cast<tilegpu::ChanType>(ring.getType());
  ring.setType(tilegpu::ChanType::get(ring.getContext(), type.getPayload(), slots));
}
