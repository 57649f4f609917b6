// Which transfers blocks of a cluster share, and who brings which part of them.
#include "ClusterTransfers.h"
#include "Channels.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tilec;

//===----------------------------------------------------------------------===//
// What is the same in all blocks along a dimension
//===----------------------------------------------------------------------===//

// What a value is computed from; nothing for a value of which that is not known.
static std::optional<SmallVector<Value>> sourcesOf(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast_or_null<scf::ForOp>(argument.getOwner()->getParentOp());
    if (!loop)
      return std::nullopt;
    if (argument == loop.getInductionVar())
      return SmallVector<Value>{loop.getLowerBound(), loop.getUpperBound(), loop.getStep()};
    OpOperand *initial = loop.getTiedLoopInit(argument);
    return SmallVector<Value>{initial->get(), loop.getTiedLoopYieldedValue(argument)->get()};
  }
  Operation *op = value.getDefiningOp();
  if (op->getNumRegions() > 0 || !isMemoryEffectFree(op))
    return std::nullopt;
  return SmallVector<Value>(op->getOperands());
}

// Whether scalars are the same in all blocks along a dimension of the cluster.
static bool isUniform(ValueRange scalars, int64_t dim) {
  llvm::SetVector<Value> values(llvm::from_range, scalars);
  for (size_t i = 0; i < values.size(); ++i) {
    if (auto rank = values[i].getDefiningOp<tilegpu::ClusterRankOp>()) {
      if (static_cast<int64_t>(rank.getDim()) == dim)
        return false;
      continue;
    }
    std::optional<SmallVector<Value>> sources = sourcesOf(values[i]);
    if (!sources)
      return false;
    values.insert(sources->begin(), sources->end());
  }
  return true;
}

// Whether all blocks along a dimension run an operation equally often.
static bool runsAlike(Operation *op, int64_t dim) {
  for (Operation *parent = op->getParentOp(); !isa<tilegpu::ProcessOp, tilegpu::KernelOp>(parent);
       parent = parent->getParentOp()) {
    auto branch = dyn_cast<scf::IfOp>(parent);
    auto loop = dyn_cast<scf::ForOp>(parent);
    bool alike = branch ? isUniform(branch.getCondition(), dim)
                 : loop ? isUniform({loop.getLowerBound(), loop.getUpperBound(), loop.getStep()}, dim)
                        : false;
    if (!alike)
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Parts of a box
//===----------------------------------------------------------------------===//

// The dimension of the box of which `blocks` blocks bring equal parts, -1 for whole panels; none if there is none. A
// part of the rows keeps the swizzle, which repeats every eight rows, and starts where TMA can write.
static std::optional<int64_t> slicedDimension(tilegpu::FillOp fill, int64_t blocks) {
  constexpr int64_t swizzledRows = 8, alignment = 128;
  tilegpu::SmemType buffer = filledBuffer(fill);
  if (tensorFillPanels(fill) % blocks == 0)
    return -1;
  ArrayRef<int64_t> box = fill.getBox().drop_back();
  const auto *first = llvm::find_if(box, [](int64_t extent) { return extent > 1; });
  if (first == box.end() || *first % blocks != 0)
    return std::nullopt;
  int64_t rows = llvm::product_of(box) / blocks;
  int64_t bytes = tensorFillBytes(fill) / tensorFillPanels(fill) / blocks;
  bool fits = buffer.getShared().getSpan() != 0 ? rows % swizzledRows == 0 : bytes % alignment == 0;
  return fits ? std::optional<int64_t>(first - box.begin()) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// ClusterTransfers
//===----------------------------------------------------------------------===//

ClusterTransfers::ClusterTransfers(tilegpu::KernelOp kernel) : extents(kernel.getTileCluster()) {
  if (kernel.getBlocksOfTileCluster() > 1)
    kernel.walk([&](tilegpu::ChanOp chan) { inspect(chan); });
}

// Other blocks learn that a slot has been read by an arrival that orders what wgmma has read, which is waited for, and
// nothing else. All blocks must use the items of the channel alike.
void ClusterTransfers::inspect(tilegpu::ChanOp chan) {
  Channel channel(chan);
  if (channel.engine != Engine::Tma || !channel.producer || channel.readByOthers)
    return;
  for (auto [dim, blocks] : llvm::enumerate(extents)) {
    bool alike = blocks > 1 &&
                 llvm::all_of(chan.getResult().getUsers(), [d = dim](Operation *user) { return runsAlike(user, d); });
    if (!alike)
      continue;
    for (Operation *user : chan.getResult().getUsers()) {
      auto fill = dyn_cast<tilegpu::FillOp>(user);
      if (!fill || shared.contains(fill) || !isUniform(fill.getStarts(), dim))
        continue;
      std::optional<int64_t> sliced = slicedDimension(fill, blocks);
      if (!sliced)
        continue;
      shared[fill] = {static_cast<int64_t>(dim), blocks, *sliced};
      fill.emitRemark() << fill->getParentOfType<tilegpu::KernelOp>().getSymName() << ": `"
                        << fill.getView().getDefiningOp<tile::ViewOp>().getName() << "` is loaded once for " << blocks
                        << " blocks of a cluster";
      if (!llvm::is_contained(dimsOf[chan], static_cast<int64_t>(dim)))
        dimsOf[chan].push_back(dim);
    }
  }
}

const SharedFill *ClusterTransfers::of(tilegpu::FillOp fill) const {
  auto it = shared.find(fill);
  return it == shared.end() ? nullptr : &it->second;
}

int64_t ClusterTransfers::sharersOf(tilegpu::ChanOp chan) const {
  int64_t count = 1;
  for (int64_t dim : dimsOf.lookup(chan))
    count += extents[dim] - 1;
  return count;
}

// The last dimension steps from rank to rank.
int64_t ClusterTransfers::stride(int64_t dim) const { return llvm::product_of(ArrayRef(extents).drop_front(dim + 1)); }

// Clusters lie along dimension 0 of the grid.
static Value rankOfBlock(Lowering &lowering) {
  return NVVM::BlockInClusterIdXOp::create(lowering.builder, lowering.loc(), lowering.builder.getI32Type());
}

Value ClusterTransfers::place(Lowering &lowering, int64_t dim) const {
  OpBuilder &builder = lowering.builder;
  Location loc = lowering.loc();
  Value steps = builder.createOrFold<arith::DivUIOp>(loc, rankOfBlock(lowering), lowering.constant32(stride(dim)));
  bool outermost = stride(dim) * extents[dim] == llvm::product_of(extents);
  return outermost ? steps : arith::RemUIOp::create(builder, loc, steps, lowering.constant32(extents[dim]));
}

Value ClusterTransfers::rankOfSharer(Lowering &lowering, tilegpu::ChanOp chan, Value number) const {
  OpBuilder &builder = lowering.builder;
  Location loc = lowering.loc();
  Value own = rankOfBlock(lowering), result = own;
  int64_t before = 0;
  for (int64_t dim : dimsOf.lookup(chan)) {
    Value further = lowering.addConstant(number, -before), from = place(lowering, dim);
    Value to = arith::RemUIOp::create(builder, loc, lowering.add(from, further), lowering.constant32(extents[dim]));
    Value steps = arith::SubIOp::create(builder, loc, to, from);
    Value rank = lowering.add(own, lowering.mulConstant(steps, stride(dim)));
    Value isAlong = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sgt, number, lowering.constant32(before));
    result = arith::SelectOp::create(builder, loc, isAlong, rank, result);
    before += extents[dim] - 1;
  }
  return result;
}

Value ClusterTransfers::multicastMask(Lowering &lowering, const SharedFill &fill) const {
  OpBuilder &builder = lowering.builder;
  Location loc = lowering.loc();
  int64_t blocks = 0;
  for (int64_t i = 0; i < fill.blocks; ++i)
    blocks |= int64_t(1) << (i * stride(fill.dim));
  Value steps = lowering.mulConstant(place(lowering, fill.dim), stride(fill.dim));
  Value first = arith::SubIOp::create(builder, loc, rankOfBlock(lowering), steps);
  Value mask = arith::ShLIOp::create(builder, loc, lowering.constant32(blocks), first);
  return arith::TruncIOp::create(builder, loc, builder.getI16Type(), mask);
}
